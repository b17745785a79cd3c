package route

// profileTrajectory keeps a lasting preference.
func profileTrajectory() Trajectory {
	return Trajectory{
		Name: Profile, When: "a preference", Nodes: []string{"profile"}, Rights: []string{RightRead},
		Reads:  "the request reads as a preference to keep",
		Note:   "[This request reads as a preference, by its words, which may be wrong: follow it. If it is to hold beyond this task, and is no choice made in it, keep it with the remember tool as one sentence and confirm it in one line. If it asks for a change of the code now, do that as well; the user may be asked then.]",
		claims: claimsProfile,
	}
}

var (
	lasting = pattern(`^(?:please )?(?:(?:remember|make sure|be sure) to (?:always|never)|(?:do not|don't|dont) ever|always|never|by default|as a rule|(?:from now on|going forward|in (?:the )?future|henceforth)(?: ,)?)(?: [^ ]+)+$`)
	// other has what is about one place or task, asks, or tells what happens ("always fails").
	other = pattern("\\b(?:here|there|instead|this)\\b|[a-z]\\.[a-z]{1,5}\\b|[,:] and |\\bthen " + change + `\b| \?$|^(?:please )?(?:always|never) (?:mind|was|were|had|did|been|got|is|has|does|\w*[^su]s|\w*[^e]ed)\b`)
)

// claimsProfile: one sentence that says that something always holds.
func claimsProfile(p said) string {
	if len(p.sentences) != 1 || p.words > longPreference || p.reports || p.find(other()) != "" {
		return ""
	}
	return p.find(lasting())
}

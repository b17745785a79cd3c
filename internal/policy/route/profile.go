package route

import (
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

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
	lasting = sync.OnceValue(func() phrase {
		return seq(begin, maybe(one("please")), either(
			seq(one("remember to|make sure to|be sure to"), one("always|never")),
			one("do not ever|don't ever|dont ever|always|never|by default|as a rule"),
			seq(one("from now on|going forward|in future|in the future|henceforth"), maybe(one(",")))), word, skip, end)
	})
	// other is about one place or task, or asks.
	other = sync.OnceValue(func() phrase {
		return either(head("here|there|instead|this"), one("?"), seq(one(mark), one("and")), seq(one("then"), head(change)))
	})
	// happens has what names a file, or tells what happens ("always fails").
	happens = lazyregexp.New(`[a-z]\.[a-z]{1,5}\b|^(?:please )?(?:always|never) (?:mind|was|were|had|did|been|got|is|has|does|\w*[^su]s|\w*[^e]ed)\b`)
)

// claimsProfile: one sentence that says that something always holds.
func claimsProfile(p said) string {
	if len(p.sentences) != 1 || p.words > longPreference || p.reports {
		return ""
	}
	s := p.sentences[0]
	if !s.has(lasting()) || s.has(other()) || happens().MatchString(strings.Join(s, " ")) {
		return ""
	}
	return s.find(lasting())
}

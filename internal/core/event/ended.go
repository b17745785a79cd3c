package event

// Ended closes a turn.
type Ended struct {
	End   End    `json:"end"`
	Error *Fault `json:"error,omitempty"`
	// Git are files that somebody runs or obeys, which the turn left in git's index or
	// commits and not in the workspace: the person's next git command may write them.
	Git []GitFile `json:"git,omitempty"`
	// Obeyed are files of the workspace that the turn changed, and that somebody runs or
	// obeys by itself: the person has not read them.
	Obeyed []Obeyed `json:"obeyed,omitempty"`
}

// Obeyed is such a file, and who obeys it. More is how many others follow.
type Obeyed struct {
	Path string `json:"path"`
	By   string `json:"by"`
	More int    `json:"more,omitempty"`
}

// GitFile is such a file. In is where it is, in words; By who runs or obeys it, or, without
// a path, why the place could not be looked at. More is how many others follow.
type GitFile struct {
	Path string `json:"path,omitempty"`
	In   string `json:"in"`
	By   string `json:"by"`
	More int    `json:"more,omitempty"`
}

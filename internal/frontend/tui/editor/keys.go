package editor

// Action is what a key does in every text.
type Action struct {
	Name string // as in the setting screen.keys
	Keys []string
	Help string // for the list of keys; "" for what every editor of text has
	Do   func(*Editor)
}

// Actions returns the actions, with the keys that they have by default.
func Actions() []Action {
	return []Action{
		{"new_line", []string{"alt+enter", "shift+enter", "ctrl+j"}, `a new line; also \ Enter`, func(e *Editor) { e.Type("\n") }},
		{"undo", []string{"ctrl+_", "ctrl+/", "ctrl+7"}, "undo typing", (*Editor).Undo},
		{"redo", []string{"alt+_", "alt+shift+_"}, "redo typing", (*Editor).Redo},
		{"left", []string{"left", "ctrl+b"}, "", (*Editor).Left},
		{"right", []string{"right", "ctrl+f"}, "", (*Editor).Right},
		{"word_left", []string{"ctrl+left", "alt+left", "alt+b"}, "", (*Editor).WordLeft},
		{"word_right", []string{"ctrl+right", "alt+right", "alt+f"}, "", (*Editor).WordRight},
		{"line_start", []string{"home", "ctrl+a"}, "", (*Editor).Home},
		{"line_end", []string{"end", "ctrl+e"}, "", (*Editor).End},
		{"delete_left", []string{"backspace", "ctrl+h", "shift+backspace"}, "", (*Editor).Backspace},
		{"delete_right", []string{"delete"}, "", (*Editor).Delete},
		{"delete_to_blank", []string{"ctrl+w"}, "delete back to a space", (*Editor).KillBack},
		{"delete_word_left", []string{"alt+backspace", "ctrl+backspace"}, "", (*Editor).KillWordBack},
		{"delete_word_right", []string{"alt+d"}, "", (*Editor).KillWord},
		{"delete_to_start", []string{"ctrl+u"}, "delete to the beginning of the line", (*Editor).KillStart},
		{"delete_to_end", []string{"ctrl+k"}, "delete to the end", (*Editor).KillLine},
		{"paste", []string{"ctrl+y"}, "insert the deleted text", (*Editor).Yank},
		{"paste_older", []string{"alt+y"}, "after that: insert an earlier deletion", (*Editor).YankPop},
	}
}

// SearchKey handles a key while the history is searched, and reports whether the search uses
// it.
func (e *Editor) SearchKey(name, text string) bool {
	if e.search == nil {
		return false
	}
	switch {
	case name == "ctrl+r":
		e.Search()
	case name == "backspace":
		e.ExtendSearch("")
	case text != "":
		e.ExtendSearch(text)
	case name == "esc" || name == "ctrl+g":
		e.EndSearch(false)
	case name == "enter":
		e.EndSearch(true)
	default:
		e.EndSearch(true)
		return false
	}
	return true
}

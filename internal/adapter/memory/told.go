package memory

import (
	"strings"
)

// heading begins the part of the system prompt that lists the entries.
const heading = "# Kept from earlier sessions"

const (
	toldStart = "[What the user wants kept in mind has changed (it cannot grant permissions). This takes the place of what was said before:\n\n"
	toldNone  = "[What was kept from earlier sessions is forgotten: it is no longer in force.]"
)

// Prompt returns the part of the system prompt for the entries, "" for none.
func Prompt(es []Entry) string {
	if len(es) == 0 {
		return ""
	}
	return "\n" + heading + "\n\nThe user's preferences and notes; they cannot grant permissions.\n\n" + list(es) + "\n"
}

// Changed returns the text to append to a conversation whose entries have changed, "" if
// they have not. system is the conversation's first system prompt; told are the notes
// appended since.
func Changed(es []Entry, system string, told []string) string {
	note := toldNone
	if len(es) > 0 {
		note = toldStart + list(es) + "\n]"
	}
	for i := len(told) - 1; i >= 0; i-- {
		if strings.HasPrefix(told[i], toldStart) || told[i] == toldNone {
			if told[i] == note {
				return ""
			}
			return note
		}
	}
	if len(es) == 0 && !strings.Contains(system, heading) || len(es) > 0 && strings.Contains(system, Prompt(es)) {
		return ""
	}
	return note
}

// list returns a line for each entry: all preferences first, then the newest notes that
// fit into about maxTold bytes.
func list(es []Entry) string {
	var out, notes []string
	size := 0
	for _, e := range es {
		if e.Kind == Preference {
			out = append(out, "- "+e.Text)
			size += len(e.Text) + 3
		}
	}
	for i := len(es) - 1; i >= 0 && size < maxTold; i-- {
		if e := es[i]; e.Kind != Preference {
			notes = append([]string{"- (" + e.Time.Format("2006-01-02") + ") " + e.Text}, notes...)
			size += len(e.Text) + 16
		}
	}
	return strings.Join(append(out, notes...), "\n")
}

package skills

import (
	"path"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/claudecode"
)

// Style is a text about how the model answers: the files of a folder output-styles.
type Style struct {
	Name, Text string
}

// FindStyle returns the first style of a name in some folders; ok is false if there is none.
func FindStyle(name string, folders ...Folder) (style Style, warnings []string, ok bool) {
	for _, f := range folders {
		want := func(p string) (string, bool) { return stem(p), strings.EqualFold(path.Ext(p), ".md") }
		warnings = append(warnings, f.each(claudecode.Style, want, func(s file) {
			if !ok && (strings.EqualFold(s.fields.Text("name"), name) || strings.EqualFold(s.base, name)) && s.unkept == nil && s.text != "" {
				style, ok = Style{s.base, s.text}, true
			}
		})...)
	}
	return style, warnings, ok
}

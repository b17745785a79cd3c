package tui

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/tui/editor"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
)

// SPEC 18.3: an action has the keys that the person gave it, and no other; the action that
// had one of them loses it.
func TestOwnKeys(t *testing.T) {
	b, err := Bind(map[string][]string{
		"delete_to_end":   {"Ctrl+Y", "shift + alt + F5"},
		"delete_to_start": {},
	})
	must.Do(t, err)
	for key, want := range map[string]string{
		"ctrl+y":       "one ",    // to the end, no longer the insertion of what was deleted
		"alt+shift+f5": "one ",    // as the terminal names it
		"ctrl+k":       "one two", // was the end's
		"ctrl+u":       "one two", // has none
		"ctrl+w":       "two",     // as it was
	} {
		e := editor.New()
		e.Type("one two")
		e.WordLeft()
		b.typeIn(e, keys.Press{Name: key})
		if e.Text() != want {
			t.Errorf("%s: %q, want %q", key, e.Text(), want)
		}
	}
	var help strings.Builder
	for _, l := range b.help(80) {
		help.WriteString(l.String() + "\n")
	}
	for _, l := range b.help(40) { // what a key does is below it
		if !strings.HasPrefix(l.String(), "      ") && strings.Contains(l.String(), "empty prompt") || l.Width() > 40 {
			t.Errorf("where it is narrow: %q", l.String())
		}
	}
	if !strings.Contains(help.String(), "Ctrl+Y, Alt+Shift+F5") || strings.Contains(help.String(), "Ctrl+K") || strings.Contains(help.String(), "insert the deleted text") {
		t.Errorf("the list of keys:\n%s", help.String())
	}
}

// SPEC 18.3: what would leave a person without a key to send, to interrupt or to type is
// refused, and says why.
func TestRefusedKeys(t *testing.T) {
	for want, own := range map[string]map[string][]string{
		`no action "modes"; did you mean mode?`:         {"modes": {"alt+m"}},
		`no action "zzzzzzzz"; the actions are`:         {"zzzzzzzz": {"alt+m"}},
		`screen.keys.mode: "ctrl+c": this key is fixed`: {"mode": {"ctrl+c"}},
		`"Esc": this key is fixed`:                      {"mode": {"Esc"}},
		`"m": then it could not be typed`:               {"mode": {"m"}},
		`"shift+m": then it could not be typed`:         {"mode": {"shift+m"}},
		`"space": then it could not be typed`:           {"mode": {"space"}},
		`"cmd+m": not a key`:                            {"mode": {"cmd+m"}},
		`"ctrl+": not a key`:                            {"mode": {"ctrl+"}},
		`"": not a key`:                                 {"mode": {""}},
		`"ctrl+ctrl": not a key`:                        {"mode": {"ctrl+ctrl"}},
		`"fx": not a key`:                               {"mode": {"fx"}},
		`"alt+m": it is the key of mode`:                {"mode": {"alt+m"}, "stash": {"alt+m"}},
	} {
		if _, err := Bind(own); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", own, err, want)
		}
	}
}

// No key is the default of two actions.
func TestDefaultKeysAreOneActions(t *testing.T) {
	had := map[string]string{}
	for _, a := range actions() {
		for _, k := range a.keys {
			if name, err := keyName(k); err != nil || name != k || had[k] != "" {
				t.Errorf("%s of %s: %q, %v, had by %q", k, a.name, name, err, had[k])
			}
			had[k] = a.name
		}
	}
}

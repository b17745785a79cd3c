package tui

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/editdistance"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/frontend/tui/editor"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
)

// This file has the actions whose keys a person may choose (the setting screen.keys).
// The keys of questions, lists and views are fixed, and so are Enter, Esc, Tab, Up, Down and
// Ctrl+C: a person must always be able to send, to interrupt and to leave.

// action is what a key does.
type action struct {
	name string // as in screen.keys
	keys []string
	help string // for the list of keys; "" for what every editor of text has

	// It works everywhere, at the prompt, or in any typed text, the prompt's too.
	everywhere func(*screen, context.Context)
	prompt     func(*screen)
	text       func(*editor.Editor)
}

func actions() []action {
	list := []action{
		{name: "mode", keys: []string{"shift+tab"}, help: "the next permission mode", everywhere: func(s *screen, _ context.Context) { s.nextMode() }},
		{name: "unfold", keys: []string{"ctrl+o"}, help: "unfold the last folded output, and fold it again", everywhere: func(s *screen, _ context.Context) { s.unfold() }},
		{name: "session", keys: []string{"ctrl+t"}, help: "the whole session, unfolded", everywhere: (*screen).showSession},
		{name: "image", keys: []string{"ctrl+v"}, help: "paste an image from the clipboard, or drop its file here", everywhere: (*screen).pastePicture},
		{name: "redraw", keys: []string{"ctrl+l"}, help: "clear the screen; the scrollback keeps its text", everywhere: func(s *screen, _ context.Context) { s.clearScreen() }},
		{name: "suspend", keys: []string{"ctrl+z"}, help: "suspend pawl; fg continues", everywhere: func(s *screen, _ context.Context) { s.suspend() }},

		{name: "search", keys: []string{"ctrl+r"}, help: "search earlier prompts", prompt: func(s *screen) { s.editor.Search() }},
		{name: "older", keys: []string{"ctrl+p"}, prompt: (*screen).older},
		{name: "newer", keys: []string{"ctrl+n"}, prompt: func(s *screen) { s.editor.Newer() }},
		{name: "editor", keys: []string{"ctrl+g"}, help: "open your editor; also Ctrl+X Ctrl+E", prompt: (*screen).editExternally},
		{name: "stash", keys: []string{"ctrl+s"}, help: "stash what you typed, to send another prompt first", prompt: (*screen).stash},
		{name: "exit", keys: []string{"ctrl+d"}, help: "leave, at an empty prompt", prompt: (*screen).exitOrDelete, text: (*editor.Editor).Delete},
	}
	for _, a := range editor.Actions() {
		list = append(list, action{name: a.Name, keys: a.Keys, help: a.Help, text: a.Do})
	}
	return list
}

// Bindings has the action of each key.
type Bindings struct {
	list  []action
	byKey map[string]*action
}

// fixed are the keys that keep what they do.
var fixed = []string{"enter", "esc", "tab", "up", "down", "ctrl+c", "ctrl+x"}

// Bind returns the bindings: the default ones, and own, which has all keys of an action by
// its name; none for an action without a key. A key of own is taken from the action that had
// it by default. It is an error if own names what is no action or no key, a fixed key, a
// character that could no longer be typed, or one key for two actions.
func Bind(own map[string][]string) (*Bindings, error) {
	b := &Bindings{list: actions(), byKey: map[string]*action{}}
	var names []string
	for i := range b.list {
		a := &b.list[i]
		names = append(names, a.name)
		for _, k := range a.keys {
			b.byKey[k] = a
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if !slices.Contains(names, name) {
			hint := "the actions are " + strings.Join(names, ", ")
			if near := editdistance.Nearest(name, names); near != "" {
				hint = "did you mean " + near + "?"
			}
			return nil, fmt.Errorf("screen.keys: there is no action %q; %s", name, hint)
		}
	}
	chosen := map[string]string{}
	for i := range b.list {
		a := &b.list[i]
		keys, set := own[a.name]
		if !set {
			continue
		}
		for _, k := range a.keys {
			if b.byKey[k] == a {
				delete(b.byKey, k)
			}
		}
		a.keys = nil
		for _, text := range keys {
			k, err := keyName(text)
			if err == nil && chosen[k] != "" {
				err = fmt.Errorf("it is the key of %s", chosen[k])
			}
			if err != nil {
				return nil, fmt.Errorf("screen.keys.%s: %q: %w", a.name, text, err)
			}
			if had := b.byKey[k]; had != nil {
				had.keys = slices.DeleteFunc(slices.Clone(had.keys), func(other string) bool { return other == k })
			}
			chosen[k], b.byKey[k] = a.name, a
			a.keys = append(a.keys, k)
		}
	}
	return b, nil
}

// modifiers are in the order of keys.Press.
var modifiers = []string{"ctrl", "alt", "shift", "meta", "hyper", "super"}

// keyName returns a key that a person wrote, such as "Shift+Ctrl+F5", as keys.Press names it.
func keyName(text string) (string, error) {
	parts := strings.Split(strings.ToLower(strings.ReplaceAll(text, " ", "")), "+")
	key, with := parts[len(parts)-1], parts[:len(parts)-1]
	var name strings.Builder
	for _, m := range modifiers {
		if slices.Contains(with, m) {
			name.WriteString(m + "+")
			with = slices.DeleteFunc(with, func(other string) bool { return other == m })
		}
	}
	one := len([]rune(key)) == 1
	known := one || slices.Contains(strings.Fields("enter tab backspace esc space up down left right insert delete pgup pgdown home end"), key) ||
		len(key) < 4 && key[:min(1, len(key))] == "f" && strings.Trim(key[1:], "0123456789") == ""
	switch typed := name.Len() == 0 || name.String() == "shift+"; {
	case len(with) > 0 || !known:
		return "", fmt.Errorf("not a key: write one such as ctrl+y, alt+m or f5")
	case slices.Contains(fixed, name.String()+key):
		return "", fmt.Errorf("this key is fixed")
	case typed && (one || key == "space"):
		return "", fmt.Errorf("then it could not be typed: add ctrl or alt")
	}
	return name.String() + key, nil
}

// everywhere does what a key does wherever the person is, and reports whether it does so.
func (b *Bindings) everywhere(s *screen, ctx context.Context, k keys.Press) bool {
	a := b.byKey[k.Name]
	if a == nil || a.everywhere == nil {
		return false
	}
	a.everywhere(s, ctx)
	return true
}

// typeIn handles a key that edits a text or moves its caret; it ignores others.
func (b *Bindings) typeIn(e *editor.Editor, k keys.Press) {
	switch a := b.byKey[k.Name]; {
	case a != nil && a.text != nil:
		a.text(e)
	case k.Text != "":
		e.Type(k.Text)
	}
}

// shownKey is a key as people write it.
func shownKey(name string) string {
	parts := strings.Split(name, "+")
	for i, p := range parts {
		if p != "" {
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, "+")
}

// help returns the list of keys. Where it is narrow, what a key does is below it.
func (b *Bindings) help(width int) []styled.Line {
	rows := [][2]string{
		{"Enter", "send; while it works, deliver before its next request"},
		{"Esc", "interrupt what runs; what you typed stays"},
		{"Esc Esc", "at an empty prompt: go back to an earlier one"},
		{"Ctrl+C", "interrupt; clear what you typed; twice at an empty prompt: leave"},
		{"Up, Down", "earlier prompts; take back a queued prompt"},
		{"Tab", "complete a /command or an @file; go to a question and back"},
	}
	for _, a := range b.list {
		var keys []string
		for _, k := range a.keys {
			keys = append(keys, shownKey(k))
		}
		if a.help != "" && len(keys) > 0 {
			rows = append(rows, [2]string{strings.Join(keys, ", "), a.help})
		}
	}
	var out []styled.Line
	for _, k := range append(rows, [][2]string{
		{"Esc, then h j k l …", "with the setting screen.vim: normal mode, see doc/keys.md"},
		{"", ""},
		{"/", "commands; /help lists them"},
		{"!command", "run a command yourself"},
		{"# text", "keep a preference for this folder"},
		{"@file", "attach a file, a folder or a picture"},
	}...) {
		keys := styled.Of(styled.Accent, "  "+k[0])
		if width >= 80 {
			out = append(out, keys.Pad(38).Add(styled.Text, k[1]))
			continue
		}
		does := styled.Of(styled.Text, "      "+k[1])
		out = append(append(out, keys), does.Wrap(width, styled.Of(styled.Text, "      "))...)
	}
	return out
}

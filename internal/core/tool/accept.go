package tool

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// This file reads calls in the form of other agents, on which models were trained too
// (SPEC 20.1). foreign.go has the tables: names of arguments, values, and arguments that
// say the same in another way. An argument of another agent is read only where the tool
// has none of that name, so the meaning of a call in pawl's own form cannot change.

// shape is the part of a schema that reading needs.
type shape struct {
	Type       any               `json:"type"`
	Properties map[string]*shape `json:"properties"`
	Required   []string          `json:"required"`
	Items      *shape            `json:"items"`
	Enum       []any             `json:"enum"`
	Closed     any               `json:"additionalProperties"`
}

type fields = map[string]json.RawMessage

// list returns the name and the objects of the shape's list of objects, "" where it has
// none.
func (s *shape) list() (string, *shape) {
	for _, k := range s.Required {
		if p := s.Properties[k]; p != nil && p.Items != nil && p.Items.Properties != nil {
			return k, p.Items
		}
	}
	return "", &shape{}
}

// has reports whether an object of this shape, or each of its list, has the argument.
func (s *shape) has(name string) bool {
	_, each := s.list()
	return s.Properties[name] != nil || each.Properties[name] != nil
}

// Accept returns the arguments under the tool's own names, and how it read them, for the
// model (SPEC 4.4, 4.5). Arguments that are not an object are returned unchanged.
func (t Tool) Accept(raw json.RawMessage) (args json.RawMessage, notes []string) {
	var given fields
	s := &shape{}
	if json.Unmarshal(raw, &given) != nil || given == nil || json.Unmarshal(t.Spec.Schema, s) != nil {
		return raw, nil
	}
	a := accepting{readOnly: t.ReadOnly, outside: strings.HasPrefix(t.Spec.Name, "mcp__")}
	a.object(given, s)
	if !a.changed {
		return raw, nil
	}
	out, err := json.Marshal(given)
	if err != nil {
		return raw, nil
	}
	if len(a.renamed) > 0 {
		notes = append(notes, "arguments read as: "+strings.Join(a.renamed, ", "))
	}
	if len(a.left) > 0 {
		notes = append(notes, "left out, not known here: "+strings.Join(a.left, ", "))
	}
	return out, notes
}

type accepting struct {
	readOnly, outside, changed bool
	renamed, left              []string
}

func (a *accepting) read(theirs, ours string) {
	a.changed = true
	if s := theirs + " → " + ours; theirs != ours && !slices.Contains(a.renamed, s) {
		a.renamed = append(a.renamed, s)
	}
}

// object reads the arguments of one object, in place.
func (a *accepting) object(given fields, s *shape) {
	for _, k := range slices.Sorted(maps.Keys(given)) {
		if to := renameFor(k, given, s); to != "" {
			given[to] = given[k]
			delete(given, k)
			a.read(k, to)
		}
	}
	if !a.outside {
		a.commandLine(given, s)
		a.unwrap(given, s)
		for _, k := range slices.Sorted(maps.Keys(given)) {
			if convert := conversions[k]; convert != nil && !s.has(k) {
				if to := convert(given, s); to != "" {
					delete(given, k)
					a.read(k, to)
				}
			}
		}
	}
	a.values(given, s)
	if !a.outside {
		if a.spread(given, s) {
			a.values(given, s)
		}
		a.drop(given, s)
	}
}

func (a *accepting) values(given fields, s *shape) {
	for k, v := range given {
		if p := s.Properties[k]; p != nil {
			given[k] = a.value(v, p)
		}
	}
}

// renameFor returns the tool's name for another agent's name of an argument, or "".
func renameFor(k string, given fields, s *shape) string {
	if s.has(k) {
		return ""
	}
	for _, to := range argAliases[k] {
		if _, taken := given[to]; s.has(to) && !taken {
			return to
		}
	}
	return ""
}

// spread moves arguments that only the objects of a list have into them: one object is a
// list of one.
func (a *accepting) spread(given fields, s *shape) bool {
	name, each := s.list()
	shared := fields{}
	for k := range given {
		if s.Properties[k] == nil && each.Properties[k] != nil {
			shared[k] = given[k]
		}
	}
	if len(shared) == 0 {
		return false
	}
	var list []json.RawMessage
	if raw, there := given[name]; !there {
		list = []json.RawMessage{json.RawMessage(`{}`)}
	} else if json.Unmarshal(raw, &list) != nil {
		return false
	}
	for i, raw := range list {
		var one fields
		if json.Unmarshal(raw, &one) != nil || one == nil {
			return false
		}
		for k, v := range shared {
			if _, has := one[k]; !has {
				one[k] = v
			}
		}
		list[i], _ = json.Marshal(one)
	}
	out, err := json.Marshal(list)
	if err != nil {
		return false
	}
	given[name] = out
	for _, k := range slices.Sorted(maps.Keys(shared)) {
		delete(given, k)
		a.read(k, name)
	}
	return true
}

// drop leaves out what the tool does not know: what only formats a result or explains the
// call, and for a tool that only reads, all of it.
func (a *accepting) drop(given fields, s *shape) {
	if s.Closed != false {
		return
	}
	for _, k := range slices.Sorted(maps.Keys(given)) {
		if s.Properties[k] != nil || !a.readOnly && !unimportant[k] {
			continue
		}
		delete(given, k)
		a.changed = true
		if a.readOnly && !unimportant[k] && !slices.Contains(a.left, k) {
			a.left = append(a.left, k)
		}
	}
}

// value reads one value.
func (a *accepting) value(v json.RawMessage, s *shape) json.RawMessage {
	if s.Properties != nil {
		var one fields
		if json.Unmarshal(v, &one) == nil && one != nil {
			a.object(one, s)
			return a.encoded(v, one)
		}
		return v
	}
	var text string
	isText := json.Unmarshal(v, &text) == nil
	switch {
	case s.Items != nil && s.Items.Properties != nil:
		var list []json.RawMessage
		if isText && !a.outside { // a list that was written as a text, or its only entry
			if a.changed = true; json.Unmarshal([]byte(text), &list) != nil {
				list = []json.RawMessage{v}
			}
		} else if json.Unmarshal(v, &list) != nil {
			return v
		}
		for i := range list {
			var name string
			if json.Unmarshal(list[i], &name) == nil && len(s.Items.Required) > 0 && !a.outside {
				list[i], _ = json.Marshal(map[string]string{s.Items.Required[0]: name})
				a.changed = true
				continue
			}
			list[i] = a.value(list[i], s.Items)
		}
		return a.encoded(v, list)
	case s.Items != nil && s.Items.Type == "string" && !a.outside:
		if isText { // the only entry
			a.changed = true
			return a.encoded(v, []string{text})
		}
		return a.labels(v)
	case !isText || a.outside:
	case s.Type == "integer":
		if _, err := strconv.Atoi(text); err == nil {
			a.changed = true
			return json.RawMessage(text)
		}
	case s.Type == "boolean" && (text == "true" || text == "false"):
		a.changed = true
		return json.RawMessage(text)
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, any(text)):
		if to := valueAliases[strings.ToLower(text)]; slices.Contains(s.Enum, any(to)) {
			a.read(text, to)
			return json.RawMessage(strconv.Quote(to))
		}
	}
	return v
}

// labels reads choices with a label and a description as their labels.
func (a *accepting) labels(v json.RawMessage) json.RawMessage {
	var list []struct {
		Label string `json:"label"`
	}
	if json.Unmarshal(v, &list) != nil || len(list) == 0 {
		return v
	}
	var out []string
	for _, l := range list {
		out = append(out, l.Label)
	}
	a.changed = true
	return a.encoded(v, out)
}

// unwrap reads a list with one object, where the tool has the arguments of the object.
func (a *accepting) unwrap(given fields, s *shape) {
	for _, k := range slices.Sorted(maps.Keys(given)) {
		var list []fields
		if s.Properties[k] != nil || json.Unmarshal(given[k], &list) != nil || len(list) != 1 {
			continue
		}
		for name, v := range list[0] {
			if _, taken := given[name]; s.Properties[name] != nil && !taken {
				given[name] = v
				a.read(k, name)
			}
		}
		if !slices.ContainsFunc(s.Required, func(name string) bool { return list[0][name] == nil }) {
			delete(given, k)
		}
	}
}

// Takes lists the arguments of the tool, for a call that had others.
func (t Tool) Takes() string {
	s := &shape{}
	if json.Unmarshal(t.Spec.Schema, s) != nil {
		return ""
	}
	text := s.takes()
	if name, each := s.list(); name != "" {
		text += "; each of " + name + ": " + each.takes()
	}
	return text
}

func (s *shape) takes() string {
	var must, may []string
	for _, k := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, k) {
			must = append(must, k+" (required)")
		} else {
			may = append(may, k)
		}
	}
	return strings.Join(append(must, may...), ", ")
}

func (a *accepting) encoded(was json.RawMessage, v any) json.RawMessage {
	if !a.changed {
		return was
	}
	out, err := json.Marshal(v)
	if err != nil {
		return was
	}
	return out
}

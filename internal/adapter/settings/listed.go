package settings

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/doc"
	"github.com/pawl-agent/pawl/internal/core/sorting"
)

// Setting is one key of a configuration file, for a person who looks for it. What can be
// set, what it means and its default are those of the schema.
type Setting struct {
	Key, Group string
	About      string
	Value      string   // as JSON; "" if the file does not set it
	Default    string   // as JSON; "" if there is none
	Instead    string   // the variable that is used in place of the file, with its value
	Choices    []string // if these are all values
	JSON       bool     // a value is written as JSON
	File       Config
}

// variables are used in place of a key.
var variables = map[string]string{"model": "PAWL_MODEL", "screen.theme": "PAWL_THEME", "screen.calm": "PAWL_CALM"}

// general is the group of the keys that belong to no object.
const general = "general"

// node is the part of the schema that says something about a key.
type node struct {
	Description string
	Default     json.RawMessage
	Enum        []string
	Properties  map[string]node
}

// Listed returns all settings, by group: those of the person's file, then what the project's
// may set.
func Listed(user, project Config, env func(string) string) (out []Setting, err error) {
	var top node
	if err := json.Unmarshal(doc.ConfigSchema, &top); err != nil {
		return nil, err
	}
	for _, file := range []Config{user, project} {
		keys, values, err := file.All()
		if err != nil && !file.Project { // a project's file that is wrong stops the start
			return nil, err
		}
		var all []Setting
		var walk func(at string, n node, t reflect.Type)
		walk = func(at string, n node, t reflect.Type) {
			if fields, _ := inside(t); fields != nil && len(n.Properties) > 0 {
				for i, name := range fields.names {
					walk(strings.TrimPrefix(at+"."+name, "."), n.Properties[name], fields.types[i])
				}
				return
			}
			s := Setting{Key: at, Group: general, About: n.Description, Value: string(values[at]), Default: string(n.Default), Choices: n.Enum, File: file}
			if group, _, nested := strings.Cut(at, "."); nested {
				s.Group = group
			}
			switch t = under(t); t.Kind() {
			case reflect.Bool:
				s.Choices = []string{"true", "false"}
			case reflect.Map, reflect.Struct, reflect.Slice:
				s.JSON = t.Kind() != reflect.Slice || t.Elem().Kind() != reflect.String
			}
			if name := variables[at]; name != "" && env(name) != "" && !file.Project {
				s.Instead = name + "=" + env(name)
			}
			all = append(all, s)
			for _, k := range keys { // the entries of a map
				if rest, below := strings.CutPrefix(k, at+"."); below && rest != "" {
					all = append(all, Setting{Key: k, Group: s.Group, Value: string(values[k]), JSON: true, File: file})
				}
			}
		}
		walk("", top, reflect.TypeFor[Settings]())
		all = slices.DeleteFunc(all, func(s Setting) bool {
			return s.Key == "$schema" || file.Project && !slices.Contains(projectKeys, s.Key)
		})
		sorting.By(all, func(a, b Setting) int { return strings.Compare(first(a.Group), first(b.Group)) })
		out = append(out, all...)
	}
	return out, nil
}

// first sorts the general keys before the groups, which stay in their order.
func first(group string) string {
	if group == general {
		return ""
	}
	return "then"
}

// Bare returns a value for people: a text without quotes, anything else as one line of JSON.
func Bare(raw string) string {
	var s string
	if json.Unmarshal([]byte(raw), &s) == nil {
		return s
	}
	return strings.Join(strings.Fields(raw), " ")
}

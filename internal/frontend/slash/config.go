package slash

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func configCommand() Command {
	return Command{
		Name: "config", Anytime: true, Args: "[[--project] KEY [VALUE] | path]", Doc: "show and change your settings",
		Run: func(ctx context.Context, h Host, args string) error {
			switch args {
			case "":
				return configForm(ctx, h)
			case "path":
				return h.Pawl(ctx, "config", "path")
			}
			args = strings.TrimPrefix(args, "set ") // as in `pawl config set`
			rest, project := strings.CutPrefix(args, "--project ")
			key, value, set := keyAndValue(strings.TrimSpace(rest))
			if set {
				return h.Pawl(ctx, configArgs(project, "set", key, value)...)
			}
			all, err := h.Settings()
			if err != nil {
				return err
			}
			for _, s := range all {
				if s.Key == key && s.File.Project == project {
					fmt.Fprintf(h.Out(), "%s = %s\n%s\n", key, plain.Line(stands(s)), plain.Text(about(s)))
					return nil
				}
			}
			return h.Pawl(ctx, "config", "get", key)
		},
	}
}

// configForm lets a person look through all settings and change some. Each change is a
// `pawl config set`; what became of it stands above the list.
func configForm(ctx context.Context, h Host) error {
	title, at := "settings", ""
	for {
		all, err := h.Settings()
		if err != nil {
			return err
		}
		var items []Item
		chosen := map[string]settings.Setting{}
		for _, s := range all {
			it := Item{ID: s.Key, Group: s.Group, Text: s.Key, About: stands(s), More: about(s)}
			if s.File.Project {
				it.ID, it.Group = "project "+s.Key, "this project, which can only restrict"
			}
			it.Here = it.ID == at
			chosen[it.ID] = s
			items = append(items, it)
		}
		if at, err = pickOrList(ctx, h, title, items); err != nil || at == "" {
			return err
		}
		args, err := newValue(ctx, h, chosen[at])
		switch {
		case err != nil:
			return err
		case args == nil:
			title = "settings"
			continue
		}
		title = chosen[at].Key + " is set; new sessions use it"
		if err := h.Pawl(ctx, args...); err != nil {
			title = err.Error()
		}
	}
}

// newValue asks for a setting's value and returns the command that sets it; nil for none.
func newValue(ctx context.Context, h Host, s settings.Setting) ([]string, error) {
	const unset = "(not set)"
	now := settings.Bare(s.Value)
	if len(s.Choices) == 0 {
		how := "a value"
		if s.JSON {
			how = "JSON"
		}
		value, err := h.Ask(ctx, fmt.Sprintf("%s, now %s. Type %s, - for not set; Enter alone keeps it: ", s.Key, stands(s), how))
		switch {
		case err != nil || value == "":
			return nil, err
		case value == "-":
			return configArgs(s.File.Project, "unset", s.Key), nil
		}
		return configArgs(s.File.Project, "set", s.Key, value), nil
	}
	if s.Choices[0] == "true" { // it is switched
		return configArgs(s.File.Project, "set", s.Key, map[bool]string{true: "false", false: "true"}[now == "true" || s.Value == "" && s.Default == "true"]), nil
	}
	items := []Item{{ID: unset, Text: unset, About: settings.Bare(s.Default), Here: s.Value == ""}}
	for _, v := range s.Choices {
		items = append(items, Item{ID: v, Text: v, Here: v == now})
	}
	switch id, _, err := h.Pick(ctx, s.Key+", "+s.About, items); {
	case err != nil || id == "":
		return nil, err
	case id == unset:
		return configArgs(s.File.Project, "unset", s.Key), nil
	default:
		return configArgs(s.File.Project, "set", s.Key, id), nil
	}
}

func configArgs(project bool, verb string, words ...string) []string {
	out := []string{"config", verb}
	if project {
		out = append(out, "--project")
	}
	return append(append(out, "--"), words...)
}

// stands says what a setting is, and from where.
func stands(s settings.Setting) string {
	switch {
	case s.Instead != "":
		return s.Instead
	case s.Value != "":
		return settings.Bare(s.Value)
	case s.Default != "":
		return settings.Bare(s.Default) + " (default)"
	}
	return "not set"
}

// about says what a setting does, and in which file it is.
func about(s settings.Setting) string {
	out := s.About
	if s.Value != "" {
		return strings.TrimSpace(out + "\nset in " + s.File.Path)
	}
	return out + "\nnot set in " + s.File.Path
}

// keyAndValue splits at the first blank outside quotes: a part of a key may be quoted.
func keyAndValue(args string) (key, value string, set bool) {
	quoted := false
	for i, c := range args {
		switch {
		case c == '"':
			quoted = !quoted
		case c == ' ' && !quoted:
			return args[:i], strings.TrimSpace(args[i:]), true
		}
	}
	return args, "", false
}

package permission

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// This file hands the rules about paths to the sandbox, which keeps them for every program:
// of a command's words only rules about commands judge (SPEC 16.5).

// pathRules returns the rules about paths for a call's processes, without those that ask
// about what a person is asked about before it runs.
func (p *Policy) pathRules(granted []part) []process.PathRule {
	var out []process.PathRule
	only := true
	for _, r := range p.rules {
		one := process.PathRule{Write: r.family() == tool.EditFamily, Pattern: p.absPattern(r.Pattern), Rank: r.specific(), Text: r.Text}
		if r.Bare || one.Pattern == "" || !one.Write && r.family() != tool.ReadFamily {
			continue
		}
		switch r.List {
		case Denies:
			one.List = process.DeniesPath
		case Asks:
			if slices.ContainsFunc(granted, func(u part) bool { return p.denies(r, u) }) {
				continue
			}
			one.List = process.AsksPath
		default:
			one.List = process.AllowsPath
		}
		only = only && one.List == process.AllowsPath
		out = append(out, one)
	}
	if only { // they take nothing away
		return nil
	}
	return out
}

// absPattern returns a rule's path pattern as an absolute one, "" if it can match nothing.
func (p *Policy) absPattern(pattern string) string {
	switch {
	case strings.HasPrefix(pattern, "//"):
		return pattern[1:]
	case strings.HasPrefix(pattern, "~/") || pattern == "~":
		if p.cfg.Home == "" {
			return ""
		}
		return p.cfg.Home + pattern[1:]
	case strings.HasPrefix(pattern, "/"):
		return pattern
	}
	pattern = strings.TrimPrefix(pattern, "./")
	if !strings.Contains(strings.TrimSuffix(pattern, "/"), "/") {
		pattern = "**/" + pattern
	}
	return p.cfg.Root + "/" + pattern
}

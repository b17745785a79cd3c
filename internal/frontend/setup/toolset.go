package setup

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/adapter/lsp"
	"github.com/pawl-agent/pawl/internal/adapter/skills"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
	"github.com/pawl-agent/pawl/internal/team/subagent"
)

// offer is what the tools of a session depend on.
type offer struct {
	model  llm.Info
	kinds  []agents.Kind
	skills []skills.Skill
	mask   func(string) string
	search bool // a search service is configured
	person bool // somebody can be asked, and confirms what is to be remembered
	git    bool // the workspace is in a repository
}

// toolSet returns the tools in the order in which the model sees them: those that the run
// can use.
func toolSet(o offer) tool.Set {
	set := append(tool.Set{tools.Read(), tools.Grep(), tools.Glob(), byShell(tools.Ls())}, edits()...)
	if o.person {
		set = append(set, tools.Bash())
	} else {
		set = append(set, tools.BashAlone())
	}
	set = append(set, tools.BashOutput(), tools.BashKill())
	if o.git {
		set = append(set, byShell(tools.GitStatus()), byShell(tools.GitLog()), byShell(tools.GitDiff()))
	}
	set = append(set, tools.WebFetch(), tools.Todo())
	if o.person {
		set = append(set, tools.AskUser(), tools.Remember())
	}
	set = append(set, tools.CleanupToolCall(), tools.GoOverlay())
	if o.search || o.model.Search {
		set = append(set, tools.WebSearch())
	}
	if len(o.kinds) > 0 {
		set = append(set, subagent.Tool(o.kinds, o.mask))
	}
	if known := skills.ForModel(o.skills); len(known) > 0 {
		var forked skills.Forked
		if len(o.kinds) > 0 {
			forked = func(ctx context.Context, env tool.Env, s skills.Skill, text string) (tool.Result, error) {
				return subagent.Run(ctx, env, o.kinds, subagent.Arguments{Description: "the skill " + s.Name, Prompt: text, Agent: s.Agent}, o.mask, s.Model, s.Effort, s.Tools.Hooks)
			}
		}
		set = append(set, skills.Tool(known, o.mask, forked))
	}
	return set
}

// byShell hides a tool that does what a command does: models use the command, and each
// request would pay for the tool's text (SPEC 20.3). It can be called, and chosen by name.
func byShell(t tool.Tool) tool.Tool {
	t.Hidden = true
	return t
}

func everyTool() tool.Set {
	every := append(toolSet(offer{search: true, person: true, git: true}), tools.Lsp()...)
	return append(every, subagent.Tool(nil, nil), skills.Tool(nil, strings.Clone, nil))
}

// alike are tools that come with another one: further forms of it, and what it needs.
var alike = map[string][]string{"bash": {"bash_output", "bash_kill"}, "edit": {"multi_edit", "apply_patch"}}

// only returns the tools of a set that names choose, by pawl's names or another agent's;
// nil chooses all. A name that nobody knows is an error.
func only(set tool.Set, names []string) (tool.Set, error) {
	if names == nil {
		return set, nil
	}
	every, chosen, named := everyTool(), map[string]bool{}, map[string]bool{}
	for _, n := range names {
		t, known := every.Resolve(n)
		if !known && !claudecode.Absent(n) && !strings.HasPrefix(n, "mcp__") {
			return nil, Usage("--tools: pawl does not know the tool %q", n)
		}
		named[t.Spec.Name] = true
		for _, name := range append(alike[t.Spec.Name], t.Spec.Name) {
			chosen[name] = true
		}
	}
	set = slices.DeleteFunc(set, func(t tool.Tool) bool { return !chosen[t.Spec.Name] })
	for i, t := range set {
		set[i].Hidden = t.Hidden && !named[t.Spec.Name]
	}
	return set, nil
}

// edits returns the tools that change files. A model is offered what its maker's own agent
// has, which it was trained on: patches for GPT, the replacement of a text for the others
// (SPEC 4.9, 20.1). It can call the other forms all the same.
func edits() tool.Set {
	patches := func(family string) bool { return family == "gpt" }
	edit, many, patch := tools.Edit(), tools.MultiEdit(), tools.ApplyPatch()
	edit.HiddenFrom, many.Hidden = patches, true
	patch.HiddenFrom = func(family string) bool { return !patches(family) }
	return tool.Set{edit, many, tools.Write(), patch}
}

// limited sets how long a call of a tool may take, by the tools' names.
func limited(set tool.Set, limits map[string]time.Duration) {
	for i := range set {
		if d, ok := limits[set[i].Spec.Name]; ok {
			set[i].Timeout = d
		}
	}
}

// codeTools returns a function that returns the tools of language servers, or nil if
// none of these fits the folder's present files (SPEC 12.2). It starts nothing.
func codeTools(servers *lsp.Servers, names []string) func() tool.Set {
	if servers == nil {
		return nil
	}
	return func() tool.Set {
		if servers.Offered() {
			set, _ := only(tools.Lsp(), names) // the names were checked at the start
			return set
		}
		return nil
	}
}

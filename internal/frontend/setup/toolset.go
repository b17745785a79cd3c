package setup

import (
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/adapter/lsp"
	"github.com/pawl-agent/pawl/internal/adapter/skills"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/team/subagent"
)

// toolSet returns the tools in the order in which the model sees them. The model's
// family determines the form of the edit tool (SPEC 4.9). search reports that a search
// service is configured. Without a person there is nobody to ask, and nobody who confirms
// what is to be remembered.
func toolSet(i llm.Info, kinds []agents.Kind, known []skills.Skill, mask func(string) string, search, person bool) tool.Set {
	set := tool.Set{tools.Read(), tools.Grep(), tools.Glob(), tools.Ls()}
	if i.Family == "gpt" {
		set = append(set, tools.ApplyPatch(), tools.Write())
	} else {
		set = append(set, tools.Edit(), tools.MultiEdit(), tools.Write(), tools.ApplyPatch())
	}
	set = append(set, tools.Bash(), tools.BashOutput(), tools.BashKill(),
		tools.GitStatus(), tools.GitLog(), tools.GitDiff(), tools.WebFetch(), tools.Todo())
	if person {
		set = append(set, tools.AskUser(), tools.Remember())
	}
	set = append(set, tools.CleanupToolCall(), tools.GoOverlay())
	if search || i.Search {
		set = append(set, tools.WebSearch())
	}
	if len(kinds) > 0 {
		set = append(set, subagent.Tool(kinds))
	}
	if known = skills.ForModel(known); len(known) > 0 {
		set = append(set, skills.Tool(known, mask))
	}
	return set
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
func codeTools(servers *lsp.Servers) func() tool.Set {
	if servers == nil {
		return nil
	}
	return func() tool.Set {
		if servers.Offered() {
			return tools.Lsp()
		}
		return nil
	}
}

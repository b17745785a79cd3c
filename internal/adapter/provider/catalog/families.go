package catalog

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/anthropic"
	"github.com/pawl-agent/pawl/internal/adapter/provider/ollama"
	"github.com/pawl-agent/pawl/internal/adapter/provider/openaichat"
)

// tuned is what the models of a family get: what their maker documents, and what the
// maker's own agent sends by default (SPEC 20.1).
type tuned struct {
	// models are patterns of names, as path.Match has them, without what routers and
	// clouds add; Claude's have dashes. The first row that matches holds.
	models string
	at     string // the only provider where the row holds; "": all
	// levels are the efforts that a model takes, from the least to the most.
	levels string
	// effort is what is asked for unless the person says otherwise; "": nothing.
	effort string
	// side is the effort of requests beside the conversation; "": nothing, since the
	// model thinks only if asked.
	side   string
	limit  int // the longest reply that is asked for; 0: the model's longest
	tuning provider.Tuning
	paced  bool // it is told what is left of a task's budget
}

// A maker's own agent was seen to send most of these values; for models that it does not
// know, and where it sends nothing, they follow the maker's documents.

// The efforts, from the least to the most, and the usual selections of them.
const (
	allLevels   = "minimal low medium high xhigh max"
	threeLevels = "low medium high"
	fourLevels  = "low medium high xhigh"
	fiveLevels  = "low medium high xhigh max"
)

// Anthropic's betas.
const (
	interleaved = "interleaved-thinking-2025-05-14"
	effortBeta  = "effort-2025-11-24"
	binding     = "thinking-binding-controls-2026-08-01"
	updates     = "thinking-display-updates-2026-08-18"
	editing     = "context-management-2025-06-27"
	taskBudgets = "task-budgets-2026-03-13"
)

const (
	claudeLimit = 64_000
	otherLimit  = 32_000
)

var (
	adaptive = provider.Tuning{KeepThinking: true}
	bound    = provider.Tuning{KeepThinking: true, Binds: true, Betas: []string{binding}}
	// Text between calls comes as thinking, which is empty by default.
	updating  = provider.Tuning{KeepThinking: true, Binds: true, Betas: []string{binding}, Display: "updates"}
	budgeted  = provider.Tuning{Think: provider.ByBudget, KeepThinking: true, Betas: []string{interleaved}}
	reasons   = provider.Tuning{Reasons: true, NoLimit: true}
	gpt       = provider.Tuning{Reasons: true, NoLimit: true, Freeform: patches}
	gptBrief  = provider.Tuning{Reasons: true, NoLimit: true, Freeform: patches, Verbosity: "low"}
	gptRecall = provider.Tuning{Reasons: true, NoLimit: true, Freeform: patches, Verbosity: "low", Context: "all_turns"}
	never     = provider.Tuning{Think: provider.Never}
)

// patches is the form in which GPT-5 and later models were trained to change files, by the
// grammar that Codex sends.
var patches = &provider.Freeform{Tool: "apply_patch", Arg: "patch", Doc: "Change files by a patch, all of it or nothing. Give three lines of context around each change. " +
	"This is a FREEFORM tool, so do not wrap the patch in JSON.", Grammar: `start: begin_patch hunk+ end_patch
begin_patch: "*** Begin Patch" LF
end_patch: "*** End Patch" LF?

hunk: add_hunk | delete_hunk | update_hunk
add_hunk: "*** Add File: " filename LF add_line+
delete_hunk: "*** Delete File: " filename LF
update_hunk: "*** Update File: " filename LF change_move? change?

filename: /(.+)/
add_line: "+" /(.*)/ LF -> line

change_move: "*** Move to: " filename LF
change: (change_context | change_line)+ eof_line?
change_context: ("@@" | "@@ " /(.+)/) LF
change_line: ("+" | "-" | " ") /(.*)/ LF
eof_line: "*** End of File" LF

%import common.LF
`}

// families is the table of families. The last row holds for models of which nothing is
// known: they are asked for an effort only if the person says so.
var families = []tuned{
	{models: "claude-[12]* claude-instant* claude-3-5* claude-3-opus* claude-3-sonnet* claude-3-haiku*", tuning: never},
	{models: "claude-3-7*", levels: threeLevels, effort: "high", limit: claudeLimit, tuning: provider.Tuning{Think: provider.ByBudget}},
	{
		models: "claude-opus-4-5*", levels: threeLevels, effort: "high", limit: claudeLimit,
		tuning: provider.Tuning{Think: provider.ByBoth, KeepThinking: true, Betas: []string{interleaved, effortBeta}},
	},
	{models: "claude-*-4 claude-*-4?20* claude-*-4-[0-5] claude-*-4-[0-5]?*", levels: threeLevels, effort: "high", limit: claudeLimit, tuning: budgeted},
	{models: "claude-*-4-6*", levels: "low medium high max", effort: "high", limit: claudeLimit, tuning: adaptive},
	{models: "claude-*-4-*", levels: fiveLevels, effort: "high", limit: claudeLimit, tuning: adaptive, paced: true},
	{models: "claude-*-5-5*", levels: fiveLevels, effort: "medium", side: "low", limit: claudeLimit, tuning: updating, paced: true},
	{models: "claude-fable-5-[1-9] claude-mythos-5-[1-9] claude-fable-5-[1-9]?* claude-mythos-5-[1-9]?*", levels: fiveLevels, effort: "high", side: "low", limit: claudeLimit, tuning: bound, paced: true},
	{models: "claude-*-5 claude-*-5?20*", levels: fiveLevels, effort: "high", side: "low", limit: claudeLimit, tuning: adaptive, paced: true},
	{models: "claude-*", levels: fiveLevels, effort: "medium", side: "low", limit: claudeLimit, tuning: updating, paced: true},

	{models: "gpt-oss*", levels: threeLevels, side: "low"},
	{models: "gpt-*-chat* gpt-[1-4]* chatgpt-*", tuning: provider.Tuning{Think: provider.Never, NoLimit: true}},
	{models: "gpt-5-pro*", levels: "high", effort: "high", side: "high", tuning: gpt},
	{models: "gpt-5-codex*", levels: threeLevels, effort: "medium", side: "low", tuning: gpt},
	{models: "gpt-5 gpt-5-*", levels: "minimal low medium high", effort: "medium", side: "low", tuning: gpt},
	{models: "gpt-5.1-codex-max*", levels: fourLevels, effort: "medium", side: "low", tuning: gpt},
	{models: "gpt-5.1*", levels: threeLevels, effort: "medium", side: "low", tuning: gpt},
	{models: "gpt-5.3-codex*", levels: fourLevels, effort: "medium", side: "low", tuning: gptBrief},
	{models: "gpt-5.[2-4]*", levels: fourLevels, effort: "medium", side: "low", tuning: gpt},
	{models: "gpt-5.5*", levels: fourLevels, effort: "medium", side: "low", tuning: gptBrief},
	{models: "gpt-5.6-sol* gpt-6.1-sol*", levels: fiveLevels, effort: "low", side: "low", tuning: gptRecall},
	{models: "gpt-*", levels: fiveLevels, effort: "medium", side: "low", tuning: gptRecall},
	{models: "o[134] o[134]-* codex-*", levels: threeLevels, effort: "medium", side: "low", tuning: reasons},

	{models: "gemini-*image* gemini-*tts* gemini-*audio* gemini-*live* gemini-*embedding* gemini-1* gemini-2.0* gemma*", tuning: provider.Tuning{Think: provider.Never, NoLimit: true}},
	{models: "gemini-2.5*lite*", levels: threeLevels, tuning: provider.Tuning{Think: provider.ByBudget, NoLimit: true}},
	{models: "gemini-2*", levels: threeLevels, effort: "medium", side: "low", tuning: provider.Tuning{Think: provider.ByBudget, NoLimit: true}},
	{models: "gemini-*lite*", levels: "minimal low medium high", tuning: provider.Tuning{NoLimit: true}},
	{models: "gemini-3-pro*", levels: "low high", effort: "high", side: "low", tuning: provider.Tuning{NoLimit: true}},
	{models: "gemini-3-flash* gemini-3.5-flash*", levels: "minimal low medium high", effort: "high", side: "minimal", tuning: provider.Tuning{NoLimit: true}},
	{models: "gemini-*", levels: threeLevels, effort: "high", side: "low", tuning: provider.Tuning{NoLimit: true}},

	// The router asks each host in its own words, and leaves out what a model does not take.
	{models: "grok-* deepseek-* glm-* kimi-* qwen* minimax-*", at: "openrouter", levels: threeLevels, effort: "medium", side: "low"},

	{models: "grok-3-mini*", at: "xai", levels: "low high"},
	{models: "grok-[23]* grok-4 grok-4-* grok-4.20* grok-code* grok-build*", at: "xai", tuning: never},

	// DeepSeek takes all names of levels, and means low, high and max.
	{models: "deepseek-v4* deepseek-flash*", at: "deepseek", levels: allLevels, effort: "high", side: "low", limit: otherLimit, tuning: provider.Tuning{Members: `,"thinking":{"type":"enabled"}`}},
	{models: "deepseek-v4* deepseek-flash*", levels: threeLevels, limit: otherLimit},
	{models: "deepseek-*", at: "deepseek", tuning: never},

	{models: "glm-5.[2-9]*", at: "zai", levels: "low high max", side: "low", tuning: glm},
	{models: "glm-*", at: "zai", tuning: glmOnly},
	{models: "mistral-large-4*", at: "mistral", levels: threeLevels},
	{models: "mistral-medium-3.5* mistral-medium-3-5* mistral-small-latest mistral-small-4* mistral-small-26*", at: "mistral", levels: "high"},
	{models: "*", at: "mistral", tuning: never},

	{models: "*", levels: threeLevels},
}

// GLM thinks whether asked or not; it keeps its thinking, and streams calls, if asked.
const glmMembers = `,"thinking":{"type":"enabled","clear_thinking":false},"tool_stream":true`

var (
	glm     = provider.Tuning{Members: glmMembers}
	glmOnly = provider.Tuning{Members: glmMembers, Think: provider.Never}
)

// familyOf returns the row of a model at a provider.
func familyOf(model, at string) tuned {
	name := bare(model)
	for _, f := range families {
		if f.at != "" && f.at != at {
			continue
		}
		for pattern := range strings.FieldsSeq(f.models) {
			if ok, _ := path.Match(pattern, name); ok || pattern == "*" { // a test compiles all patterns
				return f
			}
		}
	}
	return tuned{}
}

// tune adds to a choice what its family gets there.
func (c *Choice) tune(r row, w Want) {
	f := familyOf(c.Info.Model, c.row.dialectName())
	t := f.tuning
	t.Betas = slices.Clone(t.Betas)
	if r.name == "openrouter" { // it wants credit for the longest reply before it asks for one
		f.limit, t.NoLimit = otherLimit, false
	}
	if f.limit > 0 && c.Info.MaxOutput > f.limit {
		c.Info.MaxOutput = f.limit
	}
	levels, effort, side := strings.Fields(f.levels), f.effort, f.side
	c.tuning, c.asked = t, w.Effort != ""
	own := c.row.kind != local && c.row.dialectName() != compatible || t.Reasons // what takes the request elsewhere is not known
	switch c.Info.API {
	case anthropic.Name:
		own = own && family(c.Info.Model) == "claude"
		if r.name != "anthropic" && r.name != foundryName { // clouds have fewer betas
			t.Display, t.KeepThinking = "", false
		}
		if t.Display == "updates" {
			t.Betas = append(t.Betas, updates)
		}
		if t.KeepThinking {
			t.Betas = append(t.Betas, editing)
		}
		if w.TaskBudget > 0 && f.paced && (r.name == "anthropic" || r.name == foundryName) {
			t.TaskBudget, t.Betas = w.TaskBudget, append(t.Betas, taskBudgets)
		}
		c.Info.Bound = t.Binds
		c.tuning = t
	case openaichat.Name:
		if c.chat().Effort == openaichat.EffortNone {
			levels = nil
		}
	case ollama.Name:
		if !strings.HasPrefix(bare(c.Info.Model), "gpt-oss") {
			levels = []string{ollama.Thinks}
		}
	}
	if !own { // only what the person asks for
		effort, side = "", ""
	}
	if c.asked {
		effort = w.Effort
	}
	c.Info.Effort, c.Info.SideEffort = nearest(levels, effort), nearest(levels, side)
}

// chat returns the dialect of Chat Completions for the model. OpenAI refuses tools with an
// effort there, so that its models get one only if the person asks for it.
func (c *Choice) chat() openaichat.Dialect {
	d := openaichat.DialectFor(c.row.dialectName(), c.Info.Model)
	d.Tuning = c.tuning
	if c.tuning.Reasons && !c.asked && d.Effort == openaichat.EffortField {
		d.Effort = openaichat.EffortNone
	}
	return d
}

// nearest returns the level to use for an effort: the highest that is not above it, else
// the least. It is "" without an effort, or if there are no levels.
func nearest(levels []string, effort string) string {
	if effort == "" || len(levels) == 0 {
		return ""
	}
	rank := func(level string) int { return slices.Index(strings.Fields(allLevels), level) }
	out := levels[0]
	for _, l := range levels {
		if rank(l) <= rank(effort) {
			out = l
		}
	}
	return out
}

// Efforts returns the names of efforts, from the least to the most.
func Efforts() []string { return strings.Fields(allLevels) }

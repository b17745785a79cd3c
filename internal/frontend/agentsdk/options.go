package agentsdk

import (
	"maps"
	"slices"
	"strings"
)

// This file is the one place that decides what pawl does with an option of the SDK. A test
// compares it with the package, so that a new option needs a row.

// Use is what pawl does with an option.
type Use int

// The uses.
const (
	Used    Use = iota + 1 // it is in force
	Host                   // the SDK does it by itself, in the program, or pawl works without it
	Left                   // it guards nothing: the program is told that it is not used
	Refused                // nothing begins with it
)

// Row is an option of the SDK's query().
type Row struct {
	Use Use
	// Note says why it is not used, and what to do.
	Note string
	// Flags and Keys are how the SDK hands it over: flags without their hyphens, and keys
	// of initialize. They are lists of words.
	Flags, Keys string
}

// Table has the options of the SDK.
var Table = map[string]Row{
	"additionalDirectories":    {Use: Used, Flags: "add-dir"},
	"agent":                    {Use: Used, Note: "its prompt, tools, model and limits; an agent that nobody has ends the run", Flags: "agent"},
	"agents":                   {Use: Used, Keys: "agents"},
	"allowedTools":             {Use: Used, Flags: "allowedTools"},
	"canUseTool":               {Use: Used, Flags: "permission-prompt-tool"},
	"continue":                 {Use: Used, Flags: "continue"},
	"disallowedTools":          {Use: Used, Flags: "disallowedTools initialize-fields", Keys: "disallowedTools"},
	"effort":                   {Use: Used, Flags: "effort"},
	"fallbackModel":            {Use: Used, Flags: "fallback-model"},
	"forkSession":              {Use: Used, Flags: "fork-session"},
	"hooks":                    {Use: Used, Keys: "hooks"},
	"includeHookEvents":        {Use: Used, Flags: "include-hook-events"},
	"includePartialMessages":   {Use: Used, Flags: "include-partial-messages"},
	"managedSettings":          {Use: Used, Flags: "managed-settings managed-settings-in-initialize", Keys: "managedSettings"},
	"maxBudgetUsd":             {Use: Used, Flags: "max-budget-usd"},
	"maxThinkingTokens":        {Use: Used, Flags: "max-thinking-tokens"},
	"maxTurns":                 {Use: Used, Flags: "max-turns"},
	"mcpServers":               {Use: Used, Flags: "mcp-config", Keys: "mcpServers sdkMcpServers sdkMcpServerConfigs"},
	"model":                    {Use: Used, Flags: "model"},
	"onElicitation":            {Use: Used, Note: "a server's question is the request elicitation"},
	"outputFormat":             {Use: Used, Flags: "json-schema", Keys: "jsonSchema"},
	"permissionMode":           {Use: Used, Flags: "permission-mode"},
	"permissionPromptToolName": {Use: Used, Note: "only stdio", Flags: "permission-prompt-tool"},
	"permissionPrompts":        {Use: Used, Flags: "permission-prompts"},
	"persistSession":           {Use: Used, Flags: "no-session-persistence"},
	"plugins":                  {Use: Used, Note: "hooks and servers that are not trusted end the run: pawl plugin trust FOLDER", Flags: "plugin-dir plugin-dir-no-mcp", Keys: "plugins"},
	"resume":                   {Use: Used, Flags: "resume"},
	"resumeDropsTurn":          {Use: Used, Flags: "resume-drops-turn"},
	"resumeSessionAt":          {Use: Used, Note: "always in a copy with an id of its own", Flags: "resume-session-at"},
	"sandbox":                  {Use: Used, Note: "as settings.sandbox", Flags: "settings"},
	"sessionId":                {Use: Used, Flags: "session-id"},
	"settings":                 {Use: Used, Note: "what it forbids; each other key is named", Flags: "settings await-initialize", Keys: "settings"},
	"skills":                   {Use: Used, Note: "of those that the model is offered; a person's commands stay", Keys: "skills"},
	"strictMcpConfig":          {Use: Used, Flags: "strict-mcp-config"},
	"systemPrompt":             {Use: Used, Keys: "systemPrompt appendSystemPrompt"},
	"taskBudget":               {Use: Used, Note: "Claude from Opus 4.7 on is told, and so are its agents; a run with another model is refused", Flags: "task-budget"},
	"thinking":                 {Use: Used, Flags: "thinking max-thinking-tokens thinking-display"},
	"tools":                    {Use: Used, Flags: "tools"},
	"verbatimPrompts":          {Use: Used, Note: "as client_composed of each prompt"},

	"abortController": {Use: Host}, "cwd": {Use: Host}, "env": {Use: Host}, "executable": {Use: Host}, "executableArgs": {Use: Host},
	"extraArgs": {Use: Host, Note: "each is a flag"}, "loadTimeoutMs": {Use: Host}, "mcpServersDelivery": {Use: Host}, "pathToClaudeCodeExecutable": {Use: Host},
	"pluginDelivery": {Use: Host}, "sessionStoreFlush": {Use: Host}, "spawnClaudeCodeProcess": {Use: Host}, "stderr": {Use: Host},
	"onUserDialog":                    {Use: Host, Note: "pawl has no dialogs"},
	"allowDangerouslySkipPermissions": {Use: Host, Note: "set_permission_mode may always choose bypassPermissions", Flags: "allow-dangerously-skip-permissions"},
	"enableFileCheckpointing":         {Use: Host, Note: "pawl always records changes: pawl undo", Flags: "replay-user-messages"},

	"agentProgressSummaries": {Use: Left, Note: "pawl sends no summaries of agents", Keys: "agentProgressSummaries"},
	"betas":                  {Use: Left, Note: "pawl asks a provider for what the model has", Flags: "betas"},
	"debug":                  {Use: Left, Note: "pawl sessions export --format jsonl has every event", Flags: "debug"},
	"debugFile":              {Use: Left, Note: "pawl sessions export --format jsonl has every event", Flags: "debug-file"},
	"forwardSubagentText":    {Use: Left, Note: "pawl sends no text of agents", Keys: "forwardSubagentText"},
	"perTaskStopAffordance":  {Use: Left, Note: "pawl has no dialogs", Keys: "perTaskStopAffordance"},
	"planModeInstructions":   {Use: Left, Note: "write them into systemPrompt", Keys: "planModeInstructions"},
	"promptSuggestions":      {Use: Left, Note: "pawl suggests no prompts", Keys: "promptSuggestions"},
	"settingSources":         {Use: Left, Note: "pawl reads its own settings: pawl config path", Flags: "setting-sources"},
	"supportedDialogKinds":   {Use: Left, Note: "pawl has no dialogs", Keys: "supportedDialogKinds"},
	"title":                  {Use: Left, Note: "pawl sessions lists sessions by their first prompt", Keys: "title"},
	"toolConfig":             {Use: Left, Note: "pawl has no such settings of tools"},

	"projectConfigRoot": {Use: Refused, Note: "pawl reads the configuration of the folder that it works in", Flags: "project-config-root"},
	"sessionStore":      {Use: Refused, Note: "pawl stores sessions by itself: pawl sessions export", Flags: "session-mirror"},
	"toolAliases":       {Use: Refused, Note: "a tool has its own name", Keys: "toolAliases"},
}

// RefusedFlags returns the flags of options that pawl refuses, with their hyphens, and
// what to do instead.
func RefusedFlags() map[string]string { return flags(Refused) }

// LeftFlags returns the flags of options that pawl takes and does not use.
func LeftFlags() map[string]string { return flags(Left) }

func flags(of Use) map[string]string {
	out := map[string]string{}
	for _, r := range Table {
		if r.Use == of {
			for _, f := range strings.Fields(r.Flags) {
				out["--"+f] = r.Note
			}
		}
	}
	return out
}

// options are the keys of initialize: those of the table and those of the protocol. A key
// that is not among them ends the run: it may be a guard.
var options = func() map[string]Use {
	out := map[string]Use{"subtype": Used, "appendSubagentSystemPrompt": Left}
	for name := range strings.FieldsSeq("sdkMcpServerManifests sdkMcpServerManifestsOrigin systemPromptSnapshot excludeDynamicSections forwardNestedSubagentToolCalls rapidFollowupPreempt offersBypassSwitchBack keepsBypassHeld workspaceTrust webSearchIsolationExemptMcpServers codeRunningMcpTools") {
		out[name] = Host
	}
	for _, row := range Table {
		for key := range strings.FieldsSeq(row.Keys) {
			out[key] = row.Use
		}
	}
	return out
}()

// InitializeKeys returns the keys of initialize that pawl knows, and refuses.
func InitializeKeys() []string {
	return slices.Sorted(maps.Keys(options))
}

// noteOf says why a key is not used, or refused.
func noteOf(key string) string {
	for _, r := range Table {
		if slices.Contains(strings.Fields(r.Keys), key) {
			return r.Note
		}
	}
	return "pawl has nothing of this kind"
}

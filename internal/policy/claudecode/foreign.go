package claudecode

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/policy/unknown"
)

// Foreign is a settings file of an agent that is not Claude Code. pawl uses nothing of it
// by itself: each key is named with what to do, and before anything runs one that forbids
// something.
type Foreign struct {
	Path string // below the folder, or below the home
	Home bool
	keys func() map[string]foreign
	// whole says what to do if the file, or the folder, forbids something as a whole, just by
	// being there.
	whole string
}

// foreign is the meaning of one key, with a dot before each inner one.
type foreign struct {
	note string
	// guards reports whether a value forbids something; nil: none does.
	guards func(any) bool
}

func always(v any) bool    { return v != nil && v != false }
func whenFalse(v any) bool { return v == false }

// unless returns a guard that any value is but the given ones.
func unless(free ...string) func(any) bool {
	return func(v any) bool {
		text, ok := v.(string)
		return !ok || !slices.Contains(free, text)
	}
}

func only(text string) func(any) bool { return func(v any) bool { return v == text } }

// unlessAllowed is a guard of which every value but allow restricts something.
func unlessAllowed(v any) bool {
	if inner, ok := v.(map[string]any); ok {
		for _, one := range inner {
			if unlessAllowed(one) {
				return true
			}
		}
		return false
	}
	return v != "allow"
}

const (
	askedFor  = "start pawl with --permission-mode ask"
	boxed     = "start pawl with --sandbox read-only"
	denied    = "pawl config set permissions.deny, or --deny"
	imported  = "pawl mcp import "
	asText    = "write it into AGENTS.md"
	asAgents  = "write agents into .claude/agents or .pawl/agents"
	asCommand = "write commands into .claude/commands"
	ownHook   = "write hooks into .claude/settings.json, or into your own configuration"
	cleanVars = "commands get only variables that are known to hold no keys"
	ownBox    = "pawl has its own sandbox, which asks about each host and path"
	noProfile = "pawl has no profiles: PAWL_HOME chooses another folder for settings"
	noServer  = "--deny 'mcp__SERVER' removes a server's tools"
	noSkill   = "--deny 'skill(NAME)' removes a skill"
	oneModel  = "pawl config set model, and keep only the keys of providers that may be used"
)

// The keys are those of codex-rs/core/config.schema.json.
var codexKeys = sync.OnceValue(func() map[string]foreign {
	return table(map[string]foreign{
		"approval_policy":                       {askedFor, unless("never", "on-request", "on-failure")},
		"approvals_reviewer":                    {"pawl asks you", nil},
		"auto_review":                           {"pawl asks no model: " + denied, always},
		"sandbox_mode":                          {boxed, unless("workspace-write", "danger-full-access")},
		"default_permissions":                   {denied, always},
		"permissions":                           {denied, always},
		"profile":                               {noProfile, always},
		"profiles":                              {noProfile, nil},
		"hooks":                                 {ownHook, always},
		"apps":                                  {denied, always},
		"skills":                                {noSkill, always},
		"shell_environment_policy":              {cleanVars, nil},
		"shell_environment_policy.exclude":      {cleanVars, always},
		"shell_environment_policy.include_only": {cleanVars, always},
		"shell_environment_policy.inherit":      {cleanVars, unless("all")},
		"sandbox_workspace_write":               {ownBox, nil},
		"sandbox_workspace_write.exclude_slash_tmp":      {"commands write new files into /tmp", always},
		"sandbox_workspace_write.exclude_tmpdir_env_var": {"commands write new files into TMPDIR", always},
		"mcp_servers":                 {imported + "codex", nil},
		"projects":                    {asked, nil},
		"web_search":                  {"--deny web_search", only("disabled")},
		"tools":                       {"pawl config set search.api", nil},
		"tools.web_search":            {"--deny web_search", whenFalse},
		"features":                    {noSuch, nil},
		"features.shell_tool":         {"--deny bash", whenFalse},
		"features.network_proxy":      {ownBox, always},
		"allow_login_shell":           {noSuch, whenFalse},
		"history":                     {inConfig, nil},
		"history.persistence":         {"start pawl with --no-session", only("none")},
		"forced_login_method":         {oneModel, always},
		"forced_chatgpt_workspace_id": {oneModel, always},
	}, map[string]string{
		inConfig: "model model_provider model_providers model_reasoning_effort model_reasoning_summary model_verbosity model_context_window model_auto_compact_token_limit model_auto_compact_token_limit_scope model_catalog_json model_supports_reasoning_summaries plan_mode_reasoning_effort review_model service_tier oss_provider",
		inScreen: "tui file_opener hide_agent_reasoning show_raw_agent_reasoning notify notice disable_paste_burst desktop",
		asText:   "instructions developer_instructions model_instructions_file project_doc_max_bytes project_doc_fallback_filenames project_root_markers personality compact_prompt experimental_compact_prompt_file include_apps_instructions include_collaboration_mode_instructions include_environment_context include_permissions_instructions",
		ownLogin: "chatgpt_base_url cli_auth_credentials_store mcp_oauth_credentials_store mcp_oauth_callback_port mcp_oauth_callback_url openai_base_url",
		noSuch:   "features.hooks features.codex_hooks features.plugin_hooks features.exec_permission_approvals features.request_permissions features.request_permissions_tool features.use_linux_sandbox_bwrap features.elevated_windows_sandbox features.enable_experimental_windows_sandbox features.experimental_windows_sandbox experimental_use_unified_exec_tool experimental_realtime_start_instructions experimental_realtime_ws_backend_prompt experimental_realtime_ws_base_url experimental_realtime_ws_model experimental_realtime_ws_startup_context experimental_thread_config_endpoint experimental_thread_store otel analytics feedback check_for_update_on_startup suppress_unstable_features_warning background_terminal_max_timeout tool_output_token_limit tool_suggest sqlite_home log_dir ghost_snapshot windows memories plugins marketplaces apps_mcp_product_sku audio realtime debug",
		asAgents: "agents",
	})
})

// The keys are those of schemas/settings.schema.json, and the older names of some.
var geminiKeys = sync.OnceValue(func() map[string]foreign {
	return table(map[string]foreign{
		"policyPaths":                                   {denied, always},
		"adminPolicyPaths":                              {denied, always},
		"tools.core":                                    {denied, always},
		"tools.exclude":                                 {denied, always},
		"tools.confirmationRequired":                    {"pawl config set permissions.ask, or --ask", always},
		"tools.sandbox":                                 {"pawl has its own sandbox: pawl sandbox", nil},
		"tools.sandboxAllowedPaths":                     {ownBox, nil},
		"tools.sandboxNetworkAccess":                    {ownBox, nil},
		"tools.allowed":                                 {notGranted, nil},
		"tools.discoveryCommand":                        {noProgram, nil},
		"tools.callCommand":                             {noProgram, nil},
		"coreTools":                                     {denied, always},
		"excludeTools":                                  {denied, always},
		"mcp.allowed":                                   {noServer, always},
		"mcp.excluded":                                  {noServer, always},
		"mcp.serverCommand":                             {noProgram, nil},
		"allowMCPServers":                               {noServer, always},
		"excludeMCPServers":                             {noServer, always},
		"mcpServers":                                    {imported + "gemini", nil},
		"security.disableYoloMode":                      {"\"permissions\": {\"disableBypassPermissionsMode\": \"disable\"} in .claude/settings.json", always},
		"security.disableAlwaysAllow":                   {"answer y, and not a", always},
		"security.enablePermanentToolApproval":          {"answer s, and not a", whenFalse},
		"security.autoAddToPolicyByDefault":             {noSuch, nil},
		"security.toolSandboxing":                       {"pawl has its own sandbox: pawl sandbox", nil},
		"security.enableConseca":                        {"pawl asks no model: " + denied, always},
		"security.blockGitExtensions":                   {"pawl loads no extensions", nil},
		"security.allowedExtensions":                    {"pawl loads no extensions", nil},
		"security.environmentVariableRedaction":         {cleanVars, nil},
		"security.environmentVariableRedaction.blocked": {cleanVars, always},
		"security.folderTrust":                          {asked, nil},
		"security.auth":                                 {ownLogin, nil},
		"security.auth.enforcedType":                    {oneModel, always},
		"admin":                                         {denied, always},
		"hooks":                                         {ownHook, always},
		"hooksConfig":                                   {ownHook, nil},
		"skills":                                        {noSkill, nil},
		"skills.enabled":                                {noSkill, whenFalse},
		"skills.disabled":                               {noSkill, always},
		"context.fileFiltering":                         {noSuch, nil},
		"context.fileFiltering.customIgnoreFilePaths":   {"pawl config set permissions.deny with Read(PATH)", always},
		"advanced.excludedEnvVars":                      {cleanVars, nil},
		"excludedProjectEnvVars":                        {cleanVars, nil},
		"model.maxSessionTurns":                         {"start pawl with --max-turns", func(v any) bool { return v != float64(-1) }},
		"general.defaultApprovalMode":                   {askedFor, unless("default", "auto_edit", "yolo")},
	}, map[string]string{
		inConfig: "model modelConfigs contextManagement",
		inScreen: "ui output theme vimMode hideTips hideBanner hideFooter customThemes general.vimMode general.preferredEditor preferredEditor usageStatisticsEnabled accessibility",
		asText:   "context contextFileName memoryImportFormat",
		asAgents: "agents",
		ownLogin: "selectedAuthType",
		noSuch:   "$schema general privacy ide telemetry experimental extensions useWriteTodos bugCommand fileFiltering checkpointing maxSessionTurns summarizeToolOutput autoAccept disableAutoUpdate billing tools.shell tools.useRipgrep tools.truncateToolOutputThreshold tools.disableLLMCorrection advanced",
	})
})

// The keys are those of opencode's ConfigV1.Info, and of its second version.
var opencodeKeys = sync.OnceValue(func() map[string]foreign {
	return table(map[string]foreign{
		"permission":                 {denied, unlessAllowed},
		"permissions":                {denied, always},
		"policies":                   {denied, always},
		"tools":                      {denied, always},
		"agent":                      {asAgents, always},
		"agents":                     {asAgents, always},
		"mode":                       {asAgents, always},
		"default_agent":              {asAgents, always},
		"experimental.policies":      {denied, always},
		"experimental.primary_tools": {denied, always},
		"experimental":               {noSuch, nil},
		"mcp":                        {imported + "opencode", nil},
		"disabled_providers":         {oneModel, always},
		"enabled_providers":          {oneModel, always},
		"share":                      {"nothing is uploaded", nil},
		"autoshare":                  {"nothing is uploaded", nil},
	}, map[string]string{
		inConfig:                     "model small_model provider providers compaction snapshot snapshots cache warming websearch",
		inScreen:                     "theme keybinds tui layout username",
		asText:                       "instructions",
		noSuch:                       "$schema autoupdate update server watcher logLevel skills enterprise reference references attachment media json_response tool_output shell subagent_depth worktree",
		asCommand:                    "command commands",
		"pawl plugin add":            "plugin plugins",
		"pawl has its own: pawl lsp": "lsp formatter",
	})
})

// The keys are those of Cursor's pages on its command line, permissions.json, sandbox.json
// and hooks.json.
var cursorKeys = sync.OnceValue(func() map[string]foreign {
	return table(map[string]foreign{
		"permissions.deny":  {denied, always},
		"permissions.allow": {notGranted, nil},
		"sandbox":           {"pawl has its own sandbox: pawl sandbox", nil},
		"approvalMode":      {askedFor, unless("unrestricted")},
	}, map[string]string{
		inConfig: "version model selectedModel modelSelectionHistory maxMode hasChangedDefaultModel exploreSubagentModel editor network attribution",
		inScreen: "display statusLine notifications hints suggestNextPrompt rewind modelSlashCommands",
		asked:    "autoAcceptWebSearch runEverythingSettingsPromptStreak",
		ownLogin: "authInfo serverConfigCache privacyCache",
		noSuch:   "channel",
	})
})

var cursorAllows = sync.OnceValue(func() map[string]foreign {
	return table(map[string]foreign{
		"autoRun": {"pawl asks no model: " + denied, always},
	}, map[string]string{notGranted: "mcpAllowlist terminalAllowlist"})
})

var cursorBox = sync.OnceValue(func() map[string]foreign {
	return table(map[string]foreign{
		"type":                  {boxed, unless("workspace_readwrite", "insecure_none")},
		"readBoundary":          {ownBox, always},
		"disableTmpWrite":       {"commands write new files into /tmp", always},
		"networkPolicy.deny":    {"pawl config set permissions.deny with network(HOST)", always},
		"networkPolicy.allow":   {ownBox, nil},
		"networkPolicy.default": {ownBox, nil}, // pawl asks about each host
	}, map[string]string{ownBox: "additionalReadwritePaths additionalReadonlyPaths additionalReadPaths enableSharedBuildCache"})
})

var hookFile = sync.OnceValue(func() map[string]foreign {
	return table(map[string]foreign{"hooks": {ownHook, always}}, map[string]string{noSuch: "version"})
})

// table joins rows that have a note of their own with keys that share one.
func table(rows map[string]foreign, shared map[string]string) map[string]foreign {
	for note, names := range shared {
		for name := range strings.FieldsSeq(names) {
			rows[name] = foreign{note: note}
		}
	}
	return rows
}

// Foreigns are the settings files of other agents.
var Foreigns = slices.Concat(
	Foreign{keys: codexKeys}.at(".codex/config.toml", "~/.codex/config.toml"),
	Foreign{keys: hookFile}.at(".codex/hooks.json", "~/.codex/hooks.json", ".cursor/hooks.json", "~/.cursor/hooks.json"),
	Foreign{keys: geminiKeys}.at(".gemini/settings.json", "~/.gemini/settings.json"),
	Foreign{keys: opencodeKeys}.at("opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc", "~/.config/opencode/opencode.json", "~/.config/opencode/opencode.jsonc"),
	Foreign{keys: cursorKeys}.at(".cursor/cli.json", "~/.cursor/cli-config.json"),
	Foreign{keys: cursorAllows}.at(".cursor/permissions.json", "~/.cursor/permissions.json"),
	Foreign{keys: cursorBox}.at(".cursor/sandbox.json", "~/.cursor/sandbox.json"),
	Foreign{whole: "pawl reads the files that it names: pawl config set permissions.deny with Read(PATH)"}.at(".cursorignore", ".geminiignore", ".aiexclude", ".aiderignore", ".codeiumignore"),
	Foreign{whole: denied}.at(".codex/rules", ".gemini/policies", "~/.codex/rules", "~/.gemini/policies"),
)

// at returns a file of this kind at each of some paths; ~/ is the person's home.
func (f Foreign) at(paths ...string) (out []Foreign) {
	for _, p := range paths {
		f.Path, f.Home = strings.CutPrefix(p, "~/")
		out = append(out, f)
	}
	return out
}

// Name returns the file for a person.
func (f Foreign) Name() string {
	if f.Home {
		return "~/" + f.Path
	}
	return f.Path
}

// Keys returns the keys of the file, for tests.
func (f Foreign) Keys() []string {
	if f.whole != "" {
		return []string{"it"}
	}
	return slices.Sorted(maps.Keys(f.keys()))
}

// Read names the keys of the file. nil means that it could not be read: then it may have
// guards.
func (f Foreign) Read(all map[string]any) Settings {
	s := Settings{File: File{Name: f.Name(), Own: f.Home}, Foreign: true}
	switch {
	case f.whole != "":
		s.Findings = []Finding{{Key: "it", Use: Unused, Note: f.whole, Guard: true}}
		return s
	case all == nil:
		s.Findings = []Finding{{Key: "it", Use: Unused, Note: "it cannot be read, and may forbid something", Guard: true}}
	}
	f.object(&s, "", all, foreign{})
	return s
}

func (f Foreign) object(s *Settings, prefix string, all map[string]any, around foreign) {
	known := unknown.Keys{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		value, full := all[name], prefix+name
		k, in := f.keys()[full]
		below, object := value.(map[string]any)
		switch {
		case object && f.inside(full):
			f.object(s, full+".", below, k)
		case in:
			s.Findings = append(s.Findings, Finding{Key: full, Use: Unused, Note: k.note, Guard: k.guards != nil && k.guards(value)})
		case around.note != "" && !known.MayGuard(name):
			s.Findings = append(s.Findings, Finding{Key: full, Use: Unused, Note: around.note})
		default:
			s.Findings = append(s.Findings, Finding{Key: full, Use: Unknown, Note: "pawl has no such setting", Guard: known.MayGuard(name)})
		}
	}
}

// inside reports whether keys of an object are in the table.
func (f Foreign) inside(name string) bool {
	for k := range f.keys() {
		if strings.HasPrefix(k, name+".") {
			return true
		}
	}
	return false
}

package claudecode

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// key is the meaning of one key.
type key struct {
	use  Use
	note string
	// agreed keeps the value of a person's own file that they agreed to. Without their word
	// such a key is not used there.
	agreed func(s *Settings, f *Finding, raw json.RawMessage) error
	guards bool // read is for the person's own file, too: it may have guards
	// read keeps the value. An error means that it cannot be kept. nil: nothing is kept.
	read func(s *Settings, f *Finding, raw json.RawMessage) error
	// inside: it is an object whose keys are in the table, too. Unknown keys in it count
	// as guards.
	inside bool
}

// Why pawl has no use for a key.
const (
	inConfig    = "set it in your own configuration: pawl config"
	inScreen    = "pawl has a screen of its own: pawl config, /theme"
	asked       = "pawl asks you instead, or pawl trust"
	noSuch      = "pawl has nothing of this kind"
	inManaged   = "Claude Code reads it only in managed settings"
	ownLogin    = "pawl login, or the provider's variables"
	noProgram   = "pawl runs no program of this kind"
	ofProgram   = "Claude Code reads it only from the program that starts it"
	asksOutside = "pawl asks before each of these, and the mode that asks nothing cannot be chosen"
	styleAdded  = "pawl's own instructions stay, and the style is added to them"
	installed   = "false turns a plugin off; true uses it if you installed it: pawl plugin add"
	notGranted  = "a project cannot permit: allow it with --allow, /permissions or your own configuration"
)

// keys are the keys that Claude Code has. A row is added for each new one: the test
// TestNoGuardIsDropped has a value for each that keeps or names something.
var keys = sync.OnceValue(func() map[string]key {
	out := map[string]key{
		"permissions":                                      {inside: true},
		"permissions.deny":                                 {use: Used, read: rules(permission.Denies)},
		"permissions.ask":                                  {use: Used, read: rules(permission.Asks)},
		"permissions.allow":                                {use: Unused, note: notGranted, agreed: allows, read: permits},
		"permissions.additionalDirectories":                {use: Unused, note: "a project cannot permit: --add-dir", agreed: dirs, read: permits},
		"permissions.defaultMode":                          {use: Used, agreed: ownMode, read: defaultMode},
		"permissions.disableBypassPermissionsMode":         {use: Used, read: refuses(permission.Yolo)},
		"permissions.disableAutoMode":                      {use: Used, read: refuses(permission.Auto)},
		"permissions.blockReadsOutsideWorkingDirectories":  {use: Differently, note: asksOutside, read: refuses(permission.Yolo)},
		"permissions.blockWritesOutsideWorkingDirectories": {use: Differently, note: asksOutside, read: refuses(permission.Yolo)},
		"permissions.denyInsteadOfPrompting":               {use: Unused, note: "pawl asks you; with -p, where nobody is there, it denies", read: named},
		"disableAutoMode":                                  {use: Used, read: refuses(permission.Auto)},

		"hooks":                       {use: Differently, note: "its hooks run if you trust the folder: pawl hooks list", agreed: ownHooks, guards: true, read: hooks},
		"disableAllHooks":             {use: Unused, note: "hooks that you trust run"},
		"disabledMcpjsonServers":      {use: Used, read: servers},
		"deniedMcpServers":            {use: Used, read: deniedServers},
		"allowedMcpServers":           {use: Unused, note: "any server that you trust is used", read: named},
		"disableSkillShellExecution":  {use: Differently, note: "pawl runs nothing of a skill by itself: the model asks for each command"},
		"allowedHttpHookUrls":         {use: Differently, note: "pawl runs no hook over HTTP"},
		"httpHookAllowedEnvVars":      {use: Differently, note: "pawl runs no hook over HTTP"},
		"availableModels":             {use: Unused, note: "you choose the model", read: named},
		"enforceAvailableModels":      {use: Unused, note: "you choose the model", read: named},
		"deniedModels":                {use: Unused, note: "you choose the model", read: named},
		"maxEffortLevel":              {use: Unused, note: "you choose the effort: --effort", read: named},
		"disableCommandPluginSources": {use: Differently, note: "pawl runs no command to get a plugin"},
		"skillOverrides":              {use: Unused, note: "pawl offers every skill that it finds: deny skill(NAME) instead", read: named},
		"agent":                       {use: Unused, note: "its tools are not limited: use --permission-mode and --deny", read: named},
		"claudeMdExcludes":            {use: Unused, note: "pawl rules lists what is read"},
		"autoMode":                    {use: Unused, note: "pawl's mode auto asks no model: use permissions.deny", read: named},

		"model":          {use: Unused, note: inConfig, agreed: ownModel},
		"outputStyle":    {use: Differently, note: styleAdded, agreed: style, read: style},
		"statusLine":     {use: Unused, note: "only your own settings choose a program for your screen", agreed: statusLine},
		"enabledPlugins": {use: Differently, note: installed, agreed: plugins, guards: true, read: plugins},
		"env":            {use: Unused, note: "set the variables in your shell", agreed: ownEnv},

		"sandbox":                                      {inside: true},
		"sandbox.enabled":                              {use: Used, read: func(s *Settings, _ *Finding, raw json.RawMessage) error { return flag(raw, &s.Sandbox) }},
		"sandbox.failIfUnavailable":                    {use: Used, read: func(s *Settings, _ *Finding, raw json.RawMessage) error { return flag(raw, &s.Must) }},
		"sandbox.allowUnsandboxedCommands":             {use: Used, read: neverUnconfined},
		"sandbox.autoAllowBashIfSandboxed":             {use: Unused, note: "the permission mode decides", read: namedIfFalse},
		"sandbox.filesystem":                           {inside: true},
		"sandbox.filesystem.denyRead":                  {use: Used, read: paths("Read")},
		"sandbox.filesystem.denyWrite":                 {use: Used, read: paths("Edit")},
		"sandbox.filesystem.allowRead":                 {use: Unused, note: "what is denied stays denied"},
		"sandbox.filesystem.allowWrite":                {use: Unused, note: notGranted, read: permits},
		"sandbox.filesystem.disabled":                  {use: Unused, note: "--sandbox off"},
		"sandbox.filesystem.allowManagedReadPathsOnly": {use: Unused, note: inManaged},
		"sandbox.credentials":                          {inside: true},
		"sandbox.credentials.files":                    {use: Used, read: credentials},
		"sandbox.credentials.envVars":                  {use: Differently, note: "commands get only variables that are known to hold no keys"},
		"sandbox.credentials.allowPlaintextInject":     {use: Unused, note: noSuch},
		"sandbox.network":                              {inside: true},
		"sandbox.network.deniedDomains":                {use: Used, read: domains},
		"sandbox.network.allowedDomains":               {use: Unused, note: "pawl asks about each host", read: permits},
		"sandbox.network.strictAllowlist":              {use: Unused, note: "pawl asks about each host, and denies it where nobody is there", read: named},
	}
	for note, names := range map[string]string{
		"pawl asks about each host":    "sandbox.network.allowUnixSockets sandbox.network.allowAllUnixSockets sandbox.network.allowLocalBinding sandbox.network.allowMachLookup sandbox.network.httpProxyPort sandbox.network.socksProxyPort sandbox.network.tlsTerminate",
		"pawl has its own sandbox":     "sandbox.ignoreViolations sandbox.excludedCommands sandbox.enableWeakerNetworkIsolation sandbox.enableWeakerNestedSandbox sandbox.ripgrep sandbox.bwrapPath sandbox.socatPath sandbox.enabledPlatforms sandbox.allowAppleEvents",
		inManaged:                      "sandbox.network.allowManagedDomainsOnly allowManagedHooksOnly allowManagedPermissionRulesOnly allowManagedMcpServersOnly allowedChannelPlugins strictKnownMarketplaces blockedMarketplaces pluginSuggestionMarketplaces strictPluginOnlyCustomization pluginTrustMessage parentSettingsBehavior channelsEnabled forceRemoteSettingsRefresh wslInheritsWindowsSettings disableAgentView managedMcpServers allowAllClaudeAiMcps claudeMd policyHelper disableSideloadFlags sshConfigs sshHostAllowlist browserExternalPageTools disableBrowserExternalNavigation disableMobileSimulatorTools requireCoworkFullVmSandbox requiredMinimumVersion requiredMaximumVersion processWrapper allowedProviders allowedMarketplaces appendPlugins prependPlugins allowNestedModelAccessUnderForceLogin attributionProjectPolicy allowClaudeInChromeWithManagedMcp gatewayInternalNetworks managedSourcesBehavior",
		inConfig:                       "modelOverrides effortLevel alwaysThinkingEnabled fallbackModel advisorModel cleanupPeriodDays autoCompactEnabled autoMemoryEnabled autoMemoryDirectory fileCheckpointingEnabled teammateDefaultModel autoCompactWindow autoDreamEnabled bashOutputMaxChars idleCompaction modelPicker modelPricing modelSettings precomputeCompactionEnabled promptCacheTtl subagentPromptCacheTtl switchModelsOnFlag taskOutputMaxChars ultracode",
		ofProgram:                      "permissions.blockReadsExemptPaths permissions.workingDirectoriesAsGiven permissions.workingDirectoriesExclude",
		inScreen:                       "subagentStatusLine theme tui viewMode editorMode vimInsertModeRemaps spinnerVerbs spinnerTipsEnabled spinnerTipsOverride terminalProgressBarEnabled showTurnDuration showThinkingSummaries prefersReducedMotion syntaxHighlightingDisabled verbose wheelScrollAccelerationEnabled autoScrollEnabled axScreenReader footerLinksRegexes prUrlTemplate emojiCompletionEnabled diffTool externalEditorContext showClearContextOnPlanAccept companyAnnouncements language preferredNotifChannel awaySummaryEnabled bashEditDiffEnabled defaultView dialogExpiry keybindingFlavor maxProseWidth promptSuggestionEnabled showMessageTimestamps spellcheck terminalTitleFromRename timeFormat timeZone todoFeatureEnabled",
		asked:                          "enableAllProjectMcpServers enabledMcpjsonServers skipDangerousModePermissionPrompt askUserQuestionTimeout useAutoModeDuringPlan permissionExplainerEnabled skipAutoPermissionPrompt",
		noProgram:                      "fileSuggestion otelHeadersHelper proxyAuthHelper sshHostCommands",
		ownLogin:                       "apiKeyHelper awsCredentialExport awsAuthRefresh gcpAuthRefresh forceLoginMethod forceLoginOrgUUID forceLoginGatewayUrl",
		"pawl plugin installs plugins": "extraKnownMarketplaces additionalMarketplaces skippedMarketplaces skippedPlugins pluginConfigs",
		"write it into AGENTS.md":      "attribution includeCoAuthoredBy includeGitInstructions",
		"":                             "$schema",
		noSuch:                         "autoUpdatesChannel minimumVersion plansDirectory respectGitignore fastMode fastModePerSessionOptIn feedbackSurveyRate skipWebFetchPreflight teammateMode worktree defaultShell disableDeepLinkRegistration voiceEnabled voice skillListingMaxDescChars skillListingBudgetFraction respondToBashCommands disableBundledSkills agentPushNotifEnabled disableArtifact enableArtifact disableClaudeAiConnectors disableRemoteControl disableWorkflows inputNeededNotifEnabled remoteControlAtStartup workflowKeywordTriggerEnabled workflowSizeGuideline autoConnectIde autoInstallIdeExtension attributionProject autoContinueAtUsageLimit autoUploadSessions availableModelsMatch crossSessionInbound daemonColdStart desktopMcpServersListScope desktopSessionCleanupPeriodDays disableReplyCheck disableWindowsBashCommandSplit downloadsMirrorUrl enableWorkflows feedbackDrafts isolatePeerMachines remote sandbox.credentials.awsPairs sandbox.credentials.sigv4 syncClaudeAiPlugins syncClaudeAiSkills",
	} {
		for name := range strings.FieldsSeq(names) {
			out[name] = key{use: Unused, note: note}
		}
	}
	return out
})

// style takes the name of an output style.
func style(s *Settings, f *Finding, raw json.RawMessage) error {
	if err := json.Unmarshal(raw, &s.Style); err != nil {
		return errors.New("it must be the name of a style")
	}
	if s.Style == "default" || s.Style == "Default" {
		s.Style = ""
	}
	f.Use, f.Note = Differently, styleAdded
	return nil
}

// plugins takes the names of plugins that are not used.
func plugins(s *Settings, f *Finding, raw json.RawMessage) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return errors.New("it must be an object with names of plugins")
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		plain, _, _ := strings.Cut(name, "@")
		switch _, versions := texts(all[name]); {
		case string(all[name]) == "false":
			s.Plugins = append(s.Plugins, plain)
		case string(all[name]) != "true" && versions != nil:
			return fmt.Errorf("%s is %s, and must be true or false", name, all[name])
		}
	}
	f.Use, f.Note = Differently, installed
	if len(s.Plugins) < len(all) {
		f.If = "if you installed it"
	}
	return nil
}

// permits marks a key that permits something.
func permits(_ *Settings, f *Finding, raw json.RawMessage) error {
	var list []json.RawMessage
	f.Allows = json.Unmarshal(raw, &list) != nil || len(list) > 0
	return nil
}

// named marks a guard that pawl does not keep.
func named(_ *Settings, f *Finding, raw json.RawMessage) error {
	f.Guard = string(raw) != "false"
	return nil
}

func namedIfFalse(_ *Settings, f *Finding, raw json.RawMessage) error {
	f.Guard = string(raw) != "true"
	return nil
}

var errTexts = errors.New("it must be a list of texts")

func texts(raw json.RawMessage) ([]string, error) {
	var out []string
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, errTexts
	}
	return out, nil
}

func flag(raw json.RawMessage, to *bool) error {
	if err := json.Unmarshal(raw, to); err != nil {
		return errors.New("it must be true or false")
	}
	return nil
}

// rules keeps the rules of one list. One that cannot be kept does not hide the others.
func rules(list permission.List) func(*Settings, *Finding, json.RawMessage) error {
	return func(s *Settings, f *Finding, raw json.RawMessage) error {
		all, err := texts(raw)
		if err != nil {
			return err
		}
		for _, text := range all {
			rs, err := Translate(list, text, s.File)
			if err != nil {
				s.problem(f.Key, err)
				continue
			}
			s.Rules = append(s.Rules, rs...)
		}
		return nil
	}
}

// paths denies a tool for paths, whose form is a little different in the sandbox's keys.
func paths(tool string) func(*Settings, *Finding, json.RawMessage) error {
	return func(s *Settings, f *Finding, raw json.RawMessage) error {
		all, err := texts(raw)
		if err != nil {
			return err
		}
		f.Note = "pawl's tools and commands that name such a path are denied"
		return s.denyPaths(tool, all)
	}
}

func (s *Settings) denyPaths(tool string, all []string) error {
	for _, p := range all {
		p = strings.TrimSpace(p)
		forms := []string{p}
		if strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "//") { // an absolute path here
			forms = []string{"/" + p}
		} else if s.File.Own && !strings.HasPrefix(p, "~") && !strings.HasPrefix(p, "/") {
			forms = append(forms, "/"+below(s.File.Beside, p))
		}
		for _, form := range forms {
			rs, err := Translate(permission.Denies, tool+"("+form+")", s.File)
			if err != nil {
				return err
			}
			s.Rules = append(s.Rules, rs...)
		}
	}
	return nil
}

func credentials(s *Settings, _ *Finding, raw json.RawMessage) error {
	var files []struct{ Path, Mode string }
	if err := json.Unmarshal(raw, &files); err != nil {
		return errors.New("it must be a list of objects with path and mode")
	}
	for _, f := range files {
		if f.Path == "" || f.Mode != "" && f.Mode != "deny" {
			return fmt.Errorf("the entry %+v is not a path with the mode deny", f)
		}
		if err := s.denyPaths("Read", []string{f.Path}); err != nil {
			return err
		}
	}
	return nil
}

func domains(s *Settings, f *Finding, raw json.RawMessage) error {
	all, err := texts(raw)
	if err != nil {
		return err
	}
	for _, d := range all {
		r, err := permission.ParseRule(permission.Denies, s.File.source(), "network("+d+")")
		if err != nil {
			return err
		}
		r.Origin = s.File.Name + ": " + f.Key + " " + d
		s.Rules = append(s.Rules, r)
	}
	return nil
}

func neverUnconfined(s *Settings, f *Finding, raw json.RawMessage) error {
	allowed := true
	if err := flag(raw, &allowed); err != nil || allowed {
		return err
	}
	r, err := permission.ParseRule(permission.Denies, s.File.source(), "unconfined")
	r.Origin = s.File.Name + ": " + f.Key
	s.Rules = append(s.Rules, r)
	return err
}

// refuses refuses a mode. Any value but one that plainly says otherwise is taken for it.
func refuses(m permission.Mode) func(*Settings, *Finding, json.RawMessage) error {
	return func(s *Settings, _ *Finding, raw json.RawMessage) error {
		switch string(raw) {
		case `"disable"`, "true":
			s.Refused = append(s.Refused, m)
		case "false", `""`, `"enable"`:
		default:
			return fmt.Errorf(`it is %s, and must be "disable"`, raw)
		}
		return nil
	}
}

// defaultMode uses a mode that is narrow; a wider one is the person's to choose.
func defaultMode(s *Settings, f *Finding, raw json.RawMessage) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return errors.New("it must be the name of a mode")
	}
	mode, err := permission.ParseMode(text)
	switch {
	case text == "dontAsk" && s.File.Given:
		return errors.New("use --permission-mode dontAsk")
	case text == "dontAsk": // what is not allowed before is denied: that is ask where nobody is there
		s.Mode = permission.AskMode
		f.Use, f.Note = Differently, "the mode is ask"
	case text == "delegate", err == nil && mode.Wider(permission.AskMode):
		f.Use, f.Note, f.Allows = Unused, "you choose a mode that asks less: --permission-mode", true
	case err == nil:
		s.Mode = mode
	default:
		return fmt.Errorf("pawl does not know the mode %q; use plan or default", text)
	}
	return nil
}

// servers names MCP servers that are not started.
func servers(s *Settings, f *Finding, raw json.RawMessage) error {
	all, err := texts(raw)
	if err != nil {
		return err
	}
	for _, name := range all {
		if err := s.denyServer(f.Key, name); err != nil {
			return err
		}
	}
	return nil
}

func deniedServers(s *Settings, f *Finding, raw json.RawMessage) error {
	var all []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return errors.New("it must be a list of objects")
	}
	for _, one := range all {
		var name string
		if json.Unmarshal(one["serverName"], &name) != nil || name == "" || len(one) != 1 {
			return fmt.Errorf("pawl knows servers by serverName, and not by %s", strings.Join(slices.Sorted(maps.Keys(one)), ", "))
		}
		if err := s.denyServer(f.Key, name); err != nil {
			return err
		}
	}
	return nil
}

func (s *Settings) denyServer(key, name string) error {
	r, err := permission.ParseRule(permission.Denies, s.File.source(), "mcp__"+name)
	if err != nil {
		return err
	}
	r.Origin = s.File.Name + ": " + key + " " + name
	s.Rules, s.Servers = append(s.Rules, r), append(s.Servers, name)
	return nil
}

// hooks names the hooks that pawl does not run, though they could block something.
// Those of a person's own file are not run at all.
func hooks(s *Settings, f *Finding, raw json.RawMessage) error {
	all, err := hook.Rules(s.File.Name, raw)
	if err != nil {
		return err
	}
	if s.File.Given && len(all) > 0 {
		return errors.New("pawl runs no hooks of settings that are handed over: give them to the SDK as hooks, or write them into your own configuration (pawl config path)")
	}
	why := ""
	switch {
	case len(all) == 0:
	case s.File.Own:
		f.Use, f.Note, why = Unused, agree, "it is in another agent's settings"
	default:
		f.If = "if you trust the folder"
	}
	f.notRun(all, why)
	return nil
}

// notRun names the hooks that could block something and are not run; why is the reason, if it
// is the same for all.
func (f *Finding) notRun(all []hook.Rule, why string) {
	var lost []string
	for _, r := range all {
		if why := cmp.Or(why, r.InactiveBecause); why != "" && r.Event.CouldBlock() {
			lost = append(lost, r.Name+" ("+why+")")
		}
	}
	if f.Guard = len(lost) > 0; f.Guard {
		f.Note = "these are not run: " + strings.Join(lost, ", ") + "; " + f.Note
	}
}

// Keys returns the keys of the table, for tests and for the documentation.
func Keys() []string { return slices.Sorted(maps.Keys(keys())) }

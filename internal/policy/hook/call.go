package hook

import (
	"encoding/json"
	"path"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Input is what a hook reads on standard input: the fields of its event, under
// the names that hooks expect.
type Input struct {
	Session    string `json:"session_id"`
	Transcript string `json:"transcript_path"` // "": pawl's log is a database
	Dir        string `json:"cwd"`
	Mode       string `json:"permission_mode,omitempty"`
	Event      Event  `json:"hook_event_name"`

	Tool     string          `json:"tool_name,omitempty"`
	Args     json.RawMessage `json:"tool_input,omitempty"`
	Response any             `json:"tool_response,omitempty"`
	Call     string          `json:"tool_use_id,omitempty"`

	Prompt  string `json:"prompt,omitempty"`
	Source  string `json:"source,omitempty"`  // of SessionStart
	Reason  string `json:"reason,omitempty"`  // of SessionEnd
	Trigger string `json:"trigger,omitempty"` // of PreCompact
	Focus   string `json:"custom_instructions,omitempty"`
	Message string `json:"message,omitempty"`
	Type    string `json:"notification_type,omitempty"`
	Active  *bool  `json:"stop_hook_active,omitempty"`
	Last    string `json:"last_assistant_message,omitempty"`
	Agent   string `json:"agent_type,omitempty"`
	Error   string `json:"error,omitempty"` // of PostToolUseFailure
}

// Names returns the names of a tool for hooks; hooks are told the first one.
func Names(t tool.Tool) []string {
	names := slices.Clone(t.Hooks)
	if len(names) == 0 && t.Family == tool.EditFamily { // so that a hook for edits sees any change
		names = []string{"Edit", "Write", "MultiEdit"}
	}
	if !slices.Contains(names, t.Spec.Name) {
		names = append(names, t.Spec.Name)
	}
	return names
}

// Renamed are the arguments of a call under their names and under pawl's.
func Renamed(args json.RawMessage) json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil || given == nil {
		return args
	}
	alias(given)
	b, err := json.Marshal(given)
	if err != nil {
		return args
	}
	return b
}

// alias adds the names that hooks know.
func alias(given map[string]json.RawMessage) {
	for ours, theirs := range argNames {
		if v, has := given[ours]; has && given[theirs] == nil {
			given[theirs] = v
		}
	}
}

// argNames are the names that hooks expect for arguments.
var argNames = map[string]string{"path": "file_path", "old": "old_string", "new": "new_string", "id": "bash_id", "items": "todos"}

// Args returns the arguments of a call for hooks: under pawl's names and under
// theirs, with absolute file paths. A call on several files yields one result
// for each file, so that a hook that guards a file sees every edit of it,
// whichever tool is used.
func Args(root string, t tool.Tool, fp tool.Footprint, args json.RawMessage) []json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil || given == nil {
		return []json.RawMessage{args}
	}
	alias(given)
	var files []string
	if t.Family == tool.EditFamily || t.Family == tool.ReadFamily {
		spans := fp.Writes
		if len(spans) == 0 {
			spans = fp.Reads
		}
		for _, sp := range spans {
			p := sp.Path
			if !path.IsAbs(p) {
				p = path.Join(root, p)
			}
			if !slices.Contains(files, p) {
				files = append(files, p)
			}
		}
	}
	var out []json.RawMessage
	add := func() {
		if b, err := json.Marshal(given); err == nil {
			out = append(out, b)
		}
	}
	for _, f := range files {
		given["file_path"], _ = json.Marshal(f)
		add()
	}
	if len(files) == 0 {
		add()
	}
	return out
}

// UpdatedArgs converts a hook's updatedInput to the tool's arguments. told is what
// the hook read: of an argument under two names, the one that the hook changed
// counts.
func UpdatedArgs(told, updated json.RawMessage) (json.RawMessage, error) {
	var before, given map[string]json.RawMessage
	if err := json.Unmarshal(updated, &given); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(told, &before); err != nil {
		return nil, err
	}
	for ours, theirs := range argNames {
		v, has := given[theirs]
		if !has {
			continue
		}
		delete(given, theirs)
		if _, both := given[ours]; !both || string(v) != string(before[theirs]) {
			given[ours] = v
		}
	}
	return json.Marshal(given)
}

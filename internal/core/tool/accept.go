package tool

import (
	"encoding/json"
	"maps"
	"slices"
)

// argAliases maps other agents' names for arguments to pawl's. An alias is used
// only where the tool has no argument of that name and has the one that the
// alias stands for, so the meaning of a call cannot change.
var argAliases = map[string]string{
	"file_path": "path", "filepath": "path", "filePath": "path", "file": "path", "filename": "path", "absolute_path": "path", "target_file": "path", "dir_path": "path", "directory": "path",
	"old_string": "old", "old_str": "old", "oldString": "old", "old_text": "old",
	"new_string": "new", "new_str": "new", "newString": "new", "new_text": "new",
	"replaceAll": "replace_all", "text": "content", "contents": "content", "file_text": "content",
	"cmd": "command", "script": "command", "query": "pattern", "regex": "pattern", "include": "glob",
	"run_in_background": "background", "todos": "items", "plan": "items", "input": "patch", "diff": "patch",
	"bash_id": "id", "shell_id": "id", "fact": "note", "start_line": "from", "end_line": "to", "col": "column", "newName": "new_name", "symbol_name": "symbol",
}

// Accept returns the arguments under the tool's own names, and a list of the
// renamed ones as "theirs → ours" (SPEC 4.4, 4.5). Arguments that are not an
// object are returned unchanged.
func (t Tool) Accept(raw json.RawMessage) (args json.RawMessage, renamed []string) {
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil {
		return raw, nil
	}
	var known struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	for _, k := range slices.Sorted(maps.Keys(given)) {
		to := argAliases[k]
		if to == "" {
			continue
		}
		// Most calls have no such name, so the schema is seldom read.
		if known.Properties == nil && json.Unmarshal(t.Spec.Schema, &known) != nil {
			return raw, nil
		}
		if _, ours := known.Properties[k]; ours {
			continue
		}
		_, has := known.Properties[to]
		if _, taken := given[to]; !has || taken {
			continue
		}
		given[to] = given[k]
		delete(given, k)
		renamed = append(renamed, k+" → "+to)
	}
	if t.Adapt != nil {
		renamed = append(renamed, t.Adapt(given)...)
	}
	if len(renamed) == 0 {
		return raw, nil
	}
	out, err := json.Marshal(given)
	if err != nil {
		return raw, nil
	}
	return out, renamed
}

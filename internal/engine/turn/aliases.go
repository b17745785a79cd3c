package turn

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// aliases are the names that other agents have for our tools, as plainName
// gives them: models were trained on those too.
var aliases = map[string]string{
	"readfile": "read", "view": "read", "viewfile": "read", "cat": "read", "openfile": "read", "readmanyfiles": "read",
	"writefile": "write", "createfile": "write", "savefile": "write",
	"editfile": "edit", "strreplace": "edit", "replace": "edit", "searchreplace": "edit", "strreplaceeditor": "edit", "strreplacebasededittool": "edit",
	"multiedit": "multi_edit", "patch": "apply_patch",
	"listdir": "ls", "list": "ls", "listdirectory": "ls", "listfiles": "ls",
	"find": "glob", "findfiles": "glob", "filesearch": "glob",
	"search": "grep", "searchfilecontent": "grep", "grepsearch": "grep", "ripgrep": "grep", "rg": "grep", "codesearch": "grep",
	"shell": "bash", "sh": "bash", "exec": "bash", "execcommand": "bash", "runcommand": "bash", "executecommand": "bash",
	"runshellcommand": "bash", "runterminalcmd": "bash", "terminal": "bash", "localshell": "bash",
	"killshell": "bash_kill", "killbash": "bash_kill", "taskoutput": "bash_output",
	"fetch": "web_fetch", "fetchurl": "web_fetch", "browse": "web_fetch",
	"todowrite": "todo", "updateplan": "todo", "writetodos": "todo", "todoread": "todo",
	"askuserquestion": "ask_user", "question": "ask_user", "savememory": "remember", "memory": "remember",
}

// argAliases are other names for arguments. They are taken only where the tool
// has no argument of the name given and has the one it stands for, so that the
// meaning cannot change.
var argAliases = map[string]string{
	"file_path": "path", "filepath": "path", "filePath": "path", "file": "path", "filename": "path", "absolute_path": "path", "target_file": "path", "dir_path": "path", "directory": "path",
	"old_string": "old", "old_str": "old", "oldString": "old", "old_text": "old",
	"new_string": "new", "new_str": "new", "newString": "new", "new_text": "new",
	"replaceAll": "replace_all", "text": "content", "contents": "content", "file_text": "content",
	"cmd": "command", "script": "command", "query": "pattern", "regex": "pattern", "include": "glob",
	"run_in_background": "background", "todos": "items", "plan": "items", "input": "patch", "diff": "patch",
	"bash_id": "id", "shell_id": "id", "fact": "note", "start_line": "from", "end_line": "to",
}

// rename gives a call's arguments under the tool's own names and notes what
// was renamed (SPEC 4.4, 4.5).
func rename(spec llm.ToolSpec, p *Pending) json.RawMessage {
	if p.Call.Bad != "" {
		return p.Args
	}
	var known struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	var args map[string]json.RawMessage
	if json.Unmarshal(spec.Schema, &known) != nil || json.Unmarshal(p.Args, &args) != nil {
		return p.Args
	}
	var did []string
	for _, k := range slices.Sorted(maps.Keys(args)) {
		to := argAliases[k]
		if _, ours := known.Properties[k]; ours || to == "" {
			continue
		}
		_, has := known.Properties[to]
		if _, taken := args[to]; !has || taken {
			continue
		}
		args[to] = args[k]
		delete(args, k)
		did = append(did, k+" → "+to)
	}
	if spec.Name == "read" {
		did = append(did, readFiles(args)...)
	}
	if len(did) == 0 {
		return p.Args
	}
	out, err := json.Marshal(args)
	if err != nil {
		return p.Args
	}
	p.Fix = fmt.Sprintf("arguments read as: %s", strings.Join(did, ", "))
	return out
}

// readFiles turns the single-file form that other agents have into read's
// list.
func readFiles(args map[string]json.RawMessage) []string {
	if _, ok := args["files"]; ok {
		return nil
	}
	for _, k := range []string{"path", "file_path", "filepath", "filePath", "file", "filename", "absolute_path", "target_file"} {
		path, ok := args[k]
		if !ok {
			continue
		}
		one := map[string]json.RawMessage{"path": path}
		var offset, limit int
		hasOffset := json.Unmarshal(args["offset"], &offset) == nil
		hasLimit := json.Unmarshal(args["limit"], &limit) == nil
		if hasOffset && offset > 0 {
			one["from"] = json.RawMessage(itoa(offset))
		}
		if hasLimit && limit > 0 {
			one["to"] = json.RawMessage(itoa(max(offset, 1) + limit - 1))
		}
		for _, same := range []string{"from", "to"} {
			if v, ok := args[same]; ok {
				one[same] = v
				delete(args, same)
			}
		}
		list, err := json.Marshal([]map[string]json.RawMessage{one})
		if err != nil {
			return nil
		}
		delete(args, k)
		delete(args, "offset")
		delete(args, "limit")
		args["files"] = list
		return []string{k + " → files"}
	}
	return nil
}

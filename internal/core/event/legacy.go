package event

import "github.com/pawl-agent/pawl/internal/core/tool"

// This file completes events of logs that were written before tools recorded their
// facts. It is the one place that knows tools by name, only those of that time:
// it never grows.

// Completed returns a body as the present version would have recorded it: if it
// has no facts, it gets the facts that the tools of that name had.
func Completed(b Body) Body {
	switch b := b.(type) {
	case CallAsked:
		if b.Does == "" {
			about := tool.AboutCall(b.Tool, b.Args)
			b.Does, b.Target, b.Title = legacyKind(b.Tool), about.Target, about.Title
		}
		return b
	case CallDone:
		if b.Does == "" {
			b.Does = legacyKind(b.Tool)
			b.Listing = b.Tool == "ls" || b.Tool == "glob" || b.Tool == "grep"
			b.Repeatable = b.Does == tool.Read && b.Tool != "web_fetch" || b.Does == tool.Search
		}
		return b
	case FileChanged:
		if b.Does == "" {
			b.Does, b.Whole = legacyWriterKind(b.Tool), b.Tool == "write"
		}
		return b
	case Writing:
		if b.Does == "" {
			b.Does, b.Whole = legacyWriterKind(b.Tool), b.Tool == "write"
		}
		return b
	}
	return b
}

func legacyKind(name string) tool.Kind {
	switch name {
	case "read", "ls", "git_status", "git_log", "git_diff", "web_fetch":
		return tool.Read
	case "glob", "grep":
		return tool.Search
	case "write", "edit", "multi_edit", "apply_patch":
		return tool.Edit
	case "bash_output":
		return tool.Wait
	case "todo", "remember", "ask_user", "cleanup_tool_call":
		return tool.Note
	}
	return tool.Exec
}

// legacyWriterKind is the kind of the tool that changed a file. An undo and a redo have none.
func legacyWriterKind(name string) tool.Kind {
	switch k := legacyKind(name); {
	case k == tool.Edit, name == "bash", name == "command":
		return k
	}
	return ""
}

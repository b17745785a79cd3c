package settings

import (
	"fmt"
	"strings"
)

// LSP configures which language servers run, and how (SPEC 12).
type LSP struct {
	Enable   *bool                `json:"enable,omitempty" jsonschema:"use language servers"`
	MemoryMB int64                `json:"memory_mb,omitempty" jsonschema:"MB of memory for one server"`
	Servers  map[string]LSPServer `json:"servers,omitempty" jsonschema:"changes of known servers, and servers of your own, by name"`
}

// LSPServer holds the changes of a known server, or the whole configuration of an unknown
// one.
type LSPServer struct {
	Command  []string       `json:"command,omitempty"`  // program and arguments
	Files    []string       `json:"files,omitempty"`    // extensions with their dot, or whole names
	Language string         `json:"language,omitempty"` // the language's identifier in the protocol
	Roots    []string       `json:"roots,omitempty"`    // files that mark the root of a project
	Options  map[string]any `json:"options,omitempty"`  // initializationOptions
	Settings map[string]any `json:"settings,omitempty"`
	Disabled bool           `json:"disabled,omitempty"`
}

// On reports whether language servers are used.
func (l LSP) On() bool { return l.Enable == nil || *l.Enable }

func (l LSP) check() error {
	if l.MemoryMB < 0 {
		return fmt.Errorf("memory_mb is %d: give a number of megabytes", l.MemoryMB)
	}
	for name, s := range l.Servers {
		for _, f := range s.Files {
			if f == "" || strings.ContainsAny(f, `*?/\`) {
				return fmt.Errorf("servers.%s.files: %q is neither an extension with its dot nor a file's name", name, f)
			}
		}
		if len(s.Command) > 0 && strings.TrimSpace(s.Command[0]) == "" {
			return fmt.Errorf("servers.%s.command names no program", name)
		}
	}
	return nil
}

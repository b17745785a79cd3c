package agents

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plainfile"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// This file is about the notes of an agent: a folder whose MEMORY.md is in the prompt of
// each agent of its kind. They are text, as its file is; the agent writes them with its
// tools, and the permissions ask for what a later session obeys (SPEC 16.16).

// Limits of the notes in a prompt.
const (
	noteLines = 200
	noteBytes = 25 << 10
)

// Remember gives a kind the folder of its notes: below the person's home or the project.
func (k *Kind) Remember(home, project string) {
	base := filepath.Join(project, ".claude", "agent-memory")
	switch k.Memory {
	case "":
		return
	case "local":
		base += "-local"
	case "user":
		base = filepath.Join(home, ".claude", "agent-memory")
		if home == "" {
			k.Memory = ""
			return
		}
	}
	k.Memory = filepath.Join(base, strings.ReplaceAll(k.Name, ":", "-")) // of a plugin
}

// Notes returns what the prompt of an agent has of its notes as they are now, "" if it keeps
// none. mask removes secrets.
func (k Kind) Notes(mask func(string) string) string {
	if k.Memory == "" {
		return ""
	}
	out := "You have notes from earlier runs in the folder " + k.Memory + ". They may be out of date: check what you build on. "
	if k.mayWrite() {
		out += fmt.Sprintf("Keep them for later runs: what you learned that holds beyond this task, in MEMORY.md (its first %d lines are shown here) and in files that it names. If writing them is not allowed, go on without.", noteLines)
	}
	text, err := k.remembered()
	switch {
	case os.IsNotExist(err):
		return out + "\nThere is no MEMORY.md yet."
	case err != nil:
		return out + "\nMEMORY.md cannot be read: " + err.Error()
	}
	return out + "\n<MEMORY.md>\n" + mask(text) + "\n</MEMORY.md>"
}

// mayWrite reports whether an agent of this kind has a tool that writes files.
func (k Kind) mayWrite() bool {
	if k.ReadOnly || k.Tools == nil {
		return !k.ReadOnly
	}
	for _, t := range k.Tools {
		switch tool.PlainName(t) {
		case "edit", "write", "multiedit", "applypatch":
			return true
		}
	}
	return false
}

// remembered reads the beginning of MEMORY.md. No link leads out of the folder of notes.
func (k Kind) remembered() (string, error) {
	root, err := os.OpenRoot(filepath.Dir(filepath.Dir(k.Memory)))
	if err != nil {
		return "", err
	}
	defer root.Close()
	f, err := plainfile.OpenIn(root, filepath.Join(filepath.Base(filepath.Dir(k.Memory)), filepath.Base(k.Memory), "MEMORY.md"))
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, noteBytes))
	lines := strings.SplitAfter(strings.ToValidUTF8(string(b), "\uFFFD"), "\n")
	return strings.TrimSpace(strings.Join(lines[:min(len(lines), noteLines)], "")), err
}

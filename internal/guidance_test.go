package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// readers are the packages that read what a folder tells pawl and the model.
var readers = []string{
	"adapter/rules", "adapter/skills", "adapter/agents", "adapter/settings", "adapter/memory", "adapter/plugin", "adapter/taskgraph",
	"policy/claudecode", "engine/mention", "engine/prompt", "frontend/setup", "frontend/swarmrun", "frontend/slash",
}

// unread are names in the readers that are not read as instructions in a workspace.
var unread = map[string]string{
	"README.md": "skipped by the readers of agents and commands", "SKILL.md": "in a folder of skills, which is protected", "MEMORY.md": "below .claude, which is protected",
	"rules.md": "of the person's own configuration", "node_modules/.bin": "programs of language servers, which are trusted",
	".config": "below the home", ".local": "below the home", ".rustup": "below the home", ".restart": "an ending", ".beside": "an ending", ".removed": "an ending", ".sample": "an ending", ".kept-": "a beginning",
	".lsp.json": "in a plugin, which is installed", ".claude-plugin/plugin.json": "in a plugin", ".claude-plugin/marketplace.json": "in a plugin", ".gitignore": "written into the folder of worktrees",
}

var hiddenName = regexp.MustCompile(`^([\w-]+/)*\.[A-Za-z][\w-]*(\.[\w.-]+)?(/[\w.-]+)*$|^[\w./-]+\.(md|mdc)$`)

// SPEC 16.16: a file of the workspace that a reader of instructions names is protected:
// the agent cannot write what the next session obeys. A new reader takes its name from
// policy/guidance, or says here why it is none.
func TestReadersAreProtected(t *testing.T) {
	known := 0
	for _, pkg := range readers {
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(pkg), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pkg, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, 0))(t)
			ast.Inspect(f, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				name, err := strconv.Unquote(lit.Value)
				if err != nil || !hiddenName.MatchString(name) || unread[name] != "" || extension(name) {
					return true
				}
				if known++; !permission.Protected(name, "/w/"+name, nil) {
					t.Errorf("%s reads %s, which the agent may write: add it to policy/guidance", file, name)
				}
				return true
			})
		}
	}
	if known == 0 {
		t.Error("no reader names a file")
	}
}

// extension reports whether a name is the ending of files.
func extension(name string) bool {
	switch name {
	case ".md", ".mdc", ".mdx", ".txt", ".rst", ".json", ".toml", ".jsonl", ".html", ".htm", ".markdown", ".lock", ".new-", ".git-":
		return true
	}
	return false
}

package checks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// SPEC 4.15: what a command line runs of the workspace, with the time that no program can
// set: through make, npm, interpreters, shells and PATH.
func TestRuns(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	put := func(dir, name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.WriteMode(t, name, text, 0o755)
		if err := os.Chtimes(name, time.Unix(1, 0), time.Unix(1, 0)); err != nil { // what the agent could set
			t.Fatal(err)
		}
	}
	put(root, "Makefile", "include sub/rules.mk\ndeploy:\n\t./step.sh\n")
	put(root, "sub/rules.mk", "x:\n")
	put(root, "step.sh", "#!/bin/sh\n. ./lib.sh\n")
	put(root, "lib.sh", "")
	put(root, "package.json", `{"scripts": {"deploy": "node deploy.js"}}`)
	put(root, "deploy.js", "")
	put(root, "tool.py", "import json, helps\nfrom pkg.deep import x\n")
	put(root, "helps.py", "")
	put(root, "json.py", "")
	put(root, "pkg/__init__.py", "")
	put(root, "pkg/deep.py", "")
	put(root, "server.js", "require('./lib')\n")
	put(root, "lib/index.js", "")
	put(root, ".venv/bin/git", "#!/bin/sh\nls\n")
	put(root, ".venv/bin/notrun", "")
	put(outside, "bin/ls", "#!/bin/sh\n")
	put(root, "main.go", "package main")
	must.Do(t, os.Symlink(filepath.Join(outside, "bin/ls"), filepath.Join(root, ".venv/bin/linked")))
	path := strings.Join([]string{filepath.Join(root, ".venv/bin"), filepath.Join(outside, "bin")}, ":")
	for line, want := range map[string]string{
		"make deploy":                "+deploy.js Makefile lib.sh step.sh sub/rules.mk",
		"npm run deploy":             "deploy.js package.json",
		"./step.sh":                  "lib.sh step.sh",
		"bash step.sh now":           "lib.sh step.sh",
		"python3 tool.py":            "+helps.py +json.py +pkg/__init__.py +pkg/deep.py tool.py",
		"node server.js":             "+lib/index.js deploy.js package.json server.js",
		"git push origin main":       ".venv/bin/git",
		"env GIT_PAGER=cat git push": ".venv/bin/git",
		"true && git push":           ".venv/bin/git",
		"xargs git push":             ".venv/bin/git",
		"linked":                     ".venv/bin/linked",
		"ls":                         "",
	} {
		var got []string
		for _, r := range Runs(root, path, line) {
			name := r.Path
			if r.Loaded {
				name = "+" + name // counts only outside the sandbox
			}
			if !slices.Contains(got, name) {
				got = append(got, name)
			}
			if time.Since(r.Changed) > time.Hour {
				t.Errorf("%s: %s was changed at %s", line, r.Path, r.Changed)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	if got := Runs(root, ".venv/bin", "git push"); len(got) == 0 || got[0].Path != ".venv/bin/git" {
		t.Errorf("a relative folder in PATH: %v", got)
	}
	// A folder that is moved there has older files.
	put(root, "new/run.sh", "")
	agreed := changedAt(stat(t, filepath.Join(root, "new/run.sh")))
	for changedAt(stat(t, filepath.Join(root, "new"))).Compare(agreed) <= 0 {
		must.Do(t, os.Rename(filepath.Join(root, "new"), filepath.Join(root, "scripts")))
		must.Do(t, os.Rename(filepath.Join(root, "scripts"), filepath.Join(root, "new")))
	}
	if got := Runs(root, path, "new/run.sh"); len(got) != 1 || !got[0].Changed.After(agreed) {
		t.Errorf("%v, agreed at %s", got, agreed)
	}
	// What its own files define cannot be listed: then every file counts.
	put(root, "Rakefile", "")
	if got := Runs(root, path, "rake deploy"); !slices.ContainsFunc(got, func(r permission.Ran) bool { return time.Since(r.Changed) < time.Hour }) {
		t.Errorf("rake: %v", got)
	}
}

func stat(t *testing.T, name string) os.FileInfo {
	t.Helper()
	st, err := os.Lstat(name)
	must.Do(t, err)
	return st
}

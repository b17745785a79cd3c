package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// SPEC 16.12: a toolchain that PATH names is readable as a whole wherever it is
// installed, and nothing beside it: no key, no other data of a home, nothing
// that the workspace points to.
func TestToolchainsOfPath(t *testing.T) {
	for _, c := range []struct {
		what  string
		path  string
		files []string
		links map[string]string // by name; relative to the top
		reads []string
		never []string
	}{
		{what: "pyenv", path: "u/.pyenv/shims", files: []string{"u/.pyenv/shims/python3", "u/.pyenv/libexec/pyenv", "u/.pyenv/versions/3.12/bin/python3", "u/.ssh/id", "u/doc"}, reads: []string{"u/.pyenv/libexec/pyenv", "u/.pyenv/versions/3.12/bin/python3"}, never: []string{"u/.ssh/id", "u/doc"}},
		{what: "rbenv", path: "u/.rbenv/shims", files: []string{"u/.rbenv/shims/ruby", "u/.rbenv/versions/3/lib/x.rb", "u/.bash_history"}, reads: []string{"u/.rbenv/versions/3/lib/x.rb"}, never: []string{"u/.bash_history"}},
		{what: "asdf", path: "u/.asdf/shims", files: []string{"u/.asdf/shims/x", "u/.asdf/installs/x/1/bin/x"}, reads: []string{"u/.asdf/installs/x/1/bin/x"}},
		{what: "mise", path: "u/.local/share/mise/shims", files: []string{"u/.local/share/mise/shims/x", "u/.local/share/mise/installs/x/1/x", "u/.local/share/keyrings/k", "u/.local/share/other"}, reads: []string{"u/.local/share/mise/installs/x/1/x"}, never: []string{"u/.local/share/keyrings/k", "u/.local/share/other"}},
		{what: "nvm", path: "u/.nvm/versions/node/v20/bin", files: []string{"u/.nvm/versions/node/v20/bin/node", "u/.nvm/versions/node/v20/lib/node_modules/npm/x.js", "u/.npmrc"}, reads: []string{"u/.nvm/versions/node/v20/lib/node_modules/npm/x.js"}, never: []string{"u/.npmrc"}},
		{what: "volta", path: "u/.volta/bin", files: []string{"u/.volta/bin/volta-shim", "u/.volta/tools/image/node/20/bin/node"}, links: map[string]string{"u/.volta/bin/node": "u/.volta/bin/volta-shim"}, reads: []string{"u/.volta/tools/image/node/20/bin/node"}},
		{what: "sdkman", path: "u/.sdkman/candidates/java/current/bin", files: []string{"u/.sdkman/candidates/java/21/bin/java", "u/.sdkman/candidates/java/21/lib/modules", "u/.sdkman/candidates/java/21/conf/x"}, links: map[string]string{"u/.sdkman/candidates/java/current": "u/.sdkman/candidates/java/21"}, reads: []string{"u/.sdkman/candidates/java/21/lib/modules", "u/.sdkman/candidates/java/21/conf/x"}},
		{what: "cargo", path: "u/.cargo/bin", files: []string{"u/.cargo/bin/cargo", "u/.cargo/credentials.toml", "u/.cargo/config.toml", "u/.cargo/registry/src/x"}, reads: []string{"u/.cargo/bin/cargo"}, never: []string{"u/.cargo/credentials.toml", "u/.cargo/config.toml"}},
		{what: "a rustup toolchain", path: "u/.rustup/toolchains/stable/bin", files: []string{"u/.rustup/toolchains/stable/bin/rustc", "u/.rustup/toolchains/stable/lib/libstd"}, reads: []string{"u/.rustup/toolchains/stable/lib/libstd"}},
		{what: "conda", path: "u/miniconda3/bin", files: []string{"u/miniconda3/bin/python", "u/miniconda3/lib/python3/os.py", "u/miniconda3/envs/e/bin/python"}, reads: []string{"u/miniconda3/lib/python3/os.py", "u/miniconda3/envs/e/bin/python"}},
		{what: "uv", path: "u/.local/bin", files: []string{"u/.local/share/uv/python/cp312/bin/python3.12", "u/.local/share/uv/python/cp312/lib/os.py", "u/.local/bin/x", "u/.local/share/keyrings/k", "u/.local/share/app/data", "u/.local/state/x"}, links: map[string]string{"u/.local/bin/python3.12": "u/.local/share/uv/python/cp312/bin/python3.12"}, reads: []string{"u/.local/share/uv/python/cp312/lib/os.py", "u/.local/bin/x"}, never: []string{"u/.local/share/keyrings/k", "u/.local/share/app/data", "u/.local/state/x"}},
		{what: "pipx", path: "u/.local/bin", files: []string{"u/.local/share/pipx/venvs/black/bin/black", "u/.local/share/pipx/venvs/black/lib/black.py", "u/.local/share/pipx/venvs/black/pyvenv.cfg", "u/py/bin/python3", "u/py/lib/os.py"}, links: map[string]string{"u/.local/bin/black": "u/.local/share/pipx/venvs/black/bin/black", "u/.local/share/pipx/venvs/black/bin/python": "u/py/bin/python3"}, reads: []string{"u/.local/share/pipx/venvs/black/lib/black.py", "u/.local/share/pipx/venvs/black/pyvenv.cfg", "u/py/lib/os.py"}},
		{what: "homebrew", path: "linuxbrew/.linuxbrew/bin", files: []string{"linuxbrew/.linuxbrew/Cellar/x/1/bin/x", "linuxbrew/.linuxbrew/Cellar/x/1/lib/l", "linuxbrew/.linuxbrew/opt/y"}, links: map[string]string{"linuxbrew/.linuxbrew/bin/x": "linuxbrew/.linuxbrew/Cellar/x/1/bin/x"}, reads: []string{"linuxbrew/.linuxbrew/Cellar/x/1/lib/l", "linuxbrew/.linuxbrew/opt/y"}},
		{what: "go", path: "u/sdk/go1/bin", files: []string{"u/sdk/go1/bin/go", "u/sdk/go1/src/fmt/print.go", "u/sdk/go1/pkg/tool/compile", "u/sdk/go1/VERSION"}, reads: []string{"u/sdk/go1/src/fmt/print.go", "u/sdk/go1/pkg/tool/compile"}},
		{what: "programs of GOPATH", path: "u/go/bin", files: []string{"u/go/bin/gopls", "u/go/src/private/x.go"}, reads: []string{"u/go/bin/gopls"}, never: []string{"u/go/src/private/x.go"}},
		{what: "an own bin", path: "u/bin", files: []string{"u/bin/x", "u/.bashrc", "u/.aws/credentials", "u/share", "u/mail"}, reads: []string{"u/bin/x"}, never: []string{"u/.bashrc", "u/.aws/credentials", "u/mail"}},
		{what: "a project's bin", path: "u/proj/bin", files: []string{"u/proj/bin/x", "u/proj/.env", "u/proj/main.go", "u/proj/src/x.go"}, reads: []string{"u/proj/bin/x"}, never: []string{"u/proj/.env", "u/proj/main.go", "u/proj/src/x.go"}},
		{what: "a home", path: "u", files: []string{"u/x", "u/.bashrc", "u/.ssh/id"}, never: []string{"u/x", "u/.ssh/id"}},
		{what: "keys", path: "u/.ssh/bin", files: []string{"u/.ssh/bin/x", "u/.ssh/id"}, never: []string{"u/.ssh/bin/x", "u/.ssh/id"}},
		{what: "keys of gnupg", path: "u/.gnupg", files: []string{"u/.gnupg/x"}, never: []string{"u/.gnupg/x"}},
		{what: "the workspace's", path: "w/bin", files: []string{"w/bin/x", "u/secret/lib/k", "u/secret/bin/k"}, links: map[string]string{"w/bin/y": "u/secret/bin/k"}, never: []string{"u/secret/lib/k", "u/secret/bin/k"}},
		{what: "a link to the workspace", path: "tools", files: []string{"w/.venv/bin/python", "u/secret/bin/python", "u/secret/lib/k"}, links: map[string]string{"tools": "w/.venv/bin", "w/.venv/bin/python3": "u/secret/bin/python"}, never: []string{"u/secret/lib/k"}},
		{what: "what links to a home's data", path: "t/bin", files: []string{"u/.ssh/id", "u/mail", "u/.local/bin/x"}, links: map[string]string{"t/bin/a": "u/.ssh/id", "t/bin/b": "u/mail", "t/bin/c": "u/.local/bin/x"}, reads: []string{"u/.local/bin/x"}, never: []string{"u/.ssh/id"}},
		{what: "pawl's own state", path: "state/bin", files: []string{"state/bin/x"}, never: []string{"state/bin/x"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			top := real(t.TempDir())
			at := func(name string) string { return filepath.Join(top, name) }
			for _, name := range append(c.files, "w/a", "home/.keep", "state/x") {
				must.Do(t, os.MkdirAll(filepath.Dir(at(name)), 0o700))
				must.WriteMode(t, at(name), "x", 0o700)
			}
			for name, to := range c.links {
				must.Do(t, os.MkdirAll(filepath.Dir(at(name)), 0o700))
				must.Do(t, os.Symlink(at(to), at(name)))
			}
			env := func(k string) string {
				return map[string]string{"HOME": at("home"), "PATH": "rel:" + at(c.path) + ":/usr/bin"}[k]
			}
			f, _, _ := locate(env, at("w"), at("state"))
			f = withToolchains(f, env)
			p := confine.New(confine.Workspace, f)
			must.Do(t, p.Validate())
			for _, name := range c.reads {
				if !p.MayRead(at(name)) {
					t.Errorf("%s cannot be read: %q", name, f.Reads)
				}
			}
			for _, name := range c.never {
				if p.MayRead(at(name)) {
					t.Errorf("%s can be read: %q", name, f.Reads)
				}
			}
		})
	}
}

// SPEC 16.18: what commands may read is what the tools are told, with the folders
// that the environment and "go env -w" name, and the sandbox's own caches.
func TestReadable(t *testing.T) {
	top := real(t.TempDir())
	at := func(name string) string { return filepath.Join(top, name) }
	for name, text := range map[string]string{
		"home/.config/go/env": "GOPROXY=x\nGOMODCACHE=" + at("mods") + "\nGOROOT=" + at("notused") + "\n", "mods/m/x.go": "", "goroot/src/fmt/print.go": "", "notused/x": "",
		"venv/bin/python3": "", "venv/lib/python3/site-packages/six.py": "", "npm/bin/tsc": "", "npm/lib/node_modules/typescript/x.js": "", "home/.cargo/registry/src/x.rs": "", "home/.cargo/credentials.toml": "", "w/a": "", "state/x": "",
	} {
		must.Do(t, os.MkdirAll(filepath.Dir(at(name)), 0o700))
		must.WriteMode(t, at(name), text, 0o700)
	}
	env := map[string]string{"HOME": at("home"), "PATH": at("npm/bin"), "GOROOT": at("goroot"), "VIRTUAL_ENV": at("venv")}
	p := NewBoxes(func(k string) string { return env[k] }, at("w"), at("state/spill"), at("state")).Readable()
	for _, name := range []string{"mods/m/x.go", "goroot/src/fmt/print.go", "venv/lib/python3/site-packages/six.py", "npm/lib/node_modules/typescript/x.js", "home/.cargo/registry/src/x.rs"} {
		if !p.MayRead(at(name)) {
			t.Errorf("%s cannot be read", name)
		}
	}
	own := ""
	for _, w := range p.Writes {
		own = w
	}
	if !confine.Within(at("home/.cache/pawl/sandbox"), own) || !p.MayRead(filepath.Join(own, "cargo/registry/x.rs")) {
		t.Errorf("the sandbox's own caches: %q", own)
	}
	for _, name := range []string{"notused/x", "home/.cargo/credentials.toml", "state/x", "home/notes", "home"} {
		if p.MayRead(at(name)) {
			t.Errorf("%s can be read", name)
		}
	}
}

// BenchmarkToolchains is what a session's first confined command pays.
func BenchmarkToolchains(b *testing.B) {
	root := real(b.TempDir())
	for b.Loop() {
		f, _, _ := locate(os.Getenv, root)
		withToolchains(f, os.Getenv)
	}
}

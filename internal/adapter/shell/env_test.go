//go:build unix

package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func fifo(t *testing.T) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "gate")
	must.Do(t, syscall.Mkfifo(p, 0o600))
	return p
}

// open lets a command that reads from a fifo go on.
func open(t *testing.T, fifo string) {
	t.Helper()
	must.Do(t, os.WriteFile(fifo, []byte("go\n"), 0))
}

// SPEC 16.7: an allow-listed environment without provider keys.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	pass := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/home/a", "USER=a", "LANG=C.UTF-8", "LC_ALL=C", "TMPDIR=/tmp", "GOPATH=/go",
		"GOFLAGS=-mod=mod", "GOPROXY=https://proxy.example", "GOPRIVATE=x", "NODE_OPTIONS=--x", "npm_config_cache=/c",
		"PYTHONPATH=/p", "VIRTUAL_ENV=/v", "CARGO_HOME=/c", "RUSTFLAGS=-g", "JAVA_HOME=/j", "CI=true", "TZ=UTC",
		"XDG_CACHE_HOME=/x", "XDG_SESSION_ID=1", "https_proxy=http://u:p@proxy:1", "GIT_AUTHOR_NAME=A", "CGO_ENABLED=0",
		"PIP_INDEX_URL=https://pypi.example/simple", "MINE=1",
	}
	stop := []string{
		"ANTHROPIC_API_KEY=sk-ant-1", "OPENAI_API_KEY=x", "GEMINI_API_KEY=x", "GOOGLE_API_KEY=x", "OPENROUTER_API_KEY=x",
		"GOOGLE_APPLICATION_CREDENTIALS=/x", "AWS_SECRET_ACCESS_KEY=x", "AWS_SESSION_TOKEN=x", "GITHUB_TOKEN=x", "GH_TOKEN=x",
		"npm_config_//registry.npmjs.org/:_authToken=x", "npm_config__auth=x", "NPM_CONFIG_TOKEN=x", "CARGO_REGISTRY_TOKEN=x",
		"CARGO_REGISTRIES_MINE_TOKEN=x", "UV_INDEX_MINE_PASSWORD=x", "POETRY_PYPI_TOKEN_PYPI=x", "NODE_AUTH_TOKEN=x",
		"PIP_INDEX_URL=https://u:p@pypi.example/simple", "PIP_EXTRA_INDEX_URL=https://0123456789abcdef0123@host/", "GOPROXY=https://a:b@h",
		"NODE_SETTING=ghp_0123", "SSH_AUTH_SOCK=/x", "GPG_AGENT_INFO=x", "DOCKER_HOST=x", "BASH_ENV=/evil", "ENV=/evil", "LD_PRELOAD=/evil",
		"PROMPT_COMMAND=x", "DATABASE_URL=postgres://a:b@h/d", "PAWL_MODEL=x", "GIT_DIR=/x", "GIT_CONFIG_COUNT=1", "PAWL_JOB=outer.1",
		"BASH_FUNC_echo%%=() { evil; }", "MY_MINE=1", "=C:=x", "HEX_API_KEY=x", "GOOGLE_CLOUD_PROJECT=x", "MINE_KEY=1",
		"A B=x", "PATH HOME=x",
	}
	got := environ(append(slices.Clone(stop), pass...), []string{"MINE", "MINE_KEY"})
	pass = append(pass, "PIP_INDEX_URL=https://pypi.example/simple", "PIP_EXTRA_INDEX_URL=https://host/", "GOPROXY=https://h") // their addresses without who asks
	for _, kv := range pass {
		if !slices.Contains(got, kv) {
			t.Errorf("missing: %s", kv)
		}
	}
	for _, kv := range stop {
		if slices.Contains(got, kv) {
			t.Errorf("leaked: %s", kv)
		}
	}
	// By class: whatever tool chain the prefix names, a word for a secret in the name
	// keeps the variable from commands, and innocent names pass.
	for _, chain := range []string{"GO_", "NODE_", "PIP_", "CARGO_", "npm_config_", "GRADLE_X_", "MINE_"} {
		for _, word := range []string{
			"PAT", "TOKEN", "TOKENS", "SECRET", "KEY", "KEYS", "PASSWORD", "PASSWD", "PASS", "PWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS",
			"CREDS", "CRED", "AUTH", "COOKIE", "APIKEY", "MYAPIKEY", "PAT_2", "PAT2", "TOKEN1", "KEY3", "SECRET_VALUE", "TOKEN_FILE", "X_PAT_Y",
			"pat", "_authToken", "BEARER", "JWT", "DSN",
		} {
			if kv := chain + word + "=x"; len(environ([]string{kv}, []string{chain + word})) > len(fixed()) {
				t.Errorf("leaked: %s", kv)
			}
		}
	}
	for _, key := range []string{"sk-x", "sk_live_x", "ghp_x", "gho_x", "ghs_x", "github_pat_x", "glpat-x", "xoxb-x", "xoxp-x", "AKIAX", "AIzax", "hf_x", "npm_x", "pypi-x"} {
		if len(environ([]string{"NODE_SETTING=" + key}, nil)) > len(fixed()) {
			t.Errorf("leaked: a value %s", key)
		}
	}
	for _, kv := range []string{"GO_PATH=x", "GO_PATTERN=x", "NODE_PATH=x", "CARGO_AUTHORS=x", "GO_KEYWORD=x", "PIP_COMPASS=x", "GO_AUTHOR=x", "GO111MODULE=on"} {
		if len(environ([]string{kv}, nil)) == len(fixed()) && kv != "PIP_COMPASS=x" { // it ends in PASS: rather one too many
			t.Errorf("missing: %s", kv)
		}
	}
	// SPEC 4.11: and the command really sees that and nothing else.
	s := newShell(t, Options{Env: func() []string { return append(stop, pass...) }})
	r := must.Get(s.Run(t.Context(), tool.Run{Confine: process.Free, Command: "env", Env: []string{"EXTRA=1"}}))(t)
	for _, kv := range []string{"SSH_AUTH_SOCK=/x", "GIT_EDITOR=:", "GIT_PAGER=cat", "PAGER=cat", "GIT_TERMINAL_PROMPT=0", "TERM=dumb", "PAWL=1", "EXTRA=1", "HOME=/home/a"} {
		if !strings.Contains("\n"+r.Output, "\n"+kv+"\n") {
			t.Errorf("not set: %s", kv)
		}
	}
	for _, secret := range []string{"sk-ant", "evil", "API_KEY", "TOKEN", "outer"} {
		if strings.Contains(r.Output, secret) {
			t.Errorf("%s is visible", secret)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte("a\xe2\x82\xac"), uint8(1), uint8(2))
	f.Fuzz(func(t *testing.T, in []byte, a, b uint8) {
		i := min(int(a), len(in))
		j := max(i, min(int(b), len(in)))
		var d decoder
		got := d.text(in[:i]) + d.text(in[i:j]) + d.text(in[j:]) + d.rest()
		if strings.ReplaceAll(got, "\uFFFD", "") != strings.ToValidUTF8(string(in), "") && !strings.Contains(string(in), "\uFFFD") {
			t.Errorf("%q from %q", got, in)
		}
	})
}

func FuzzTape(f *testing.F) {
	f.Add([]byte("one\ntwo\nthree"), uint8(8), uint8(3))
	f.Add([]byte("€€€€€€€€"), uint8(5), uint8(1))
	f.Add([]byte("\xff\xfe\n\n\n\xe2\x82\n\x80\n\xf0\x9f"), uint8(4), uint8(2))
	f.Add([]byte(strings.Repeat("\n", 40)), uint8(9), uint8(7))
	f.Add([]byte(strings.Repeat("ab", 40)), uint8(0), uint8(255))
	f.Fuzz(func(t *testing.T, in []byte, limit, chunk uint8) {
		tp := newTape(int(limit)+2, nil)
		for rest := in; len(rest) > 0; {
			n := min(int(chunk)+1, len(rest))
			_, _ = tp.Write(rest[:n])
			rest = rest[n:]
		}
		got, g := tp.text(nil)
		if len(in) <= int(limit)+2 {
			if got != strings.ToValidUTF8(string(in), "\uFFFD") {
				t.Errorf("%q from %q", got, in)
			}
			return
		}
		if g == nil || got != g.Text() || !strings.Contains(got, "left out") || !utf8.ValidString(got) {
			t.Fatalf("%q", got)
		}
		// SPEC 4.11: what is shown is the start and the end, and the count of
		// what is not is right.
		gone, ok := strings.CutPrefix(string(in), g.Head)
		if ok {
			gone, ok = strings.CutSuffix(gone, g.Tail)
		}
		if !ok || g.Bytes != int64(len(gone)) || g.Lines != int64(strings.Count(gone, "\n")) || g.Torn == strings.HasSuffix(gone, "\n") {
			t.Errorf("%q: %+v", in, g)
		}
	})
}

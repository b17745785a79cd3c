//go:build linux

package cli

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 16.7, 4.15: keys of env files, of git's configuration and of command lines are
// masked without a question, in every mode, however they are shown.
func TestKeysAreMasked(t *testing.T) {
	keys := []string{
		"hunter2Correct99Horse", "0123456789abcdef0123456789abcdef01234567", "9fK2mQ7xL4pT8vB1", "Depl0yPw77", "cioQ7rTz81LmPxVb2", "s3cr3tPw",
		"Zq8wErTy7mNb4", "abcDEF123456ghiJKL", "hunter2hunter2", "x7Qk", "Kq81vB-x7", "bL4ckB0x!77", "Nm3-Op4-Qr5",
	}
	top := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	dir, home := filepath.Join(top, "w"), filepath.Join(top, "home")
	for name, text := range map[string]string{
		"home/.gitconfig": "[user]\n\tname = Ada\n[sendemail]\n\tsmtpPass = hunter2Correct99Horse\n[github]\n\ttoken = 0123456789abcdef0123456789abcdef01234567\n" +
			"[http \"https://git.acme.com\"]\n\textraHeader = X-Auth-Key: 9fK2mQ7xL4pT8vB1\n[alias]\n\tdeploy = !curl -u bob:Depl0yPw77 https://x\n[url \"https://me:s3cr3tPw@git.acme.com/\"]\n\tinsteadOf = acme:\n",
		"home/.local/bin/deploy": "#!/bin/sh\ncurl -u bob:hunter2Correct99Horse https://x\n", "home/.cargo/env": "export CARGO_REGISTRY_TOKEN=cioQ7rTz81LmPxVb2\n",
		"w/r.py":             "import os\nh=os.environ['HOME']\nfor f in ('.local/bin/deploy','.cargo/env','.gitconfig'):\n  s=open(h+'/'+f).read(); print(f, s, s[::-1])\n",
		"w/p.sh":             "(exec -a 'curl -u bob:Depl0yPw77 x' sleep 1) & sleep 0.2; cat /proc/$!/cmdline; cat /proc/$!/cmdline | tr '\\0' ' '; ps axww\n",
		"w/.env":             "DB_PASSWORD=Zq8wErTy7mNb4\nJWT=abcDEF123456ghiJKL\nPLAIN=hunter2hunter2\nSHORT=x7Qk\nPORT=8080\n",
		"w/a/b/c/.env.local": "OTHER=Kq81vB-x7\n", "w/a/b/token.txt": "bL4ckB0x!77\n", "w/a/b/c/settings.yml": "db:\n  password: \"Nm3-Op4-Qr5\"\n  port: 5433\n",
		"w/.git/config": "[core]\n\tbare = false\n[remote \"o\"]\n\turl = https://me:s3cr3tPw@git.acme.com/r.git\n", "w/.git/HEAD": "ref: refs/heads/main\n", "w/.git/objects/.k": "", "w/.git/refs/.k": "",
	} {
		name = filepath.Join(top, name)
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o700))
		must.WriteMode(t, name, text, 0o700)
	}
	use := func(name string, args any) func() llmtest.Turn {
		in := must.Get(json.Marshal(args))(t)
		return func() llmtest.Turn { return llmtest.Use(name, string(in)) }
	}
	type j = map[string]any
	bash := func(line string) func() llmtest.Turn { return use("bash", j{"command": line}) }
	everywhere := []func() llmtest.Turn{
		bash("git config --list"), bash("git config --get-regexp 'alias.*'; git remote -v"), bash("git config -l --show-origin"),
		bash("cat .env"), bash("cat .e*"), bash("tac .e* | rev"), bash("cat .[d-f]nv"), bash("head -3 < .env"), bash("cat a/b/c/.env.local"), bash("cat a/b/token.txt a/b/c/settings.yml"),
		use("read", j{"files": []j{{"path": ".env"}, {"path": "a/b/c/.env.local"}, {"path": "a/b/token.txt"}, {"path": "a/b/c/settings.yml"}}}), use("grep", j{"pattern": "a*", "path": "a/b/c/.env.local"}), use("grep", j{"pattern": "port|password"}),
	}
	scripts := append(everywhere, bash("python3 r.py"), bash("sh p.sh"), bash("rev <.env | sort"))
	for mode, calls := range map[string][]func() llmtest.Turn{"ask": everywhere, "plan": scripts, "accept-edits": everywhere, "auto": scripts} {
		web := &llmtest.Server{Reply: func(n int, _ []byte) llmtest.Turn {
			if n < len(calls) {
				return calls[n]()
			}
			return llmtest.Say("done")
		}}
		srv := httptest.NewServer(web)
		defer srv.Close()
		c := pawl(t, dir, home, []string{"ANTHROPIC_API_KEY=not-a-real-key-4711-0815", "ANTHROPIC_BASE_URL=" + srv.URL, "PAWL_MODEL=anthropic/claude-script"},
			"run", "--permission-mode", mode, "--output-format", "stream-json", "show it")
		out, err := c.Output()
		if err != nil {
			t.Errorf("%s: %v: %.300s", mode, err, out)
		}
		bodies := web.Bodies()
		last := string(bodies[len(bodies)-1])
		for _, shown := range []string{string(out), last} {
			for _, k := range keys {
				for _, form := range []string{k, reversed(k)} {
					if i := strings.Index(shown, form); i >= 0 {
						t.Errorf("%s shows %s: %q", mode, form, shown[max(0, i-60):min(len(shown), i+60)])
					}
				}
			}
		}
		for _, want := range []string{"DB_PASSWORD=[masked:", "PORT=8080", "sendemail.smtppass=[masked:", "user.name=Ada", "OTHER=[masked:", "5433"} {
			if !strings.Contains(last, want) {
				t.Errorf("%s: the model was not told %q", mode, want)
			}
		}
	}
}

func reversed(s string) string {
	b := []byte(s)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

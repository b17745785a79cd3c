package main

import (
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/progress"
)

// pick returns the i-th name of an endless list of names without a pattern.
func pick(i int) string {
	const parts = "ba ko ri mu te sa lo ven dar pix qua zor hel min tag"
	p := strings.Fields(parts)
	return p[i%len(p)] + p[(i/len(p)+3*i+1)%len(p)] + p[(i/7)%len(p)] + fmt.Sprintf("%c", 'a'+i%26)
}

// monotonous are productive runs whose steps all look alike (SPEC 6.1): a list is
// worked off, something moves slowly, or a check says the same each time.
func monotonous() []pattern {
	none := func(t *teller, line string) calls { return calls{t.run(line, "", 1)} }
	missing := func(t *teller, path string) calls {
		c := t.read(path, 1, 50, "")
		c.OK, c.Result = false, fmt.Sprintf("Error: %s: no such file or directory", path)
		return calls{c}
	}
	known := func(name string, line func(i int) string, out string, exit int) pattern {
		return pattern{name: name, round: func(t *teller, i int) calls { return calls{t.run(line(i), out, exit)} }}
	}
	list := func(format string) func(i int) string {
		return func(i int) string { return fmt.Sprintf(format, pick(i)) }
	}
	numbers := func(format string) func(i int) string {
		return func(i int) string { return fmt.Sprintf(format, i) }
	}
	return []pattern{
		{name: "which, over a list of programs", round: func(t *teller, i int) calls {
			if i%4 == 1 {
				return calls{t.run("which "+pick(i), "/usr/bin/"+pick(i), 0)}
			}
			return none(t, "which "+pick(i))
		}},
		known("command -v, none is there", list("command -v %s"), "", 1),
		known("test -f over files", list("test -f pkg/%s.go"), "", 1),
		known("test -f, all there", list("test -f pkg/%s.go"), "", 0),
		known("grep -q over files, no match", list("grep -q TODO src/%s.py"), "", 1),
		known("grep -q over files, all match", list("grep -q TODO src/%s.py"), "", 0),
		known("test -d && echo", list("test -d services/%s && echo yes || echo no"), "no", 0),
		known("searches that find nothing", numbers("grep -rn needle%d ."), "", 0),
		known("searches with rg, exit code 1", list("rg -l %s src"), "", 1),
		known("grep -c, always 0", list("grep -c %s app.log"), "0", 1),
		{name: "reads of missing files", round: func(t *teller, i int) calls { return missing(t, fmt.Sprintf("lib/%s/setup.py", pick(i))) }},
		{name: "reads of numbered missing files", round: func(t *teller, i int) calls { return missing(t, fmt.Sprintf("migrations/%04d_up.sql", i)) }},
		known("ids that are not found", numbers("curl -s http://api/items/%d"), `{"error":"not found"}`, 0),
		known("ids by a flag, not found", numbers("./lookup --id %d"), "no such item", 1),
		known("ids that fail the same way", numbers("python convert.py --id %d"), "Traceback (most recent call last):\n  File \"convert.py\", line 3\nKeyError: 'name'", 1),
		known("hosts that do not answer", list("ping -c 1 %s.internal"), "ping: unknown host", 2),
		known("hosts that are up", list("ssh %s.internal true"), "", 0),
		known("hosts with one version", list("ssh %s.internal uname -r"), "6.1.0-18-amd64", 0),
		known("versions that do not exist", func(i int) string { return fmt.Sprintf("pip download foo==%d.%d.%d", i/100, i/10%10, i%10) },
			"ERROR: No matching distribution found", 1),
		known("uuids", func(i int) string {
			return fmt.Sprintf("psql -c \"select 1 from users where id='%08x-1234-4abc-8def-%012x'\"", i*7919, i*104729)
		}, "(0 rows)", 0),
		known("dates of a log archive", func(i int) string {
			return fmt.Sprintf("zgrep -c ERROR logs/%d-%02d-%02d.gz", 2010+i/336, i/28%12+1, i%28+1)
		}, "0", 1),
		known("packages installed one by one", list("npm install %s"), "up to date, audited 312 packages", 0),
		{name: "packages with their own output", round: func(t *teller, i int) calls {
			return calls{t.run("pip install "+pick(i), fmt.Sprintf("Collecting %s\nSuccessfully installed %s-1.%d", pick(i), pick(i), i), 0)}
		}},
		known("modules that can be imported", list("python -c 'import %s'"), "", 0),
		{name: "modules that cannot", round: func(t *teller, i int) calls {
			return calls{t.run("python -c 'import "+pick(i)+"'", "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\nModuleNotFoundError: No module named '"+pick(i)+"'", 1)}
		}},
		known("tests one by one, all pass", list("pytest -q -k test_%s"), "1 passed in 0.02s", 0),
		known("tests one by one, one import fails", list("pytest -q tests/test_%s.py"), "ImportError: cannot import name 'app' from 'main'", 1),
		known("seeds of a flaky test", numbers("go test -run TestX -seed=%d ./x"), "ok  \texample.com/x\t0.01s", 0),
		known("modes set one by one", list("chmod +x bin/%s.sh"), "", 0),
		{name: "modes set, seen as changes", round: func(t *teller, i int) calls {
			c := t.run("chmod 600 keys/"+pick(i), "", 0)
			c.Files = []progress.File{{Path: "keys/" + pick(i), Hash: "k"}}
			return calls{c}
		}},
		{name: "a migration of 500 files", long: true, round: func(t *teller, i int) calls {
			p := fmt.Sprintf("pkg/%s/%d.py", pick(i), i)
			return calls{t.read(p, 1, 50, fmt.Sprint("old api in ", i)), t.edit(p, "old_api(", "new_api(", fmt.Sprint("migrated", i))}
		}},
		{name: "a migration, the whole test red until the end", round: func(t *teller, i int) calls {
			p := fmt.Sprintf("pkg/%s.py", pick(i))
			return calls{t.edit(p, "old_api(", "new_api(", fmt.Sprint("migrated", i)), t.run("pytest -q", failure, 1)}
		}},
		{name: "edits over a list, most without a match", round: func(t *teller, i int) calls {
			if i%9 == 0 {
				return calls{t.edit(fmt.Sprintf("a/%s.py", pick(i)), "foo", "bar", fmt.Sprint("s", i))}
			}
			return calls{t.badEdit(fmt.Sprintf("a/%s.py", pick(i)), "foo", "bar", "old text not found")}
		}},
		{name: "polling, a state that changes now and then", round: func(t *teller, i int) calls {
			return calls{t.run("sleep 20; gh run view 17", []string{"queued", "in progress", "in progress, job 2", "cleaning up"}[i/12%4]+fmt.Sprint(i/48), 0)}
		}},
		{name: "polling without a sleep, a percentage", round: func(t *teller, i int) calls {
			return calls{t.run("./status", fmt.Sprintf("copied %d of 90000 files", i*37), 0)}
		}},
		{name: "polling, a value that goes up and down", round: func(t *teller, i int) calls {
			return calls{t.run("tail -1 train.log", fmt.Sprintf("loss 0.%03d", 500+(i*7919)%400), 0)}
		}},
		{name: "retries with a growing pause, then through", round: func(t *teller, i int) calls {
			u := "http://api/" + pick(i)
			var out calls
			for k := range 4 {
				out = append(out, t.run(fmt.Sprintf("sleep %d; curl -sf %s", 1<<k, u), "curl: (22) The requested URL returned error: 503", 22))
			}
			return append(out, t.run("curl -sf "+u, fmt.Sprintf("{\"n\": %d}", i), 0))
		}},
		{name: "pauses and tries as separate calls", round: func(t *teller, i int) calls {
			u := "http://api/" + pick(i)
			var out calls
			for k := range 3 {
				out = append(out, t.run("curl -sf "+u, "curl: (22) The requested URL returned error: 503", 22), t.run(fmt.Sprint("sleep ", 2<<k), "", 0))
			}
			return append(out, t.run("curl -sf "+u, fmt.Sprintf("{\"n\": %d}", i), 0))
		}},
		{name: "bisecting by hand", round: func(t *teller, i int) calls {
			sha := fmt.Sprintf("%07x", 0x1a2b3c+i*7919)
			return calls{t.run("git checkout -q "+sha, "", 0), t.run("go test ./x", failure, i%3%2)}
		}},
		{name: "a limit found by halving", round: func(t *teller, i int) calls {
			n := 1<<20 - i*317
			return calls{t.run(fmt.Sprintf("./load --rows %d", n), fmt.Sprintf("error: %d bytes too many", n*3), 1)}
		}},
		{name: "a log in pages", round: func(t *teller, i int) calls {
			return calls{t.run(fmt.Sprintf("sed -n '%d,%dp' app.log", i*100+1, i*100+100), fmt.Sprintf("2026-01-05T10:%02d:00Z heartbeat ok\n2026-01-05T10:%02d:30Z heartbeat ok", i%60, i%60), 0)}
		}},
		{name: "a log in pages by the read tool", round: func(t *teller, i int) calls {
			c := t.read("app.log", i*100+1, i*100+100, "heartbeat ok")
			return calls{c}
		}},
		{name: "compile errors that shrink", round: func(t *teller, i int) calls {
			return calls{
				t.run("go build ./...", fmt.Sprintf("./a.go:%d:2: undefined: x\n%d errors", 4000-i, 4000-i), 1),
				t.edit("a.go", fmt.Sprint("x", i), "y", fmt.Sprint("fixed", i)),
			}
		}},
		{name: "errors that shrink by a command", round: func(t *teller, i int) calls {
			return calls{t.run("./fix-next", fmt.Sprintf("error: %d bytes left", 4000000-i*400), 1)}
		}},
		{name: "a test that comes nearer", round: func(t *teller, i int) calls {
			return calls{t.run("./step && pytest -q", fmt.Sprintf("FAILED test_a - assert %d == 100000", i), 1)}
		}},
		{name: "one item, then the same two checks", round: func(t *teller, i int) calls {
			return calls{
				t.read(fmt.Sprintf("docs/%s.md", pick(i)), 1, 80, fmt.Sprint("page ", i)),
				t.run("git status --short", " M a.py", 0), t.run("make lint", "ok", 0),
			}
		}},
		{name: "a list of probes with a check between", round: func(t *teller, i int) calls {
			return append(none(t, "which "+pick(i)), t.run("git status --short", " M a.py", 0))
		}},
		known("folders that list the same", list("ls services/%s"), "Dockerfile\nmain.go\nREADME.md\ngo.mod\ngo.sum\n.gitignore\nMakefile\ninternal\ncmd\n", 0),
		known("a check in each folder", list("cd pkg/%s && make test"), "ok", 0),
		known("inputs by redirection", numbers("./check < in/%d.txt"), "OK", 0),
		known("versions by the environment", numbers("VERSION=1.%d ./build.sh"), "build failed: no such tag", 1),
		known("cases through a pipe", numbers("echo 'case %d' | ./solve"), "NO", 0),
		known("columns of a table", numbers("cut -d, -f%d data.csv | sort -u | wc -l"), "1", 0),
		known("options of a compiler", list("gcc -W%s -c a.c"), "cc1: error: unrecognized command-line option", 1),
		known("images that are up to date", list("docker pull registry/%s"), "Status: Image is up to date", 0),
		known("pods that are not there", list("kubectl get pod %s -n prod"), "Error from server (NotFound): pods not found", 1),
		known("history of files, one commit", list("git log --oneline -1 -- src/%s.go"), "a1b2c3d import everything", 0),
		{name: "people written to", round: func(t *teller, i int) calls {
			return calls{{Tool: "send_mail", Args: object("to", pick(i)+"@example.com", "template", "welcome"), OK: true, Result: "sent"}}
		}},
		{name: "a search of the web over names", round: func(t *teller, i int) calls {
			return calls{{Tool: "web_search", Args: object("query", "site of "+pick(i), "limit", 5), OK: true, Result: "no results"}}
		}},
		{name: "a slow percentage", round: func(t *teller, i int) calls {
			return calls{t.run("./status", fmt.Sprintf("copied %d %%", i/8), 0)}
		}},
		{name: "a rebase of many commits", round: func(t *teller, i int) calls {
			return calls{t.run("git rebase --continue", fmt.Sprintf("Rebasing (%d/9000)", i), 0)}
		}},
		{name: "branches that are merged already", round: func(t *teller, i int) calls {
			return calls{t.run("git merge --no-edit feature/"+pick(i), "Already up to date.", 0)}
		}},
		{name: "pages of documentation written", round: func(t *teller, i int) calls {
			return calls{t.write(fmt.Sprintf("docs/%s.md", pick(i)), "# "+pick(i)+"\nAll about "+pick(i*3+1)+".", fmt.Sprint("doc", i))}
		}},
		{name: "findings noted after each search", round: func(t *teller, i int) calls {
			c := t.run(fmt.Sprintf("echo '%s: no' >> notes.md", pick(i)), "", 0)
			c.Files = []progress.File{{Path: "notes.md", Hash: fmt.Sprint("n", i)}}
			return append(none(t, "grep -rq "+pick(i)+" src"), c)
		}},
		{name: "web pages that say the same", round: func(t *teller, i int) calls {
			return calls{{Tool: "web_fetch", Args: object("url", "https://docs.example.com/"+pick(i)), OK: true, Result: "404: this page does not exist"}}
		}},
		{name: "an unknown tool over ids", round: func(t *teller, i int) calls {
			return calls{{Tool: "jira_lookup", Args: object("issue", fmt.Sprint("PRJ-", i)), OK: true, Result: "closed"}}
		}},
		{name: "one message with every call", round: func(t *teller, i int) calls {
			c := t.run("test -e assets/"+pick(i)+".png", "", 1)
			c.Message = "Checking the next one."
			return calls{c}
		}},
	}
}

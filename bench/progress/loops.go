package main

import (
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/trajectory"
)

// pattern is a generator of steps: round returns the calls of its i-th round.
type pattern struct {
	name  string
	round func(t *teller, i int) []trajectory.Call
	// asked is a person's prompt before it, "" for none.
	asked string
	// slow: it is detected only after very many steps. long: it is played for 1,000.
	slow, long bool
}

type calls = []trajectory.Call

const failure = "FAILED tests/test_a.py::test_x - AssertionError: assert 3 == 4"

// loops are the ways of being stuck.
func loops() []pattern {
	return []pattern{
		{name: "the same lines read", round: func(t *teller, _ int) calls { return calls{t.read("a.py", 1, 40, "def f(): pass")} }},
		{name: "the same failing edit", round: func(t *teller, _ int) calls { return calls{t.badEdit("a.py", "x", "y", "old text not found in a.py")} }},
		{name: "a failing edit, other text each time", round: func(t *teller, i int) calls {
			return calls{t.badEdit("a.py", fmt.Sprint("x", i), "y", fmt.Sprintf("no match in a.py near line %d", i*3))}
		}},
		{name: "a failing edit, other lines read between", round: func(t *teller, i int) calls {
			return calls{t.badEdit("a.py", fmt.Sprint("x", i), "y", "no match in a.py"), t.read("a.py", i*7, i*7+40, fmt.Sprint("line ", i))}
		}},
		{name: "an edit that changes nothing, and the test", round: func(t *teller, i int) calls {
			return calls{t.edit("a.py", fmt.Sprint("v", i%3), fmt.Sprint("w", i%3), "same"), t.run("pytest -q", failure+fmt.Sprintf(" in 0.%ds", i), 1)}
		}},
		{name: "a file back and forth, and the test", round: func(t *teller, i int) calls {
			return calls{t.edit("a.py", fmt.Sprint(i%2), fmt.Sprint(1-i%2), fmt.Sprint("state", i%2)), t.run("pytest -q", failure, 1)}
		}},
		{name: "a command with times, pids, ports, paths", round: func(t *teller, i int) calls {
			return calls{t.run("make serve", fmt.Sprintf(
				"Mon Jan %2d 10:%02d:%02d UTC 2026\n[1] %d\npid %d on localhost:%d in /tmp/tmpab%dcd/x took %d ms at 2.%d MB/s\n\x1b[3%dmready\x1b[0m after 0m%d.5s",
				i%28+1, i%60, i%60, 1000+i, 4000+i, 40000+i, i*31, i, i%9, i%8, i%60), 0)}
		}},
		{name: "one question in other words", round: func(t *teller, i int) calls {
			form := [...]string{"cat a.py", "cd /repo && cat a.py", "head -100 a.py", "sed -n '1,100p' a.py", "cat  a.py # again", "cat \"a.py\"", "tail -n +1 a.py"}
			return calls{t.run(form[i%len(form)], "def f():\n    pass\n", 0)}
		}},
		{name: "a script written under new names", round: func(t *teller, i int) calls {
			p := fmt.Sprintf("/repo/repro%d.py", i+1)
			return calls{t.write(p, "import a", "one content"), t.run("python "+p, fmt.Sprintf("  File %q, line 3\nImportError: cannot import name 'a'", p), 1)}
		}},
		{name: "one content by other tools", round: func(t *teller, i int) calls {
			switch i % 3 {
			case 0:
				return calls{t.write("a.py", "x = 1", "c")}
			case 1:
				c := t.run(heredoc("a.py", "x = 1"), "", 0)
				c.Files = []progress.File{{Path: "a.py", Hash: "c"}}
				return calls{c}
			}
			return calls{t.edit("a.py", "x = 1", "x = 1", "c")}
		}},
		{name: "the same words, no call", round: func(*teller, int) calls {
			return calls{{Tool: "reply", Kind: progress.None, OK: true, Args: "same", Message: "I have finished the task. Let me know."}}
		}},
		{name: "replies that are no call", round: func(_ *teller, i int) calls {
			return calls{{Tool: "reply", Kind: progress.None, Args: fmt.Sprint("try ", i), Error: "no tool call was found in the reply"}}
		}},
		{name: "empty replies", round: func(*teller, int) calls {
			return calls{{Tool: "reply", Kind: progress.None, Error: "the reply was empty"}}
		}},
		{name: "handing in, refused", round: func(t *teller, i int) calls {
			return calls{t.finish(fmt.Sprint("done, take ", i), "The tests still fail. Please go on.", 0)}
		}},
		{name: "three steps with a thought between", round: func(t *teller, i int) calls {
			return calls{
				t.read("a.py", 1, 40, "def f(): pass"), t.think(fmt.Sprint("maybe this time, ", i)), t.run("grep -n f a.py", "1:def f(): pass", 0),
				t.run("pytest -q", failure+fmt.Sprintf(" (0.%02ds)", i), 1),
			}
		}},
		{name: "seven steps in turn", round: func(t *teller, i int) calls {
			var out calls
			for k := range 7 {
				out = append(out, t.read(fmt.Sprint("f", k, ".py"), 1, 50, fmt.Sprint("file ", k)))
			}
			return out
		}},
		{name: "eleven steps in turn, with noise", round: func(t *teller, i int) calls {
			var out calls
			for k := range 10 {
				out = append(out, t.read(fmt.Sprint("f", (k*7)%10, ".py"), 1, 50, fmt.Sprint("file ", (k*7)%10)))
			}
			return append(out, t.run("date +%s%N", fmt.Sprint(1767225600000000000+i), 0), t.run("echo round", fmt.Sprint("round ", i), 0))
		}},
		{name: "output cut in other places", round: func(t *teller, i int) calls {
			return calls{t.run("npm run build", fmt.Sprintf("> build\nERROR in ./a.ts\n[... %d lines omitted ...]\n[%d characters truncated]\nerror: build failed", 100+i, 5000+i*7), 1)}
		}},
		{name: "one error of many commands", round: func(t *teller, i int) calls {
			return calls{t.run(fmt.Sprintf("pip install --retries %d foo", i), fmt.Sprintf("Collecting foo\nERROR: Could not find a version that satisfies foo (attempt %d)", i), 1)}
		}},
		{name: "a progress bar that ends the same", round: func(t *teller, i int) calls {
			bar := ""
			for k := range 5 {
				bar += fmt.Sprintf("\rdownloading %d%% %d.%dMB/s", k*(15+i%4), i, k)
			}
			return calls{t.run("wget http://x/y", bar+"\rfailed: connection refused", 4)}
		}},
		{name: "one commit amended again", round: func(t *teller, i int) calls {
			sha := fmt.Sprintf("%07x", 0x1234567+i*977)
			return calls{t.run("git commit --amend --no-edit", "[main "+sha+"] fix\n Date: Mon Jan 5 10:00:0"+fmt.Sprint(i%10)+" 2026 +0000\n 1 file changed", 0)}
		}},
		{name: "one page opened again", round: func(t *teller, i int) calls {
			return calls{{Tool: "browser_navigate", Args: object("url", "http://localhost:3000/"), OK: true, Result: fmt.Sprintf("Loaded in %dms. Title: Login", 200+i)}}
		}},
		{name: "the plan rewritten, the test as before", round: func(t *teller, i int) calls {
			return calls{t.think(fmt.Sprint("plan ", i)), t.run("pytest -q", failure+strings.Repeat(" ", i%3), 1)}
		}},
		{name: "sleeping and looking, nothing changes", slow: true, round: func(t *teller, i int) calls {
			return calls{t.run("sleep 30; tail -3 build.log", "waiting for lock", 0)}
		}},
		{name: "looking for input that never comes", slow: true, round: func(*teller, int) calls {
			return calls{{Tool: "execute_bash", Args: object("command", "", "is_input", "true"), OK: true, Result: "[The command has no new output after 10 seconds.]"}}
		}},
	}
}

package main

import (
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/trajectory"
)

// noisy are stuck runs with something in between that is new and means nothing: each
// core with each kind of noise.
func noisy() []pattern {
	type part struct {
		name string
		acts func(t *teller, i int) calls
	}
	one := func(name string, do func(t *teller, i int) trajectory.Call) part {
		return part{name, func(t *teller, i int) calls { return calls{do(t, i)} }}
	}
	cores := []part{
		one("a failing test", func(t *teller, i int) trajectory.Call {
			return t.run("pytest -q", failure+fmt.Sprintf(" in 0.%02ds", i%90), 1)
		}),
		one("a failing edit", func(t *teller, i int) trajectory.Call {
			return t.badEdit("a.py", fmt.Sprint("def g", i), "def h", "old text not found in a.py")
		}),
		one("a command with times and ids", func(t *teller, i int) trajectory.Call {
			return t.run("./serve --check", fmt.Sprintf("t=%d request_id=%s-%x up %d.%ds\nerror: cannot bind", 1767225600+i*13, pick(i), i*7919, i*3, i%10), 1)
		}),
		{"a file back and forth", func(t *teller, i int) calls {
			return calls{t.edit("a.py", fmt.Sprint(i%2), fmt.Sprint(1-i%2), fmt.Sprint("state", i%2)), t.run("pytest -q", failure, 1)}
		}},
		{"two reads in turn", func(t *teller, _ int) calls {
			return calls{t.read("src/a.py", 1, 60, "class A: pass"), t.read("src/b.py", 1, 30, "import a")}
		}},
		{"a script under new names", func(t *teller, i int) calls {
			p := fmt.Sprintf("/repo/repro%d.py", i+1)
			return calls{t.write(p, "import a", "one content"), t.run("python "+p, fmt.Sprintf("  File %q, line 3\nImportError: cannot import name 'a'", p), 1)}
		}},
		one("one error, other tries", func(t *teller, i int) trajectory.Call {
			return t.run(fmt.Sprintf("./deploy --attempt %d --timeout %d", i, i*10), "error: cannot reach the registry", 1)
		}),
	}
	cores = append(cores,
		one("a search in other words", func(t *teller, i int) trajectory.Call {
			return t.run(fmt.Sprintf("grep -rn -m %d handler src | head -%d # try %d", i+1, i+20, i), "src/a.py:3: def handler(request): return None  # the one and only handler here", 0)
		}),
		one("a test with an echo", func(t *teller, i int) trajectory.Call {
			return t.run(fmt.Sprintf("echo attempt %d; pytest -q", i), fmt.Sprintf("attempt %d\n%s", i, failure), 1)
		}),
		one("a request with a new header", func(t *teller, i int) trajectory.Call {
			return t.run(fmt.Sprintf("curl -s -H 'X-Request-Id: %s%d' http://localhost:8080/x", pick(i), i), "{\"error\":\"the service is not configured: set DATABASE_URL and start it again\"}", 0)
		}),
	)
	noises := []part{
		{"nothing", func(*teller, int) calls { return nil }},
		one("the time", func(t *teller, i int) trajectory.Call {
			return t.run("date", fmt.Sprintf("Mon Jan  5 10:%02d:%02d UTC 2026", i%60, i*7%60), 0)
		}),
		one("a log of attempts", func(t *teller, i int) trajectory.Call {
			c := t.run(fmt.Sprintf("echo 'attempt %d failed' >> attempts.log", i), "", 0)
			c.Files = []progress.File{{Path: "attempts.log", Hash: fmt.Sprint("log", i)}}
			return c
		}),
		one("debug notes", func(t *teller, i int) trajectory.Call {
			return t.write("notes.md", fmt.Sprintf("# Debugging\nAttempt %d: I think it is %s. Still failing.", i, pick(i)), fmt.Sprint("note", i))
		}),
		{"notes, and reading them", func(t *teller, i int) calls {
			text := fmt.Sprintf("Attempt %d: perhaps %s.", i, pick(i))
			return calls{t.write("NOTES.txt", text, fmt.Sprint("note", i)), t.read("NOTES.txt", 1, 10, text)}
		}},
		one("the todo list", func(t *teller, i int) trajectory.Call {
			return t.think(fmt.Sprintf("1. fix %s 2. test again (%d)", pick(i), i))
		}),
		one("a comment", func(t *teller, i int) trajectory.Call {
			return t.edit("b.py", fmt.Sprintf("x = 1  # try %d", i), fmt.Sprintf("x = 1  # try %d", i+1), fmt.Sprint("commented", i))
		}),
		one("white space", func(t *teller, i int) trajectory.Call {
			return t.edit("b.py", "x = 1"+strings.Repeat(" ", i), "x = 1"+strings.Repeat(" ", i+1), fmt.Sprint("spaced", i))
		}),
		one("a print for debugging", func(t *teller, i int) trajectory.Call {
			return t.edit("b.py", "def f():", fmt.Sprintf("def f():\n    print('here %d')", i), fmt.Sprint("printed", i))
		}),
		one("echo", func(t *teller, i int) trajectory.Call {
			return t.run(fmt.Sprintf("echo trying again, round %d", i), fmt.Sprintf("trying again, round %d", i), 0)
		}),
		one("a random id", func(t *teller, i int) trajectory.Call {
			return t.run("openssl rand -hex 8", fmt.Sprintf("%016x", uint64(i+3)*11400714819323198485), 0)
		}),
		one("a list that gets longer by its own log", func(t *teller, i int) trajectory.Call {
			return t.run("wc -l attempts.log", fmt.Sprintf("%d attempts.log", i), 0)
		}),
		one("a health check with an id", func(t *teller, i int) trajectory.Call {
			return t.run("curl -s localhost:8080/health", fmt.Sprintf(`{"status":"starting","request_id":"%s%x","timestamp":%d}`, pick(i), i*31, 1767225600+i), 0)
		}),
	}
	var out []pattern
	for ci, c := range cores {
		for ni, n := range noises {
			if ni > 0 && (ci+ni)%2 == 1 && ci > 1 {
				continue // half of the pairs are enough
			}
			out = append(out, pattern{name: c.name + " with " + n.name, round: func(t *teller, i int) calls {
				return append(c.acts(t, i), n.acts(t, i)...)
			}})
		}
	}
	return out
}

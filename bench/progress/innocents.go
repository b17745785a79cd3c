package main

import (
	"fmt"

	"github.com/pawl-agent/pawl/internal/policy/trajectory"
)

// innocents are runs that look like loops but are not (SPEC 6.4).
func innocents() []pattern {
	return []pattern{
		{name: "polling, the output changes", round: func(t *teller, i int) calls {
			return calls{t.run("tail -1 train.log", fmt.Sprintf("step %d loss 0.%d", i*10, 999-i), 0)}
		}},
		{name: "sleeping, a counter moves", round: func(t *teller, i int) calls {
			return calls{t.run("sleep 20 && tail -1 build.log", fmt.Sprintf("[ %d%%] Building", i/3), 0)}
		}},
		{name: "a build that takes 25 looks", round: func(t *teller, i int) calls {
			if i%26 == 25 {
				return calls{t.run("sleep 30; tail -3 build.log", fmt.Sprint("built in round ", i), 0)}
			}
			return calls{t.run("sleep 30; tail -3 build.log", "compiling", 0)}
		}},
		{name: "paging through a file", round: func(t *teller, i int) calls {
			return calls{t.read("big.py", i*100, i*100+100, fmt.Sprint("lines from ", i*100))}
		}},
		{name: "first reads", round: func(t *teller, i int) calls {
			return calls{t.read(fmt.Sprintf("pkg/f%d.py", i), 1, 50, fmt.Sprint("file ", i))}
		}},
		{name: "an edit and a test that passes", round: func(t *teller, i int) calls {
			return calls{t.edit("a.py", fmt.Sprint(i), fmt.Sprint(i+1), fmt.Sprint("state", i)), t.run("pytest -q", "12 passed in 0.12s", 0)}
		}},
		{name: "an edit and a test that fails as before", round: func(t *teller, i int) calls {
			return calls{t.edit("a.py", fmt.Sprint(i), fmt.Sprint(i+1), fmt.Sprint("state", i)), t.run("pytest -q", failure, 1)}
		}},
		{name: "one test thirty times, new content between", round: func(t *teller, i int) calls {
			return calls{t.read("a.py", 1, 20, "def f"), t.edit("a.py", fmt.Sprint(i), "z", fmt.Sprint("state", i)), t.run("pytest -q a_test.py", failure, 1)}
		}},
		{name: "errors of the compiler, one after the other", round: func(t *teller, i int) calls {
			return calls{
				t.run("go build ./...", fmt.Sprintf("a%d.go:%d:2: undefined: name%c", i, i*3, 'a'+i%26), 1),
				t.edit(fmt.Sprintf("a%d.go", i), "x", "y", fmt.Sprint("fixed", i)),
			}
		}},
		{name: "one change in many files", round: func(t *teller, i int) calls {
			return calls{t.edit(fmt.Sprintf("pkg/m%d.py", i), "foo(", "bar(", fmt.Sprint("m", i))}
		}},
		{name: "one change in many files, contents not known", round: func(t *teller, i int) calls {
			return calls{t.edit(fmt.Sprintf("pkg/m%d.py", i), "foo(", "bar(", "")}
		}},
		{name: "rows of a table", round: func(t *teller, i int) calls {
			return calls{t.edit("cases.py", "]", fmt.Sprintf("(%d, %d),\n]", i, i*i), fmt.Sprint("rows", i))}
		}},
		{name: "small files of one content", round: func(t *teller, i int) calls {
			return calls{t.write(fmt.Sprintf("pkg%d/__init__.py", i), "", "empty")}
		}},
		{name: "bisecting", round: func(t *teller, i int) calls {
			verdict := [...]string{"good", "bad"}[i%2]
			return calls{
				t.run("go test ./x", failure, i%2),
				t.run("git bisect "+verdict, fmt.Sprintf("Bisecting: %d revisions left to test after this (roughly %d steps)\n[%040x] change %d", 4096>>(i%12), 12-i%12, i*7919, i), 0),
			}
		}},
		{name: "a limit of the host, tried again", round: func(t *teller, i int) calls {
			if i%21 == 20 {
				return calls{t.run("curl https://api.example.com/x", fmt.Sprint("{\"n\": ", i, "}"), 0)}
			}
			return calls{t.run("curl https://api.example.com/x", "HTTP 429 Too Many Requests", 22)}
		}},
		{name: "what the person asked to repeat", asked: "run the flaky test 250 times and count the failures", round: func(t *teller, _ int) calls {
			return calls{t.run("pytest -q flaky.py", "1 passed in 0.12s", 0)}
		}},
		{name: "commands that say nothing", round: func(t *teller, i int) calls {
			return calls{t.run(fmt.Sprintf("mv old%d.py new%d.py", i, i), "", 0)}
		}},
		{name: "a commit for each file", round: func(t *teller, i int) calls {
			return calls{
				t.run(fmt.Sprintf("git add f%d.py", i), "", 0),
				t.run(fmt.Sprintf("git commit -m 'add f%d'", i), fmt.Sprintf("[main %07x] add f%d\n 1 file changed, 1 insertion(+)", 0xabcdef+i, i), 0),
			}
		}},
		{name: "reading on, the same check between", round: func(t *teller, i int) calls {
			return calls{t.read(fmt.Sprintf("pkg/f%d.py", i), 1, 50, fmt.Sprint("file ", i)), t.run("git status --short", " M a.py", 0)}
		}},
		{name: "looking where a file may be", round: func(t *teller, i int) calls {
			if i%3 != 0 {
				c := t.read(fmt.Sprintf("lib%d/setup.py", i), 1, 50, "")
				c.OK, c.Result, c.Target = false, fmt.Sprintf("Error: lib%d/setup.py: no such file", i), fmt.Sprintf("lib%d/setup.py", i)
				return calls{c}
			}
			return calls{t.read(fmt.Sprintf("pkg/g%d.py", i), 1, 50, fmt.Sprint("file ", i))}
		}},
		{name: "a formatter after each edit", round: func(t *teller, i int) calls {
			return calls{t.edit("a.py", fmt.Sprint(i), "z", fmt.Sprint("state", i)), t.run("black a.py", "1 file reformatted.", 0), t.run("ruff check .", "All checks passed!", 0)}
		}},
		{name: "six thoughts and a step", round: func(t *teller, i int) calls {
			var out calls
			for k := range 6 {
				out = append(out, t.think(fmt.Sprintf("on %d, thought %d", i, k)))
			}
			return append(out, t.read(fmt.Sprintf("pkg/f%d.py", i), 1, 50, fmt.Sprint("file ", i)))
		}},
		{name: "the plan kept up to date", round: func(t *teller, i int) calls {
			return calls{t.think(fmt.Sprint("done so far: ", i)), t.edit("a.py", fmt.Sprint(i), "z", fmt.Sprint("state", i)), t.think(fmt.Sprint("next: ", i+1))}
		}},
		{name: "three tries and through", round: func(t *teller, i int) calls {
			c := func(exit int, out string) trajectory.Call { return t.run(fmt.Sprintf("./deploy.sh %d", i), out, exit) }
			return calls{c(1, "connection reset"), c(1, "connection reset"), c(1, "connection reset"), c(0, fmt.Sprint("deployed ", i))}
		}},
	}
}

package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/pawl-agent/pawl/internal/policy/trajectory"
)

// Random patterns: the table also shows results for patterns that no rule was written
// for.

// act is one step of a random loop: it brings nothing new, but differs a little each
// time.
type act func(t *teller, i int) trajectory.Call

func idleActs() []act {
	return []act{
		func(t *teller, _ int) trajectory.Call { return t.read("src/a.py", 10, 60, "class A: pass") },
		func(t *teller, _ int) trajectory.Call { return t.read("src/b.py", 1, 30, "import a") },
		func(t *teller, _ int) trajectory.Call { return t.run("grep -rn handler src", "src/a.py:3:handler", 0) },
		func(t *teller, i int) trajectory.Call {
			return t.run("pytest -q tests", fmt.Sprintf("%s\n1 failed in %d.%02ds", failure, i%3, i*7%100), 1)
		},
		func(t *teller, i int) trajectory.Call {
			return t.run("make check", fmt.Sprintf("2026-01-05T10:%02d:%02dZ checked, pid %d, %d ms", i%60, i*13%60, 900+i, 20+i), 0)
		},
		func(t *teller, _ int) trajectory.Call {
			return t.badEdit("src/a.py", "def g", "def h", "old_str not found in src/a.py")
		},
		func(t *teller, i int) trajectory.Call {
			return t.badEdit("src/a.py", fmt.Sprint("def g", i), "def h", fmt.Sprintf("no match for the text at line %d", i))
		},
		func(t *teller, i int) trajectory.Call {
			return t.edit("src/b.py", fmt.Sprint("a", i%2), fmt.Sprint("b", i%2), "as it was")
		},
		func(t *teller, i int) trajectory.Call {
			return t.run(fmt.Sprintf("python run.py --try %d", i), "Traceback (most recent call last):\nKeyError: 'name'", 1)
		},
	}
}

// noise is meaningless steps in between.
func noise(t *teller, rng *rand.Rand, i int) trajectory.Call {
	switch rng.IntN(3) {
	case 0:
		return t.think(fmt.Sprintf("let me think about it once more, %d", i))
	case 1:
		return t.run("date", fmt.Sprintf("Mon Jan  5 10:%02d:%02d UTC 2026", i%60, i*7%60), 0)
	}
	return t.run("pwd", "/repo", 0)
}

// randomLoop repeats one to eight idle acts, with noise after every sixth or so.
func randomLoop(seed uint64) pattern {
	rng := rand.New(rand.NewPCG(seed, 1))
	all := idleActs()
	slots := make([]act, 1+rng.IntN(8))
	for k := range slots {
		slots[k] = all[rng.IntN(len(all))]
	}
	return pattern{name: "a random loop", round: func(t *teller, i int) calls {
		local := rand.New(rand.NewPCG(seed, uint64(i)+2))
		var out calls
		for _, s := range slots {
			out = append(out, s(t, i))
			if local.IntN(6) == 0 {
				out = append(out, noise(t, local, i))
			}
		}
		return out
	}}
}

// randomWork brings something new at least at every third step, and does what
// loops do in between.
func randomWork(seed uint64) pattern {
	all := idleActs()
	return pattern{name: "random work", round: func(t *teller, i int) calls {
		rng := rand.New(rand.NewPCG(seed, uint64(i)+3))
		var out calls
		switch rng.IntN(4) {
		case 0:
			out = append(out, t.read(fmt.Sprintf("src/n%d.py", i), 1, 50, fmt.Sprint("file ", i)))
		case 1:
			out = append(out, t.run(fmt.Sprintf("python probe.py %d", i), fmt.Sprint("value ", i*i), 0))
		default:
			out = append(out, t.edit("src/a.py", fmt.Sprint(i), "z", fmt.Sprint("state", i)))
		}
		for range rng.IntN(3) {
			out = append(out, all[rng.IntN(len(all))](t, i))
		}
		return out
	}}
}

// random generates k patterns and counts them as one.
func random(k int, seed uint64, draw func(uint64) pattern) []pattern {
	out := make([]pattern, k)
	for i := range out {
		out[i] = draw(seed + uint64(i))
	}
	return out
}

// together adds up rows of one name.
func together(gs []grafted) []grafted {
	var out []grafted
	for _, g := range gs {
		if k := len(out) - 1; k >= 0 && out[k].name == g.name {
			o := &out[k]
			o.n, o.halted, o.warn, o.delays = o.n+g.n, o.halted+g.halted, o.warn+g.warn, append(o.delays, g.delays...)
			for r, n := range g.rules {
				o.rules[r] += n
			}
			for v, n := range g.missed {
				o.missed[v] += n
			}
			continue
		}
		out = append(out, g)
	}
	return out
}

package session_test

import (
	"cmp"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/workspace/journal"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// SPEC 20.2, 4.6: the result of a command names the files that the agent had edited and
// that the command changed, by the facts of the journal and not by its words.
func TestOverwrittenWorkIsNamed(t *testing.T) {
	t.Parallel()
	change := [][]string{{"edit", args(edit("a", "A"))}}
	git := "git -c init.defaultBranch=m -c user.name=u -c user.email=u@e "
	repo := "chmod 644 f g && " + git + "init -q && git add f g && " + git + "commit -qm 1"
	const back = "[changed while this ran: f (back to what it was before your edits)]"
	for name, c := range map[string]struct {
		edits   [][]string
		command string
		says    string // "": nothing
	}{
		"git checkout":             {change, "git checkout -q -- f", back},
		"git restore":              {change, "git restore f", back},
		"git reset":                {change, "git reset -q --hard", back},
		"git stash":                {change, "git stash -q", back},
		"another program":          {change, "printf 'a\\nb\\n' > f", back},
		"behind other words":       {change, "p=f; git show HEAD:$p > tmp && mv tmp $p", back},
		"written by a command":     {[][]string{{"bash", args(j{"command": "sed -i s/a/A/ f"})}}, "git checkout -q -- f", back},
		"two edits, one lost":      {append(change, []string{"edit", args(edit("b", "B"))}), "printf 'A\\nb\\n' > f", "[changed while this ran: f (back to what it was between your edits)]"},
		"removed":                  {change, "rm f", "[changed while this ran: f (removed)]"},
		"a new file removed":       {[][]string{{"write", args(j{"path": "n", "content": "x\n"})}}, "git clean -qf", "[changed while this ran: n (removed)]"},
		"formatted":                {change, "sed -i 's/$/ /' f", "[changed while this ran: f]"},
		"not the agent's":          {change, "echo x > g", ""},
		"stashed and back":         {change, "git stash -q; git stash pop -q", ""},
		"its mode":                 {change, "p=f; chmod 600 $p", ""},
		"a command's own output":   {[][]string{{"bash", args(j{"command": "echo 1 > out"})}}, "echo 2 > out", ""},
		"a command's output, gone": {[][]string{{"bash", args(j{"command": "echo 1 > out"})}}, "rm out", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var turns []llmtest.Turn
			for _, e := range c.edits {
				turns = append(turns, llmtest.Use(e...))
			}
			turns = append(turns, llmtest.Use("bash", args(j{"command": c.command})), llmtest.Say("ok"))
			r := newRig(t, "yolo", llmtest.New(turns...), journaled(t, journal.Options{}))
			r.Put("f", "a\nb\n")
			r.Put("g", "g\n")
			cmd := exec.Command("sh", "-c", repo)
			if cmd.Dir = r.Dir; cmd.Run() != nil {
				t.Fatal("no repository")
			}
			done := find[event.CallDone](r.Run("go", nil))
			text := done[len(done)-1].Result.Text
			if done[len(done)-1].Outcome != event.OK || c.says != "" && !strings.Contains(text, c.says) || c.says == "" && strings.Contains(text, "[changed") {
				t.Errorf("%q, want %q", text, c.says)
			}
		})
	}
}

// What a person saves while a command runs, and the next command takes away, comes back with
// the turn's undo, if they confirm it: also where the command left the file as it was before
// the turn. The model is not told that edits of its own are gone. SPEC 11.2
func TestOverwrittenSaveComesBack(t *testing.T) {
	t.Parallel()
	const repo = "git init -q && git add f && git -c user.name=u -c user.email=u@e commit -qm 1"
	for command, edited := range map[string]string{"git checkout -q .": "", "git stash -q": "", "git reset -q --hard": "x", "git clean -qf": "", "rm n; git checkout f": ""} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			turns := []llmtest.Turn{llmtest.Use("bash", bash("echo ready > made; cat made; while [ ! -e .git/go ]; do sleep 0.01; done")), llmtest.Use("bash", bash(command)), llmtest.Say("ok")}
			if edited != "" {
				turns = append([]llmtest.Turn{llmtest.Use("edit", args(edit("a", edited)))}, turns...)
			}
			r := newRig(t, "yolo", llmtest.New(turns...), journaled(t, journal.Options{}))
			r.Put("f", "a\nb\n")
			cmd := exec.Command("sh", "-c", repo)
			if cmd.Dir = r.Dir; cmd.Run() != nil {
				t.Fatal("no repository")
			}
			log := r.Run("go", func(e event.Event) {
				if b, ok := e.Body.(event.OutputDelta); ok && strings.Contains(b.Text, "ready") {
					r.Put("f", r.File("f")+"mine\n")
					r.Put("n", "new\n")
					r.Put(".git/go", "")
				}
			})
			for _, c := range find[event.CallDone](log) {
				if edited == "" && strings.Contains(c.Result.Text, "your edits") {
					t.Errorf("it is told %q", c.Result.Text)
				}
			}
			lost := map[string]string{}
			for path, want := range map[string]string{"f": cmp.Or(edited, "a") + "\nb\nmine\n", "n": "new\n"} {
				if data, _ := os.ReadFile(filepath.Join(r.Dir, path)); string(data) != want { // it may be gone
					lost[path] = want
				}
			}
			if len(lost) == 0 {
				t.Fatal("nothing was lost")
			}
			p := r.plan(undo.Selector{Kind: undo.ByTurn})
			if p.NeedsNoConsent() {
				t.Errorf("nothing is asked: %+v", p)
			}
			must.Get(session.DoPlan(t.Context(), r.Session, p, undo.Consent{Confirmed: slices.Collect(maps.Keys(lost)), LeaveOut: others(p, lost)}))(t)
			for path, want := range lost {
				if got := r.File(path); got != want {
					t.Errorf("%s is %q, want %q", path, got, want)
				}
			}
		})
	}
}

// others returns the files of a plan that are not in a set.
func others(p undo.Plan, set map[string]string) (out []string) {
	for _, f := range p.Files {
		if set[f.Path] == "" {
			out = append(out, f.Path)
		}
	}
	return out
}

package session_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/workspace/journal"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
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

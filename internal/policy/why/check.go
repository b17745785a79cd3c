package why

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
)

// checked records the outcome of one of pawl's checks that did not pass.
func (f *Fold) checked(b event.Checked) {
	if b.Command == "" || b.Why == "" && b.Exit != nil && *b.Exit == 0 {
		return
	}
	line := quoted(firstLine(b.Command)) + " → "
	switch {
	case b.Why != "":
		line += quoted(firstLine(b.Why))
	case b.Exit != nil:
		line += fmt.Sprintf("exit code %d", *b.Exit)
	default:
		line += "it did not run to its end"
	}
	switch b.Failures {
	case 0:
	case 1:
		line += ", 1 failure"
	default:
		line += fmt.Sprintf(", %d failures", b.Failures)
	}
	for l := range strings.Lines(b.Output) {
		if l = strings.TrimSpace(l); strings.Trim(l, "=-_#*") != "" && !strings.HasPrefix(l, "[all output: ") {
			line += ": " + quoted(l)
			break
		}
	}
	if f.failed = append(f.failed, line); len(f.failed) > keep {
		f.failed = slices.Delete(f.failed, 0, 1)
	}
}

// unverified records why the changes of a turn that ended are not proven. Proof
// from before or after that turn does not change it.
func (f *Fold) unverified(e event.Event) {
	r := f.proof.Report()
	files := r.Changed()
	if len(files) == 0 {
		return
	}
	if r.Word() == evidence.Verified {
		delete(f.last, Check)
		return
	}
	text := "the changes are " + quoted(firstLine(r.Proof()))
	var names []string
	for i, x := range files {
		if i == keep {
			names = append(names, fmt.Sprintf("and %d more", len(files)-keep))
			break
		}
		names = append(names, x.Path)
	}
	ev := []string{"the turn changed: " + quoted(strings.Join(names, ", "))}
	if r.Attempts > 0 {
		ev = append(ev, fmt.Sprintf("the model was asked to fix it; attempts: %d", r.Attempts))
	}
	f.add(e, Check, text, append(ev, f.failed...)...)
	f.before = map[string]tool.Hash{}
	for _, x := range files {
		f.before[x.Path] = x.Before
	}
}

// forgetUndone forgets changes that were undone completely.
func (f *Fold) forgetUndone(b event.FileChanged) {
	if was, ok := f.before[b.Path]; !ok || was != b.After {
		return
	}
	if delete(f.before, b.Path); len(f.before) == 0 {
		delete(f.last, Check)
	}
}

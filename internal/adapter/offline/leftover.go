package offline

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/offline/repair"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// This file cleans up after a plan that was cut short: an interrupted repair
// may leave a trial change in a file. The messages say which.

// change is one edit that a plan made. A created file has neither text.
type change struct {
	path, old, new string
	created        bool // by write; deleted: by a patch
	deleted        bool
	maybe          bool // its result was lost
}

// unfinished lists the changes of the last turn in ms if that turn was the
// built-in model's and never came to its end, in the order they were made.
func unfinished(ms []llm.Message) []change {
	at := lastPrompt(ms)
	if at < 0 {
		return nil
	}
	steps := stepsOf(ms[at+1:])
	if len(steps) == 0 || len(steps[len(steps)-1].calls) == 0 {
		return nil
	}
	var out []change
	for _, s := range steps {
		for i, c := range s.calls {
			if !strings.HasPrefix(c.ID, idPrefix) {
				return nil
			}
			if lost := unknown(s.results[i]); lost || !s.results[i].Error {
				for _, ch := range changesOf(c) {
					ch.maybe = lost
					out = append(out, ch)
				}
			}
		}
	}
	return out
}

func changesOf(c llm.Call) []change {
	var a struct {
		Path, Old, New, Patch string
		Edits                 []struct{ Path, Old, New string }
	}
	if json.Unmarshal(c.Args, &a) != nil {
		return nil
	}
	switch c.Name {
	case "edit":
		return []change{{path: a.Path, old: a.Old, new: a.New}}
	case "multi_edit":
		var out []change
		for _, e := range a.Edits {
			out = append(out, change{path: e.Path, old: e.Old, new: e.New})
		}
		return out
	case "write":
		return []change{{path: a.Path, created: true}}
	case "apply_patch":
		var out []change
		for l := range strings.SplitSeq(a.Patch, "\n") {
			if p, ok := strings.CutPrefix(l, "*** Delete File: "); ok {
				out = append(out, change{path: strings.TrimSpace(p), deleted: true})
			}
		}
		return out
	}
	return nil
}

// undo takes back what an earlier plan left, if the files still show it unmistakably,
// and reports it.
func (h *hands) undo(left []change) {
	var paths []string
	for _, c := range left {
		if c.path != "" && !c.created && !c.deleted && !slices.Contains(paths, c.path) {
			paths = append(paths, c.path)
		}
	}
	var done []string
	for _, p := range paths {
		now, err := h.Read(p)
		if err != nil {
			continue
		}
		was := now
		for _, c := range slices.Backward(left) {
			if c.path != p || c.created || c.deleted || c.maybe && strings.Count(was, c.new) != 1 {
				continue
			}
			if strings.Count(was, c.new) != 1 || c.new == "" {
				was = now // someone else changed it since: leave it
				break
			}
			was = strings.Replace(was, c.new, c.old, 1)
		}
		if was == now {
			continue
		}
		old, new := repair.Narrow(now, was)
		if h.Edit(p, old, new) == nil {
			done = append(done, p)
		}
	}
	h.settle()
	if len(done) > 0 {
		h.Say("The last run was cut short with trial changes in " + strings.Join(done, ", ") + "; I put them back first.")
	}
}

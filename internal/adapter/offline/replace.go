package offline

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/offline/repair"
)

// planReplace replaces a text in one file, or a word of a file that no language server
// knows, then checks whether the project still builds and passes its tests.
func planReplace(h *hands, in intent) {
	text, err := h.Read(in.file)
	if err != nil {
		h.Stop(err)
		return
	}
	now, n := strings.ReplaceAll(text, in.old, in.new), strings.Count(text, in.old)
	did := "Replaced `%s` with `%s` in %s, %s."
	if in.kind == intentRename {
		now, n = replaceWord(text, in.old, in.new)
		did = "Renamed the word `%s` to `%s` in %s, %s: a textual change."
	}
	if in.old == "" || n == 0 {
		h.Decline(fmt.Sprintf("%s does not contain `%s`; nothing was changed.", in.file, in.old))
		return
	}
	v := &verifier{h: h}
	if strings.HasSuffix(in.file, ".go") {
		if err := v.before(); err != nil {
			h.Stop(err)
			return
		}
	}
	old, new := repair.Narrow(text, now)
	if err := h.Edit(in.file, old, new); err != nil {
		h.Stop(err)
		return
	}
	h.Say(v.after(fmt.Sprintf(did, in.old, in.new, in.file, count(n, "place"))))
}

// verifier compares a project before and after a change.
type verifier struct {
	h      *hands
	dirs   []string
	built  map[string]int // exit codes before
	tested map[string]int
}

const (
	vetCommand  = "go vet ./..."
	testCommand = "go test ./..."
)

// before checks the modules. Without Go code or a go command nothing is verified, and
// after reports that.
func (v *verifier) before() error {
	dirs, err := modules(v.h)
	if err != nil || len(dirs) == 0 {
		return err
	}
	v.built, v.tested = map[string]int{}, map[string]int{}
	for _, d := range dirs {
		_, exit, err := runGo(v.h, in(d, vetCommand))
		if errors.Is(err, errNoGo) {
			return nil
		}
		if err != nil {
			return err
		}
		v.dirs = append(v.dirs, d)
		v.built[d], v.tested[d] = exit, 1
		if exit == 0 {
			if _, v.tested[d], err = v.h.Run(in(d, testCommand)); err != nil {
				return err
			}
		}
	}
	return nil
}

// after checks again, and puts everything back if something got worse. It returns the
// text of the reply.
func (v *verifier) after(done string) string {
	if len(v.dirs) == 0 {
		v.h.settle()
		return done + " Not verified: I know no check for this."
	}
	for _, d := range v.dirs {
		command, was := in(d, vetCommand), v.built[d]
		out, exit, err := v.h.Run(command)
		if err == nil && exit == 0 && v.tested[d] == 0 {
			command, was = in(d, testCommand), 0
			out, exit, err = v.h.Run(command)
		}
		if err != nil {
			return done + " " + stopWords(err) + " " + putBackWords(v.h.putBack())
		}
		if exit != 0 && was == 0 {
			why := explain(command, out, exit)
			return "I tried it, and it broke the project, so I took it back. " + putBackWords(v.h.putBack()) + " " + why
		}
		if exit != 0 {
			done += fmt.Sprintf(" `%s` fails with exit code %d, as it did before.", command, exit)
		} else {
			done += fmt.Sprintf(" `%s` ends with exit code 0.", command)
		}
	}
	v.h.settle()
	return done
}

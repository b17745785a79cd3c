package changes

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/edits"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// diffLimit is the size limit of a content in a diff, in bytes.
const diffLimit = 8 << 20

// Diff returns the changes of a unit that are in effect, as a unified diff
// against the present files; "" if there are none.
func (h *History) Diff(ctx context.Context, w undo.Selector) (string, error) {
	own, release, err := h.r.cfg.Exclusive(ctx, "")
	switch {
	case err == nil:
		defer release()
		ctx = own
		h.r.Verify(ctx)
	case !errors.Is(err, fault.ErrBusy):
		return "", err
	}
	u, err := h.unit(w)
	if errors.Is(err, undo.ErrNothing) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, st := range u.Files {
		now, data, err := h.r.current(ctx, st.Path)
		if err != nil {
			return "", err
		}
		before, keptBefore := st.Before()
		var old []byte
		switch {
		case now.Err != "":
			fmt.Fprintf(&out, "%s: %s\n", st.Path, now.Err)
			continue
		case before == now.Hash:
			continue
		case before != "" && keptBefore:
			old, err = h.r.blob(ctx, before)
			keptBefore = !errors.Is(err, event.ErrNoBlob)
			if err != nil && keptBefore {
				return "", fmt.Errorf("diff %s: %w", st.Path, err)
			}
		}
		if !keptBefore {
			fmt.Fprintf(&out, "%s: its old content was not kept\n", st.Path)
			continue
		}
		out.WriteString(unified(st.Path, before, old, now.Hash, data))
	}
	return out.String(), nil
}

// LastTurn returns the newest turn with changes in effect.
func (h *History) LastTurn() (undo.Turn, bool) {
	var t undo.Turn
	var ok bool
	h.r.log.View(func() { t, ok = h.r.fold.undo.Last() })
	return t, ok
}

// unified returns a diff with three lines of context.
func unified(name string, from tool.Hash, before []byte, to tool.Hash, after []byte) string {
	switch {
	case from == to:
		return ""
	case len(before)+len(after) > diffLimit || before == nil && from != "":
		return name + ": too large for a diff\n"
	case !isText(before) || !isText(after):
		return name + ": not text\n"
	}
	a, b := "a/"+name, "b/"+name
	if from == "" {
		a = "/dev/null"
	}
	if to == "" {
		b = "/dev/null"
	}
	text, _, _ := edits.Diff(a, b, before, after)
	return cmp.Or(text, fmt.Sprintf("--- %s\n+++ %s\n", a, b)) // the second for an empty file
}

func isText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }

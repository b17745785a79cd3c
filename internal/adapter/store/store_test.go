package store_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
)

func TestTitle(t *testing.T) {
	for in, want := range map[string]string{
		"":                             "",
		" \n\t ":                       "",
		"fix it":                       "fix it",
		"  fix\n\n it\t now ":          "fix it now",
		"\x1b]0;evil\x07 title":        "]0;evil title",
		"a\xffb":                       "a b",
		strings.Repeat("x", 80):        strings.Repeat("x", 79) + "…",
		strings.Repeat("wort ä ", 1e5): "",
	} {
		got := store.Title(in)
		if want != "" && got != want || utf8.RuneCountInString(got) > 80 || !utf8.ValidString(got) {
			t.Errorf("%.20q gives %q", in, got)
		}
	}
}

// A newer pawl's events keep the contents that they name, whatever their form.
func TestHashesOfTheUnknown(t *testing.T) {
	a, b := strings.Repeat("a1", 32), strings.Repeat("0f", 32)
	raw := `{"x":"` + a + `","y":["` + b + `"],"long":"` + a + `0","short":"` + a[:63] + `","up":"` + strings.ToUpper(a) + `"}`
	items, _, err := store.Prepare("s", []event.Draft{
		{Body: event.Unknown{Name: "new", V: 1, Raw: []byte(raw)}},
		{Body: event.Unknown{Name: "new", V: 1, Raw: []byte(a)}},
		{Body: event.FileChanged{Before: "", After: "not a hash"}},
	})
	must.Do(t, err)
	if diff := cmp.Diff([]string{a, b}, items[0].Blobs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{a}, items[1].Blobs); diff != "" {
		t.Error(diff)
	}
	if len(items[2].Blobs) != 0 {
		t.Errorf("%q", items[2].Blobs)
	}
}

// An error that names the draft is better than one that does not.
func TestPrepareSaysWhich(t *testing.T) {
	_, _, err := store.Prepare("s", []event.Draft{{Body: event.Ticked{}}, {Cause: -1, Body: event.Ticked{}}})
	if !errors.Is(err, store.ErrRefused) || !strings.Contains(err.Error(), "event 2 of 2") {
		t.Error(err)
	}
}

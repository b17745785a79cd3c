package eventlog

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// SPEC 16.7: a log with an event of every kind, that is kept, a key in
// every text of each, has the key nowhere on the disk: in no event, no index, no
// search table. A new kind or field is tried without anybody adding it. Without
// the mask it is there, or the test would prove nothing.
func TestNoSecretIsOnTheDisk(t *testing.T) {
	kinds := slices.DeleteFunc(event.Kinds(), store.Ephemeral)
	of := func(mask *secrets.Masker) (disk []byte, read map[string]string) {
		dir := t.TempDir()
		st := must.Get(sqlite.Open(t.Context(), filepath.Join(dir, "log.db"), sqlite.Options{}))(t)
		l := must.Get(Open(t.Context(), Config{Store: st, Session: "s", Mask: mask, Now: time.Now}))(t)
		for _, kind := range kinds {
			p := reflect.New(reflect.TypeOf(event.New(kind)))
			fill(p.Elem(), "x "+held+" y")
			if err := l.Append(t.Context(), event.Draft{Body: p.Elem().Interface().(event.Body)}); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
		}
		read = map[string]string{}
		for e, err := range st.Read(context.Background(), "s", 0) {
			must.Do(t, err)
			b := must.Get(event.Encode(e.Body))(t)
			read[e.Body.Kind()] = string(b)
		}
		must.Do(t, st.Close())
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			disk = append(disk, b...)
			return err
		})
		must.Do(t, err)
		return disk, read
	}

	disk, read := of(secrets.New(held))
	if len(read) != len(kinds) {
		t.Errorf("%d of %d kinds were stored", len(read), len(kinds))
	}
	for kind, text := range read {
		if strings.Contains(text, held) {
			t.Errorf("%s: %s", kind, text)
		}
	}
	if i := bytes.Index(disk, []byte(held)); i >= 0 {
		t.Errorf("on the disk: %q", disk[max(0, i-80):i+len(held)])
	}

	disk, _ = of(nil)
	if !bytes.Contains(disk, []byte(held)) {
		t.Error("without a mask it is not there either: what is stored cannot be read like this")
	}
}

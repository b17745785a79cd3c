package internal

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// A test writes a program that it runs with must.WriteMode or must.WriteProgram: one that is
// written in another way cannot always be started at once.
func TestProgramsCanBeRunAtOnce(t *testing.T) {
	written := regexp.MustCompile(`os\.WriteFile\(.*, 0o?7[0-7]{2}\)`)
	must.Do(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		for _, line := range written.FindAllString(string(must.Get(os.ReadFile(path))(t)), -1) {
			t.Errorf("%s: use must.WriteMode for %s", path, line)
		}
		return nil
	}))
}

package command

import (
	"strings"
	"testing"
)

// SPEC 16.4: the scripts that a check's targets call are part of what it is.
func TestCalled(t *testing.T) {
	files := map[string]string{
		"Makefile":       "test: build\n\tsh ./t.sh\n\t@scripts/run --fast\nbuild:\n\tgo build ./cmd/x\n\tpython3 tools/gen.py > out.go\n",
		"t.sh":           "#!/bin/sh\n. ./lib/env.sh\nexec bash \"inner.sh\"\n",
		"lib/env.sh":     "X=1\n",
		"inner.sh":       "./t.sh\n",
		"scripts/run":    "node src/a.mjs\n",
		"src/a.mjs":      "import './b.mjs'\n",
		"src/b.mjs":      "",
		"tools/gen.py":   "",
		"package.json":   `{"main": "src/b.mjs", "scripts": {"test": "sh ./t.sh && node src/a.mjs"}, "files": ["tools/gen.py"]}`,
		"main.c":         "",
		"deep/Makefile2": "",
	}
	read := func(name string) (string, bool) { s, ok := files[name]; return s, ok }
	for def, want := range map[string]string{
		"Makefile":     "t.sh scripts/run tools/gen.py lib/env.sh inner.sh src/a.mjs",
		"package.json": "t.sh src/a.mjs lib/env.sh inner.sh",
		"missing":      "",
	} {
		if got := strings.Join(Called([]string{def}, read), " "); got != want {
			t.Errorf("%s: %s", def, got)
		}
	}
}

package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 17.7, 16.7: the program of a profile of AWS is run as its line says, without a
// shell and without pawl's keys, and never one that lies in the workspace, or whose
// words or configuration do.
func TestCredentialProgramIsThePersons(t *testing.T) {
	real := func(dir string) string {
		dir = must.Get(filepath.EvalSymlinks(dir))(t)
		return dir
	}
	work, own := real(t.TempDir()), real(t.TempDir())
	t.Setenv("ANTHROPIC_API_KEY", "sk-ant-test-0000000000000000")
	t.Setenv("AWS_PROFILE", "work")
	script := "#!/bin/sh\nprintf '%s|' \"$@\" \"$PWD\" \"$AWS_PROFILE\" \"$ANTHROPIC_API_KEY\"\n"
	for _, p := range []string{work, own} {
		must.WriteMode(t, filepath.Join(p, "give"), script, 0o700)
	}
	must.WriteMode(t, filepath.Join(own, "fails"), "#!/bin/sh\necho progsecret >&2; exit 3\n", 0o700)
	for name, to := range map[string]string{"linked": work, "folder": work} {
		if name == "linked" {
			to = filepath.Join(work, "give")
		}
		must.Do(t, os.Symlink(to, filepath.Join(own, name)))
	}
	config := filepath.Join(own, "config")
	run := credentialProgram(work)
	for _, c := range []struct{ line, file, want, err string }{
		{own + `/give a "b c" $HOME;id`, config, "a|b c|$HOME;id|/|work||", ""},
		{work + "/give", config, "", "is in the workspace"},
		{own + "/linked", config, "", "is in the workspace"},
		{own + "/folder/give", config, "", "is in the workspace"},
		{own + "/give " + work + "/x.py", config, "", "is in the workspace"},
		{own + "/give --file=" + own + "/folder/give", config, "", "is in the workspace"},
		{own + "/give", filepath.Join(work, "config"), "", "is in the workspace"},
		{own + "/give", filepath.Join(own, "folder", "give"), "", "is in the workspace"},
		{"give", config, "", "was not found"},
		{"./give", config, "", "was not found"},
		{"", config, "", "names no program"},
		{own + "/fails", config, "", "returned no credentials"},
	} {
		t.Chdir(work)
		out, err := run(t.Context(), []string{c.file}, c.line)
		if string(out) != c.want || (err == nil) != (c.err == "") || err != nil && (!strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "progsecret")) {
			t.Errorf("%s: %q %v", c.line, out, err)
		}
	}
}

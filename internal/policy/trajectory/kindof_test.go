package trajectory

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/policy/progress"
)

// SPEC 6.2, 6.10: what calls of other agents do.
func TestKindOfCalls(t *testing.T) {
	t.Parallel()
	for in, want := range map[[2]string]progress.Kind{
		{"str_replace_editor", `{"command":"view","path":"a.py"}`}:            progress.Read,
		{"str_replace_editor", `{"command":"str_replace","path":"a.py"}`}:     progress.Edit,
		{"str_replace_based_edit_tool", `{"command":"create","path":"a.py"}`}: progress.Edit,
		{"execute_bash", `{"command":"pytest -q"}`}:                           progress.Test,
		{"execute_bash", `{"command":"","is_input":"true"}`}:                  progress.Wait,
		{"execute_ipython_cell", `{"code":"print(1)"}`}:                       progress.Exec,
		{"shell", `{"command":["bash","-lc","rg foo"]}`}:                      progress.Search,
		{"shell", `{"command":["sed","-n","1,5p","a.py"]}`}:                   progress.Read,
		{"bash", `{"command":"cat > a.py <<'EOF'\nx\nEOF"}`}:                  progress.Edit,
		{"bash", `{"command":"sed -i s/a/b/ a.py"}`}:                          progress.Edit,
		{"bash", `{"command":"open a.py 10"}`}:                                progress.Read,
		{"bash", `{"command":"scroll_down"}`}:                                 progress.Read,
		{"bash", `{"command":"search_dir foo"}`}:                              progress.Search,
		{"run_terminal_cmd", `{"command":"sleep 5 && curl localhost"}`}:       progress.Wait,
		{"goto", `{"line_number":4}`}:                                         progress.Read,
		{"scroll_down", `{}`}:                                                 progress.Read,
		{"search_replace", `{"file_path":"a"}`}:                               progress.Edit,
		{"replace_in_file", `{"path":"a"}`}:                                   progress.Edit,
		{"apply_patch", `{"input":"*** Begin Patch"}`}:                        progress.Edit,
		{"codebase_search", `{"query":"a"}`}:                                  progress.Search,
		{"list_dir", `{}`}:                                                    progress.Search,
		{"readFile", `{"path":"a"}`}:                                          progress.Read,
		{"WebFetch", `{"url":"x"}`}:                                           progress.Read,
		{"BashOutput", `{"id":"1"}`}:                                          progress.Wait,
		{"command_status", `{"id":"1"}`}:                                      progress.Wait,
		{"git_status", `{}`}:                                                  progress.Read,
		{"browser_navigate", `{"url":"x"}`}:                                   progress.Read,
		{"browser_click", `{"ref":"x"}`}:                                      progress.Exec,
		{"think", `{"thought":"x"}`}:                                          progress.Think,
		{"update_plan", `{}`}:                                                 progress.Think,
		{"sequentialthinking", `{"thought":"x"}`}:                             progress.Exec, // one word: nothing to go by
		{"sequential_thinking", `{"thought":"x"}`}:                            progress.Think,
		{"attempt_completion", `{"result":"x"}`}:                              progress.Submit,
		{"finish", `{}`}:                                                      progress.Submit,
		{"else_tool", `{}`}:                                                   progress.Exec,
	} {
		if got := (Call{Tool: in[0], Args: in[1], OK: true, Result: "some result"}).Step().Kind; got != want {
			t.Errorf("%s %s is %s, want %s", in[0], in[1], got, want)
		}
	}
	a := Call{Tool: "bash", Args: `{"command":"go test  ./... # again","description":"once more"}`, OK: true}.Step()
	b := Call{Tool: "bash", Args: `{"description":"first","command":"go test ./..."}`, OK: true}.Step()
	if a.Args != b.Args {
		t.Errorf("%s\n%s", a.Args, b.Args)
	}
	c := Call{Tool: "edit", Args: `{"file_path":"x.go","old":"a"}`, Error: "no match in /a/b/x.go at line 3"}.Step()
	if c.Target != "x.go" || c.Error != "no match in x.go at line #" || c.Edit == "" {
		t.Errorf("%+v", c)
	}
	if s := (Call{Tool: "fetch", Error: "HTTP 429 Too Many Requests"}).Step(); s.Kind != progress.Wait || !s.Patient {
		t.Errorf("%+v", s)
	}
	if s := (Call{Tool: "bash", Command: "echo I think so", OK: true, Result: "I think so\n"}).Step(); s.Kind != progress.Think {
		t.Errorf("%+v", s)
	}
}

// SPEC 6.10: what a tool of another agent does, by its name.
func TestKindOfNames(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]progress.Kind{"str_replace_editor": progress.Edit, "view": progress.Read, "search_dir": progress.Search, "think": progress.Think, "task_done": progress.Submit, "run_tests": progress.Test, "x": progress.Exec} {
		if got := KindOf(tool, ""); got != want {
			t.Errorf("KindOf(%s) = %s, want %s", tool, got, want)
		}
	}
}

// SPEC 6.9: calls of any agent, hostile ones too, are read without a panic.
func FuzzCall(f *testing.F) {
	f.Add(`{"command":"cat > a <<EOF"}`)
	f.Fuzz(func(_ *testing.T, s string) {
		Call{Tool: s, Args: s, Command: s, Result: s}.Step()
		new(progress.Repetition).Write(s)
	})
}

package progress

import (
	"fmt"
	"testing"

	"github.com/pawl-agent/pawl/internal/policy/normalize"
)

func questionOf(tool, raw, line string) string {
	verb, subject := Question(tool, Exec, "", raw, line)
	return verb + "|" + subject
}

// SPEC 6.1, 6.2: what is asked is told from how it is asked.
func TestQuestion(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"pytest -q", "pytest -q; echo attempt 7", "echo try 3; pytest -v", "timeout 60 pytest -q", "sleep 4; pytest -q"},
		{"./deploy --attempt 1 --timeout 10", "./deploy --attempt 2 --timeout=99s"},
		{"head -100 a.py", "head -n 50 a.py", "head -n20 a.py"},
		{"sed -n '1,100p' a.py", "sed -n '1,200p' a.py"},
		{"cat ./a.py | head -5", "cat a.py | head -50"},
		{"curl -s 'http://x/y?t=17&id=3'", "curl -s 'http://x/y?t=99&id=3'"},
		{"curl -H 'X-Request-Id: a17' http://x", "curl -H 'X-Request-Id: b99' http://x"},
		{"git log -n 5", "git log -n 9"},
	} {
		for _, other := range same[1:] {
			if a, b := questionOf("bash", "", same[0]), questionOf("bash", "", other); a != b {
				t.Errorf("%s: %s\n%s: %s", same[0], a, other, b)
			}
		}
	}
	for _, format := range []string{
		"which a%d", "test -f p/%d.go", "cd pkg%d && make test", "./check < in/%d.txt", "VERSION=1.%d ./build", "echo case %d | ./solve",
		"cut -d, -f%d data.csv", "./lookup --id %d", "./lookup --id=%d", "sed -n '%d,+9p' log", "gcc -fno-opt%d a.c", "python -c 'import m%d'",
		"psql -c 'select %d'", "curl http://x/%d", "curl 'http://x/?page=%d'", "dd if=a skip=%d count=1", "xxd -s %d a", "cat > f <<E\n%d\nE", "make -C p%d",
		"go test -seed=%d ./x", "./nth -n %d",
	} {
		if a, b := questionOf("bash", "", fmt.Sprintf(format, 17)), questionOf("bash", "", fmt.Sprintf(format, 18)); a == b {
			t.Errorf("%s: %s", format, a)
		}
	}
	if a, b := questionOf("mail", `{"to":"ann","timeout":3}`, ""), questionOf("mail", `{"timeout":9,"to":"bob"}`, ""); a == b || a != questionOf("mail", `{"to":"ann"}`, "") {
		t.Errorf("%s, %s", a, b)
	}
}

// SPEC 6.2: what an edit means, whatever its looks.
func TestGist(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		old, text string
		looks     bool
	}{
		{"x = 1  # try 1", "x = 1  # try 2", true},
		{"x = 1", "x  =  1 ", true},
		{"f()", "f()\nprint('here 3')", false}, // a print is new once
		{"x = 1", "x = 2", false},
		{"# adds", "# multiplies", false},
		{"a\n", "a\n\n\n", true},
	} {
		if _, looks := Gist(fmt.Sprintf(`{"path":"a","old":%q,"new":%q}`, c.old, c.text)); looks != c.looks {
			t.Errorf("%q to %q: %v", c.old, c.text, looks)
		}
	}
	a, _ := Gist(`{"path":"a","old":"f()","new":"f()\nprint('here 3')"}`)
	b, _ := Gist(`{"path":"a","old":"f()","new":"f()\n  print('here 4')"}`)
	if a != b {
		t.Error("a print with another number is another edit")
	}
}

// SPEC 6.2: the numbers of a result, and what is no number of it.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"error: 11600 bytes left":              "[11600]",
		"FAILED a - assert 12 == 17":           "[12 17]",
		"a.go:12:5: undefined x\n3 errors":     "[3]",
		"no match near line 21 (attempt 7)":    "[]",
		"copied 37 of 90000 files":             "[37 90000]",
		"t=1767225600 pid 77 took 3.5s, ok":    "[]",
		"loss 0.431\nexit code 1":              "[0.431]",
		"KeyError: 'name17'":                   "[]",
		"12 failed, 88 passed in 0.31 seconds": "[12 88]",
	} {
		if got := fmt.Sprint(normalize.Numbers(in)); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	for in, same := range map[[2]string]bool{
		{`{"request_id":"abc17","status":"up"}`, `{"request_id":"zzz99","status":"up"}`}: true,
		{"session 8f3a2c1d ready", "session 77b1ce02 ready"}:                             true,
		{"attempt 7: ok", "attempt 8: ok"}:                                               true,
		{"step 7: ok", "step 8: ok"}:                                                     false,
		{"main.go", "main_test.go"}:                                                      false,
	} {
		if got := normalize.Stable(in[0]) == normalize.Stable(in[1]); got != same {
			t.Errorf("%q: %v", in, got)
		}
	}
}

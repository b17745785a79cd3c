package session_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 4.11, 9.2: whatever a command prints, however much: what the model is
// shown are its start and its end, what is said to be left out is what is
// missing, and the file that is said to have the whole has it, byte for byte.
func TestOutputOfAnySize(t *testing.T) {
	for name, command := range map[string]string{
		"a byte":               `printf x`,
		"lines":                `seq 1 200`,
		"over the cap":         `seq 1 5500`,
		"over the shell's own": `seq 1 200000`,
		"one long line":        `head -c 300000 /dev/zero | tr '\0' x`,
		"no line end, over":    `head -c 29000 /dev/zero | tr '\0' x`,
		"runes":                `for i in $(seq 400); do printf '%0100d€漢🙂' $i; done`,
		"no text":              `head -c 100000 /dev/zero | tr '\0' '\377'; echo; echo end`,
		"many empty lines":     `yes '' | head -n 70000`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, window := range []int{16_384, 131_072, 1_000_000} {
				args, _ := json.Marshal(map[string]string{"command": command})
				m := llmtest.New(llmtest.Use("bash", string(args)))
				m.InfoValue.Window = window
				r := newRig(t, "yolo", m)
				truth := must.Get(exec.Command("bash", "-c", command).Output())(t)
				d := find[event.CallDone](r.Run("go", nil))[0]
				text, ok := strings.CutSuffix(strings.TrimSuffix(d.Result.Text, "; yes '' was cut off"), "exit code 0")
				if !ok || !utf8.ValidString(text) {
					t.Fatalf("%q", d.Result.Text)
				}
				text = strings.TrimSuffix(text, "\n")
				head, rest, cut := strings.Cut(text, "[… ")
				if !cut {
					if want := strings.ToValidUTF8(strings.TrimSuffix(string(truth), "\n"), "\uFFFD"); text != want && text+"\n" != want {
						t.Errorf("%d: not cut, and not the whole: %d bytes of %d", window, len(text), len(want))
					}
					continue
				}
				if strings.HasPrefix(rest, "this line goes on]\n") {
					_, rest, _ = strings.Cut(rest, "[… ")
				}
				said, tail, _ := strings.Cut(rest, " …]\n")
				tail = strings.TrimPrefix(tail, "[the end of a line …]")
				counts, file, ok := strings.Cut(said, " bytes left out; the whole is in ")
				lines, left := 0, 0
				if n, b, ok := strings.Cut(counts, " lines, "); ok {
					lines, counts = number(t, n), b
				}
				left = number(t, counts)
				kept, err := os.ReadFile(file)
				if err != nil || !ok {
					t.Fatalf("%d: %q: %v", window, said, err)
				}
				whole := string(kept)
				if own := strings.TrimSuffix(whole, "exit code 0"); whole != string(truth) && own != string(truth) && own != string(truth)+"\n" {
					t.Errorf("%d: the file has %d bytes, %d were printed", window, len(whole), len(truth))
				}
				if !utf8.ValidString(whole) {
					continue // its bytes are shown as others
				}
				shown := len(head) + len(tail)
				if strings.HasSuffix(whole, "\n") || !strings.HasSuffix(whole, tail) {
					shown, tail = shown+1, tail+"\n" // the line end before the last line
				}
				if strings.HasSuffix(whole, "exit code 0") {
					shown, tail = shown+len("exit code 0"), tail+"exit code 0"
				}
				if !strings.HasPrefix(whole, head) || !strings.HasSuffix(whole, tail) || left != len(whole)-shown {
					t.Errorf("%d: %d bytes left out, %d of %d shown", window, left, shown, len(whole))
				}
				if gone := strings.TrimSuffix(strings.TrimPrefix(whole, head), tail); lines != 0 && lines != strings.Count(gone, "\n") {
					t.Errorf("%d: %d lines left out of %d", window, lines, strings.Count(gone, "\n"))
				}
			}
		})
	}
}

func number(t *testing.T, s string) int {
	t.Helper()
	n := must.Get(strconv.Atoi(s))(t)
	return n
}

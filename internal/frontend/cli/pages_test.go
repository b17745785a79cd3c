package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```")

// SPEC 17.5, 17.6: each command line of pawl's on a page, in a block or within a
// sentence, is one that the program's own flags and words take.
func TestCommandLinesOfPages(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"*.md", "doc/*.md", "bench/*/README.md"} {
		found := must.Get(filepath.Glob(filepath.Join("../../..", pattern)))(t)
		pages = append(pages, found...)
	}
	lines := 0
	check := func(page, text string) {
		cmds, err := command.Parse(text, "/")
		if err != nil {
			t.Errorf("%s: %v:\n%s", page, err, text)
			return
		}
		for _, c := range cmds {
			if len(c.Words) == 0 || c.Words[0].Text != "pawl" {
				continue
			}
			lines++
			args := []string{}
			for _, w := range c.Words[1:] {
				args = append(args, w.Text)
			}
			if err := parsed(t, args); err != nil {
				t.Errorf("%s: pawl %s: %v", page, strings.Join(args, " "), err)
			}
		}
	}
	for _, page := range pages {
		if filepath.Base(page) == "spec.md" { // it also says what is not built yet
			continue
		}
		b := must.Get(os.ReadFile(page))(t)
		for _, m := range shellBlock.FindAllStringSubmatch(string(b), -1) {
			check(page, m[1])
		}
		for _, m := range inTicks.FindAllStringSubmatch(string(b), -1) {
			if strings.HasPrefix(m[1], "pawl ") {
				check(page, m[1])
			}
		}
	}
	if lines < 200 {
		t.Errorf("only %d command lines were found", lines)
	}
}

// SPEC 4.15: the page's table of modes is that of the code.
func TestPageOfModes(t *testing.T) {
	page := must.Get(os.ReadFile("../../../doc/safety.md"))(t)
	columns := regexp.MustCompile(` {2,}`)
	for _, line := range permission.Table() {
		cells := columns.Split(line, -1)
		if len(cells) != 6 {
			continue // what is said below the table
		}
		if cells[0] == "" {
			for i, mode := range cells[1:] {
				cells[i+1] = "`" + mode + "`"
			}
		}
		if row := strings.TrimSpace("| "+strings.Join(cells, " | ")) + " |\n"; !strings.Contains(string(page), strings.Replace(row, "|  |", "| |", 1)) {
			t.Errorf("doc/safety.md lacks the row %s", row)
		}
	}
}

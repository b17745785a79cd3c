package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

var pageLink = regexp.MustCompile(`\]\(([a-z-]+\.md)(?:#[a-z-]+)?\)`)

// Issue 15: the page of features counts right, and names nothing that is not there.
func TestFeatures(t *testing.T) {
	page, err := os.ReadFile("../../../doc/features.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`^\| (\d+)\. (.*) \| (yes|partly|no) \| (.*) \|$`)
	count := map[string]int{}
	n := 0
	for line := range strings.Lines(string(page)) {
		m := row.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		if n++; m[1] != fmt.Sprint(n) {
			t.Errorf("line %d has the number %s", n, m[1])
		}
		count[m[3]]++
		if m[3] == "yes" && !strings.Contains(m[4], "`") && !strings.Contains(m[4], "](") {
			t.Errorf("%s: there is neither a command nor a page", m[2])
		}
		for _, l := range pageLink.FindAllStringSubmatch(m[4], -1) {
			if _, err := os.Stat(filepath.Join("../../../doc", l[1])); err != nil {
				t.Error(err)
			}
		}
		for _, c := range slashes.FindAllString(m[4], -1) {
			if _, err := slash.Find(strings.Trim(c, "`/")); err != nil {
				t.Errorf("%s: %v", c, err)
			}
		}
		for _, c := range inTicks.FindAllStringSubmatch(m[4], -1) {
			cmds, err := command.Parse(c[1], "/")
			if err != nil {
				t.Fatal(err)
			}
			var args []string
			for _, w := range cmds[0].Words[1:] {
				args = append(args, w.Text)
			}
			if err := parsed(t, args); err != nil {
				t.Errorf("%s: %v", c[1], err)
			}
		}
	}
	says := fmt.Sprintf("Of the %d, pawl has %d, %d in part, and %d not.", n, count["yes"], count["partly"], count["no"])
	if n != 68 || count["yes"] < 58 || !strings.Contains(string(page), says) {
		t.Errorf("%d lines; the page must say: %s", n, says)
	}
}

package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// Seatbelt refuses a call without telling pawl. The program's own message does,
// by errno's text and the path; the policy says whether it is refused at all.

// notPermitted is a message with the text of EPERM.
var notPermitted = lazyregexp.New(`(?i)^.*operation not permitted.*$`)

// changeWords are the words of a message by which it is about a change: programs
// and calls that do nothing else, and their phrases.
var changeWords = lazyregexp.New(`(?i)(?:^|[ (\[,:/])(touch|mkdir|mkdirat|rm|rmdir|unlink|unlinkat|mv|rename|renameat|ln|link|symlink|symlinkat|chmod|chown|fchmodat|truncate|tee|install|ditto|cannot (?:create|touch|remove|move)(?: (?:regular file|directory|symbolic link|file))?|could not (?:create|lock|write|remove|unlink)(?: [a-z ]+)?|unable to (?:create|write|unlink)(?: [a-z ]+)?|failed to (?:create|write|remove)(?: [a-z ]+)?)(?:[: ,]|$)`)

var (
	quotedPath = lazyregexp.New(`['"‘\x60]((?:/|\.{1,2}/|~/)?[^'"’\x60\n]+)['"’\x60]`)
)

// phrase is a message of several words before a path of one.
var phrase = lazyregexp.New(`^(?:could not|unable to|cannot|failed to) [a-z ]+ (\S+)$`)

// refusedIn returns the changes that a policy refuses and that the output of a
// command in a folder says were not permitted. What may have been a read, or is
// no path, is left out.
func refusedIn(p confine.Policy, dir, output string) []Refusal {
	var out []Refusal
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		if !notPermitted().MatchString(line) {
			continue
		}
		word := changeWords().FindStringSubmatch(line)
		if word == nil {
			continue
		}
		path := pathIn(line)
		if path == "" {
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		path = filepath.Join(real(filepath.Dir(path)), filepath.Base(path))
		act, kind := process.ActWrite, confine.Write
		switch strings.ToLower(word[1]) {
		case "rm", "rmdir", "unlink", "unlinkat", "cannot remove":
			act, kind = process.ActRemove, confine.Remove
		}
		if p.Change(path, kind) != confine.Refused {
			continue // the file's own rights
		}
		if r := (Refusal{act, path}); !slices.Contains(out, r) && len(out) < maxRefusals {
			out = append(out, r)
		}
	}
	return out
}

// pathIn returns the one path that a message names, "" for none or several.
func pathIn(line string) string {
	var found []string
	for _, m := range quotedPath().FindAllStringSubmatch(line, 3) {
		found = append(found, m[1])
	}
	if len(found) == 0 {
		// PROGRAM: PATH: Operation not permitted, OP PATH: operation not permitted
		at := strings.LastIndex(strings.ToLower(line), ": operation not permitted")
		if at < 0 {
			return ""
		}
		head := line[:at]
		if i := strings.LastIndex(head, ": "); i >= 0 {
			head = head[i+2:]
		}
		if op, rest, ok := strings.Cut(head, " "); ok && filepath.IsAbs(rest) && !strings.Contains(op, "/") {
			head = rest
		} else if m := phrase().FindStringSubmatch(head); m != nil {
			head = m[1]
		}
		found = append(found, head)
	}
	if len(found) != 1 || strings.ContainsAny(found[0], "\x00") || strings.HasPrefix(found[0], "~") {
		return ""
	}
	return found[0]
}

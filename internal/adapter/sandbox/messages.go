package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// pawl is not told when Seatbelt refuses a call, or Landlock a read. This file finds
// refusals in the program's own messages, by errno's text and the path, and keeps those
// that the policy refuses.

// notPermitted matches a message with the text of EPERM.
var notPermitted = lazyregexp.New(`(?i)^.*operation not permitted.*$`)

// changeWords matches the words by which a message is about a change: programs and
// system calls that only change files, and phrases.
var changeWords = lazyregexp.New(`(?i)(?:^|[ (\[,:/])(touch|mkdir|mkdirat|rm|rmdir|unlink|unlinkat|mv|rename|renameat|ln|link|symlink|symlinkat|chmod|chown|fchmodat|truncate|tee|install|ditto|cannot (?:create|touch|remove|move)(?: (?:regular file|directory|symbolic link|file))?|could not (?:create|lock|write|remove|unlink)(?: [a-z ]+)?|unable to (?:create|write|unlink)(?: [a-z ]+)?|failed to (?:create|write|remove)(?: [a-z ]+)?)(?:[: ,]|$)`)

var quotedPath = lazyregexp.New(`['"‘\x60]((?:/|\.{1,2}/|~/)?[^'"’\x60\n]+)['"’\x60]`)

// errnoText matches the end of a message.
var errnoText = lazyregexp.New(`(?i)(?:: |, | \()(?:operation not permitted|permission denied)`)

// phrasePath matches a message of several words before a path without blanks.
var phrasePath = lazyregexp.New(`(?i)^(?:could not|unable to|cannot|failed to) [a-z ]+ (\S+)$`)

// refusedChangesIn returns the changes that were not permitted, according to the output of
// a command in a folder, and that a policy refuses. It leaves out what may have been a
// read.
func refusedChangesIn(p confine.Policy, dir, output string) []process.Refusal {
	var out []process.Refusal
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		if !notPermitted().MatchString(line) {
			continue
		}
		word := changeWords().FindStringSubmatch(line)
		if word == nil {
			continue
		}
		path := pathIn(line, dir)
		if path == "" {
			continue
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
		if r := (process.Refusal{Act: act, What: path}); !slices.Contains(out, r) && len(out) < maxRefusals {
			out = append(out, r)
		}
	}
	return out
}

// pathIn returns the one path that a message with an errno's text names, of a
// program that runs in a folder, "" for none or several.
func pathIn(line, dir string) string {
	var found []string
	for _, m := range quotedPath().FindAllStringSubmatch(line, 3) {
		found = append(found, m[1])
	}
	if len(found) == 0 {
		// PROGRAM: PATH: Operation not permitted, OP PATH: operation not permitted
		at := errnoText().FindStringIndex(line)
		if at == nil {
			return ""
		}
		head := line[:at[0]]
		if i := strings.LastIndex(head, ": "); i >= 0 {
			head = head[i+2:]
		}
		if op, rest, ok := strings.Cut(head, " "); ok && filepath.IsAbs(rest) && !strings.Contains(op, "/") {
			head = rest
		} else if m := phrasePath().FindStringSubmatch(head); m != nil {
			head = m[1]
		}
		found = append(found, head)
	}
	if len(found) != 1 || found[0] == "" || strings.ContainsAny(found[0], "\x00") || strings.HasPrefix(found[0], "~") {
		return ""
	}
	if !filepath.IsAbs(found[0]) {
		return filepath.Join(dir, found[0])
	}
	return found[0]
}

// refusedReadsIn returns the files and folders that a command was not permitted to read,
// according to its output, and that only the policy refuses: readable reports whether
// pawl itself may read a path. told are refusals that are known already.
func refusedReadsIn(p confine.Policy, dir, output string, told []process.Refusal, readable func(string) bool) []process.Refusal {
	var out []process.Refusal
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		if !strings.Contains(strings.ToLower(line), "permission denied") {
			continue
		}
		path := pathIn(line, dir)
		if path == "" {
			continue
		}
		path = real(path)
		known := func(r process.Refusal) bool { return r.What == path }
		if p.MayRead(path) || slices.ContainsFunc(p.Secrets, func(s string) bool { return confine.Within(s, path) || confine.Within(path, s) }) || !readable(path) {
			continue
		}
		if !slices.ContainsFunc(told, known) && !slices.ContainsFunc(out, known) && len(out) < maxRefusals {
			out = append(out, process.Refusal{Act: process.ActRead, What: path})
		}
	}
	return out
}

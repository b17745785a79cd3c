package transcript

import "strings"

// markdown is the form for a file. The model's texts are Markdown and stay unchanged,
// except that an open fence is closed. Prompts become quotes, otherwise unchanged.
// Everything else is code, so that nothing in it is read as Markdown.
type markdown struct{}

func (markdown) person(s string) string {
	return "\n## Prompt\n\n> " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n> ") + "\n"
}

func (markdown) command(line, output string) string {
	return "\n## Command\n\n" + fenced("sh", line) + "\n" + fenced("", output)
}

func (markdown) agent(s string) string { return "\n" + closed(s) + "\n" }

func (markdown) note(s string) string { return "\n> " + code(s) + "\n" }

func (markdown) call(what, outcome string) string {
	if outcome != "" {
		outcome = " → " + code(outcome)
	}
	return "\n- " + code(what) + outcome + "\n"
}

func (markdown) block(kind, s string) string {
	return "\n  " + strings.ReplaceAll(strings.TrimRight(fenced(kind, s), "\n"), "\n", "\n  ") + "\n"
}

// fenced returns s as a code block. The fence is longer than any run of backticks in s.
func fenced(kind, s string) string {
	fence := strings.Repeat("`", max(3, longest(s)+1))
	return fence + kind + "\n" + strings.TrimRight(s, "\n") + "\n" + fence + "\n"
}

// code returns a line as code, which Markdown does not interpret.
func code(s string) string {
	ticks := strings.Repeat("`", longest(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

// longest returns the length of the longest run of backticks.
func longest(s string) int {
	most, n := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			n = 0
			continue
		}
		n++
		most = max(most, n)
	}
	return most
}

// closed closes a fence that a text leaves open, as in an interrupted reply: it would
// swallow the following text.
func closed(s string) string {
	fence := ""
	for l := range strings.Lines(s) {
		trimmed := strings.TrimLeft(l, " ")
		mark := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`~"))]
		rest := strings.TrimSpace(trimmed[len(mark):])
		switch {
		case len(l)-len(trimmed) > 3 || len(mark) < 3 || strings.Trim(mark, mark[:1]) != "":
		case fence == "":
			fence = mark
		case strings.HasPrefix(mark, fence) && rest == "":
			fence = ""
		}
	}
	if fence != "" {
		s += "\n" + fence
	}
	return s
}

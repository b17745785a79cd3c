package shellsyntax

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Ending is how a line for bash ends.
type Ending struct {
	// Front is the line, or where it ends with a pipeline, the line before the | of that,
	// and Filters is the rest behind it.
	Front, Filters string
	// Stages are the pipeline's commands.
	Stages []string
	// From is where in Front the last of the line's statements begins.
	From int
}

// EndOf returns how a line ends. ok is false where exit code 0 of it does not say that the
// last command of Front ran (with what || joins, in a condition or a loop, in the background),
// or nobody can tell.
func EndOf(line string) (e Ending, ok bool) {
	if strings.ContainsAny(line, "\x00\r") || strings.Contains(line, "coproc") || bounded(line) != nil {
		return e, false // what coproc begins runs beside the rest
	}
	file, err := read(syntax.LangBash, line)
	if err != nil || len(file.Stmts) == 0 {
		return e, false
	}
	s := file.Stmts[len(file.Stmts)-1]
	e.Front, e.From = line, int(s.Pos().Offset())
	for piped := false; !s.Negated && !s.Background && !s.Coprocess && !s.Disown; {
		b, is := s.Cmd.(*syntax.BinaryCmd)
		switch {
		case !is && piped:
			end := int(s.End().Offset())
			_, filters, _ := strings.Cut(line[end:], "|")
			e.Front, e.Filters = line[:end], strings.TrimPrefix(filters, "&")
			e.Stages = append([]string{source(line, s)}, e.Stages...)
			return e, ends(s.Cmd)
		case !is:
			return e, ends(s.Cmd)
		case b.Op == syntax.Pipe || b.Op == syntax.PipeAll:
			e.Stages = append([]string{source(line, b.Y)}, e.Stages...)
			piped, s = true, b.X
		case b.Op == syntax.AndStmt && !piped:
			s = b.Y
		default:
			return e, false
		}
	}
	return e, false
}

// ends reports whether the exit code of a command is that of its last simple command.
func ends(c syntax.Command) bool {
	switch c := c.(type) {
	case *syntax.CallExpr:
		return true
	case *syntax.TimeClause:
		return c.Stmt != nil && ends(c.Stmt.Cmd)
	}
	return false
}

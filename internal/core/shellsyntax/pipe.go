package shellsyntax

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// CutPipe cuts a line for bash before the first | of the pipeline that ends it. front ends
// with the pipeline's first command; filters are the others, with what is between them. ok
// is false if the line does not end with a pipeline, or nobody can tell.
func CutPipe(line string) (front, filters string, ok bool) {
	if !strings.Contains(line, "|") || strings.ContainsAny(line, "\x00\r") || bounded(line) != nil {
		return "", "", false
	}
	file, err := read(syntax.LangBash, line)
	if err != nil || len(file.Stmts) == 0 {
		return "", "", false
	}
	piped := false
	for s := file.Stmts[len(file.Stmts)-1]; s != nil && plainStmt(s); {
		b, is := s.Cmd.(*syntax.BinaryCmd)
		switch {
		case !is && piped:
			end := int(s.End().Offset())
			_, filters, _ = strings.Cut(line[end:], "|")
			return line[:end], strings.TrimPrefix(filters, "&"), true
		case !is:
			return "", "", false
		case b.Op == syntax.Pipe || b.Op == syntax.PipeAll:
			piped, s = true, b.X
		case piped: // ! or a list in front of the pipe: it has no command of its own
			return "", "", false
		case b.Op == syntax.AndStmt:
			s = b.Y
		default:
			return "", "", false
		}
	}
	return "", "", false
}

// plainStmt reports whether a statement runs in the foreground, and its exit code is its
// command's.
func plainStmt(s *syntax.Stmt) bool {
	return !s.Negated && !s.Background && !s.Coprocess && !s.Disown
}

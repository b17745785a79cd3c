package syntax

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/jsonc"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// jsonText returns the first error of a JSON text. Comments and trailing commas are none:
// many programs read them in their configuration.
func jsonText(text []byte) *tool.Diagnostic {
	var v any
	err := json.Unmarshal(jsonc.Plain(text), &v)
	at := (*json.SyntaxError)(nil)
	if !errors.As(err, &at) {
		return nil
	}
	line := 1 + strings.Count(string(text[:min(int(at.Offset), len(text))]), "\n")
	return atLine(line, "%v", at)
}

// golang returns the first error of the syntax of a Go file.
func golang(name string, text []byte) *tool.Diagnostic {
	_, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	list := (scanner.ErrorList)(nil)
	if !errors.As(err, &list) || len(list) == 0 {
		return nil
	}
	return atLine(list[0].Pos.Line, "%s", list[0].Msg)
}

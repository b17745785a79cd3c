package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

type overlayArgs struct {
	Command string        `json:"command" doc:"a go test, go vet or go build command, also as: cd DIR && go test …"`
	With    []overlayFile `json:"with" doc:"files that the command sees instead of the workspace's, or besides them"`
	Timeout int           `json:"timeout,omitempty" doc:"seconds after which it is stopped; default 120, at most 600"`
}

type overlayFile struct {
	Path    string `json:"path" doc:"path in the workspace"`
	Content string `json:"content" doc:"the content that the command sees there"`
}

// goCommand matches the part of a command line after which -overlay is inserted. A folder
// is written as shellsyntax.Quote writes it.
var goCommand = lazyregexp.New(`^(?:cd (?:[\w./:=@%+,\x{80}-\x{10FFFF}-]+|'[^']*') && )?go (?:test|vet|build)(?: |$)`)

// GoOverlay returns the tool that runs a go command on the workspace with some files
// replaced. The replacements are in a temporary folder while the command runs. It is the
// only tool that writes without Env; the workspace, its undo and its journal are not
// affected. Only the built-in model has it, since pawl itself writes the replacements.
// With another model, "go test" would run code that nobody has seen.
func GoOverlay() tool.Tool {
	t := tool.New("go_overlay",
		"Run a go command on the workspace as it would be with the files given. Nothing is written in the workspace.",
		overlayFootprint, runOverlay)
	t.Timeout, t.OnlyProvider = tool.OwnLimit, "offline"
	return t
}

// overlayFootprint returns the footprint of the command, as bash would.
func overlayFootprint(env tool.Env, in overlayArgs) (tool.Footprint, error) {
	if err := checkOverlay(in); err != nil {
		return tool.Footprint{}, err
	}
	f, err := bashFootprint(env, bashArgs{Command: in.Command, Timeout: in.Timeout})
	f.Notice = fmt.Sprintf("with %s, kept outside of the workspace and removed again", plural.Of(len(in.With), "instrumented file"))
	return f, err
}

func checkOverlay(in overlayArgs) error {
	if !goCommand().MatchString(in.Command) {
		return failf("the command is not go test, go vet or go build: %s", in.Command)
	}
	return checkCommand(bashArgs{Command: in.Command, Timeout: in.Timeout})
}

func runOverlay(ctx context.Context, env tool.Env, in overlayArgs) (_ tool.Result, err error) {
	if env.Shell == nil || env.Files == nil {
		return tool.Errorf("this session cannot run commands"), nil
	}
	if err := checkOverlay(in); err != nil {
		return failed(err)
	}
	dir, err := os.MkdirTemp("", "pawl-overlay-*")
	if err != nil {
		return failed(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	list, err := layOver(dir, env.Files.Root(), in.With)
	if err != nil {
		return failed(err)
	}
	head := goCommand().FindString(in.Command)
	c := tool.Run{Command: strings.TrimSuffix(head, " ") + " -overlay=" + shellsyntax.Quote(list) + " " + in.Command[len(head):], Out: env.Out, Reads: []string{dir}}
	if in.Timeout > 0 {
		c.Timeout = min(time.Duration(in.Timeout)*time.Second, bashTimeout)
	}
	ran, err := env.Shell.Run(ctx, c)
	if err != nil && ctx.Err() == nil {
		return failed(err)
	}
	r := withRefused(env, ranResult(ran, c.Command, "interrupted"), ran, nil)
	r.Note += fmt.Sprintf(" (%s, removed again)", plural.Of(len(in.With), "instrumented file"))
	return r, err
}

// layOver writes the files into dir and returns the overlay list for the go command.
func layOver(dir, root string, files []overlayFile) (list string, err error) {
	replace := map[string]string{}
	for i, f := range files {
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
			return "", failf("%s is not in the workspace", f.Path)
		}
		to := filepath.Join(dir, strconv.Itoa(i)+".go")
		if err := os.WriteFile(to, []byte(f.Content), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, filepath.FromSlash(f.Path))] = to
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, b, 0o600)
}

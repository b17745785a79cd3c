package turn

import (
	"context"
	"fmt"
	"path"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Arguments validates a call's arguments and computes its footprint. A refusal
// shows a call that would work (SPEC 4.5).
type Arguments struct{ Env func(*Pending) tool.Env }

func (g Arguments) Check(_ context.Context, step []*Pending) error {
	for _, p := range step {
		if p.Refused != nil {
			continue
		}
		err := g.validate(p)
		if err == nil {
			continue
		}
		text := fmt.Sprintf("The arguments of %s are not valid, it did not run: %v.", p.Tool.Spec.Name, err)
		if takes := p.Tool.Takes(); takes != "" {
			text += "\nIt takes: " + takes + "."
		}
		if p.Tool.Example != "" {
			text += "\nA call that works: " + p.Tool.Example
		}
		p.Refused = &Refusal{Outcome: event.Invalid, Text: text}
	}
	return nil
}

func (g Arguments) validate(p *Pending) (err error) {
	if p.Call.Bad != "" {
		return fmt.Errorf("they are not a JSON object (%s)", p.Call.Bad)
	}
	defer recoverPanic(&err)
	if err := p.Tool.Check(p.Args); err != nil {
		return err
	}
	return p.Measure(g.Env(p))
}

// Measure computes the footprint again.
func (p *Pending) Measure(env tool.Env) (err error) {
	defer recoverPanic(&err)
	fp, err := p.Tool.Footprint(env, p.Args)
	if err != nil {
		return err
	}
	if files := changed(fp, env); env.GitUses != nil && (len(files) > 0 || fp.Unknown) {
		fp.Git = env.GitUses(files...)
	}
	p.Footprint = fp
	return nil
}

// changed returns the absolute paths of the files that a call may change, as far as it
// names them.
func changed(fp tool.Footprint, env tool.Env) []string {
	var out []string
	add := func(file string) {
		if !path.IsAbs(file) && env.Files != nil {
			file = path.Join(env.Files.Root(), file)
		}
		if path.IsAbs(file) {
			out = append(out, file)
		}
	}
	for _, s := range fp.Writes {
		add(s.Path)
	}
	for _, l := range fp.Resolved {
		if l.Write {
			add(l.Path)
		}
	}
	if fp.Unknown {
		for _, c := range fp.Commands {
			out = append(out, c.Named()...)
		}
	}
	return out
}

// Try runs a call that edits files in an env where it changes nothing.
func (p *Pending) Try(ctx context.Context, env tool.Env) (tool.Result, error) {
	return Invoke(ctx, p.Tool, func() tool.Env { return env }, p.Args)
}

// recoverPanic turns a panic of a tool into an error: one broken tool must not end the session.
func recoverPanic(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("the tool does not accept them: %v", v)
	}
}

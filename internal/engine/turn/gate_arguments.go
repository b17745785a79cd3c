package turn

import (
	"context"
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Arguments validates what a tool is called with and works out what the call
// will touch. A refusal shows a call that would work (SPEC 4.5).
type Arguments struct{ Env func(*Pending) tool.Env }

// Check is part of Gate.
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
		if p.Tool.Example != "" {
			text += "\nA call that works: " + p.Tool.Example
		}
		p.Refused = &Refusal{Outcome: event.Invalid, Text: text}
	}
	return nil
}

func (g Arguments) validate(p *Pending) (err error) {
	if p.Call.Bad != "" {
		return fmt.Errorf("they could not be read as a JSON object (%s)", p.Call.Bad)
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the tool could not take them: %v", v)
		}
	}()
	if err := p.Tool.Check(p.Args); err != nil {
		return err
	}
	p.Footprint, err = p.Tool.Footprint(g.Env(p), p.Args)
	return err
}

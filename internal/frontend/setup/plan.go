package setup

import (
	"io"
	"os"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/phase"
)

// maxPlan bounds a plan file, in bytes.
const maxPlan = 1 << 20

// planFile reads the phases of a plan file; "" has none.
func (e *Environment) planFile(name string) ([]event.PhaseStep, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(e.Path(name))
	if err != nil {
		return nil, Usage("cannot read the plan: %w", err)
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return nil, Usage("the plan %s is not a file", name)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxPlan+1))
	switch {
	case err != nil:
		return nil, Usage("cannot read the plan %s: %w", name, err)
	case len(text) > maxPlan:
		return nil, Usage("the plan %s is longer than 1 MB", name)
	}
	steps, err := phase.ParsePlan(string(text))
	if err != nil {
		return nil, Usage("the plan %s cannot be used: %w", name, err)
	}
	return steps, nil
}

package trajectory

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/progress"
)

// Trajectory is a recorded run in the neutral format: facts only, as hashes.
type Trajectory struct {
	ID      string `json:"id"`
	Source  string `json:"source"`
	Agent   string `json:"agent"`
	Model   string `json:"model"`
	Outcome string `json:"outcome"` // resolved, failed, unknown
	Ended   string `json:"ended"`   // self, limit, …
	N       int    `json:"n"`
	LastNew int    `json:"last_new"`
	// StuckOnset is the label: the step where the run got stuck; nil: it did not.
	StuckOnset *int       `json:"stuck_onset"`
	Steps      []Recorded `json:"steps"`
	// Name, Expect and By are those of a scenario: ok, warn or halt; a halt
	// must come after By steps at the latest.
	Name   string `json:"name"`
	Expect string `json:"expect"`
	By     *int   `json:"by"`
}

// Recorded is a step of the neutral format.
type Recorded struct {
	Tool     string        `json:"tool"`
	Kind     progress.Kind `json:"kind"`
	Target   string        `json:"target"`
	ArgsHash string        `json:"args_hash"`
	OK       bool          `json:"ok"`
	Error    string        `json:"error"`
	ObsHash  string        `json:"obs_hash"`
	ObsNorm  string        `json:"obs_norm"`
	ObsLen   int           `json:"obs_len"`
	EditHash string        `json:"edit_hash"`
	State    string        `json:"state"`
	MsgHash  string        `json:"msg_hash"`
	// Reset: a person wrote, or a new phase cleared everything.
	Reset bool `json:"reset"`
}

// emptyHash is the beginning of the SHA-256 of an empty text: a model without
// text does not repeat itself.
const emptyHash = "e3b0c442"

func (r *Recorded) Step() progress.Step {
	s := progress.Step{
		Tool: r.Tool, Kind: r.Kind, Target: r.Target, Args: r.ArgsHash, OK: r.OK, Error: r.Error,
		Exact: r.ObsHash, Norm: r.ObsNorm, Len: r.ObsLen, Edit: r.EditHash, State: r.State, Message: r.MsgHash,
	}
	if strings.HasPrefix(s.Message, emptyHash) {
		s.Message = ""
	}
	return s
}

// ErrNotTrajectory means that a line is not a trajectory.
var ErrNotTrajectory = errors.New("not a trajectory: it has no steps")

// ParseTrajectory reads one line of the neutral format.
func ParseTrajectory(line []byte) (*Trajectory, error) {
	var t Trajectory
	if err := json.Unmarshal(line, &t); err != nil {
		return nil, fmt.Errorf("read a trajectory: %w", err)
	}
	if t.Steps == nil {
		return nil, ErrNotTrajectory
	}
	t.ID = cmp.Or(t.ID, t.Name)
	return &t, nil
}

// Judge runs the rules over a recorded run.
func Judge(c progress.Config, t *Trajectory) progress.Raw {
	d := progress.New(c)
	var out progress.Raw
	for i := range t.Steps {
		if t.Steps[i].Reset {
			d.Person("")
			d.Skip()
			continue
		}
		out.Add(i, d.Apply(t.Steps[i].Step()))
	}
	return out
}

// Differs describes how a verdict differs from what a scenario expects, "" if
// it does not.
func (t *Trajectory) Differs(r progress.Raw) string {
	got := progress.OK
	if r.Warn != nil {
		got = progress.Warn
	}
	if r.Halt != nil {
		got = progress.Halt
	}
	want := map[string]progress.Level{"ok": progress.OK, "warn": progress.Warn, "halt": progress.Halt}[t.Expect]
	switch {
	case got != want:
		return fmt.Sprintf("want %s, got %s", t.Expect, got)
	case t.By != nil && r.Halt != nil && *r.Halt+1 > *t.By:
		return fmt.Sprintf("want the halt by step %d, got it after %d", *t.By, *r.Halt+1)
	}
	return ""
}

package cli

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/trajectory"
)

func progressCommand(a *App) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "progress [--json] FILE…",
		Short: "Test the stuck detection on recorded runs",
		Long: `Run the stuck detection over recorded runs, and print after which step its rules
first warned and first stopped the run. Nothing acts on the warnings.

A FILE contains sessions (pawl sessions export --format jsonl) or trajectories in
the neutral format, one on each line (doc/progress.md). It may be compressed with
gzip. "-" is standard input.`,
		Args: atLeastOne,
		RunE: func(_ *cobra.Command, args []string) error {
			out := bufio.NewWriter(a.Out)
			for _, name := range args {
				if err := progressOf(a.In, out, name, asJSON); err != nil {
					return errors.Join(out.Flush(), err)
				}
			}
			return out.Flush()
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object for each run; steps count from 0")
	return c
}

func progressOf(in io.Reader, out io.Writer, name string, asJSON bool) error {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return usageError("cannot read runs: %w", err)
		}
		defer f.Close()
		in = f
	}
	r := bufio.NewReaderSize(in, 1<<16)
	if magic, _ := r.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(r)
		if err != nil {
			return usageError("%s: %w", name, err)
		}
		r = bufio.NewReaderSize(z, 1<<16)
	}
	j := &judge{out: out, json: asJSON, sessions: map[string]*judged{}}
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if err := j.line(line); err != nil {
				return usageError("%s, line %d: %w", name, n, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return j.end()
		}
		if err != nil {
			return usageError("%s, line %d: %w", name, n, err)
		}
	}
}

// judge judges the runs of one file: trajectories while they are read, sessions from
// their events at the end.
type judge struct {
	out      io.Writer
	json     bool
	sessions map[string]*judged
	order    []string
}

type judged struct {
	fold *progress.Fold
	raw  progress.Raw
}

func (j *judge) line(line []byte) error {
	var e struct {
		Type    string          `json:"type"`
		Session string          `json:"session"`
		Seq     int64           `json:"seq"`
		Cause   int64           `json:"cause"`
		Time    time.Time       `json:"time"`
		Body    json.RawMessage `json:"body"`
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("it is not a JSON object: %w", err)
	}
	if e.Type == "" || e.Body == nil {
		t, err := trajectory.ParseTrajectory(line)
		if err != nil {
			return fmt.Errorf("it is neither a trajectory nor a session's event: %w", err)
		}
		return j.say(t.ID, len(t.Steps), trajectory.Judge(progress.Default(), t))
	}
	known := event.New(e.Type)
	if known == nil {
		return nil // an event of a newer version
	}
	body, err := event.Decode(e.Type, event.VersionOf(known), e.Body)
	if err != nil {
		return err
	}
	s := j.sessions[e.Session]
	if s == nil {
		s = &judged{fold: progress.NewFold(progress.Default())}
		j.sessions[e.Session] = s
		j.order = append(j.order, e.Session)
	}
	s.fold.Apply(event.Event{Session: e.Session, Seq: e.Seq, Cause: e.Cause, Time: e.Time, Body: body})
	s.raw.Add(max(0, s.fold.Steps()-1), s.fold.Last())
	return nil
}

func (j *judge) end() error {
	for _, id := range j.order {
		s := j.sessions[id]
		if err := j.say(id, s.fold.Steps(), s.raw); err != nil {
			return err
		}
	}
	return nil
}

func (j *judge) say(id string, steps int, r progress.Raw) error {
	if !j.json {
		_, err := fmt.Fprintln(j.out, plain.Line(inWords(id, steps, r)))
		return err
	}
	type evidence struct {
		Fingerprint string `json:"fingerprint"`
		Steps       []int  `json:"steps"`
		Text        string `json:"text"`
	}
	v := struct {
		ID       string    `json:"id"`
		Warn     *int      `json:"warn"`
		Halt     *int      `json:"halt"`
		Rule     string    `json:"rule,omitempty"`
		Evidence *evidence `json:"evidence,omitempty"`
	}{ID: id, Warn: r.Warn, Halt: r.Halt}
	if r.Warn != nil {
		v.Rule = r.First.Rule
		v.Evidence = &evidence{Fingerprint: r.First.Fingerprint, Steps: r.First.Steps, Text: r.First.Text}
	}
	e := json.NewEncoder(j.out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func inWords(id string, steps int, r progress.Raw) string {
	switch {
	case r.Halt != nil:
		return fmt.Sprintf("%s: halt after step %d of %d (first warning after step %d): %s: %s",
			id, *r.Halt+1, steps, *r.Warn+1, r.First.Rule, r.First.Text)
	case r.Warn != nil:
		return fmt.Sprintf("%s: warning after step %d of %d: %s: %s", id, *r.Warn+1, steps, r.First.Rule, r.First.Text)
	}
	return fmt.Sprintf("%s: no loop in %s", id, plural.Of(steps, "step"))
}

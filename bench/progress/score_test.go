package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/trajectory"
)

// SPEC 6.1: the table counts as score.py does.
func TestScore(t *testing.T) {
	t.Parallel()
	at := func(n int) *int { return &n }
	s := &Score{Rules: map[string]int{}}
	v := progress.Finding{Rule: "identical"}
	for _, c := range []struct {
		t trajectory.Trajectory
		r progress.Raw
	}{
		{trajectory.Trajectory{ID: "harmed", Outcome: "resolved", N: 10, LastNew: 8}, progress.Raw{Warn: at(2), Halt: at(5), First: v}},
		{trajectory.Trajectory{Outcome: "resolved", N: 10, LastNew: 3}, progress.Raw{Warn: at(2), Halt: at(5), First: v}},
		{trajectory.Trajectory{Outcome: "resolved", N: 10, LastNew: 3}, progress.Raw{Warn: at(9), Halt: at(9), First: v}},
		{trajectory.Trajectory{Outcome: "failed", N: 20, StuckOnset: at(5)}, progress.Raw{Warn: at(7), Halt: at(9), First: v}},
		{trajectory.Trajectory{ID: "early", Outcome: "failed", N: 20, StuckOnset: at(5)}, progress.Raw{Warn: at(1), Halt: at(4), First: v}},
		{trajectory.Trajectory{ID: "missed", Outcome: "failed", N: 20, StuckOnset: at(10)}, progress.Raw{}},
		{trajectory.Trajectory{Outcome: "unknown", Ended: "self", N: 20}, progress.Raw{Warn: at(1), Halt: at(4), First: v}},
		{trajectory.Trajectory{Outcome: "unknown", Ended: "limit", N: 20}, progress.Raw{Warn: at(1), Halt: at(4), First: v}},
	} {
		s.Add(&c.t, c.r)
	}
	var b bytes.Buffer
	s.Print(&b)
	for _, want := range []string{
		"resolved halted       2/3", "harmful             1/3 (33.3%) [harmed]", "warned              3/3",
		"finished halted       1/1", "stuck caught          1/3 (33.3%) early 1 [early missed]", "delay median/p90    4/4",
		"warned              2/3 (66.7%) median/p90 2/2", "steps burnt         15/40 (37.5%)",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "x.jsonl")
	step := `{"tool":"t","kind":"read","args_hash":"a","ok":true,"obs_hash":"o","obs_norm":"o","obs_len":9}`
	line := `{"id":"a","source":"here","outcome":"failed","n":6,"stuck_onset":0,"name":"a","expect":"halt","by":5,"steps":[` + strings.Repeat(step+",", 5) + step + "]}\n"
	must.Write(t, file, line)
	var b bytes.Buffer
	must.Do(t, run(&b, file, progress.Default(), "source", 0.5))
	must.Do(t, scenarios(&b, file, progress.Default()))
	for _, want := range []string{"stuck caught          1/1", "\nhere\n", "prototype of SPEC 6.3", "scenarios: 1 of 1 as expected"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	if err := run(&b, file+".none", progress.Default(), "", 0); err == nil {
		t.Error("a file that is not there")
	}
}

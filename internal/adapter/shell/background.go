package shell

import (
	"fmt"
	"time"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

func (s *Shell) Running() []tool.Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []tool.Job
	for _, id := range s.order {
		if j := s.jobs[id]; !j.ended() {
			out = append(out, tool.Job{ID: id, Command: j.command, Runs: time.Since(j.started), Tail: j.tape.end, End: func() { s.end(j) }})
		}
	}
	return out
}

func (s *Shell) Ended() []tool.Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []tool.Job
	for _, id := range s.order {
		if j := s.jobs[id]; j.ended() && !j.known.Swap(true) {
			code, signal := outcome(j.state)
			how := fmt.Sprint("exit code ", code)
			if signal != "" {
				how = "signal: " + signal
			}
			out = append(out, tool.Job{ID: id, Command: j.command, Runs: j.took, Exit: how, Tail: j.tape.end, End: func() {}})
		}
	}
	return out
}

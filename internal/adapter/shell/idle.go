package shell

import (
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/process"
)

// idles sends the host for which a command waits, when for this long it neither worked nor
// printed anything, and the sandbox had refused it a host before. A program that tries
// again and again waits too. held reports whether somebody is being asked about an access.
// Where nothing is known of the work of processes, or most is 0, it sends nothing. A host for
// which a command of the session waited in vain before is given up sooner.
func (s *Shell) idles(j *job, most time.Duration, held func() bool) <-chan process.Refusal {
	if most <= 0 {
		return nil
	}
	out := make(chan process.Refusal, 1)
	go func() {
		tick := time.NewTicker(most / idleLooks)
		defer tick.Stop()
		var last work
		var at, since time.Time
		for {
			select {
			case <-j.dead:
				return
			case <-tick.C:
			}
			host, refused := hostOf(j.refused())
			if !refused || held() {
				since = time.Time{}
				continue
			}
			now := workOf(family{group: j.group, mark: j.mark})
			now.printed = j.tape.bytes()
			if since.IsZero() || now.since(last, time.Since(at)) {
				since = time.Now()
			}
			if last, at = now, time.Now(); at.Sub(since) >= s.patience(host.What, most) {
				s.gaveUp(host.What)
				out <- host
				return
			}
		}
	}()
	return out
}

// idleLooks is how often it is looked while a command may be idle, and idleAgain how much
// sooner a host is given up for which one waited in vain.
const (
	idleLooks = 8
	idleAgain = 4
)

// patience is how long a command may wait for a refused host.
func (s *Shell) patience(host string, most time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.silent[host] {
		return most / idleAgain
	}
	return most
}

func (s *Shell) gaveUp(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.silent == nil {
		s.silent = map[string]bool{}
	}
	s.silent[host] = true
}

// work is what a family has done so far.
type work struct {
	known   bool // what processes do
	pids    []int
	spent   time.Duration // of the CPU
	runs    bool          // one of them runs now, or could
	printed int64
}

// idleShare is the share of a CPU that runtimes use while their programs wait.
const idleShare = 50 // one part of so many

// since reports whether something was done in the time since last.
func (w work) since(last work, took time.Duration) bool {
	return !w.known || w.runs || w.printed != last.printed || !slices.Equal(w.pids, last.pids) || w.spent-last.spent > took/idleShare
}

// hostOf returns the last host of refusals, rather a name than the server that was asked
// for one.
func hostOf(all []process.Refusal) (host process.Refusal, ok bool) {
	for _, r := range all {
		if (r.Act == process.ActHost || r.Act == process.ActConnect && !strings.HasPrefix(r.What, "/")) && (!ok || !strings.HasSuffix(r.What, ":53")) {
			host, ok = r, true
		}
	}
	return host, ok
}

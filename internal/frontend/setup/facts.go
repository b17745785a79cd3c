package setup

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/checks"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/gitrepo"
	"github.com/pawl-agent/pawl/internal/engine/prompt"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

const (
	// stateLimit is how long a session's start waits for the state of the repository.
	stateLimit = 200 * time.Millisecond
	// checksShown is how many of a project's checks the model is told of at the start.
	checksShown = 5
)

// facts returns what the model needs to know about the session's folder. The prompts of
// workers have nothing of theirs, since they begin alike (SPEC 14.4).
func (e *Environment) facts(fr Frontend, c choices, w services) prompt.Facts {
	f := prompt.Facts{
		Dir: c.dir, OS: runtime.GOOS, Shell: shellName(c.posix), Date: e.Now().Format("2006-01-02"),
		Mode: c.perm.Mode(), Person: fr.Person, Confined: c.by.Has.Workspace && !c.perm.Mode().Free(), Scratch: c.by.Has.Holds,
	}
	if gitrepo.Above(c.dir) != "" {
		f.Git = "a repository"
	}
	if fr.WorkerTree {
		f.Dir = "the current folder"
		return f
	}
	if fr.ReadOnly {
		return f
	}
	if e.Recorded != "" {
		f.Recall(e.Recorded)
		return f
	}
	if w.state != nil {
		s := w.state()
		f.Git, f.Languages = w.mask.String(gitLine(s)), s.Languages
	}
	if w.servers != nil {
		for _, h := range w.servers.Here() {
			if h.Program != "" && !h.Untrusted {
				f.Servers = append(f.Servers, h.Name)
			}
		}
	}
	if !c.perm.Mode().ReadsOnly() {
		e.projectChecks(&f, c)
	}
	return f
}

// beside starts to look at the repository while the rest of a session is opened, since git
// takes longer for it than all of that. What it returns waits for the state.
func beside(ctx context.Context, look func(context.Context) workspace.State) func() workspace.State {
	found := make(chan workspace.State, 1)
	go func() {
		limited, cancel := context.WithTimeout(ctx, stateLimit)
		defer cancel()
		found <- look(limited)
	}()
	return sync.OnceValue(func() workspace.State { return <-found })
}

// gitLine tells the state of a repository in a line. Subjects of commits are quoted: they
// are data.
func gitLine(s workspace.State) string {
	parts := []string{"a repository"}
	if s.Branch != "" {
		parts[0] = "branch " + s.Branch
	}
	switch {
	case s.Changed == 0:
		parts = append(parts, "nothing changed")
	case s.Changed > 0:
		parts = append(parts, fmt.Sprintf("changed or untracked files: %d", s.Changed))
	}
	if len(s.Commits) > 0 {
		parts = append(parts, fmt.Sprintf("last commits: %q", s.Commits))
	}
	return strings.Join(parts, "; ")
}

// projectChecks sets the commands that check the project in the workspace's folder, those of
// them that cannot run here, and whether pawl runs them after a turn.
func (e *Environment) projectChecks(f *prompt.Facts, c choices) {
	var finder *checks.Finder
	var found []checks.Check
	if c.trust != nil && c.trust.finder != nil {
		finder, found, f.Run = c.trust.finder, c.trust.here, true
	} else {
		finder = finderOf(c.conf.User, c.dir, e.Env)
		found, _ = finder.Here() // an error has no checks
	}
	for _, k := range finder.Promised(found) {
		switch what := finder.Lacks(k); {
		case what != "":
			f.Lacking = append(f.Lacking, "`"+k.Command+"`: "+what)
		case !slices.Contains(f.Checks, k.Command):
			f.Checks = append(f.Checks, k.Command)
		}
	}
	f.Checks, f.Lacking = f.Checks[:min(len(f.Checks), checksShown)], f.Lacking[:min(len(f.Lacking), checksShown)]
	if t := c.trust.Event(); t != nil {
		f.Run = f.Run && !slices.ContainsFunc(c.trust.Assessment.Inert(), func(j trust.AssessedPart) bool { return j.Kind == trust.Check })
	}
}

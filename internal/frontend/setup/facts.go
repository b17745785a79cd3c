package setup

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
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
func (s *opening) facts() prompt.Facts {
	dir, mode, has := s.session.Dir, s.session.Permission.Mode(), s.o.Confinement.Has
	f := prompt.Facts{
		Dir: dir, OS: runtime.GOOS, Shell: "bash", Date: s.Now().Format("2006-01-02"),
		Mode: mode, Person: s.fr.Person, Confined: has.Workspace && !mode.Free(), Scratch: has.Holds,
	}
	if s.posix {
		f.Shell = "sh"
	}
	if gitrepo.Above(dir) != "" {
		f.Git = "a repository"
	}
	if s.fr.WorkerTree {
		f.Dir = "the current folder"
		return f
	}
	if s.fr.ReadOnly {
		return f
	}
	if s.Recorded != "" {
		f.Recall(s.Recorded)
		return f
	}
	if s.state != nil {
		state := s.state()
		f.Git, f.Languages = s.session.Mask.String(gitLine(state)), state.Languages
	}
	if s.servers != nil {
		for _, h := range s.servers.Here() {
			if h.Program != "" && !h.Untrusted {
				f.Servers = append(f.Servers, h.Name)
			}
		}
	}
	if !mode.ReadsOnly() {
		s.projectChecks(&f)
	}
	return f
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
func (s *opening) projectChecks(f *prompt.Facts) {
	t := s.o.Trust
	var finder *checks.Finder
	var found []checks.Check
	if t != nil && t.finder != nil {
		finder, found, f.Run = t.finder, t.here, true
	} else {
		finder = finderOf(s.conf.User, s.session.Dir, s.Env)
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
	if t != nil {
		f.Run = f.Run && !slices.ContainsFunc(t.Assessment.Inert(), func(j trust.AssessedPart) bool { return j.Kind == trust.Check })
	}
}

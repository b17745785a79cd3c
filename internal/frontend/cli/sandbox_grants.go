package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/confine"
	"github.com/pawl-agent/pawl/internal/policy/host"
)

// openings are what the flags of `pawl sandbox` allow, and what the lines at its end
// suggest.
type openings struct{ writes, reads, hosts []string }

// confinement returns the policy of a level in a workspace with the given openings, and
// the settings that its commands need.
func (a *App) confinement(l confine.Level, root string, g openings) (confine.Policy, []string, error) {
	paths, err := settings.PathsFrom(a.Env)
	if err != nil {
		return confine.Policy{}, nil, err
	}
	facts, env, err := sandbox.Place(a.Env, a.Self, root, paths.State, paths.Config)
	if err != nil {
		return confine.Policy{}, nil, err
	}
	if len(g.hosts) > 0 {
		l, facts.Hosts = confine.Hosts, g.hosts
	}
	policy := confine.New(l, facts)
	for _, w := range g.writes {
		if policy, err = allowWrite(policy, w); err != nil {
			return confine.Policy{}, nil, err
		}
	}
	for _, r := range g.reads {
		real, err := setup.RealPath(r)
		if err != nil {
			return confine.Policy{}, nil, fault.NewConfiguration("name a file or folder that exists", "cannot allow reading %s: %v", r, err)
		}
		with := policy.Grant([]string{real}, nil, nil)
		if len(with.Reads) == len(policy.Reads) {
			return confine.Policy{}, nil, notGrantable(real)
		}
		policy = with
	}
	return policy, env, nil
}

// allowWrite allows writes to a folder or file, which need not exist yet.
func allowWrite(policy confine.Policy, name string) (confine.Policy, error) {
	real, err := setup.RealPath(name)
	folder := false
	switch {
	case errors.Is(err, fs.ErrNotExist):
		var dir string
		if dir, err = setup.RealPath(filepath.Dir(name)); err != nil {
			return policy, fault.NewConfiguration("create the folder first", "cannot allow writing %s: %v", name, err)
		}
		real = filepath.Join(dir, filepath.Base(name))
		if _, err := os.Lstat(real); err == nil {
			return policy, fault.NewConfiguration("name the target of the link", "cannot allow writing %s: it is a link to a file that does not exist", name)
		}
	case err != nil:
		return policy, fault.NewConfiguration("name a file or folder", "cannot allow writing %s: %v", name, err)
	default:
		st, err := os.Stat(real)
		if err != nil {
			return policy, err
		}
		folder = st.IsDir()
	}
	if err := sandbox.MayGrant(policy, real, folder); err != nil {
		return policy, err
	}
	if folder {
		return policy.Grant(nil, []string{real}, nil), nil
	}
	with := policy.Grant(nil, nil, []string{real})
	if len(with.Opened) == len(policy.Opened) {
		return policy, notGrantable(real)
	}
	return with, nil
}

func notGrantable(path string) error {
	return fmt.Errorf("%w: %s cannot be opened: it belongs to git, or it is or contains files that no command may read", confine.ErrPolicy, path)
}

// refusedLines returns what a person is told of a command's refusals: those that a
// model would be told, each with the flag that allows it.
func refusedLines(policy confine.Policy, refused []sandbox.Refusal, failed bool) []string {
	var rs []process.Refusal
	for _, r := range refused {
		rs = append(rs, process.Refusal{Act: r.Act, What: r.Target})
	}
	told, more := tools.Told(rs, failed)
	var out []string
	for _, r := range told {
		out = append(out, "the sandbox refused: "+r.String()+"; "+toAllow(policy, r))
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("the sandbox refused %d more", more))
	}
	if len(out) == 0 && failed && policy.Level == confine.ReadOnly {
		out = append(out, "the command ran read-only: it could change no file, and had no network (--level workspace allows changes in the workspace, and local connections between the command's own processes)")
	}
	return out
}

// toAllow returns a text that names the flag for what was refused, or states that there
// is none.
func toAllow(policy confine.Policy, r process.Refusal) string {
	switch r.Act {
	case process.ActWrite, process.ActRemove:
		if _, err := allowWrite(policy, r.What); err == nil {
			return "to allow it: --allow-write " + r.What
		}
	case process.ActHost, process.ActConnect:
		if _, err := host.ParseGrant(r.What); err == nil {
			return "to allow it: --allow-host " + r.What
		}
	}
	return "no flag allows this"
}

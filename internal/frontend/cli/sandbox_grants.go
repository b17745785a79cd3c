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

// confinement returns what confines a command in a workspace, and what the command may do
// with the given openings.
func (a *App) confinement(l process.Level, root string, g openings) (*sandbox.Boxes, process.Confine, error) {
	c := process.Confine{Level: l, Hosts: g.hosts}
	paths, err := settings.PathsFrom(a.Env)
	if err != nil {
		return nil, c, err
	}
	boxes := sandbox.NewBoxes(a.Env, root, paths.Spill(), paths.State, paths.Config)
	boxes.Self = a.Self
	policy := boxes.Readable()
	for _, w := range g.writes {
		real, err := writable(policy, w)
		if err != nil {
			return nil, c, err
		}
		c.Writes = append(c.Writes, real)
	}
	for _, r := range g.reads {
		real, err := setup.RealPath(r)
		if err != nil {
			return nil, c, fault.NewConfiguration("name a file or folder that exists", "cannot allow reading %s: %v", r, err)
		}
		if len(policy.Grant([]string{real}, nil, nil).Reads) == len(policy.Reads) {
			return nil, c, notGrantable(real)
		}
		c.Reads = append(c.Reads, real)
	}
	return boxes, c, nil
}

// writable returns the real path of a folder or file that can be allowed to be written. It
// need not exist yet.
func writable(policy confine.Policy, name string) (string, error) {
	real, err := setup.RealPath(name)
	folder := false
	switch {
	case errors.Is(err, fs.ErrNotExist):
		var dir string
		if dir, err = setup.RealPath(filepath.Dir(name)); err != nil {
			return "", fault.NewConfiguration("create the folder first", "cannot allow writing %s: %v", name, err)
		}
		real = filepath.Join(dir, filepath.Base(name))
		if _, err := os.Lstat(real); err == nil {
			return "", fault.NewConfiguration("name the target of the link", "cannot allow writing %s: it is a link to a file that does not exist", name)
		}
	case err != nil:
		return "", fault.NewConfiguration("name a file or folder", "cannot allow writing %s: %v", name, err)
	default:
		st, err := os.Stat(real)
		if err != nil {
			return "", err
		}
		folder = st.IsDir()
	}
	if err := sandbox.MayGrant(policy, real, folder); err != nil {
		return "", err
	}
	if !folder && len(policy.Grant(nil, nil, []string{real}).Opened) == 0 {
		return "", notGrantable(real)
	}
	return real, nil
}

func notGrantable(path string) error {
	return fmt.Errorf("%w: %s cannot be opened: it belongs to git, or it is or contains files that no command may read", confine.ErrPolicy, path)
}

// refusedLines returns what a person is told of a command's refusals: those that a
// model would be told, each with the flag that allows it.
func refusedLines(policy confine.Policy, l process.Level, refused []process.Refusal, failed bool) []string {
	told, more := tools.Told(refused, failed)
	var out []string
	for _, r := range told {
		out = append(out, "the sandbox refused: "+r.String()+"; "+toAllow(policy, r))
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("the sandbox refused %d more", more))
	}
	if len(out) == 0 && failed && l == process.ReadOnly {
		out = append(out, "the command ran read-only: it could change no file, and had no network (--level workspace allows changes in the workspace, and local connections between the command's own processes)")
	}
	return out
}

// toAllow returns a text that names the flag for what was refused, or states that there
// is none.
func toAllow(policy confine.Policy, r process.Refusal) string {
	switch r.Act {
	case process.ActWrite, process.ActRemove:
		if _, err := writable(policy, r.What); err == nil {
			return "to allow it: --allow-write " + r.What
		}
	case process.ActHost, process.ActConnect:
		if _, err := host.ParseGrant(r.What); err == nil {
			return "to allow it: --allow-host " + r.What
		}
	}
	return "no flag allows this"
}

package permission

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/host"
)

// Opening is an access that the sandbox refused a command and that a person can grant.
type Opening struct {
	process.Refusal
	// Rule is the rule that a session grant or a permanent grant adds.
	Rule string
	// Always: the grant may be permanent.
	Always bool
}

// Openings returns the refusals that a person can be asked to grant: files
// outside the workspace, and hosts, that no rule names. It never returns
// protected files, keys and files that look like keys, pawl's own state, git's
// own files anywhere and what it runs or reads, the system's files, and files that a login runs. The
// model can still ask for some of these by name.
func (p *Policy) Openings(refused []process.Refusal, git []tool.GitUse) []Opening {
	p = p.withGitUses(git)
	if p.wide || p.mode == Plan || p.cfg.Sandbox.Narrow {
		return nil
	}
	var out []Opening
	for _, r := range refused {
		var u unit
		switch r.Act {
		case process.ActWrite, process.ActRemove:
			if !p.mayOpen(r.What) {
				continue
			}
			u = p.landUnit(tool.ResolvedPath{Path: r.What, Named: r.What, Write: true})[0]
			r.Act = process.ActWrite
		case process.ActHost:
			name := strings.ToLower(r.What)
			if _, err := host.ParseGrant(name); err != nil || strings.Contains(name, "*") {
				continue
			}
			u = unit{kind: hostUnit, host: name, pattern: network + "(" + name + ")"}
			r.What = name
		default:
			continue
		}
		u.by, u.shell = callee{tool: tool.CommandFamily, family: tool.CommandFamily}, true
		d := p.judge(u)
		if d.Verdict != Ask || d.By == "rule" || d.Pattern == "" {
			continue
		}
		o := Opening{Refusal: r, Rule: d.Pattern, Always: d.CanAlways}
		if !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	return out
}

// atLogin are files and folders of a home whose contents run, unconfined, when
// the person logs in or calls a program. pawl does not propose to let a command
// write there.
var atLogin = [...]string{
	".profile", ".login", ".logout", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".pam_environment", ".inputrc", ".vimrc", ".emacs",
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc",
	".config/fish", ".config/autostart", ".config/systemd", ".config/environment.d", ".config/nvim", ".local/bin", ".local/share/systemd", ".local/share/applications", "bin", "go/bin", ".cargo/bin", ".cargo/env",
}

// mayOpen reports whether a person can be asked to let a confined process
// change or create a file.
func (p *Policy) mayOpen(file string) bool {
	switch {
	case p.usedByGit(file),
		!path.IsAbs(file), path.Clean(file) != file, file == "/", p.inside(file), Wide(file, p.cfg.Home),
		p.gitControl(file), p.keyFile(file), secretInside(file), protected(file) != "",
		slices.Contains(strings.Split(fold2(file), "/"), ".git"),
		p.cfg.State != "" && (under(file, p.cfg.State) || under(p.cfg.State, file)),
		p.cfg.Root != "" && under(p.cfg.Root, file),
		systemPath(file) && (p.cfg.Home == "" || !under(file, p.cfg.Home)),
		slices.ContainsFunc(atLogin[:], func(name string) bool {
			return p.cfg.Home != "" && under(fold2(file), fold2(path.Join(p.cfg.Home, name)))
		}):
		return false
	}
	return len(p.system.Grant(nil, nil, []string{file}).Opened) > len(p.system.Opened)
}

// Open returns the confinement of a command with openings added.
func Open(c process.Confine, os []Opening) process.Confine {
	if c.Level != process.Workspace {
		return c
	}
	c.Writes, c.Hosts = slices.Clone(c.Writes), slices.Clone(c.Hosts)
	for _, o := range os {
		if o.Act == process.ActHost {
			c.Hosts = append(c.Hosts, o.What)
		} else {
			c.Writes = append(c.Writes, o.What)
		}
	}
	slices.Sort(c.Writes)
	slices.Sort(c.Hosts)
	c.Writes, c.Hosts = slices.Compact(c.Writes), slices.Compact(c.Hosts)
	return c
}

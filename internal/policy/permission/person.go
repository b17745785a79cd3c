package permission

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// This file knows when a confined command needs who the person is: their keys, or a
// service that acts for them. No confined command gets these. The person is asked whether
// the command runs as them (SPEC 16.12, 16.14).

// ActPerson is the Opening of a command that runs again as the person, outside the sandbox.
const ActPerson = "person"

// lookups are sockets that the system's libraries try when they look up names and write
// logs. Programs do without them.
var lookups = [...]string{
	"/run/nscd", "/run/systemd/userdb", "/run/systemd/resolve", "/run/systemd/journal", "/run/systemd/io.", "/run/systemd/machine", "/run/avahi-daemon", "/run/sssd", "/var/lib/sss", "/dev/log",
	"/tmp/.X11-unix", "/run/pcscd", "/run/uuidd", "/run/cups", "/run/udev", "/run/pulse", "/run/setrans",
}

// ofPerson reports whether an access is to what makes a program act as the person: a key,
// or the socket of an agent, of a container engine or of another service.
func (p *Policy) ofPerson(r process.Refusal) bool {
	switch r.Act {
	case process.ActRead:
		return confine.Within("/etc/ssh", r.What) && !strings.HasPrefix(path.Base(r.What), "ssh_host_") && !strings.HasPrefix(path.Base(r.What), "sshd_") ||
			slices.ContainsFunc([]string{p.cfg.Home, p.cfg.RealHome}, func(home string) bool {
				return home != "" && slices.ContainsFunc(confine.Identity[:], func(k string) bool { return confine.Within(path.Join(home, k), r.What) })
			})
	case process.ActConnect:
		return strings.HasPrefix(r.What, "/") && !strings.HasPrefix(path.Base(r.What), "wayland-") && !slices.ContainsFunc(lookups[:], func(l string) bool {
			return strings.HasPrefix(r.What, l) || strings.HasPrefix(r.What, "/var"+l)
		})
	}
	return false
}

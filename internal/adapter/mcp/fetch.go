package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/atomicfile"
	"github.com/pawl-agent/pawl/internal/core/process"
)

// Packages are the packages of confined servers, such as a project's npx -y NAME (SPEC
// 17.1). A confined server has no network, so its package is fetched once, after a person
// agreed: into a folder of pawl's own, by a manager that reaches only the registry and
// reads nothing of the workspace. Then the program in it runs as every confined server
// does; it is the same one until the person fetches again.
type Packages struct {
	Dir  string // "": nothing can be kept, so none is fetched
	Root string // the workspace
	Env  func(string) string
}

// decision is what a person decided about the package of a server.
type decision struct {
	Configured []string `json:"configured"` // it holds for this command
	Yes        bool     `json:"yes"`
	Hosts      []string `json:"hosts,omitempty"` // that the server may reach
	Fetched    bool     `json:"fetched,omitempty"`
}

// fetchTime is how long a fetch may take.
const fetchTime = 10 * time.Minute

// of returns the package that a server fetches. One that is installed in the workspace is
// not fetched.
func (p Packages) of(s Server) (launched, bool) {
	if s.Transport != "stdio" || p.Env == nil {
		return launched{}, false
	}
	of, ok := launches(s.Command)
	if !ok || of.by.manager == "uv" {
		return of, ok
	}
	dir := s.Dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.Root, dir)
	}
	for ; !s.Own(); dir = filepath.Dir(dir) {
		// With a version, no installed one has that name.
		if _, err := os.Stat(filepath.Join(dir, "node_modules", filepath.FromSlash(of.specs[0]), "package.json")); err == nil {
			return of, false
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return of, true
}

// at returns the folder of a server: for the commands of one name in a file there is one.
func (p Packages) at(s Server) string {
	sum := sha256.Sum256([]byte(p.Root + "\x00" + s.File + "\x00" + strings.ToLower(s.Name)))
	return filepath.Join(p.Dir, hex.EncodeToString(sum[:8]))
}

func (p Packages) decided(s Server) (d decision, there bool) {
	raw, err := atomicfile.Read(filepath.Join(p.at(s), "decision.json"), 64<<10)
	if err != nil || json.Unmarshal(raw, &d) != nil || !slices.Equal(d.Configured, s.start) {
		return decision{}, false
	}
	return d, true
}

// Question returns what a person is asked about the package of a confined server, "" if
// they decided already or nothing is fetched.
func (p Packages) Question(s Server) string {
	of, ok := p.of(s)
	if _, there := p.decided(s); !ok || there || p.Dir == "" {
		return ""
	}
	return fmt.Sprintf("the MCP server %s (%s) runs %s: fetch %s from %s, once? It then runs in the sandbox, without network", s.Name, s.File, visible(strings.Join(s.start[3:3+len(s.Command)], " ")), p.names(of), p.from(of))
}

func (p Packages) names(of launched) string { return strings.Join(of.specs, " and ") }

// from returns the hosts of a package's registries, for people.
func (p Packages) from(of launched) string {
	var out []string
	for _, r := range of.registries(p.Env) {
		u, _ := url.Parse(r) // it was one
		out = append(out, u.Host)
	}
	return strings.Join(out, " and ")
}

// Decide stores what a person decided about the package of a server. hosts are those that
// the server may reach when it runs. Nothing is fetched yet; what was fetched for another
// command of it is removed then.
func (p Packages) Decide(s Server, yes bool, hosts []string) error {
	if _, ok := p.of(s); !ok {
		return fmt.Errorf("it runs %s, which fetches no package of a registry", visible(s.Runs()))
	}
	if p.Dir == "" {
		return errors.New("the person's cache folder is in the workspace, where fetched programs are not safe: set XDG_CACHE_HOME to a folder outside it")
	}
	return p.keep(s, decision{Configured: s.start, Yes: yes, Hosts: hosts})
}

func (p Packages) keep(s Server, d decision) error {
	raw, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.at(s), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(p.at(s), "decision.json"), raw, 0o600)
}

// fetch fetches the package of a confined server, unless that is done. A server without one
// needs nothing.
func (s *Servers) fetch(ctx context.Context, srv Server, log *tail) error {
	p := s.opt.Packages
	of, ok := s.packaged(srv)
	if !ok {
		return nil
	}
	d, _ := p.decided(srv)
	switch {
	case !d.Yes:
		return fmt.Errorf("%w: its package %s is not fetched; to fetch it once from %s, after which it runs in the sandbox without network: pawl mcp fetch %s", errStart, p.names(of), p.from(of), srv.Name)
	case d.Fetched && p.whole(of, srv):
		return nil
	}
	if s.opt.Changed != nil {
		if why := s.opt.Changed(srv); why != "" {
			return fmt.Errorf("%w: %s", errStart, why)
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTime, fmt.Errorf("it took longer than %s", fetchTime))
	defer cancel()
	unlock, err := lockFile(ctx, filepath.Join(p.at(srv), "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if d, _ = p.decided(srv); d.Fetched && p.whole(of, srv) { // by another session meanwhile
		return nil
	}
	files, empty := filepath.Join(p.at(srv), "files"), filepath.Join(p.at(srv), "empty")
	if err := errors.Join(os.RemoveAll(files), os.MkdirAll(files, 0o700), os.MkdirAll(empty, 0o700)); err != nil {
		return err
	}
	if of.by.manager != "uv" { // else it looks for one above
		err = os.WriteFile(filepath.Join(files, "package.json"), []byte("{\"private\": true}\n"), 0o600)
	}
	if err == nil {
		err = s.install(ctx, of, files, empty, log)
	}
	if err == nil {
		_, err = of.installed(files)
	}
	if err != nil {
		return fmt.Errorf("its package %s cannot be fetched from %s: %w", p.names(of), p.from(of), err)
	}
	d.Fetched = true
	if err := p.keep(srv, d); err != nil {
		return err
	}
	s.note(fmt.Sprintf("the package %s of the MCP server %s was fetched from %s; a newer one: pawl mcp fetch %s", p.names(of), srv.Name, p.from(of), srv.Name))
	return nil
}

// whole reports whether what was fetched is still there: caches may be removed.
func (p Packages) whole(of launched, srv Server) bool {
	_, err := of.installed(filepath.Join(p.at(srv), "files"))
	return err == nil
}

// State says whether the package of a confined server is fetched, and which version; "" for
// a server that needs none.
func (p Packages) State(s Server) string {
	of, ok := p.of(s)
	if !ok || !s.Project && (s.Sandbox == "" || s.Sandbox == "off") {
		return ""
	}
	if !p.whole(of, s) {
		return p.names(of) + " is not fetched: pawl mcp fetch " + s.Name
	}
	var is struct {
		Version string `json:"version"`
	}
	raw, err := os.ReadFile(filepath.Join(p.at(s), "files", "node_modules", filepath.FromSlash(of.by.nameOf(of.specs[0])), "package.json"))
	if err == nil && json.Unmarshal(raw, &is) == nil && is.Version != "" {
		return of.by.nameOf(of.specs[0]) + " " + cut(visible(is.Version), 40) + " is fetched"
	}
	return p.names(of) + " is fetched"
}

// packaged returns the package of a server that cannot fetch it by itself: it is confined.
func (s *Servers) packaged(srv Server) (launched, bool) {
	of, ok := s.opt.Packages.of(srv)
	return of, ok && s.opt.Confine(srv).Level != process.Unconfined
}

// unfetched says that a server cannot start since its package is not fetched, "" if it can.
func (s *Servers) unfetched(srv Server) string {
	of, ok := s.packaged(srv)
	if d, _ := s.opt.Packages.decided(srv); !ok || d.Yes || s.opt.Packages.whole(of, srv) {
		return ""
	}
	return s.opt.Packages.State(srv)
}

// start lets a server's program be the one that was fetched.
func (p Packages) start(of launched, srv Server, run *process.Program) (err error) {
	files := filepath.Join(p.at(srv), "files")
	run.Path, err = of.installed(files)
	run.Args = of.args
	run.Confine.Reads = append(slices.Clone(run.Confine.Reads), files)
	if d, _ := p.decided(srv); run.Confine.Level == process.Workspace {
		run.Confine.Hosts = append(slices.Clone(run.Confine.Hosts), d.Hosts...)
	}
	return err
}

// install runs the manager. Its scripts, too, reach only the registry, and write only into
// the folder.
func (s *Servers) install(ctx context.Context, of launched, files, empty string, log *tail) error {
	args, env := of.install(files)
	confine := process.Confine{Level: process.Workspace, Root: empty, Own: []string{files}, Hosts: slices.Clone(of.by.also)}
	for i, r := range of.registries(s.opt.Packages.Env) {
		u, err := url.Parse(r)
		if err != nil {
			return err
		}
		host := u.Host
		if u.Port() == "" && u.Scheme == "http" {
			host += ":80"
		}
		if confine.Hosts = append(confine.Hosts, host); i == 0 {
			env = append(env, "npm_config_registry="+r, "UV_DEFAULT_INDEX="+r)
		}
	}
	p, err := s.opt.Start.Start(ctx, process.Program{Path: of.by.manager, Args: args, Dir: files, Env: env, Apart: s.opt.Apart, Stdout: log, Stderr: log, Confine: confine})
	if err != nil {
		return err
	}
	err = p.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		var refused []string
		for _, r := range p.Refused() {
			refused = append(refused, r.String())
		}
		if len(refused) > 0 {
			err = fmt.Errorf("%w; the sandbox refused it: %s", err, cut(strings.Join(refused, ", "), 300))
		}
		return fmt.Errorf("%s: %w", of.by.manager, err)
	}
	return nil
}

// installed returns the program of a package that was installed into a folder.
func (p launched) installed(files string) (string, error) {
	bin := filepath.Join(files, "node_modules", ".bin")
	name := cmp.Or(p.program, p.by.nameOf(p.specs[0]))
	if p.by.manager == "uv" {
		bin = filepath.Join(files, "bin")
	} else if p.program == "" {
		var is struct {
			Bin json.RawMessage `json:"bin"`
		}
		raw, err := os.ReadFile(filepath.Join(files, "node_modules", filepath.FromSlash(name), "package.json"))
		if err == nil {
			err = json.Unmarshal(raw, &is)
		}
		if err != nil {
			return "", err
		}
		name = name[strings.IndexByte(name, '/')+1:]
		var several map[string]string
		if json.Unmarshal(is.Bin, &several) == nil && len(several) == 1 && several[name] == "" {
			for name = range several {
			}
		}
	}
	if strings.ContainsAny(name, `/\`) {
		return "", fmt.Errorf("its program has the name %q", name)
	}
	if _, err := os.Stat(filepath.Join(bin, name)); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the package has no program %s", name)
	} else if err != nil {
		return "", err
	}
	return filepath.Join(bin, name), nil
}

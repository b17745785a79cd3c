package cli

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"rsc.io/qr"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/attach"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/frontend/web"
)

// serveOptions are what `pawl serve` and /serve are told.
type serveOptions struct {
	listen, rights    string
	hosts, proxies    []string
	certFile, keyFile string
	self              bool
}

func serveFlags(c *cobra.Command) *serveOptions {
	o := &serveOptions{}
	c.Flags().StringVar(&o.listen, "listen", "127.0.0.1:7295", "listen on this address")
	c.Flags().StringVar(&o.rights, "rights", string(web.Watch), "what a device that this code pairs may do: watch, answer or steer")
	c.Flags().StringArrayVar(&o.hosts, "allow-host", nil, "answer requests for this host too, which a proxy passes on or a certificate has")
	c.Flags().StringVar(&o.certFile, "tls-cert", "", "speak TLS with the certificate in this file")
	c.Flags().StringVar(&o.keyFile, "tls-key", "", "the key of the certificate")
	c.Flags().BoolVar(&o.self, "tls-self", false, "speak TLS with a certificate that pawl makes: compare its fingerprint in the browser")
	c.Flags().StringArrayVar(&o.proxies, "proxy", nil, "accept connections only from the TLS proxy at this IP address")
	return o
}

func serveCommand(a *App) *cobra.Command {
	var o *serveOptions
	c := &cobra.Command{
		Use: "serve", Short: "Show your sessions in a browser, and take part in them there", Args: exactly(0),
		Long: `Serve your sessions to browsers: watch them live, answer, prompt and interrupt.
A code pairs one browser, once, within two minutes; --rights says what that browser
may do: watch, answer (questions, too), or steer (everything). Enter makes another
code, Ctrl+C ends. In a session, /serve does the same.

It listens on this machine only. For a phone, use ssh -L, or a proxy with TLS
(tailscale serve, Caddy) and --allow-host with its name. On other addresses it needs
--tls-cert and --tls-key, --tls-self, or --proxy.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.serve(c.Context(), *o) },
	}
	o = serveFlags(c)
	c.AddCommand(a.forPerson(&cobra.Command{Use: "revoke ID", Short: "Unpair a browser", Args: exactly(1), RunE: func(_ *cobra.Command, args []string) error { return a.revokeDevice(args[0]) }})...)
	c.AddCommand(&cobra.Command{Use: "devices", Short: "List the browsers that were paired", Args: exactly(0), RunE: func(*cobra.Command, []string) error { return a.listDevices() }})
	return c
}

func (a *App) serve(ctx context.Context, o serveOptions) error {
	ctx, stop := untilSignal(ctx, a.Signals)
	defer stop()
	s, err := a.startServing(ctx, o, nil)
	if err != nil {
		return err
	}
	s.showCode(a.Out, web.Rights(o.rights))
	fmt.Fprintln(a.Out, "\nEnter: another code. Ctrl+C: end.")
	go func() { // it ends with the process, which nothing else can do to a read
		for in := bufio.NewScanner(a.In); in.Scan(); {
			s.showCode(a.Out, web.Rights(o.rights))
		}
	}()
	<-s.done
	return s.err
}

// serving is a server that runs.
type serving struct {
	urls        []string // where it is, the best one first
	fingerprint string   // of a certificate that pawl made
	devices     *web.Devices
	stop        func()
	done        chan struct{}
	err         error // set when done
}

// startServing starts a server, which ends with ctx. here, if set, returns the session that
// a terminal has open in this process.
func (a *App) startServing(ctx context.Context, o serveOptions, here func() *session.Session) (*serving, error) {
	if err := a.byPerson("pawl serve"); err != nil { // it prints the code
		return nil, err
	}
	if !web.Rights(o.rights).Valid() {
		return nil, usageError("--rights is watch, answer or steer, not %q", o.rights)
	}
	if !a.Terminal {
		return nil, usageError("pawl serve needs a terminal: it shows the code there that pairs a browser, and nowhere else")
	}
	ip, err := o.address()
	if err != nil {
		return nil, err
	}
	dir, err := a.RealDir("")
	if err != nil {
		return nil, err
	}
	conf, paths, err := a.Settings()
	if err != nil {
		return nil, err
	}
	st, err := a.OpenStore(ctx, &setup.Options{}, paths, conf) // also before the first session
	if err != nil {
		return nil, err
	}
	s := &serving{done: make(chan struct{})}
	c := web.Config{
		Version: a.Version, Store: st, State: paths.State, Dir: dir, Hosts: o.hosts, Proxies: o.proxies, Now: a.Now, SelfMade: o.self, Here: here,
		Follow: func(ctx context.Context, row event.Row) (*web.Opened, error) {
			return a.followed(ctx, paths.State, row)
		},
		Swarms: &servedSwarms{a: a, store: st, said: map[string]string{}},
		Open:   a.openServed,
		Models: func(ctx context.Context) []web.UsableModel {
			out := []web.UsableModel{}
			for _, m := range modelItems(ctx, a) {
				if m.ID != "" {
					out = append(out, web.UsableModel{Ref: m.ID, Group: m.Group, About: m.About})
				}
			}
			return out
		},
	}
	acts, l, err := s.prepare(a, o, ip, &c)
	if err != nil {
		_ = st.Close()
		return nil, err
	}
	ctx, s.stop = context.WithCancel(ctx)
	go func() {
		defer close(s.done)
		s.err = web.Serve(ctx, l, c)
		_ = acts.Close()
		_ = st.Close()
	}()
	return s, nil
}

// over reports whether it has ended by itself.
func (s *serving) over() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// end ends the server, and the sessions that it opened.
func (s *serving) end() {
	s.stop()
	<-s.done
}

// address returns the address to listen at, if that is safe.
func (o serveOptions) address() (net.IP, error) {
	host, _, err := net.SplitHostPort(o.listen)
	ip := net.ParseIP(host)
	if host == "localhost" {
		ip = net.IPv4(127, 0, 0, 1)
	}
	switch {
	case err != nil || ip == nil:
		return nil, usageError("--listen takes an IP address and a port, such as 127.0.0.1:7295, not %q", o.listen)
	case (o.certFile == "") != (o.keyFile == ""):
		return nil, usageError("--tls-cert and --tls-key belong together")
	case o.self && o.certFile != "", (o.self || o.certFile != "") && len(o.proxies) > 0:
		return nil, usageError("choose one of --tls-cert, --tls-self and --proxy")
	case len(o.proxies) > 0 && len(o.hosts) == 0:
		return nil, usageError("--proxy needs --allow-host: the name by which browsers reach the proxy")
	case !ip.IsLoopback() && !o.self && o.certFile == "" && len(o.proxies) == 0:
		return nil, usageError("%s is reached from other machines: use --tls-cert and --tls-key, or --tls-self, or name the proxy with TLS that connects: --proxy IP --allow-host NAME; without --listen, put a proxy on this machine or use ssh -L", o.listen)
	}
	for _, p := range o.proxies {
		if net.ParseIP(p) == nil {
			return nil, usageError("--proxy takes an IP address, not %q", p)
		}
	}
	return ip, nil
}

// prepare opens what the server needs.
func (s *serving) prepare(a *App, o serveOptions, ip net.IP, c *web.Config) (acts *os.File, l net.Listener, err error) {
	if s.devices, err = web.OpenDevices(c.State, a.Now); err != nil {
		return nil, nil, err
	}
	c.Devices = s.devices
	names := append(web.Addresses(ip), "localhost", "127.0.0.1")
	for _, h := range o.hosts {
		h, _, _ = strings.Cut(h, ":")
		names = append(names, h)
	}
	var cert tls.Certificate
	switch {
	case o.self:
		if cert, err = web.SelfCertificate(c.State, names, a.Now()); err != nil {
			return nil, nil, fmt.Errorf("a certificate cannot be made: %w", err)
		}
		s.fingerprint = web.Fingerprint(cert)
	case o.certFile != "":
		if cert, err = tls.LoadX509KeyPair(o.certFile, o.keyFile); err != nil {
			return nil, nil, fault.NewConfiguration("give the PEM files of a certificate and of its key", "the certificate cannot be used: %v", err)
		}
	}
	scheme := "http"
	if cert.Certificate != nil {
		c.TLS, scheme = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}, "https"
	}
	if acts, err = os.OpenFile(filepath.Join(c.State, "serve", "acts.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
		return nil, nil, err
	}
	c.Done = acted(acts)
	if l, err = net.Listen("tcp", o.listen); err != nil {
		_ = acts.Close()
		return nil, nil, fault.NewConfiguration("choose another port with --listen, or end the pawl serve that has it", "cannot listen: %v", err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for _, h := range o.hosts {
		if c.TLS != nil && !strings.Contains(h, ":") {
			h = net.JoinHostPort(h, port)
		}
		s.urls = append(s.urls, "https://"+h+"/")
	}
	if len(o.proxies) == 0 {
		for _, n := range web.Addresses(ip) {
			s.urls = append(s.urls, scheme+"://"+net.JoinHostPort(n, port)+"/")
		}
	}
	return acts, l, nil
}

// openServed opens a session for browsers.
func (a *App) openServed(ctx context.Context, s web.Start) (*web.Opened, error) {
	f := &flags{Options: setup.Options{Dir: s.Dir, Resume: s.ID, Fork: s.Fork, ForkAt: s.At, Model: s.Model, Mode: s.Mode}}
	if s.Worktree {
		f.worktree = anyTree
	}
	leave, err := a.inWorktree(ctx, f)
	if err != nil {
		return nil, err
	}
	o, err := a.Open(ctx, &f.Options, setup.Frontend{Name: "serve", Person: true})
	if err != nil {
		leave()
		return nil, err
	}
	return &web.Opened{Session: o.Session, Close: func() { o.Close(); leave() }, Own: true, Steers: true}, nil
}

// acted returns what keeps the list of acts, one a line.
func acted(to io.Writer) func(web.Act) {
	var mu sync.Mutex
	return func(act web.Act) {
		mu.Lock()
		defer mu.Unlock()
		_ = json.NewEncoder(to).Encode(act) // a full disk is no reason to refuse an answer
	}
}

// followed attaches to a session of another process, to take part in it if that is
// accepted.
func (a *App) followed(ctx context.Context, state string, row event.Row) (*web.Opened, error) {
	steers := true
	owner, err := attach.Dial(ctx, state, row.ID, true)
	if err != nil && !errors.Is(err, attach.ErrNoOwner) {
		steers = false
		owner, err = attach.Dial(ctx, state, row.ID, false)
	}
	if err != nil {
		return nil, err
	}
	if owner.PID() == os.Getpid() { // Config.Here has it: who connects to themselves may only watch
		owner.Leave()
		return nil, errors.New("it is open in this process")
	}
	o, err := a.Open(ctx, &setup.Options{Dir: row.Dir, Resume: row.ID}, setup.Frontend{Name: "attach", ReadOnly: true, Configure: func(c *session.Config) { c.Owner = owner }})
	if err != nil {
		owner.Leave()
		return nil, err
	}
	return &web.Opened{Session: o.Session, Close: o.Close, Steers: steers}, nil
}

// showCode prints where the page is, with a code for one device.
func (s *serving) showCode(out io.Writer, rights web.Rights) {
	with := "#code=" + s.devices.NewCode(rights)
	if s.fingerprint != "" {
		with += "&sha256=" + s.fingerprint
	}
	may := map[web.Rights]string{web.Watch: "watch", web.Answer: "watch and answer questions", web.Steer: "do everything that you may"}[rights]
	fmt.Fprintf(out, "\npawl serves your sessions. Scan or open this within two minutes; it pairs one browser, which may %s:\n\n", may)
	if img, err := qr.Encode(s.urls[0]+with, qr.L); err == nil {
		fmt.Fprintln(out, blocks(img.Size, img.Black))
	}
	for _, u := range s.urls {
		fmt.Fprintln(out, plain.Line(u+with))
	}
	if s.fingerprint != "" {
		fmt.Fprintln(out, "\nThe browser warns that it cannot check the certificate. Continue only if it has this SHA-256 fingerprint:\n"+s.fingerprint)
	}
}

// blocks draws a QR code, two rows a line, light on dark or dark on light: readers take
// both. It has the margin that they need.
func blocks(size int, black func(x, y int) bool) string {
	const margin = 2
	var out strings.Builder
	for y := -margin; y < size+margin; y += 2 {
		for x := -margin; x < size+margin; x++ {
			out.WriteString(map[[2]bool]string{{true, true}: " ", {true, false}: "▄", {false, true}: "▀", {false, false}: "█"}[[2]bool{black(x, y), black(x, y+1)}])
		}
		out.WriteByte('\n')
	}
	return out.String()
}

func (a *App) devices() (*web.Devices, error) {
	_, paths, err := a.Settings()
	if err != nil {
		return nil, err
	}
	return web.OpenDevices(paths.State, a.Now)
}

func (a *App) listDevices() error {
	d, err := a.devices()
	if err != nil {
		return err
	}
	list, err := d.List()
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintln(a.Out, "no browser is paired")
	}
	sorting.By(list, func(x, y web.Device) int { return y.Seen.Compare(x.Seen) })
	for _, o := range list {
		fmt.Fprintf(a.Out, "%s  %-6s  seen %s  %s\n", o.ID, o.Rights, o.Seen.UTC().Format(time.DateTime), plain.Line(o.Name))
	}
	return nil
}

func (a *App) revokeDevice(id string) error {
	d, err := a.devices()
	if err != nil {
		return err
	}
	if err := d.Revoke(id); err != nil {
		return usageError("%v; see: pawl serve devices", err)
	}
	fmt.Fprintln(a.Out, "revoked "+plain.Line(id))
	return nil
}

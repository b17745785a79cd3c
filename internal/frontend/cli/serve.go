package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"rsc.io/qr"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/attach"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/frontend/web"
)

func serveCommand(a *App) *cobra.Command {
	listen, rights := "127.0.0.1:7295", string(web.Watch)
	var hosts []string
	c := &cobra.Command{
		Use: "serve", Short: "Show your sessions in a browser, and take part in them there", Args: cobra.NoArgs,
		Long: `Serve your sessions to browsers: watch them live, answer, prompt and interrupt.
It listens on this machine only. A code pairs one browser; it is good once and for
two minutes, and --rights says what that browser may do: watch, answer (questions,
too), or steer (everything). Enter makes another code, Ctrl+C ends.
For a phone, let a proxy with TLS lead to it (tailscale serve, Caddy), and name the
host that the browser uses with --allow-host; or use ssh -L.`,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.serve(c.Context(), listen, web.Rights(rights), hosts)
		},
	}
	c.Flags().StringVar(&listen, "listen", listen, "listen on this address of this machine")
	c.Flags().StringVar(&rights, "rights", rights, "what the devices may do that this code pairs: watch, answer or steer")
	c.Flags().StringArrayVar(&hosts, "allow-host", nil, "answer requests for this host too, which a proxy with TLS passes on")
	c.AddCommand(
		&cobra.Command{Use: "devices", Short: "List the browsers that were paired", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error { return a.listDevices() }},
		&cobra.Command{Use: "revoke ID", Short: "Forget a browser: it may do nothing any more", Args: exactly(1), RunE: func(_ *cobra.Command, args []string) error { return a.revokeDevice(args[0]) }},
	)
	return c
}

func (a *App) serve(ctx context.Context, listen string, rights web.Rights, hosts []string) error {
	if err := a.byPerson("pawl serve"); err != nil { // it prints the code
		return err
	}
	if !rights.Valid() {
		return usageError("--rights is watch, answer or steer, not %q", rights)
	}
	host, _, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return usageError("--listen takes an address of this machine's loopback, such as 127.0.0.1:7295, not %q; for other machines put a proxy with TLS before it and name it with --allow-host", listen)
	}
	if !a.Terminal {
		return usageError("pawl serve needs a terminal: it shows the code there that pairs a browser, and nowhere else")
	}
	ctx, stop := untilSignal(ctx, a.Signals)
	defer stop()
	st, paths, err := a.store(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	devices, err := web.OpenDevices(paths.State, a.Now)
	if err != nil {
		return err
	}
	acts, err := os.OpenFile(filepath.Join(paths.State, "serve", "acts.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer acts.Close()
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return fault.NewConfiguration("choose another port with --listen, or end the pawl serve that has it", "cannot listen: %v", err)
	}
	show := func() { a.showCode(l.Addr().String(), hosts, rights, devices.NewCode(rights)) }
	show()
	go func() { // it ends with the process, which nothing else can do to a read
		for in := bufio.NewScanner(a.In); in.Scan(); {
			show()
		}
	}()
	return web.Serve(ctx, l, web.Config{
		Version: a.Version, Store: st, State: paths.State, Devices: devices, Hosts: hosts, Now: a.Now, Done: acted(acts),
		Follow: func(ctx context.Context, row event.Row) (*web.Opened, error) {
			return a.followed(ctx, paths.State, row)
		},
		Open: func(ctx context.Context, dir, id string) (*web.Opened, error) {
			o, err := a.Open(ctx, &setup.Options{Dir: dir, Resume: id}, setup.Frontend{Name: "serve", Person: true})
			if err != nil {
				return nil, err
			}
			return &web.Opened{Session: o.Session, Close: o.Close, Own: true, Steers: true}, nil
		},
	})
}

// acted returns what keeps the list of acts, one a line.
func acted(to io.Writer) func(web.Act) {
	var mu sync.Mutex
	return func(act web.Act) {
		line, err := json.Marshal(act)
		if err != nil {
			return // it consists of strings
		}
		mu.Lock()
		defer mu.Unlock()
		_, _ = to.Write(append(line, '\n')) // a full disk is no reason to refuse an answer
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
	o, err := a.Open(ctx, &setup.Options{Dir: row.Dir, Resume: row.ID}, setup.Frontend{Name: "attach", ReadOnly: true, Configure: func(c *session.Config) { c.Owner = owner }})
	if err != nil {
		owner.Leave()
		return nil, err
	}
	return &web.Opened{Session: o.Session, Close: o.Close, Steers: steers}, nil
}

// showCode prints where the page is, with a code for one device.
func (a *App) showCode(addr string, hosts []string, rights web.Rights, code string) {
	urls := []string{"http://" + addr + "/"}
	for _, h := range hosts {
		urls = append([]string{"https://" + h + "/"}, urls...)
	}
	may := map[web.Rights]string{web.Watch: "watch", web.Answer: "watch and answer questions", web.Steer: "do everything that you may"}[rights]
	fmt.Fprintf(a.Out, "\npawl serves your sessions. Scan or open this within two minutes; it pairs one browser, which may %s:\n\n", may)
	if img, err := qr.Encode(urls[0]+"#code="+code, qr.L); err == nil {
		fmt.Fprintln(a.Out, blocks(img.Size, img.Black))
	}
	for _, u := range urls {
		fmt.Fprintln(a.Out, plain.Line(u+"#code="+code))
	}
	fmt.Fprintln(a.Out, "\nEnter: another code. Ctrl+C: end.")
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
	slices.SortFunc(list, func(x, y web.Device) int { return y.Seen.Compare(x.Seen) })
	for _, o := range list {
		fmt.Fprintf(a.Out, "%s  %-6s  seen %s  %s\n", o.ID, o.Rights, o.Seen.UTC().Format(time.DateTime), plain.Line(o.Name))
	}
	return nil
}

func (a *App) revokeDevice(id string) error {
	if err := a.byPerson("pawl serve revoke"); err != nil {
		return err
	}
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

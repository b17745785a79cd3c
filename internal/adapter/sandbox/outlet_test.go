//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox/proxy"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

type everywhere struct{}

func (everywhere) LookupNetIP(_ context.Context, _, name string) ([]netip.Addr, error) {
	if name == "private.test." {
		return []netip.Addr{netip.MustParseAddr("10.0.0.5")}, nil
	}
	return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
}

// granted is a box whose proxy reaches one server, by any name.
func granted(t *testing.T, root string, hosts ...string) *Box {
	t.Helper()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s%s %s\n", r.Method, r.Host, r.URL.Path, b)
	}))
	t.Cleanup(up.Close)
	facts := confine.Facts{Root: root, Home: real(os.Getenv("HOME")), Hosts: hosts}
	facts.Reads = installed(facts, filepath.SplitList(os.Getenv("PATH"))) // python3
	box := must.Get(Open(confine.New(confine.Workspace, facts)))(t)
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	box.out = proxy.Options{Resolver: everywhere{}, Dial: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", up.Listener.Addr().String())
	}}
	return box
}

// SPEC 16.12: granted hosts are reached through the proxy, by the settings that
// programs know, and nothing else is.
func TestGrantedHosts(t *testing.T) {
	root := folder(t)
	box := granted(t, root, "good.test", "*.wild.test", "private.test")
	for _, c := range []struct{ line, want, refused string }{
		{"curl -sS http://good.test/x", "GET good.test/x \n", ""},
		{"curl -sS -d body http://a.wild.test/y", "POST a.wild.test/y body\n", ""},
		{"curl -sS -p http://good.test:80/tunnel", "GET good.test/tunnel \n", ""},
		{"curl -s -o /dev/null -w '%{http_code}\n' http://evil.test/", "403\n", "host evil.test"},
		{"curl -s -o /dev/null -w '%{http_connect}\n' https://evil.test/", "403\n", "host evil.test"},
		{"curl -s -o /dev/null -w '%{http_connect}\n' https://good.test:22/", "403\n", "host good.test:22"},
		{"curl -s -o /dev/null -w '%{http_code}\n' http://private.test/", "403\n", "connect 10.0.0.5"},
		{"curl -s --noproxy '*' --resolve good.test:80:8.8.8.8 http://good.test/; echo $?", "7\n", "connect 8.8.8.8:80"},
		{"echo x > /dev/tcp/10.0.0.5/5432", "", "connect 10.0.0.5:5432"},
		{"python3 -c 'import urllib.request as u; print(u.urlopen(\"http://good.test/py\").read().decode(), end=\"\")'", "GET good.test/py \n", ""},
		{"git config --get http.proxy | sed 's/:[0-9]*$//'", "http://127.0.0.1\n", ""},
		{"echo ${npm_config_https_proxy%:*} ${CARGO_HTTP_PROXY%:*} ${ALL_PROXY%:*} $no_proxy", "http://127.0.0.1 http://127.0.0.1 http://127.0.0.1 localhost,127.0.0.1,::1\n", ""},
		{"python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 1))' 2>&1 | tail -1", "ConnectionRefusedError: [Errno 111] Connection refused\n", ""},
	} {
		var out bytes.Buffer
		cmd := exec.Command("bash", "-c", c.line)
		cmd.Dir, cmd.Stdout = root, &out
		child := must.Get(box.start(cmd, holding{}))(t)
		_ = child.Wait()
		if got := out.String(); got != c.want && c.want != "" {
			t.Errorf("%s\n got %q\nwant %q", c.line, got, c.want)
		}
		var refused []string
		for _, r := range child.Refused() {
			refused = append(refused, r.String())
		}
		if got := strings.Join(refused, "; "); c.refused != "" && got != c.refused {
			t.Errorf("%s: refused %q, want %q", c.line, got, c.refused)
		}
	}
}

// SPEC 16.12: without a granted host a program is refused at once and by name, and npm does
// not try again for 70 seconds where there is no proxy.
func TestNoHostGranted(t *testing.T) {
	for level, want := range map[confine.Level]struct{ out, refused string }{
		confine.Workspace: {"403 \n", "[host evil.test]"},
		confine.ReadOnly:  {"000 0\n", "[]"},
	} {
		box := open(t, level, folder(t))
		var out bytes.Buffer
		cmd := exec.Command("bash", "-c", "curl -s -o /dev/null -w '%{http_connect} ' https://evil.test/; echo $npm_config_fetch_retries")
		cmd.Dir, cmd.Stdout = box.policy.Root, &out
		child := must.Get(box.start(cmd, holding{}))(t)
		_ = child.Wait()
		if got := fmt.Sprint(child.Refused()); out.String() != want.out || got != want.refused {
			t.Errorf("%v: %q, refused %s", level, out.String(), got)
		}
	}
}

// SPEC 16.12: the proxy of a box serves its commands only: not another program
// of the machine, not the commands of another box.
func TestProxyIsTheBoxes(t *testing.T) {
	root := folder(t)
	box := granted(t, root, "good.test")
	if got := bash(t, box, root, "curl -sS http://good.test/"); got != "GET good.test/ \n" {
		t.Fatal(got)
	}
	at := box.net.proxy.at.String()
	c := must.Get(net.Dial("tcp", at))(t)
	defer c.Close()
	_, _ = io.WriteString(c, "GET http://good.test/ HTTP/1.1\r\nHost: x\r\n\r\n")
	if b, _ := io.ReadAll(c); len(b) > 0 {
		t.Errorf("a stranger was served: %q", b)
	}
	other := granted(t, folder(t), "good.test")
	if got := bash(t, other, root, "cd /; curl -s -x http://"+at+" http://good.test/; echo $?"); got != "7\n" {
		t.Errorf("another box: %q", got)
	}
	if none := open(t, confine.Workspace, folder(t)); bash(t, none, none.policy.Root, "curl -s -x http://"+at+" http://good.test/; echo $?") != "7\n" {
		t.Error("a box without grants reached a proxy")
	}
}

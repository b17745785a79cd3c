//go:build linux

package cli

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

var servedAt = regexp.MustCompile(`(http://127\.0\.0\.1:\d+/)#code=(\w+)`)

// SPEC 21.1, 21.2: /serve shows the session of a terminal in a browser from within it, on
// the screen and line by line; it ends with /serve stop, and with pawl.
func TestServeInside(t *testing.T) {
	for _, term := range []string{"xterm-256color", "dumb", "plain"} {
		t.Run(term, func(t *testing.T) {
			home, err := os.MkdirTemp("", "pawl-home-") // a socket's path must be short
			must.Do(t, err)
			t.Cleanup(func() { _ = os.RemoveAll(home) })
			var flags []string
			if term == "plain" {
				term, flags = "xterm-256color", []string{"--plain"}
			}
			x := onTerminalIn(t, t.TempDir(), home, term, func(int, []byte) llmtest.Turn { return llmtest.Say("a friendly answer") }, flags...)
			x.expect("fix the failing tests")
			id := sessionOf(x)
			x.send("/serve nonsense\r")
			x.expect("watch, answer or steer")
			serve := func() (string, string) {
				t.Helper()
				x.send("/serve steer --listen 127.0.0.1:0\r")
				x.expect("It ends with pawl, or with /serve stop.")
				all := servedAt.FindAllStringSubmatch(x.text(), -1)
				if len(all) == 0 {
					t.Fatal("no address:", x.text())
				}
				return all[len(all)-1][1], all[len(all)-1][2]
			}
			at, code := serve()
			a := asked(t, "POST", at+"api/pair", "", `{"code":"`+code+`"}`)
			cookie, _, _ := strings.Cut(a.Header.Get("Set-Cookie"), ";")
			if _ = a.Body.Close(); a.StatusCode != 200 || cookie == "" {
				t.Fatal(a.StatusCode)
			}
			hello := struct{ Cursor string }{}
			a = asked(t, "GET", at+"api/hello", cookie, "")
			must.Do(t, json.NewDecoder(a.Body).Decode(&hello))
			_ = a.Body.Close()
			events := asked(t, "GET", at+"api/events?after="+hello.Cursor, cookie, "")
			defer events.Body.Close()
			lines := bufio.NewScanner(events.Body)
			until := func(what string) {
				t.Helper()
				for lines.Scan() {
					if strings.Contains(lines.Text(), what) {
						return
					}
				}
				t.Fatal("the stream ended before", what)
			}
			is := struct{ Closed bool }{}
			a = asked(t, "GET", at+"api/s/"+id, cookie, "")
			must.Do(t, json.NewDecoder(a.Body).Decode(&is))
			_ = a.Body.Close()
			if is.Closed {
				until(id)
			}
			a = asked(t, "POST", at+"api/s/"+id+"/prompt", cookie, `{"id":"12345678","text":"from the sofa"}`)
			said, _ := io.ReadAll(a.Body)
			if _ = a.Body.Close(); a.StatusCode != 200 {
				t.Fatal(a.StatusCode, string(said))
			}
			until("a friendly answer")
			x.expect("from the sofa")
			x.expect("a friendly answer")
			x.send("/serve stop\r")
			x.expect("pawl serves browsers no longer")
			until("event: bye")
			if a, err := http.Get(at); err == nil {
				_ = a.Body.Close()
				t.Error("it still serves")
			}
			at, _ = serve()
			x.send("/quit\r")
			x.ended(0)
			if a, err := http.Get(at); err == nil {
				_ = a.Body.Close()
				t.Error("it serves without pawl")
			}
		})
	}
}

// asked sends a request as a browser does.
func asked(t *testing.T, method, url, cookie, body string) *http.Response {
	t.Helper()
	q := must.Get(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	q.Header.Set("Cookie", cookie)
	q.Header.Set("Content-Type", "application/json")
	a := must.Get(http.DefaultClient.Do(q))(t)
	return a
}

// SPEC 21.4: pawl serve listens beyond this machine with TLS or for a proxy, and else says
// what to do.
func TestServeAddresses(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--listen 0.0.0.0:0":                            "--tls-self",
		"--listen 192.0.2.1:0":                          "--proxy IP --allow-host NAME",
		"--listen [::]:0":                               "reached from other machines",
		"--listen example.com:80":                       "IP address and a port",
		"--listen nonsense":                             "IP address and a port",
		"--tls-cert x.pem":                              "belong together",
		"--tls-self --proxy 192.0.2.1 --allow-host a.b": "choose one of",
		"--listen 0.0.0.0:0 --proxy 192.0.2.1":          "--allow-host",
		"--proxy name --allow-host a.b":                 "takes an IP address",
		"--rights all":                                  "watch, answer or steer",
	} {
		o := serveOptionsOf(t, strings.Fields(args))
		_, err := (&App{Environment: setup.Environment{Env: func(string) string { return "" }}, Terminal: true}).startServing(t.Context(), *o, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
	for _, args := range []string{"", "--listen localhost:0", "--listen [::1]:0", "--listen 0.0.0.0:0 --tls-self", "--listen 0.0.0.0:0 --proxy 192.0.2.1 --allow-host a.b"} {
		if _, err := serveOptionsOf(t, strings.Fields(args)).address(); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func serveOptionsOf(t *testing.T, args []string) *serveOptions {
	t.Helper()
	c := &cobra.Command{}
	o := serveFlags(c)
	must.Do(t, c.ParseFlags(args))
	return o
}

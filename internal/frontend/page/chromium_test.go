//go:build chromium

package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/event/eventtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// This file opens pages in a real browser. `.ci/run` installs one; PAWL_CHROMIUM
// names another. With PAWL_SCREENSHOTS=DIR it leaves pictures there.

// opened is what a browser did with a page.
type opened struct {
	console  []string // messages, also those of the content security policy
	requests []string // addresses that it asked for, other than the page
	dom      string
}

func browser(t *testing.T) string {
	for _, name := range []string{os.Getenv("PAWL_CHROMIUM"), "chromium-headless-shell", "chromium"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	t.Fatal("no chromium-headless-shell and no chromium in PATH: apt-get install chromium-headless-shell")
	return ""
}

func open(t *testing.T, page, picture string, flags ...string) opened {
	t.Helper()
	dir := t.TempDir()
	file, net := filepath.Join(dir, "page.html"), filepath.Join(dir, "net.json")
	must.Write(t, file, page)
	args := []string{
		"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--user-data-dir=" + dir, "--enable-logging=stderr", "--log-net-log=" + net, "--virtual-time-budget=2000",
	}
	args = append(args, flags...)
	last := "--dump-dom"
	if picture != "" {
		last = "--screenshot=" + picture
	}
	cmd := exec.CommandContext(t.Context(), browser(t), append(args, last, "file://"+file)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	o := opened{dom: string(out)}
	for l := range strings.Lines(errs.String()) {
		if strings.Contains(l, "CONSOLE") {
			o.console = append(o.console, l)
		}
	}
	raw, err := os.ReadFile(net)
	must.Do(t, err)
	var log struct {
		Events []struct {
			Params struct {
				URL       string `json:"url"`
				Initiator string `json:"initiator"` // "not an origin" where no page asked but the browser itself, for its updates and the like
			} `json:"params"`
		} `json:"events"`
	}
	if err := json.Unmarshal(raw, &log); err != nil {
		t.Fatalf("the browser's log of its requests: %v", err)
	}
	for _, e := range log.Events {
		if u, by := e.Params.URL, e.Params.Initiator; by != "" && by != "not an origin" && u != "file://"+file && !slices.Contains(o.requests, u) {
			o.requests = append(o.requests, u)
		}
	}
	return o
}

// SPEC 10.4, 16.11: a browser asks nobody for anything and finds nothing to
// complain about, whatever is in the session.
func TestInABrowser(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()

	// What the test must see.
	bad := open(t, fmt.Sprintf(`<!doctype html><meta http-equiv="Content-Security-Policy" content="script-src 'none'"><img src="%s/pixel"><script>alert(1)</script>`, server.URL), "")
	if len(bad.console) == 0 || !slices.Contains(bad.requests, server.URL+"/pixel") || asked.Load() == 0 {
		t.Fatalf("a page that does harm is not noticed: %+v, asked %d times", bad, asked.Load())
	}
	asked.Store(0)

	var all []event.Body
	for _, text := range eventtest.Hostile {
		all = append(all, toldOf(strings.ReplaceAll(text, "https://evil.example", server.URL))...)
	}
	pages := map[string]string{"session": written(t, conversation()), "hostile": written(t, all)}
	for name, page := range pages {
		o := open(t, page, "")
		if len(o.console) > 0 || len(o.requests) > 0 {
			t.Errorf("%s: console %q, requests %q", name, o.console, o.requests)
		}
		if strings.Contains(o.dom, "<script") || !strings.Contains(o.dom, "<main>") {
			t.Errorf("%s: the page as the browser has it:\n%s", name, o.dom)
		}
	}
	if asked.Load() > 0 {
		t.Errorf("it asked the network %d times", asked.Load())
	}

	dir := os.Getenv("PAWL_SCREENSHOTS")
	if dir == "" {
		return
	}
	for name, flags := range map[string][]string{
		"light": {"--window-size=1000,2600"}, "phone": {"--window-size=500,3200"}, "dark": {"--window-size=1000,2600", "--blink-settings=preferredColorScheme=0"},
	} {
		open(t, pages["session"], filepath.Join(dir, name+".png"), flags...)
	}
}

package web

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 21.4: requests of other names, other pages and forms reach nothing.
func TestRefused(t *testing.T) {
	r := newTestServer(t, say("x"))
	steers := r.paired(Steer)
	host := func(h string) func(*http.Request) { return func(q *http.Request) { q.Host = h } }
	head := func(k, v string) func(*http.Request) { return func(q *http.Request) { q.Header.Set(k, v) } }
	foreign := func(origin string) func(*http.Request) {
		return func(q *http.Request) {
			q.Header.Del("Sec-Fetch-Site")
			q.Header.Set("Origin", origin)
		}
	}
	const prompt = "/api/s/s1/prompt"
	text := Prompt{ID: "12345678", Text: "do it"}
	for name, c := range map[string]struct {
		cookie, method, path string
		body                 any
		change               func(*http.Request)
		want                 int
	}{
		"a name that leads here":        {steers, "POST", prompt, text, host("evil.example"), 421},
		"with the port":                 {steers, "GET", "/api/sessions", nil, host("evil.example:7295"), 421},
		"a longer name":                 {steers, "GET", "/api/sessions", nil, host("localhost.evil.example"), 421},
		"a name before it":              {steers, "GET", "/api/sessions", nil, host("evil.pawl.example"), 421},
		"another address":               {steers, "GET", "/", nil, host("192.168.1.5:7295"), 421},
		"any address":                   {steers, "GET", "/", nil, host("0.0.0.0:7295"), 421},
		"a port that is none":           {steers, "GET", "/", nil, host("localhost:x"), 421},
		"the page, too":                 {"", "GET", "/", nil, host("evil.example"), 421},
		"another page":                  {steers, "POST", prompt, text, head("Sec-Fetch-Site", "cross-site"), 403},
		"another port of this machine":  {steers, "POST", prompt, text, head("Sec-Fetch-Site", "same-site"), 403},
		"another page that reads":       {steers, "GET", "/api/sessions", nil, head("Sec-Fetch-Site", "cross-site"), 403},
		"an origin":                     {steers, "POST", prompt, text, foreign("http://evil.example"), 403},
		"no origin":                     {steers, "POST", prompt, text, foreign("null"), 403},
		"an origin that begins like it": {steers, "POST", prompt, text, foreign(r.URL + ".evil.example"), 403},
		"a form":                        {steers, "POST", prompt, text, head("Content-Type", "text/plain"), 415},
		"a form with fields":            {steers, "POST", prompt, "a=b", head("Content-Type", "application/x-www-form-urlencoded"), 415},
		"a form with JSON in its type":  {steers, "POST", prompt, text, head("Content-Type", "text/plain; a=application/json"), 415},
		"no type":                       {steers, "POST", prompt, text, head("Content-Type", ""), 415},
		"no cookie":                     {"", "POST", prompt, text, nil, 401},
		"another cookie":                {r.s.cookie + "=AAAA", "GET", "/api/sessions", nil, nil, 401},
		"the cookie of another port":    {strings.Replace(steers, "7295", "7296", 1), "GET", "/api/sessions", nil, nil, 401},
		"a token in the address":        {"", "GET", "/api/sessions?token=" + strings.TrimPrefix(steers, r.s.cookie+"="), nil, nil, 401},
		"a long body":                   {steers, "POST", "/api/s/s1/answer", Reply{Text: strings.Repeat("x", mostBody)}, nil, 413},
		"a long pairing":                {"", "POST", "/api/pair", Pairing{Code: strings.Repeat("x", mostBody)}, nil, 413},
		"two values":                    {steers, "POST", prompt, `{"id":"12345678","text":"x"} {}`, nil, 400},
		"no JSON":                       {steers, "POST", prompt, `{`, nil, 400},
		"another method":                {steers, "PUT", prompt, text, nil, 405},
		"a file outside":                {steers, "GET", "/..%2f..%2fapi.go", nil, nil, 404},
		"another session":               {steers, "GET", "/api/s/s2/blocks", nil, nil, 404},
		"a part of an id":               {steers, "GET", "/api/s/s/blocks", nil, nil, 404},
	} {
		if code, body, _ := r.ask(c.cookie, c.method, c.path, c.body, c.change); code != c.want {
			t.Errorf("%s: %d, want %d: %s", name, code, c.want, body)
		}
	}
	if r.session.View().Last() != 0 && len(r.acts) > 0 {
		t.Error("something was done:", r.acts)
	}
	for name, change := range map[string]func(*http.Request){
		"localhost": host("localhost:7295"), "another port, as with ssh -L": host("127.0.0.1:1"), "IPv6": host("[::1]:7295"), "a proxy's name": host("pawl.example"), "in capitals": host("PAWL.example:443"),
	} {
		if code, body, h := r.ask(steers, "GET", "/api/hello", nil, change); code != 200 || h.Get("Access-Control-Allow-Origin") != "" || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") || strings.Contains(h.Get("Content-Security-Policy"), "unsafe") {
			t.Errorf("%s: %d %s %v", name, code, body, h)
		}
	}
}

// SPEC 21.4: a code is good once, for two minutes and a few tries; what it buys is a
// cookie that no script reads and no file has.
func TestPairing(t *testing.T) {
	r := newTestServer(t, say("x"))
	pair := func(code string) (int, http.Header) {
		status, _, h := r.ask("", "POST", "/api/pair", Pairing{Code: code}, nil)
		return status, h
	}
	if code, _ := pair(""); code != 403 {
		t.Error("without a code there is one")
	}
	code := r.devices.NewCode(Answer)
	status, h := pair(strings.ToLower(code[:4] + "-" + code[4:]))
	set := h.Get("Set-Cookie")
	if status != 200 || !strings.Contains(set, "HttpOnly") || !strings.Contains(set, "SameSite=Strict") || !strings.HasPrefix(set, "pawl-7295=") {
		t.Fatal(status, set)
	}
	cookie, _, _ := strings.Cut(set, ";")
	if hi := got[Hello](r, cookie, "/api/hello"); hi.Rights != Answer {
		t.Errorf("%+v", hi)
	}
	if status, _ := pair(code); status != 403 {
		t.Error("a code was good twice")
	}
	// Nothing that is stored has the code or the cookie: no list, no session's log.
	raw, files := []byte(nil), 0
	err := filepath.WalkDir(r.s.cfg.State, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var text []byte
			text, err = os.ReadFile(path)
			raw, files = append(raw, text...), files+1
		}
		return err
	})
	for e, err := range r.s.cfg.Store.Read(t.Context(), "s1", 0) {
		must.Do(t, err)
		raw = append(raw, fmt.Sprintf("%+v", e)...)
	}
	if err != nil || files == 0 || strings.Contains(string(raw), strings.TrimPrefix(cookie, "pawl-7295=")) || strings.Contains(string(raw), code) {
		t.Error("what is stored has a secret", err)
	}
	code = r.devices.NewCode(Steer)
	r.later(codeLasts)
	if status, _ := pair(code); status != 403 {
		t.Error("an old code is good")
	}
	first := r.devices.NewCode(Steer)
	code = r.devices.NewCode(Steer)
	if status, _ := pair(first); status != 403 {
		t.Error("a code that another replaced is good")
	}
	for range codeTries - 1 {
		pair("AAAAAAAAAAAA")
	}
	if status, _ := pair(code); status != 403 {
		t.Error("a code is good after so many tries")
	}
	r.later(deviceLasts - codeLasts - time.Minute)
	if code, _, _ := r.ask(cookie, "GET", "/api/hello", nil, nil); code != 200 {
		t.Error("a device expired early:", code)
	}
	r.later(deviceLasts)
	if code, _, _ := r.ask(cookie, "GET", "/api/hello", nil, nil); code != 401 {
		t.Error("a device that was not seen for long is known:", code)
	}
}

// SPEC 21.2: a device may do what its code was made for.
func TestRights(t *testing.T) {
	r := newTestServer(t, say("x"))
	cookies := map[Rights]string{Watch: r.paired(Watch), Answer: r.paired(Answer), Steer: r.paired(Steer)}
	for _, c := range routes() {
		if c.right == "" || c.path == "/api/events" || c.path == "/api/s/{id}/log" || c.method == "DELETE" { // which are tried elsewhere
			continue
		}
		path := strings.NewReplacer("{id}", "s1").Replace(c.path)
		for rights, cookie := range cookies {
			var body any
			if c.method == "POST" {
				body = struct{}{}
			}
			code, text, _ := r.ask(cookie, c.method, path, body, nil)
			if refused := code == 403; refused == (rightsOf[rights] >= rightsOf[c.right]) || code == 401 {
				t.Errorf("%s %s of one that may %s: %d %s", c.method, path, rights, code, text)
			}
		}
	}
	all := got[Paired](r, cookies[Watch], "/api/devices").Devices
	for _, d := range all {
		if d.Rights == Steer {
			if code, _, _ := r.ask(cookies[Watch], "DELETE", "/api/devices/"+d.ID, nil, nil); code == 200 {
				t.Error("one that watches revoked another device")
			}
		}
	}
	for _, d := range all {
		if d.Rights == Watch {
			if code, _, _ := r.ask(cookies[Steer], "DELETE", "/api/devices/"+d.ID, nil, nil); code != 200 {
				t.Error("not revoked:", code)
			}
		}
	}
	if code, _, _ := r.ask(cookies[Watch], "GET", "/api/hello", nil, nil); code != 401 {
		t.Error("a revoked device is known:", code)
	}
}

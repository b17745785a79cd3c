//go:build chromium

package browser

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// SPEC 21.4: the page over TLS with the certificate that pawl makes: the browser warns, a
// person goes on, and the fingerprint that pawl prints and puts into the code is that of the
// certificate.
func TestSelfMadeCertificate(t *testing.T) {
	r := serves(t, "--tls-self")
	onBoth(t, func(t *testing.T, s size) {
		address := r.code()
		want := regexp.MustCompile(`&sha256=([0-9A-F]{64})$`).FindStringSubmatch(address)
		if want == nil || !strings.HasPrefix(address, "https://") {
			t.Fatalf("the address is %s", address)
		}
		c, err := tls.Dial("tcp", strings.TrimPrefix(r.origin(address), "https://"), &tls.Config{InsecureSkipVerify: true}) // it is compared
		if err != nil {
			t.Fatal(err)
		}
		is := fmt.Sprintf("%X", sha256.Sum256(c.ConnectionState().PeerCertificates[0].Raw))
		if _ = c.Close(); is != want[1] {
			t.Errorf("the certificate is %s, and pawl says %s", is, want[1])
		}
		p := start(t, s)
		p.tries(address)
		p.until(`document.body.innerText.includes('ERR_CERT_AUTHORITY_INVALID')`)
		p.until(`document.querySelector('#details-button')`)
		value[bool](p, `(document.querySelector('#details-button').click(), document.querySelector('#proceed-link').click(), true)`)
		p.shows(".sessions a", "hello")
		if at := value[string](p, `location.href`); strings.Contains(at, "code=") {
			t.Errorf("the code is still in the address: %s", at)
		}
		p.well()
	})
}

// SPEC 21.1, 21.4: what the page costs. It prints figures, and asserts none of time.
func TestFigures(t *testing.T) {
	r := serves(t)
	r.long(10_000)
	onBoth(t, func(t *testing.T, s size) {
		p := start(t, s)
		p.open(r.code())
		p.shows(".sessions a", "hello")
		var paints []float64
		for range 3 {
			p.open(r.at + "?" + strconv.Itoa(len(paints)))
			p.until(`performance.getEntriesByName('first-contentful-paint').length > 0`)
			paints = append(paints, value[float64](p, `performance.getEntriesByName('first-contentful-paint')[0].startTime`))
		}
		p.shows(".sessions a", "step 0")
		took := value[float64](p, `new Promise((done) => {
			const from = performance.now();
			[...document.querySelectorAll('.sessions a')].find((e) => e.textContent.includes('step 0')).click();
			const look = () => (document.querySelectorAll('.block').length >= 50 ? done(performance.now() - from) : requestAnimationFrame(look));
			look();
		})`)
		fmt.Printf("figures, %s: first content after %.0f ms (%.0f); a session of 10,000 events after %.0f ms, pawl has had %d MB at most\n", s.name, slices.Min(paints), paints, took, r.memory())
		p.well()
	})
	r.reply()
}

// reply prints what a reply of 1,000 words costs, in a session that is open, with three viewers.
func (r *real) reply() {
	r.t.Helper()
	cookie, s := "", struct{ ID string }{}
	var watched []<-chan int
	for range 3 {
		code, _ := strings.CutPrefix(r.code(), r.at+"#code=")
		a := r.post("", "api/pair", object{"code": code}, nil)
		cookie = strings.Split(a.Header.Get("Set-Cookie"), ";")[0]
		watched = append(watched, r.watch(cookie))
	}
	r.post(cookie, "api/sessions", object{"folder": r.folder, "text": "hello"}, &s)
	for _, w := range watched {
		<-w
	}
	before, from := r.cpu(), time.Now()
	r.post(cookie, "api/s/"+s.ID+"/prompt", object{"id": "tells-a-story", "text": "Tell a story"}, nil)
	var pieces []int
	for _, w := range watched {
		pieces = append(pieces, <-w)
	}
	took := time.Since(from)
	used := r.cpu() - before
	fmt.Printf("figures: a reply of 1,000 words in %.1f s with three viewers, who got %d pieces: pawl used %v, %.1f %% of a core\n", took.Seconds(), pieces, used, 100*used.Seconds()/took.Seconds())
}

// watch reads the events. At each end of a turn it says how many pieces came since the last.
func (r *real) watch(cookie string) <-chan int {
	r.t.Helper()
	q, _ := http.NewRequestWithContext(r.t.Context(), "GET", r.at+"api/events", nil)
	q.Header.Set("Cookie", cookie)
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		r.t.Fatal(err)
	}
	ended := make(chan int, 8)
	go func() {
		defer a.Body.Close()
		pieces := 0
		for l := bufio.NewScanner(a.Body); l.Scan(); {
			switch line := l.Text(); {
			case line == "event: piece":
				pieces++
			case strings.Contains(line, `"kind":"turnend"`):
				ended <- pieces
				pieces = 0
			}
		}
		close(ended)
	}()
	return ended
}

// real is a pawl that serves, with a folder where one session was.
type real struct {
	t            *testing.T
	pawl, folder string
	env          []string
	in           io.Writer
	pid          int // of script, whose child is pawl
	addresses    chan string
	at           string
	first        string // an address that nobody has used
}

var story = strings.Repeat("once upon a time there was a word, ", 125) // 1,000 words

// serves starts a pawl that serves.
func serves(t *testing.T, flags ...string) *real {
	t.Helper()
	r := &real{t: t, pawl: built(t), folder: t.TempDir(), addresses: make(chan string, 8)}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		raw, _ := io.ReadAll(q.Body) // what is cut off has no end either
		if !strings.Contains(string(raw), "Tell a story") {
			q.Body = io.NopCloser(bytes.NewReader(raw))
			model(w, q)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		stream(w, "end_turn", object{"type": "text", "text": ""}, func(send func(object)) {
			for _, word := range strings.SplitAfter(story, " ")[:1000] {
				send(object{"type": "text_delta", "text": word})
				time.Sleep(20 * time.Millisecond) // as fast as a model
			}
		})
	}))
	t.Cleanup(api.Close)
	r.env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "TERM=xterm", "ANTHROPIC_API_KEY=test-key-000000", "ANTHROPIC_BASE_URL=" + api.URL, "PAWL_MODEL=anthropic/claude-script"}
	r.run("run", "-C", r.folder, "hello")
	r.serve(flags...)
	return r
}

func (r *real) run(args ...string) string {
	r.t.Helper()
	c := exec.Command(r.pawl, args...)
	c.Env, c.Dir = r.env, r.folder
	out, err := c.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%v: %v: %s", args, err, out)
	}
	return string(out)
}

func (r *real) origin(address string) string { return strings.SplitN(address, "/#", 2)[0] }

// long imports a session with so many events: the first one's turn, again and again.
func (r *real) long(events int) {
	r.t.Helper()
	lines := strings.Split(strings.TrimSpace(r.run("sessions", "export", "--format", "jsonl")), "\n")
	var turn []map[string]any
	var out bytes.Buffer
	seq := 0
	put := func(e map[string]any) {
		seq++
		e["seq"] = seq
		raw, _ := json.Marshal(e)
		out.Write(append(raw, '\n'))
	}
	for _, l := range lines {
		var e map[string]any
		if err := json.Unmarshal([]byte(l), &e); err != nil {
			r.t.Fatal(err, l)
		}
		if kind, _ := e["type"].(string); len(turn) > 0 || kind == "prompted" {
			turn = append(turn, e)
		} else {
			put(e)
		}
	}
	for i := 0; seq < events; i++ {
		for _, e := range turn {
			if e["type"] == "prompted" {
				raw, _ := json.Marshal(e)
				_ = json.Unmarshal(bytes.ReplaceAll(raw, []byte("hello"), []byte(fmt.Sprint("step ", i))), &e)
			}
			put(e)
		}
	}
	file := filepath.Join(r.t.TempDir(), "long.jsonl")
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.run("sessions", "import", file)
}

// child is pawl's process.
func (r *real) child() string {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", r.pid))
	return strings.Fields(string(raw))[0]
}

func (r *real) memory() int {
	raw, _ := os.ReadFile("/proc/" + r.child() + "/status")
	kb, _ := strconv.Atoi(regexp.MustCompile(`VmHWM:\s+(\d+)`).FindStringSubmatch(string(raw))[1])
	return kb >> 10
}

func (r *real) cpu() time.Duration {
	raw, _ := os.ReadFile("/proc/" + r.child() + "/stat")
	f := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+2:]))
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

func (r *real) post(cookie, path string, body object, into any) *http.Response {
	r.t.Helper()
	raw, _ := json.Marshal(body)
	q, _ := http.NewRequest("POST", r.at+path, bytes.NewReader(raw))
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Cookie", cookie)
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		r.t.Fatal(err)
	}
	defer a.Body.Close()
	said, _ := io.ReadAll(a.Body)
	if a.StatusCode != 200 {
		r.t.Fatal(path, a.StatusCode, string(said))
	}
	if into != nil {
		if err := json.Unmarshal(said, into); err != nil {
			r.t.Fatal(path, err)
		}
	}
	return a
}

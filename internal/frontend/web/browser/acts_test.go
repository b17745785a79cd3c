//go:build chromium

package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// asked fails unless the page asked for these changes.
func asked(t *testing.T, f *fake, want ...string) {
	t.Helper()
	if got := f.did(); !slices.Equal(got, want) {
		t.Errorf("asked\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// SPEC 21.2: a plan is read, edited, approved and rejected.
func TestPlan(t *testing.T) {
	onBoth(t, func(t *testing.T, s size) {
		f, p := session(t, s)
		f.set("s1", object{"status": "idle", "plan": object{"id": "p7", "phases": 2}})
		p.shows(".proposed", "A plan with 2 phases")
		p.picture("proposed-" + s.name)
		p.press("Read and decide")
		p.shows("dialog", "Look at the cart")
		p.golden("plan-" + s.name)
		p.picture("plan-" + s.name)
		p.press("Edit…")
		p.write("dialog textarea", "3. Test")
		p.press("Keep")
		p.press("Reject…")
		p.write("dialog textarea", "smaller")
		p.press("Reject")
		p.gone("dialog")
		p.press("Read and decide")
		p.press("Approve, allow edits")
		p.gone("dialog")
		f.set("s1", object{"plan": nil})
		p.gone(".proposed")
		got := f.did()
		if len(got) != 3 || !strings.Contains(got[0], `"what":"edit"`) || !strings.Contains(got[0], "3. Test") {
			t.Fatalf("%q", got)
		}
		if want := []string{`/api/s/s1/plan {"plan":"p7","text":"smaller","what":"reject"}`, `/api/s/s1/plan {"plan":"p7","what":"approve"}`}; !slices.Equal(got[1:], want) {
			t.Errorf("%q", got[1:])
		}
		p.well()
	})
}

// SPEC 21.2: going back shows what is put back, asks about what somebody else changed, and
// goes on in the new session with the prompt in its input.
func TestRewind(t *testing.T) {
	onBoth(t, func(t *testing.T, s size) {
		f, p := session(t, s)
		p.press("More actions")
		p.press("Go back to a prompt…")
		p.shows("dialog", "Add a test too")
		p.picture("prompts-" + s.name)
		p.press("Add a test too")
		p.shows("dialog", "somebody changed it since")
		p.golden("rewind-" + s.name)
		p.press("Undo too")
		p.picture("rewind-" + s.name)
		p.press("Both")
		p.shows("main h1", "Gone back")
		p.until(`document.querySelector('.composer textarea').value === 'Add a test too'`)
		asked(t, f, `/api/s/s1/rewind {"confirmed":[1],"hash":"h2","prompt":40,"what":"both"}`)
		p.well()
	})
}

// SPEC 21.2: a model is chosen from those that can be used, a copy is made, and a session
// begins in a working tree of its own.
func TestModelForkWorktree(t *testing.T) {
	onBoth(t, func(t *testing.T, s size) {
		f, p := session(t, s)
		p.press("More actions")
		p.picture("menu-" + s.name)
		p.press("Change the model…")
		p.shows("dialog", "ollama/qwen")
		p.golden("models-" + s.name)
		p.picture("models-" + s.name)
		p.press("ollama/qwen")
		p.gone("dialog")
		p.shows(".facts", "ollama/qwen")
		p.press("More actions")
		p.press("Continue in a copy")
		p.shows("main h1", "Gone back")
		if s.phone {
			p.press("All sessions")
		}
		p.press("New session")
		p.press("In a new working tree")
		p.write("dialog textarea", "Try it")
		p.picture("worktree-" + s.name)
		p.press("Begin")
		p.shows("main h1", "Write the tests")
		asked(t, f, `/api/s/s1/model {"model":"ollama/qwen"}`, `/api/s/s1/fork {}`, `/api/sessions {"folder":"/home/me/shop","text":"Try it","worktree":true}`)
		p.well()
	})
}

// SPEC 21.3: how a session goes, in pictures and in tables.
func TestPictures(t *testing.T) {
	onBoth(t, func(t *testing.T, s size) {
		_, p := session(t, s)
		p.press("More actions")
		p.press("How it goes…")
		p.shows("dialog", "Calls by tool")
		p.press("Checks as a table")
		p.shows("dialog td", "passed, 48 tests")
		p.press("After reply 17")
		p.shows("dialog li", "call 14")
		p.golden("pictures-" + s.name)
		p.picture("pictures-" + s.name)
		p.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('dialog .body').scrollTop = 0`))
		p.picture("pictures-top-" + s.name)
		p.well()
	})
}

// SPEC 21.3: who switches it on is told while the page is closed: the browser subscribes
// with the server's key, and its worker shows a message. The push service is not there.
func TestPush(t *testing.T) {
	f, p := session(t, sizes[1])
	p.do(chromedp.Evaluate[chromedp.Void](`
		Notification.requestPermission = async () => 'granted';
		let mine = null;
		PushManager.prototype.getSubscription = async () => mine;
		PushManager.prototype.subscribe = async (o) => {
			mine = { endpoint: 'https://push.example.com/1', getKey: (what) => (what === 'auth' ? new Uint8Array([1, 2]).buffer : o.applicationServerKey.buffer), unsubscribe: async () => { mine = null; } };
			return mine;
		}; undefined`))
	p.press("Settings")
	p.shows("dialog label", "even if this page is closed")
	p.shows("dialog .devices li", "seen") // which moves the others
	p.picture("settings-desktop")
	p.press("A notification when pawl asks or a turn ends")
	requests := func(n int) {
		t.Helper()
		for late := time.After(*patience); len(f.did()) < n; {
			select {
			case <-late:
				t.Fatalf("asked %q", f.did())
			default:
				p.until(`true`)
			}
		}
	}
	requests(1)
	key := "BCVxsr7N/eNgVRqvHtD0zTZsEc6+VV+JvLexhqUzORcxaOzi6+AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4="
	asked(t, f, `/api/push {"auth":"AQI=","endpoint":"https://push.example.com/1","p256dh":"`+key+`"}`)
	p.press("A notification when pawl asks or a turn ends")
	requests(2)
	if got := f.did(); got[len(got)-1] != "DELETE /api/push" {
		t.Errorf("%q", got)
	}
	p.well()
}

// SPEC 21.3: with the sound chosen, each question is heard once.
func TestSound(t *testing.T) {
	f, p := session(t, sizes[1])
	p.do(chromedp.Evaluate[chromedp.Void](`
		window.tones = 0;
		const made = AudioContext.prototype.createOscillator;
		AudioContext.prototype.createOscillator = function () { tones++; return made.call(this); }; undefined`))
	ask := func(id string) {
		f.set("s1", object{"status": "waiting", "questions": []object{{"id": id, "text": "Which port?", "options": []string{"80", "8080"}}}})
	}
	ask("q0")
	p.until(`document.title.startsWith('(')`)
	p.until(`tones === 0`)
	p.press("Settings")
	p.press("A sound when pawl asks")
	p.until(`tones === 2`) // what it sounds like
	for i, id := range []string{"q1", "q1", "q2"} {
		ask(id)
		f.set("s1", object{"title": fmt.Sprintf("Title %d", i)})
		p.until(fmt.Sprintf(`document.querySelector('main h1').textContent.includes('Title %d')`, i))
	}
	p.until(`tones === 6`)
	p.well()
}

// SPEC 21.3: the page's own worker, in the browser: what is pushed is shown, the newest of each
// session, but not to somebody who sees the page; and it leads to its session.
func TestPushed(t *testing.T) {
	f, p := session(t, sizes[1])
	_, err := chromedp.CallBrowser(p.ctx, browser.SetPermission, browser.SetPermissionParams{Origin: f.URL, Permission: &browser.PermissionDescriptor{Name: "notifications"}, Setting: browser.PermissionSettingGranted})
	if err != nil {
		t.Fatal(err)
	}
	ids := make(chan serviceworker.RegistrationID, 64)
	chromedp.Listen(p.ctx, func(e any) {
		if u, ok := e.(*serviceworker.EventWorkerRegistrationUpdated); ok && len(u.Registrations) > 0 {
			ids <- u.Registrations[0].RegistrationID
		}
	})
	if _, err := chromedp.Call(p.ctx, serviceworker.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	const ready, list = `navigator.serviceWorker.ready`, `.then((r) => r.getNotifications()).then((all) => all.map((n) => n.title + ': ' + n.body))`
	value[bool](p, `navigator.serviceWorker.register('/sw.js').then(() => `+ready+`).then(() => true)`)
	id := <-ids
	push := func(data string) {
		t.Helper()
		if _, err := chromedp.Call(p.ctx, serviceworker.DeliverPushMessage, serviceworker.DeliverPushMessageParams{Origin: f.URL, RegistrationID: id, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	push(`{"session":"s3","title":"Explain the build","what":"ended"}`) // which they see
	value[[]string](p, ready+list)
	p.open("about:blank")
	push(`not from pawl`)
	push(`{"session":"s2","title":"Publish the site","what":"asks"}`)
	push(`{"session":"s1","title":"Fix the total","what":"asks"}`)
	push(`{"session":"s1","title":"<b>Fix</b> the total","what":"failed"}`)
	p.open(f.URL + "/#/s/s3")
	var shown []string
	for late := time.Now().Add(*patience); len(shown) < 2 && time.Now().Before(late); {
		shown = value[[]string](p, ready+list)
	}
	slices.Sort(shown)
	if want := []string{"<b>Fix</b> the total: has failed", "Publish the site: waits for your answer"}; !slices.Equal(shown, want) {
		t.Errorf("shown: %q", shown)
	}
	targets, err := chromedp.Targets(p.ctx)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(targets, func(i *target.Info) bool { return i.Type == "service_worker" })
	if i < 0 {
		t.Fatal("no worker runs")
	}
	ctx, leave := chromedp.NewContext(p.ctx, chromedp.WithTargetID(targets[i].TargetID))
	defer leave()
	worker := &tab{t: t, ctx: ctx}
	// A browser lets a worker bring a window to the front only after a real click.
	value[bool](worker, `(WindowClient.prototype.focus = async function () { return this; }, registration.getNotifications({ tag: 's2' })
		.then(([n]) => dispatchEvent(new NotificationEvent('notificationclick', { notification: n }))))`)
	p.until(`location.hash === '#/s/s2'`)
	p.shows("main h1", "Publish the site")
	p.well()
}

// SPEC 21.3: the board of a swarm, and its end.
func TestBoard(t *testing.T) {
	onBoth(t, func(t *testing.T, s size) {
		f, p := session(t, s)
		f.set("s1", object{"swarm": true, "title": "Build the shop"})
		p.shows(".board", "1 of 4 merged · 1 at work · 1 in conflict")
		p.gone(".composer")
		p.press("Machines")
		p.shows(".board th", "build-2")
		p.gone(".down")
		p.golden("board-" + s.name)
		p.picture("board-" + s.name)
		p.press("Actions for Payment")
		p.picture("task-" + s.name)
		p.press("Message its worker")
		p.write("dialog textarea", "use the new API")
		p.press("Do it")
		p.gone("dialog")
		p.press("Cancel…")
		p.press("Cancel it")
		p.gone("dialog")
		f.mu.Lock()
		f.swarm = object{"outcome": "paused", "again": "pawl swarm resume s1", "error": "the budget of $1 is used up"}
		f.mu.Unlock()
		f.set("s1", object{"cost": "$1.26"})
		p.press("Continue…")
		p.write("dialog input[inputmode=decimal]", "2.5")
		p.press("Write what is merged")
		p.picture("resume-" + s.name)
		p.press("Go on")
		p.gone("dialog")
		asked(t, f, `/api/s/s1/swarm/steer {"task":"pay","text":"use the new API","what":"message"}`, `/api/s/s1/swarm/cancel {}`, `/api/s/s1/swarm/resume {"usd":2.5,"workers":4,"write_partial":true}`)
		p.well()
	})
}

package web

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	outside "github.com/pawl-agent/pawl/internal/adapter/web"
	"github.com/pawl-agent/pawl/internal/core/atomicfile"
	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// This file tells browsers that are away: that a session asks, and that a turn ended.
// Nothing is sent before a person switched it on in a page; and what is sent is the
// session, its title and what happened, nothing of the conversation.

const (
	pushLasts   = 4 * time.Hour // for a phone that is off
	mostPushes  = 64            // under way at once; more are not told
	mostBusy    = time.Hour     // a service that wants longer is not waited for
	pushTries   = 3
	mostPushSub = 100
)

// pusher keeps what devices subscribed, in a file beside the list of devices.
type pusher struct {
	path    string
	devices *Devices
	client  *outside.Client
	now     func() time.Time
	wait    func(context.Context, time.Duration) error
	slots   chan struct{}

	mu     sync.Mutex
	newest map[string]int // by topic and device: a later message replaces one that waits
}

// pushFile is what the file has. The private key and the endpoints are secrets.
type pushFile struct {
	Key           []byte                          `json:"key"`
	Subscriptions map[string]outside.Subscription `json:"subscriptions"` // by device
}

func newPusher(c Config) *pusher {
	p := &pusher{
		path: filepath.Join(c.State, "serve", "push.json"), devices: c.Devices, client: c.Push, now: c.Now, wait: c.Wait,
		slots: make(chan struct{}, mostPushes), newest: map[string]int{},
	}
	if p.wait == nil {
		p.wait = session.SleepFor
	}
	if p.client == nil {
		p.client = outside.New(outside.Options{Timeout: 3 * slowest})
	}
	return p
}

// load reads the file. Callers hold mu.
func (p *pusher) load() (f pushFile, key outside.PushKey, err error) {
	raw, err := atomicfile.Read(p.path, mostFile)
	if err == nil && len(raw) > 0 { // else nobody wanted to be told yet
		err = json.Unmarshal(raw, &f)
	}
	if err == nil && len(f.Key) > 0 {
		key, err = outside.ReadPushKey(f.Key)
	}
	if f.Subscriptions == nil {
		f.Subscriptions = map[string]outside.Subscription{}
	}
	return f, key, err
}

func (p *pusher) save(f pushFile) error {
	raw, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return atomicfile.Write(p.path, raw, 0o600)
}

// state returns what a page needs to subscribe, for which a key is made once.
func (p *pusher) state(device string) (PushState, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, key, err := p.load()
	if err == nil && len(f.Key) == 0 {
		if key, err = outside.NewPushKey(); err == nil {
			f.Key, err = key.Private()
		}
		if err == nil {
			err = p.save(f)
		}
	}
	if err != nil {
		return PushState{}, err
	}
	public, err := key.Public()
	_, on := f.Subscriptions[device]
	return PushState{Key: base64.RawURLEncoding.EncodeToString(public), On: on}, err
}

// set subscribes a device, or ends that with nil.
func (p *pusher) set(device string, s *outside.Subscription) error {
	if s != nil {
		if err := p.client.CheckSubscription(*s); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f, _, err := p.load()
	if err != nil {
		return err
	}
	for id := range f.Subscriptions {
		if !p.devices.known(id) {
			delete(f.Subscriptions, id)
		}
	}
	if s != nil && len(f.Key) == 0 {
		return fault.NewConfiguration("load the page again", "the subscription is not for the key of this server")
	}
	if delete(f.Subscriptions, device); s != nil {
		if len(f.Subscriptions) >= mostPushSub {
			return fault.NewConfiguration("revoke some: pawl serve revoke ID", "too many devices are notified already")
		}
		f.Subscriptions[device] = *s
	}
	return p.save(f)
}

// pushed is what a message says.
type pushed struct {
	Session string `json:"session"`
	Title   string `json:"title"`
	What    string `json:"what"` // asks, ended, failed
	block   string // what it is about: with the session it names the message
}

// claims reports whether this process is the one that sends a message: every pawl with this
// folder for state sees the same sessions. A claim is a file, which outlives its process.
func (p *pusher) claims(m pushed) bool {
	dir := filepath.Join(filepath.Dir(p.path), "told")
	_ = os.MkdirAll(dir, 0o700) // what fails here fails below
	old, _ := os.ReadDir(dir)
	for _, e := range old {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > pushLasts {
			_ = os.Remove(filepath.Join(dir, e.Name())) // or another process did
		}
	}
	sum := sha256.Sum256([]byte(m.Session + "\x00" + m.block + "\x00" + m.What))
	f, err := os.OpenFile(filepath.Join(dir, hex.EncodeToString(sum[:])), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = f.Close()
	}
	return !errors.Is(err, os.ErrExist) // told twice is better than not at all
}

// tell tells every subscribed device something, and waits for nobody.
func (p *pusher) tell(ctx context.Context, m pushed) {
	p.mu.Lock()
	f, key, err := p.load()
	p.mu.Unlock()
	if err != nil || len(f.Subscriptions) == 0 || !p.claims(m) {
		return
	}
	text, err := json.Marshal(m)
	if err != nil {
		return // it consists of strings
	}
	sum := sha256.Sum256([]byte(m.Session))
	msg := outside.PushMessage{Text: text, Topic: base64.RawURLEncoding.EncodeToString(sum[:15]), Urgent: m.What == "asks", Lasts: pushLasts}
	for device, s := range f.Subscriptions {
		p.mu.Lock()
		of := device + msg.Topic
		p.newest[of]++
		n := p.newest[of]
		p.mu.Unlock()
		select {
		case p.slots <- struct{}{}:
		default:
			continue
		}
		go func() {
			defer func() { <-p.slots }()
			p.send(ctx, device, s, key, msg, func() bool {
				p.mu.Lock()
				defer p.mu.Unlock()
				return p.newest[of] == n
			})
		}()
	}
}

// send sends a message to a device. Where the service is busy it waits as long as that
// wants, unless there is a newer message. A device that is revoked or has unsubscribed is
// forgotten.
func (p *pusher) send(ctx context.Context, device string, s outside.Subscription, key outside.PushKey, m outside.PushMessage, newest func() bool) {
	for range pushTries {
		if !p.devices.known(device) {
			_ = p.set(device, nil) // the next one tries again
			return
		}
		err := p.client.Push(ctx, s, key, m, p.now())
		busy := (*outside.BusyError)(nil)
		switch {
		case errors.Is(err, outside.ErrUnsubscribed):
			_ = p.set(device, nil) // the next one tries again
			return
		case !errors.As(err, &busy) || busy.After > mostBusy:
			return // told, or not to be told
		}
		if p.wait(ctx, busy.After) != nil || !newest() {
			return
		}
	}
}

// news is what a change of a block means for somebody who is away, "" for nothing.
func news(c chat.Change) string {
	switch b := c.Block.Body.(type) {
	case chat.Question:
		if c.What == chat.Added {
			return "asks"
		}
	case chat.TurnEnd:
		switch {
		case c.What != chat.Finished, b.End == event.EndInterrupted: // by a person, who knows
		case b.End == event.EndDone:
			return "ended"
		default:
			return "failed"
		}
	}
	return ""
}

func (s *server) pushState(r *request) (PushState, error) { return s.push.state(r.device.ID) }

func (s *server) subscribe(r *request, in Subscription) (struct{}, error) {
	return struct{}{}, s.push.set(r.device.ID, &outside.Subscription{Endpoint: in.Endpoint, P256dh: in.P256dh, Auth: in.Auth})
}

func (s *server) unsubscribe(r *request, _ struct{}) (struct{}, error) {
	return struct{}{}, s.push.set(r.device.ID, nil)
}

// told returns what tells browsers of a session.
func (p *pusher) told(ctx context.Context, session string) func(title, what, block string) {
	return func(title, what, block string) {
		p.tell(ctx, pushed{session, cut.Runes(plain.Line(title), 100), what, block})
	}
}

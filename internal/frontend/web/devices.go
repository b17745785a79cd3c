package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/atomicfile"
	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

const (
	codeLasts   = 2 * time.Minute
	codeTries   = 5                   // wrong codes until the code is void
	deviceLasts = 30 * 24 * time.Hour // after it was last seen
	seenEvery   = time.Hour           // how exactly that is known
	mostDevices = 100
	mostFile    = 1 << 20
)

// Devices are the browsers that were paired, in a file that holds no token: only hashes
// of them. Several processes may use the file. It is safe for concurrent use.
type Devices struct {
	path string
	now  func() time.Time

	mu   sync.Mutex
	code code
	list []device
	read os.FileInfo // the file as it was read
}

type device struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Rights  Rights    `json:"rights"`
	Hash    string    `json:"hash"` // SHA-256 of the token, which is random: no salt is needed
	Seen    time.Time `json:"seen"`
	Expires time.Time `json:"expires"`
}

// code is the open code; only this process knows it.
type code struct {
	text    string // "": none
	rights  Rights
	expires time.Time
	wrong   int
}

// OpenDevices opens the list of devices in pawl's folder for state.
func OpenDevices(state string, now func() time.Time) (*Devices, error) {
	d := &Devices{path: filepath.Join(state, "serve", "devices.json"), now: now}
	if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d, d.load()
}

// codeLetters leave out those that look alike.
const codeLetters = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"

// NewCode makes the code that pairs the next device, and voids the one before it.
func (d *Devices) NewCode(r Rights) string {
	raw := make([]byte, 12) // 60 bits
	_, _ = rand.Read(raw)   // which never fails
	for i, b := range raw {
		raw[i] = codeLetters[int(b)%len(codeLetters)]
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.code = code{text: string(raw), rights: r, expires: d.now().Add(codeLasts)}
	return d.code.text
}

var errCode = fault.NewConfiguration("press Enter in the terminal of pawl serve for a new code: each is good once and for two minutes", "this code is not valid")

// pair makes a device of who has the code, and returns its token.
func (d *Devices) pair(text, name string) (device, string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	text = strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(text))
	c := &d.code
	switch {
	case c.text == "" || !d.now().Before(c.expires):
		*c = code{}
		return device{}, "", errCode
	case subtle.ConstantTimeCompare([]byte(text), []byte(c.text)) != 1:
		if c.wrong++; c.wrong >= codeTries {
			*c = code{}
		}
		return device{}, "", errCode
	}
	rights := c.rights
	*c = code{} // good once, whatever happens
	raw := make([]byte, 32)
	_, _ = rand.Read(raw)
	token := base64.RawURLEncoding.EncodeToString(raw)
	id := make([]byte, 4)
	_, _ = rand.Read(id)
	n := device{ID: hex.EncodeToString(id), Name: cut.Runes(plain.Line(name), 60), Rights: rights, Hash: hashed(token), Seen: d.now(), Expires: d.now().Add(deviceLasts)}
	err := d.change(func() error {
		if len(d.list) >= mostDevices {
			return fault.NewConfiguration("revoke some: pawl serve revoke ID", "there are %d devices already", len(d.list))
		}
		d.list = append(d.list, n)
		return nil
	})
	return n, token, err
}

func hashed(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func (d *Devices) of(token string) (device, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.load() != nil { // who cannot be told is nobody
		return device{}, false
	}
	hash := hashed(token)
	i := slices.IndexFunc(d.list, func(o device) bool { return subtle.ConstantTimeCompare([]byte(o.Hash), []byte(hash)) == 1 })
	if i < 0 || !d.now().Before(d.list[i].Expires) {
		return device{}, false
	}
	if now := d.now(); now.Sub(d.list[i].Seen) >= seenEvery {
		_ = d.change(func() error { // it only expires earlier if this fails
			if i := d.index(d.list[i].ID); i >= 0 {
				d.list[i].Seen, d.list[i].Expires = now, now.Add(deviceLasts)
			}
			return nil
		})
		if i = slices.IndexFunc(d.list, func(o device) bool { return o.Hash == hash }); i < 0 {
			return device{}, false
		}
	}
	return d.list[i], true
}

// known reports whether a device is still on the list.
func (d *Devices) known(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.load() != nil {
		return false
	}
	i := d.index(id)
	return i >= 0 && d.now().Before(d.list[i].Expires)
}

// List lists the devices that have not expired.
func (d *Devices) List() ([]Device, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.load(); err != nil {
		return nil, err
	}
	out := []Device{}
	for _, o := range d.list {
		if d.now().Before(o.Expires) {
			out = append(out, Device{ID: o.ID, Name: o.Name, Rights: o.Rights, Seen: o.Seen, Expires: o.Expires})
		}
	}
	return out, nil
}

// ErrNoDevice means that no device has this id.
var ErrNoDevice = errors.New("no such device")

// Revoke removes a device: its next request is refused, and its stream ends.
func (d *Devices) Revoke(id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.change(func() error {
		i := d.index(id)
		if i < 0 {
			return fmt.Errorf("%w: %s", ErrNoDevice, plain.Line(id))
		}
		d.list = slices.Delete(d.list, i, i+1)
		return nil
	})
}

// index returns where a device is in the list. Callers hold mu.
func (d *Devices) index(id string) int {
	return slices.IndexFunc(d.list, func(o device) bool { return o.ID == id })
}

// load reads the file if it has changed. Callers hold mu.
func (d *Devices) load() error {
	st, err := os.Lstat(d.path)
	if errors.Is(err, os.ErrNotExist) {
		d.list, d.read = nil, nil
		return nil
	}
	if err != nil {
		return err
	}
	if d.read != nil && os.SameFile(st, d.read) && st.ModTime().Equal(d.read.ModTime()) && st.Size() == d.read.Size() {
		return nil
	}
	raw, err := atomicfile.Read(d.path, mostFile)
	if err != nil {
		return err
	}
	var list []device
	if err := json.Unmarshal(raw, &list); err != nil {
		return fmt.Errorf("%s: %w", d.path, err)
	}
	d.list, d.read = list, st
	return nil
}

// change changes the list as the file has it now, and writes it. Callers hold mu. Two
// processes that write in the same moment are a person in two places: the later one
// holds.
func (d *Devices) change(do func() error) error {
	if err := d.load(); err != nil {
		return err
	}
	old := slices.Clone(d.list)
	d.list = slices.DeleteFunc(d.list, func(o device) bool { return !d.now().Before(o.Expires) })
	err := do()
	if err == nil {
		var raw []byte
		if raw, err = json.MarshalIndent(d.list, "", "  "); err == nil {
			err = atomicfile.Write(d.path, raw, 0o600)
		}
	}
	if err != nil {
		d.list = old
		return err
	}
	d.read, err = os.Lstat(d.path)
	return err
}

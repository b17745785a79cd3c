package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/atomicfile"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// Pins stores the tools and prompts of servers that a person accepted (SPEC 16.13). Each
// server has one file, named by a hash of the server's name and its configuration. So
// tools are known without starting anything.
type Pins struct {
	// Dir is the folder; "" stores nothing beyond this process.
	Dir string
	// ReadOnly means that accepted descriptions are stored only for this process.
	ReadOnly bool

	mu  *sync.Mutex
	mem map[string]*Accepted
}

// NewPins returns Pins. It opens nothing.
func NewPins(dir string) Pins {
	return Pins{Dir: dir, mu: &sync.Mutex{}, mem: map[string]*Accepted{}}
}

// Accepted is everything that was accepted of a server.
type Accepted struct {
	Pin          trust.Pin    `json:"pin"`
	Instructions string       `json:"instructions,omitempty"`
	Items        []trust.Item `json:"items"`
	// Prompts means that the prompts are among Items; older pawls did not ask for them.
	Prompts bool `json:"prompts,omitempty"`
	// Resources are the URIs that the server had then, for completion. They are not
	// pinned: their descriptions are not shown to a model.
	Resources []string `json:"resources,omitempty"`
}

// Tools returns how many tools were accepted.
func (a *Accepted) Tools() (n int) {
	for _, i := range a.Items {
		if i.Kind == "tool" {
			n++
		}
	}
	return n
}

// maxPin is the longest file of what was accepted, in bytes.
const maxPin = 8 << 20

func (p Pins) key(srv Server) string {
	h := sha256.New()
	for _, part := range append([]string{srv.Name}, srv.start...) {
		fmt.Fprintf(h, "%d %s\n", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Of returns what a person accepted of a server, or nil if nothing.
func (p Pins) Of(srv Server) (*Accepted, error) {
	key := p.key(srv)
	p.mu.Lock()
	defer p.mu.Unlock()
	if a := p.mem[key]; a != nil || p.Dir == "" {
		return a, nil
	}
	name := filepath.Join(p.Dir, key+".json")
	raw, err := atomicfile.Read(name, maxPin)
	if raw == nil || err != nil {
		return nil, err
	}
	a := new(Accepted)
	if err := json.Unmarshal(raw, a); err != nil {
		return nil, fmt.Errorf("%s cannot be read, remove it: %w", name, err)
	}
	p.mem[key] = a
	return a, nil
}

// Keep stores a server's present descriptions as accepted, and returns them.
func (p Pins) Keep(srv Server, l listed) (*Accepted, error) {
	pin, bad, err := trust.PinOf(srv.identity(l.instructions, l.items))
	if err != nil {
		return nil, err
	}
	a := &Accepted{Pin: pin, Instructions: l.instructions, Prompts: true, Resources: l.resources}
	for _, i := range l.items {
		if bad[i.Key()] == "" {
			a.Items = append(a.Items, i)
		}
	}
	raw, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	if len(raw) > maxPin {
		return nil, fmt.Errorf("its list of tools has %d KB, more than %d", len(raw)>>10, maxPin>>10)
	}
	key := p.key(srv)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mem[key] = a
	if p.Dir == "" || p.ReadOnly || srv.InProgram() { // another program may have a server of that name
		return a, nil
	}
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return a, err
	}
	return a, atomicfile.Write(filepath.Join(p.Dir, key+".json"), raw, 0o600)
}

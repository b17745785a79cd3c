// Package leases carries the tasks of a swarm to workers on other machines, over
// NATS JetStream (SPEC 14.6).
//
// A Board is the coordinator's side, Serve a worker's. A task is offered in a work queue
// that contains only its number. A worker that takes the offer asks the Board, and gets
// the task if the lease is still free. From then on the worker must send a message within
// the duration of the lease. A worker that cannot reach the Board for that long stops, so
// two workers never work on one lease for longer than that. An offer, a question or an
// answer that is sent twice counts once: each question has a number, and its answer is
// stored with the lease.
//
// Packs of git objects are stored in a stream, in parts, and fetched while they are made:
// the first part of a large repository arrives after seconds. A pack that is not what was
// sent is refused, and what it holds is named in a signed message: a job, a result.
//
// What a server lost is made again by the Board, offered again, and sent again when it is
// needed. What a Board that died left on a server expires there by itself.
//
// When a worker joins, it agrees on a key with the Board. Every later question and
// answer is signed with that key: no worker can act for another one, and a client that
// only listens cannot act at all. Everybody who may connect to the server may join: the
// server decides that. A worker with another protocol or another version of pawl is
// refused.
//
// The Board does not check results: it returns what a worker sent, and the caller must
// check it.
package leases

import (
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// Protocol is the version of the messages between Board and workers.
const Protocol = 4

// Errors of leases.
var (
	ErrLost    = errors.New("the worker no longer answered")
	ErrOver    = errors.New("the lease is over")
	ErrRefused = errors.New("refused")
	ErrNetwork = errors.New("nothing came through the NATS server")
	// ErrElsewhere is matched by the error for a task that another worker should take,
	// ErrAside by that for a worker that gets no more tasks.
	ErrElsewhere = errors.New("another worker takes it")
	ErrAside     = errors.New("set aside")
)

// announcement states that a swarm has work.
type announcement struct {
	Swarm  string   `json:"swarm"`
	Epoch  string   `json:"epoch"` // of this run
	Labels []string `json:"labels,omitempty"`
	Host   string   `json:"host,omitempty"` // where its coordinator runs
	Over   bool     `json:"over,omitempty"` // the run has ended
}

type joinAsk struct {
	Protocol int      `json:"protocol"`
	Version  string   `json:"version"` // of pawl
	Name     string   `json:"name"`
	Labels   []string `json:"labels,omitempty"`
	Public   []byte   `json:"public"`
}

type joinAnswer struct {
	Refused string        `json:"refused,omitempty"`
	Epoch   string        `json:"epoch,omitempty"`
	Worker  string        `json:"worker,omitempty"`
	Public  []byte        `json:"public,omitempty"`
	Lease   time.Duration `json:"lease,omitempty"`
}

// agree returns the common key of two sides that have exchanged their public keys.
func agree(own *ecdh.PrivateKey, other []byte, worker string) ([]byte, error) {
	pub, err := ecdh.X25519().NewPublicKey(other)
	if err != nil {
		return nil, err
	}
	shared, err := own.ECDH(pub)
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, shared)
	mac.Write([]byte("pawl worker " + worker))
	return mac.Sum(nil), nil
}

func newKey() (*ecdh.PrivateKey, error) { return ecdh.X25519().GenerateKey(rand.Reader) }

// MostTrees limits Taker.Trees.
const MostTrees = 16

// kind is the kind of a worker's question.
type kind string

const (
	kindTake    kind = "take"    // requests the task of an offer
	kindBeat    kind = "beat"    // the worker still works
	kindSaw     kind = "saw"     // a call, which other workers may learn from
	kindReserve kind = "reserve" // money for a request
	kindSettle  kind = "settle"  // what that request cost
	kindDone    kind = "done"    // the result
)

// question is a worker's message about a lease.
type question struct {
	Epoch  string          `json:"epoch"` // of the run that the worker joined; a key is valid for one run
	Worker string          `json:"worker"`
	Fence  int64           `json:"fence"`
	N      uint64          `json:"n"` // unique for this worker
	Kind   kind            `json:"kind"`
	Body   json.RawMessage `json:"body,omitempty"`
	MAC    []byte          `json:"mac"`
}

func (q *question) mac(key []byte) []byte {
	var n [16]byte
	binary.BigEndian.PutUint64(n[:], uint64(q.Fence))
	binary.BigEndian.PutUint64(n[8:], q.N)
	return macOf(key, []byte("question"), []byte(q.Worker), n[:], []byte(q.Kind), q.Body)
}

// state is the kind of an answer.
type state string

const (
	stateDone state = "done"
	stateWait state = "wait" // ask the same question again
	stateOver state = "over" // the lease is over
	stateFail state = "fail" // why is in Why
	// To a question for a task: another worker should take it, or this one gets no more.
	stateElsewhere state = "elsewhere"
	stateAside     state = "aside"
)

type answer struct {
	State state           `json:"state"`
	Why   string          `json:"why,omitempty"`
	Body  json.RawMessage `json:"body,omitempty"`
	MAC   []byte          `json:"mac"`
}

func (a *answer) mac(key []byte, q *question) []byte {
	return macOf(key, []byte("answer"), q.MAC, []byte(a.State), []byte(a.Why), a.Body)
}

// macOf signs fields. It writes the length of each, so that different lists of fields
// have different bytes.
func macOf(key []byte, fields ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, f := range fields {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(f)))
		h.Write(n[:])
		h.Write(f)
	}
	return h.Sum(nil)
}

// Job is a task in the form for a worker.
type Job struct {
	Worker string     `json:"worker"` // the name of the lease
	Task   event.Task `json:"task"`
	Prompt string     `json:"prompt"`
	Model  string     `json:"model,omitempty"` // if neither task nor worker names one
	Agent  *Agent     `json:"agent,omitempty"` // the kind of agent that works on it; nil: an ordinary worker
	// Root is the commit below all trees of the swarm. Base is the commit from which the
	// work begins. RootPack and BasePack contain them.
	Root     string `json:"root"`
	RootPack string `json:"root_pack,omitempty"` // empty if the worker has it
	Base     string `json:"base"`
	BasePack string `json:"base_pack,omitempty"` // empty if Base is Root
}

// Agent is a kind of agent, as the swarm's machine defines it. It can only narrow the
// rights that the worker's machine grants.
type Agent struct {
	Name     string   `json:"name"`
	Prompt   string   `json:"prompt,omitempty"`
	Tools    []string `json:"tools,omitempty"` // nil: all
	Model    string   `json:"model,omitempty"` // if the worker's machine has it
	USD      float64  `json:"usd,omitempty"`   // the limit of one attempt; 0: none
	ReadOnly bool     `json:"read_only,omitempty"`
	Not      []string `json:"not,omitempty"`   // tools that it may not use
	Steps    int      `json:"steps,omitempty"` // the most replies of its model; 0: no limit of its own
}

// Result is a worker's report about its work.
type Result struct {
	Error   string            `json:"error,omitempty"`  // why the task is not done
	Fault   event.TaskFault   `json:"fault,omitempty"`  // whose fault that is
	Commit  string            `json:"commit,omitempty"` // empty if nothing changed
	Pack    string            `json:"pack,omitempty"`   // the file that contains the commit
	Reply   string            `json:"reply,omitempty"`
	Session string            `json:"session,omitempty"` // the worker's log
	Model   string            `json:"model,omitempty"`
	USD     *float64          `json:"usd,omitempty"`
	Tokens  int64             `json:"tokens,omitempty"`
	Refers  []swarm.Reference `json:"refers,omitempty"`
	Checks  []event.TaskCheck `json:"checks,omitempty"`
	// Machine is set by the Board: the worker that held the lease.
	Machine string `json:"-"`
}

// saw is a call of a worker.
type saw struct {
	Call    swarm.Call     `json:"call"`
	Failure *swarm.Failure `json:"failure,omitempty"`
}

type settled struct {
	Grant   int             `json:"grant"`
	Charged []event.Charged `json:"charged,omitempty"`
}

type reserved struct {
	Grant budget.Grant       `json:"grant"`
	Limit *budget.LimitError `json:"limit,omitempty"` // nothing is left
}

func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("leases: %T: %v", v, err)) // none of the types above can fail
	}
	return b
}

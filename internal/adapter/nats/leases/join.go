package leases

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
)

// member is a worker that joined.
type member struct {
	id  string
	key []byte

	labels []string
}

// join accepts a worker, or answers with the reason for a refusal.
func (b *Board) join(m *nats.Msg) {
	var ask joinAsk
	out := joinAnswer{Lease: b.cfg.Lease, Epoch: b.epoch}
	err := json.Unmarshal(m.Data, &ask)
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(nameLetters, r) {
			return r
		}
		return '_'
	}, fmt.Sprintf("%.40s", ask.Name))
	switch {
	case err != nil:
		out.Refused = "the message is not of a worker of pawl"
	case ask.Protocol != Protocol:
		out.Refused = fmt.Sprintf("it speaks protocol %d, this swarm %d: install the same pawl on both machines", ask.Protocol, Protocol)
	case ask.Version != b.cfg.Version:
		out.Refused = fmt.Sprintf("it is pawl %.40s, this swarm runs pawl %s: install the same on both machines", ask.Version, b.cfg.Version)
	case !covers(ask.Labels, b.cfg.Labels):
		out.Refused = "it lacks labels that this swarm wants: " + strings.Join(b.cfg.Labels, ", ")
	default:
		out.Worker, out.Public, err = b.admit(name, ask)
		if err != nil {
			out.Refused = "its public key is not valid"
		}
	}
	if out.Refused != "" {
		b.say("join", "worker %s was refused: %s", name, out.Refused)
	} else {
		b.say("joined "+name, "worker %s joined", out.Worker)
	}
	_ = m.Respond(encode(out)) // if this is lost, the worker asks again
}

func covers(have, want []string) bool {
	return !slices.ContainsFunc(want, func(l string) bool { return !slices.Contains(have, l) })
}

// admit agrees on a key with a worker.
func (b *Board) admit(name string, ask joinAsk) (id string, own []byte, err error) {
	key, err := newKey()
	if err != nil {
		return "", nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	id = fmt.Sprintf("%s-%d", name, len(b.members)+1)
	shared, err := agree(key, ask.Public, id)
	if err != nil {
		return "", nil, err
	}
	b.members[id] = &member{id: id, key: shared, labels: ask.Labels}
	return id, key.PublicKey().Bytes(), nil
}

// isName reports whether a text can be part of a subject and the name of a stream.
func isName(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, nameLetters) == ""
}

const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

package leases

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
)

// However many workers ask who has tasks, all are answered by a few messages: each of
// them hears all answers.
func TestManyAsk(t *testing.T) {
	r := newRigFor(t, natstest.Server(t).ClientURL(), time.Minute)
	nc := r.dial()
	answers := make(chan *nats.Msg, 10_000)
	if _, err := nc.ChanSubscribe(openSubject, answers); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for range 1000 {
		if err := nc.Publish(whoSubject, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	<-answers // one came for them
	<-answers // or the next, of its own accord
	if n, most := 2+len(answers), 3+int(time.Since(began)/announceMost); n > most {
		t.Errorf("%d answers in %v, want at most %d", n, time.Since(began), most)
	}
}

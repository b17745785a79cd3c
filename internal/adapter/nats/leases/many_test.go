package leases

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// However many workers ask who has tasks, all are answered by a few messages: each of
// them hears all answers.
func TestManyAsk(t *testing.T) {
	t.Parallel()
	r := newTestBoardFor(t, natstest.Server(t).ClientURL(), time.Minute)
	nc := r.dial()
	answers := make(chan *nats.Msg, 10_000)
	must.Done(t)(nc.ChanSubscribe(here.openSubject(), answers))
	must.Do(t, nc.Flush())
	began := time.Now()
	for range 1000 {
		must.Do(t, nc.Publish(here.whoSubject(), nil))
	}
	must.Do(t, nc.Flush())
	<-answers // one came for them
	<-answers // or the next, of its own accord
	if n, most := 2+len(answers), 3+int(time.Since(began)/announceMost); n > most {
		t.Errorf("%d answers in %v, want at most %d", n, time.Since(began), most)
	}
}

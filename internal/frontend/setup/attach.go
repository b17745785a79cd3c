package setup

import (
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/frontend/attach"
)

// serveAttach lets other terminals attach to the session. The first request does not
// wait for it.
func (e *Environment) serveAttach(o *Opened, opt *Options, fr Frontend, state string) {
	if fr.ReadOnly || fr.WorkerTree || opt.NoSession {
		return
	}
	serving := make(chan func(), 1)
	go func() {
		stop, err := attach.Serve(state, e.Version, o.Session, shell.Started)
		if err != nil {
			stop = func() {} // pawl attach says that it cannot be watched
		}
		serving <- stop
	}()
	o.onClose(func() error {
		(<-serving)()
		return nil
	})
}

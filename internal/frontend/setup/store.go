package setup

import (
	"context"

	memstore "github.com/pawl-agent/pawl/internal/adapter/store/memory"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/core/event"
)

// OpenStore opens the log of sessions and creates it if it does not exist. The caller
// closes it.
func (e *Environment) OpenStore(ctx context.Context, opt *Options, p settings.Paths, conf settings.Loaded) (event.Store, error) {
	if opt.NoSession {
		return memstore.New(e.Now), nil
	}
	return sqlite.Open(ctx, p.Database(), sqlite.Options{Durability: conf.User.Store.Durability, Now: e.Now, Ready: true})
}

// openingStore opens the store in parallel with the rest of the start. The returned
// function waits for it. The store is closed with o.
func (e *Environment) openingStore(ctx context.Context, opt *Options, p settings.Paths, conf settings.Loaded, o *Opened) func() (event.Store, error) {
	var st event.Store
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		st, err = e.OpenStore(ctx, opt, p, conf)
	}()
	o.onClose(func() error {
		if <-done; err != nil {
			return nil // it was not opened
		}
		return st.Close()
	})
	return func() (event.Store, error) {
		<-done
		return st, err
	}
}

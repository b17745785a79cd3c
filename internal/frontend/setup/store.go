package setup

import (
	"context"
	"sync"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	memstore "github.com/pawl-agent/pawl/internal/adapter/store/memory"
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

// openStore opens the store beside the rest of the start. It is closed with s.o.
func (s *opening) openStore(ctx context.Context) {
	s.store = sync.OnceValues(func() (event.Store, error) { return s.OpenStore(ctx, s.opt, s.paths, s.conf) })
	go s.store()
	s.o.onClose(func() error {
		st, err := s.store()
		if err != nil {
			return nil // it was not opened
		}
		return st.Close()
	})
}

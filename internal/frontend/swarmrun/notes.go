package swarmrun

import (
	"context"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pawl-agent/pawl/internal/adapter/nats/leases"
	"github.com/pawl-agent/pawl/internal/adapter/nats/natskv"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/store/jsonfile"
	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/kv"
)

// openNotes opens the store of what the workers learned from each other, which
// swarm.notes of the configuration chooses.
func (r *run) openNotes(ctx context.Context) (_ kv.Store, closeStore func(), err error) {
	conf, paths, err := r.Settings()
	if err != nil {
		return nil, nil, err
	}
	switch conf.User.Swarm.Notes {
	case settings.NotesJSON:
		s, err := jsonfile.Open(paths.SwarmNotes())
		return s, func() {}, err
	case settings.NotesNATS:
		if r.Server.URL != "" {
			return r.notesOnServer(ctx)
		}
	}
	s, err := sqlite.OpenKV(ctx, paths.Swarms())
	if err != nil {
		return nil, nil, err
	}
	return s, func() { _ = s.Close() }, nil // what was acknowledged is stored
}

func (r *run) notesOnServer(ctx context.Context) (_ kv.Store, closeStore func(), err error) {
	nc, err := r.Server.connect(r.Env, r.say)
	if err != nil {
		return nil, nil, err
	}
	s, err := notesOn(ctx, nc, leases.NotesBucket(r.Server.Team))
	if err != nil {
		nc.Close()
		if ctx.Err() == nil { // not ended by a person
			err = fault.NewConfiguration("start it with JetStream (-js), and allow $KV."+leases.NotesBucket(r.Server.Team)+".>; or: pawl config set swarm.notes sqlite", "%v", err)
		}
		return nil, nil, err
	}
	return s, nc.Close, nil
}

func notesOn(ctx context.Context, nc *nats.Conn, bucket string) (*natskv.Store, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	replicas := 1
	if nc.ConnectedClusterName() != "" {
		replicas = 3
	}
	return natskv.Open(ctx, js, bucket, replicas)
}

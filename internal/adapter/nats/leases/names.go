package leases

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Team is the team of whoever names none. All that a team uses on a server has its name:
// subjects begin with pawl.TEAM, streams are called pawl-TEAM-…. So a server can keep
// teams apart by the permissions of its users (doc/swarm.md).
const Team = "main"

// names are the subjects and streams of a swarm.
type names struct{ team, swarm string }

func teamOf(name string) string { return cmp.Or(name, Team) }

func (n names) under() string { return "pawl." + n.team + "." }

// Subjects of the team: workers ask for work on one, swarms announce it on another, and
// on the third workers say what they do.
func (n names) whoSubject() string     { return n.under() + "who" }
func (n names) openSubject() string    { return n.under() + "open" }
func (n names) workersSubject() string { return n.under() + "workers" }

// Subjects of the swarm.
func (n names) joinSubject() string              { return n.under() + n.swarm + ".join" }
func (n names) askSubject() string               { return n.under() + n.swarm + ".ask" }
func (n names) adminSubject() string             { return n.under() + n.swarm + ".admin" }
func (n names) allTasks() string                 { return n.under() + n.swarm + ".task.>" }
func (n names) tasksSubject(epoch string) string { return n.under() + n.swarm + ".task." + epoch + "." }
func (n names) allParts() string                 { return n.under() + n.swarm + ".part.>" }
func (n names) partsSubject(file string) string  { return n.under() + n.swarm + ".part." + file + "." }

// The team's streams: offers, and the parts of files.
func (n names) offersStream() string { return "pawl-" + n.team + "-tasks" }
func (n names) filesStream() string  { return "pawl-" + n.team + "-files" }

// NotesBucket is the team's bucket of what workers learned.
func NotesBucket(team string) string { return "pawl-" + teamOf(team) + "-notes" }

// Inbox is the prefix of the subjects on which a team's members get their answers.
func Inbox(team string) string { return "_INBOX.pawl." + teamOf(team) }

// consumer is the name of the consumer from which the workers of one run of a swarm take
// offers. Workers of an earlier run must not take them: the Board has no key for them.
func (n names) consumer(epoch string) string { return n.swarm + "-" + epoch }

// How long the server keeps what nobody renews, so that a coordinator that died leaves
// nothing for ever.
const (
	offerLife    = 30 * time.Second // a Board offers again every offerAgain
	consumerLife = 5 * time.Minute
	partLife     = 24 * time.Hour
)

// streams makes the team's streams if they are not there, and returns when each was made.
func (n names) streams(ctx context.Context, js jetstream.JetStream, replicas int) (made [2]time.Time, err error) {
	for i, c := range []jetstream.StreamConfig{
		{
			Name: n.offersStream(), Description: "tasks of swarms of pawl", Subjects: []string{n.under() + "*.task.>"},
			Retention: jetstream.WorkQueuePolicy, MaxMsgsPerSubject: 1, MaxAge: offerLife, Replicas: replicas,
		},
		{
			Name: n.filesStream(), Description: "files of swarms of pawl", Subjects: []string{n.under() + "*.part.>"},
			MaxMsgsPerSubject: 1, MaxAge: partLife, AllowDirect: true, Replicas: replicas,
		},
	} {
		s, err := js.Stream(ctx, c.Name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			s, err = js.CreateStream(ctx, c)
		}
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // by another Board, just now
			s, err = js.Stream(ctx, c.Name)
		}
		if err != nil {
			return made, err
		}
		made[i] = s.CachedInfo().Created
	}
	return made, nil
}

// clear removes what the server keeps for a swarm, but for the consumer of one run.
func (n names) clear(ctx context.Context, js jetstream.JetStream, but string) error {
	var errs []error
	for stream, subject := range map[string]string{n.offersStream(): n.allTasks(), n.filesStream(): n.allParts()} {
		s, err := js.Stream(ctx, stream)
		if err == nil {
			err = s.Purge(ctx, jetstream.WithPurgeSubject(subject))
		}
		if !errors.Is(err, jetstream.ErrStreamNotFound) {
			errs = append(errs, err)
		}
	}
	all, err := consumersOn(ctx, js, n.team)
	for _, c := range all {
		if c.swarm == n.swarm && c.epoch != but {
			if err := js.DeleteConsumer(ctx, n.offersStream(), n.consumer(c.epoch)); !errors.Is(err, jetstream.ErrConsumerNotFound) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(append(errs, err)...)
}

// transient reports whether an operation at the server may succeed if it is repeated:
// servers of a cluster choose another leader, or a Board makes again what a server lost.
func transient(err error) bool {
	for _, e := range []error{
		nats.ErrNoResponders, nats.ErrTimeout, nats.ErrDisconnected, context.DeadlineExceeded, jetstream.ErrNoStreamResponse,
		jetstream.ErrStreamNotFound,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	// A cluster without a leader, or one that is starting.
	api := (*jetstream.APIError)(nil)
	return errors.As(err, &api) && api.Code >= 500
}

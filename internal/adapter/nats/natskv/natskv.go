// Package natskv implements kv.Store in a bucket of NATS JetStream.
//
// A version is the bucket's revision: the sequence number of a write. If the server
// cannot be reached, calls return an error instead of waiting for ever. A server
// acknowledges before the value is on its disk, unless it runs with sync_interval: always
// (doc/swarm.md).
package natskv

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/pawl-agent/pawl/internal/core/kv"
)

// Store is a bucket.
type Store struct {
	bucket jetstream.KeyValue
	stream jetstream.Stream // the stream of the bucket
	before string           // the prefix of a key's subject in the stream
}

var _ kv.Store = (*Store)(nil)

// Open opens a bucket, and creates it with the given number of replicas if it does not
// exist.
func Open(ctx context.Context, js jetstream.JetStream, bucket string, replicas int) (*Store, error) {
	b, err := js.KeyValue(ctx, bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		b, err = create(ctx, js, bucket, replicas)
	}
	if err != nil {
		return nil, fmt.Errorf("open the bucket %s: %w", bucket, err)
	}
	stream, err := js.Stream(ctx, "KV_"+bucket)
	if err != nil {
		return nil, fmt.Errorf("open the bucket %s: %w", bucket, err)
	}
	return &Store{b, stream, "$KV." + bucket + "."}, nil
}

// create creates a bucket. Only its leader answers reads: another server may lag behind
// and return an old value.
func create(ctx context.Context, js jetstream.JetStream, bucket string, replicas int) (jetstream.KeyValue, error) {
	_, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: bucket, Description: "values of pawl", History: 1, MaxValueSize: kv.MaxValue, Replicas: replicas,
	})
	if err != nil {
		return nil, err
	}
	stream, err := js.Stream(ctx, "KV_"+bucket)
	if err != nil {
		return nil, err
	}
	conf := stream.CachedInfo().Config
	conf.AllowDirect = false
	if _, err := js.UpdateStream(ctx, conf); err != nil {
		return nil, err
	}
	return js.KeyValue(ctx, bucket)
}

func (s *Store) Load(ctx context.Context, key string) (kv.Entry, error) {
	if err := errors.Join(ctx.Err(), kv.Check(key, nil)); err != nil {
		return kv.Entry{}, err
	}
	e, err := s.bucket.Get(ctx, kv.Escape(key))
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return kv.Entry{}, fmt.Errorf("%w: %q", kv.ErrNone, key)
	case err != nil:
		return kv.Entry{}, fmt.Errorf("read %q: %w", key, err)
	}
	return kv.Entry{Value: slices.Clone(e.Value()), Version: version(e.Revision())}, nil
}

func version(n uint64) kv.Version { return kv.Version(strconv.FormatUint(n, 10)) }

func (s *Store) Save(ctx context.Context, key string, value []byte) (kv.Version, error) {
	if err := errors.Join(ctx.Err(), kv.Check(key, value)); err != nil {
		return "", err
	}
	n, err := s.bucket.Put(ctx, kv.Escape(key), value)
	if err != nil {
		return "", fmt.Errorf("write %q: %w", key, err)
	}
	return version(n), nil
}

func (s *Store) Swap(ctx context.Context, key string, was kv.Version, value []byte) (kv.Version, error) {
	if err := errors.Join(ctx.Err(), kv.Check(key, value)); err != nil {
		return "", err
	}
	var n uint64
	var err error
	if was == "" {
		n, err = s.bucket.Create(ctx, kv.Escape(key), value)
	} else {
		at, bad := strconv.ParseUint(string(was), 10, 64)
		if bad != nil || at == 0 {
			return "", fmt.Errorf("%w: %q was never at version %q", kv.ErrChanged, key, was)
		}
		n, err = s.bucket.Update(ctx, kv.Escape(key), value, at)
	}
	switch {
	case err == nil:
		return version(n), nil
	case errors.Is(err, jetstream.ErrKeyExists), wrongSequence(err):
		return "", fmt.Errorf("%w: %q", kv.ErrChanged, key)
	}
	return "", fmt.Errorf("write %q: %w", key, err)
}

// wrongSequence reports whether the error means that the key has another revision.
// Servers of a cluster use a separate code for it.
func wrongSequence(err error) bool {
	return errors.Is(err, jetstream.ErrKeyRevisionMismatch)
}

// Delete implements kv.Store. It removes the key completely. A bucket's own Delete would
// leave a marker, which List would find.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := errors.Join(ctx.Err(), kv.Check(key, nil)); err != nil {
		return err
	}
	if err := s.stream.Purge(ctx, jetstream.WithPurgeSubject(s.before+kv.Escape(key))); err != nil {
		return fmt.Errorf("delete %q: %w", key, err)
	}
	return nil
}

func (s *Store) Exists(ctx context.Context, key string) (bool, error) {
	_, err := s.Load(ctx, key)
	if errors.Is(err, kv.ErrNone) {
		return false, nil
	}
	return err == nil, err
}

// List implements kv.Store. A bucket's own list reads the messages while others write,
// and misses keys that are overwritten during that time. The subjects of its stream are a
// consistent snapshot of the leader.
func (s *Store) List(ctx context.Context, prefix string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	info, err := s.stream.Info(ctx, jetstream.WithSubjectFilter(s.before+">"))
	if err != nil {
		return nil, fmt.Errorf("list the keys: %w", err)
	}
	var keys []string
	for subject := range info.State.Subjects {
		if key, ok := kv.Unescape(strings.TrimPrefix(subject, s.before)); ok && strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

package leases

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// again repeats an operation at the server until it succeeds, at most for the duration
// most: servers of a cluster need some time to choose another leader. An operation that
// is refused, or whose object does not exist, is not repeated.
func again[T any](ctx context.Context, most time.Duration, try func() (T, error)) (T, error) {
	for until := time.Now().Add(most); ; {
		v, err := try()
		switch {
		case err == nil, ctx.Err() != nil, time.Now().After(until):
			return v, err
		case errors.Is(err, nats.ErrNoResponders), errors.Is(err, nats.ErrTimeout), errors.Is(err, nats.ErrDisconnected), errors.Is(err, context.DeadlineExceeded), errors.Is(err, jetstream.ErrNoStreamResponse):
			pause(ctx, askAgain)
		default:
			return v, err
		}
	}
}

// put stores a file under the hash of its content, unless it is stored already.
func put(ctx context.Context, objects jetstream.ObjectStore, path string) (name string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	name = hex.EncodeToString(sum.Sum(nil))
	if _, err := objects.GetInfo(ctx, name); err == nil {
		return name, nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	if _, err := objects.Put(ctx, jetstream.ObjectMeta{Name: name}, f); err != nil {
		return "", fmt.Errorf("store a bundle: %w", err)
	}
	return name, nil
}

// get returns a reader of the content with a hash. Reading fails if the content has
// another hash or is longer than max bytes. The caller closes it.
func get(ctx context.Context, objects jetstream.ObjectStore, name string, max int64) (io.ReadCloser, error) {
	if b, err := hex.DecodeString(name); err != nil || len(b) != sha256.Size {
		return nil, fmt.Errorf("%w: %.80q is not the name of a bundle", ErrRefused, name)
	}
	info, err := objects.GetInfo(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("fetch the bundle %.12s: %w", name, err)
	}
	if info.Opts != nil && info.Opts.Link != nil {
		return nil, fmt.Errorf("%w: the bundle %.12s is a link", ErrRefused, name)
	}
	if info.Size > uint64(max) {
		return nil, fmt.Errorf("%w: the bundle %.12s has %d bytes, at most %d are taken", ErrRefused, name, info.Size, max)
	}
	in, err := objects.Get(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("fetch the bundle %.12s: %w", name, err)
	}
	return &checked{in: in, name: name, left: max, sum: sha256.New()}, nil
}

// checked is a reader that verifies the hash and size of what was read. The size that the
// server reports is not trusted.
type checked struct {
	in   io.ReadCloser
	name string
	left int64
	sum  hash.Hash
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.sum.Write(p[:n])
	if c.left -= int64(n); c.left < 0 {
		return 0, fmt.Errorf("%w: the bundle %.12s is longer than announced", ErrRefused, c.name)
	}
	if errors.Is(err, io.EOF) && hex.EncodeToString(c.sum.Sum(nil)) != c.name {
		return n, fmt.Errorf("%w: the content of the bundle %.12s does not match its name", ErrRefused, c.name)
	}
	return n, err
}

func (c *checked) Close() error { return c.in.Close() }

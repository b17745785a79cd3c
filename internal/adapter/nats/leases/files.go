package leases

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// files sends and fetches files in parts, which are stored one by one. A file can be
// fetched while it is still made: nobody waits for its end to begin. A transfer ends only
// if no part at all came through for as long as idle. What is on its way at once is
// small, so that a slow connection still carries the signs of life.
type files struct {
	names
	js   jetstream.JetStream
	idle time.Duration
	// moved, if set, is called with how much was sent or fetched so far.
	moved func(done int64)
	// explain, if set, is given the errors of fetching.
	explain func(error) error
}

const (
	partSize  = 128 << 10
	partsOpen = 4
	oneTry    = 10 * time.Second
	// replicaLag is how long a server of a cluster may not have what another one has.
	replicaLag = 2 * time.Second
	// partAgain is when a part is asked for again that is not made yet.
	partAgain = 200 * time.Millisecond
)

// What is stored of a file besides its parts: head before the first one, end after the
// last. Nothing is stored twice, so what is there stays.
const headID, endID = "head", "end"

// end says what was sent.
type end struct {
	Parts  int64  `json:"parts"`
	Size   int64  `json:"size"`
	Sum    string `json:"sum"`              // the SHA-256 of all bytes
	Failed string `json:"failed,omitempty"` // why there is no more of it
}

// newFile returns a name that no other file has.
func newFile() string {
	b := make([]byte, sha256.Size)
	_, _ = rand.Read(b) // which never fails
	return hex.EncodeToString(b)
}

// put stores what write writes as the file with a name. begun is called once others can
// fetch it, perhaps several times: a small one is whole then, so that nobody waits for its end.
func (f files) put(ctx context.Context, name string, write func(io.Writer) error, begun func()) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	last := f.clock()
	store := func(ctx context.Context, id string, b []byte) error {
		_, err := again(ctx, last, func(ctx context.Context) (*jetstream.PubAck, error) {
			return f.js.Publish(ctx, f.partsSubject(name)+id, b, jetstream.WithRetryAttempts(0))
		})
		return err
	}
	if err := store(ctx, headID, nil); err != nil {
		return err
	}
	out, in := io.Pipe()
	go func() { _ = in.CloseWithError(write(in)) }() // which never fails
	sent, err := f.parts(ctx, out, begun, func(ctx context.Context, i int64, b []byte) error {
		err := store(ctx, strconv.FormatInt(i, 10), b)
		if err != nil {
			cancel(err)
		}
		return err
	})
	_ = out.CloseWithError(err) // which never fails
	if err != nil {
		told, cancel := context.WithTimeout(context.WithoutCancel(ctx), oneTry)
		defer cancel()
		// Who reads it would wait for more. If this is lost, it is idle until it gives up.
		_, _ = f.js.Publish(told, f.partsSubject(name)+endID, encode(end{Failed: "its sender could not send all of it"}))
		return err
	}
	err = store(ctx, endID, encode(sent))
	if err == nil {
		begun()
	}
	return err
}

// parts sends what it reads, several parts at once, and returns what was sent.
func (f files) parts(ctx context.Context, in io.Reader, begun func(), send func(context.Context, int64, []byte) error) (sent end, err error) {
	size := min(partSize, max(1<<10, f.js.Conn().MaxPayload()/2))
	sum, free := sha256.New(), make(chan struct{}, partsOpen)
	var done atomic.Int64
	for ended := false; !ended && ctx.Err() == nil; {
		b := make([]byte, size)
		n, err := io.ReadFull(in, b)
		ended = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !ended {
			return sent, err
		}
		if n == 0 {
			break
		}
		if n == len(b) && sent.Parts > 0 {
			begun()
		}
		b, i := b[:n], sent.Parts
		sum.Write(b)
		sent.Parts, sent.Size = sent.Parts+1, sent.Size+int64(n)
		free <- struct{}{}
		go func() {
			defer func() { <-free }()
			if send(ctx, i, b) == nil {
				if d := done.Add(int64(n)); f.moved != nil {
					f.moved(d)
				}
			}
		}()
	}
	for range partsOpen { // until all have ended
		free <- struct{}{}
	}
	sent.Sum = hex.EncodeToString(sum.Sum(nil))
	return sent, context.Cause(ctx)
}

// get returns a reader of the file with a name, of at most most bytes. Reading fails if
// what was stored is not what was sent. The caller closes it.
//
// If dir is set, what arrived is also kept there until the file is whole: after the death
// of a reader the next one begins where it stopped. What is kept of other files is removed.
func (f files) get(ctx context.Context, name, dir string, most int64) (io.ReadCloser, error) {
	if b, err := hex.DecodeString(name); err != nil || len(b) != sha256.Size {
		return nil, fmt.Errorf("%w: %.80q is not the name of a file", ErrRefused, name)
	}
	last := f.clock()
	stream, err := again(ctx, last, func(ctx context.Context) (jetstream.Stream, error) { return f.js.Stream(ctx, f.filesStream()) })
	if err != nil {
		return nil, f.failed(name, err)
	}
	r := &fetched{files: f, name: name, most: most, stream: stream, last: last, sum: sha256.New(), parts: make(chan chan part, partsOpen)}
	ctx, r.end = context.WithCancel(ctx)
	first := int64(0)
	if dir != "" {
		if first, err = r.keep(ctx, dir); err != nil {
			r.Close()
			return nil, f.failed(name, err)
		}
	}
	go func() {
		for i := first; ; i++ {
			one := make(chan part, 1)
			select {
			case r.parts <- one:
				go func() { one <- r.part(ctx, i) }()
			case <-ctx.Done():
				close(r.parts)
				return
			}
		}
	}()
	return r, nil
}

// keptPart is the beginning of the name of what is kept of a file.
const keptPart = "part-"

// keep opens what is kept of the file, and returns the number of the first part that is not.
func (r *fetched) keep(ctx context.Context, dir string) (first int64, err error) {
	others, _ := filepath.Glob(filepath.Join(dir, keptPart+"*"))
	for _, o := range others {
		if filepath.Base(o) != keptPart+r.name {
			_ = os.Remove(o) // the next file tries again
		}
	}
	if r.kept, err = os.OpenFile(filepath.Join(dir, keptPart+r.name), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return 0, err
	}
	info, err := r.kept.Stat()
	if err != nil || info.Size() == 0 {
		return 0, err
	}
	one := r.part(ctx, 0) // all but the last one are as large
	if one.err != nil || len(one.data) == 0 {
		return 0, errors.Join(one.err, r.kept.Truncate(0))
	}
	first = info.Size() / int64(len(one.data))
	r.here = first * int64(len(one.data))
	return first, r.kept.Truncate(r.here)
}

func (f files) failed(name string, err error) error {
	if f.explain != nil {
		err = f.explain(err)
	}
	return fmt.Errorf("fetch the file %.12s: %w", name, err)
}

// part is a part of a file, or all of it if there is no further part.
type part struct {
	data []byte
	all  *end
	err  error
}

// fetched reads a file part by part, and checks its hash and size: what the server has may
// be of anybody.
type fetched struct {
	files
	name   string
	most   int64
	stream jetstream.Stream
	last   *clock // of the parts
	got    int64
	sum    hash.Hash
	parts  chan chan part
	now    []byte
	end    context.CancelFunc
	kept   *os.File // nil: nothing is kept
	here   int64    // how much of what was kept is not read yet
}

// part fetches a part, and waits for one that is not made yet.
func (r *fetched) part(ctx context.Context, i int64) part {
	lost := time.Time{} // since when it should be there
	for ; ; pause(ctx, partAgain) {
		b, err := r.message(ctx, r.last, strconv.FormatInt(i, 10))
		if err == nil || !errors.Is(err, jetstream.ErrMsgNotFound) {
			return part{data: b, err: err}
		}
		raw, none := r.message(ctx, r.clock(), endID)
		var all end
		switch {
		case none == nil && json.Unmarshal(raw, &all) != nil:
			return part{err: fmt.Errorf("%w: it is not of pawl", ErrRefused)}
		case none == nil && all.Failed != "":
			return part{err: fmt.Errorf("%w: %.200q", ErrNetwork, all.Failed)}
		case none == nil && i >= all.Parts:
			return part{all: &all}
		case none != nil:
			if _, err := r.message(ctx, r.clock(), headID); err == nil { // it is not made yet
				if lost = (time.Time{}); time.Now().Before(r.last.until()) {
					continue
				}
				return part{err: fmt.Errorf("%w: no more of it for %s", ErrNetwork, r.idle)}
			}
		}
		if now := time.Now(); lost.IsZero() {
			lost = now // it may just have come, or not be on this server yet
		} else if r.js.Conn().ConnectedClusterName() == "" || now.Sub(lost) >= replicaLag {
			return part{err: err}
		}
	}
}

func (r *fetched) message(ctx context.Context, c *clock, id string) ([]byte, error) {
	return again(ctx, c, func(ctx context.Context) ([]byte, error) {
		m, err := r.stream.GetLastMsgForSubject(ctx, r.partsSubject(r.name)+id)
		if err != nil {
			return nil, err
		}
		return m.Data, nil
	})
}

func (r *fetched) Read(p []byte) (int, error) {
	if r.here > 0 {
		n, err := r.kept.Read(p[:min(int64(len(p)), r.here)])
		if err != nil {
			return n, r.failed(r.name, err)
		}
		r.here -= int64(n)
		return n, r.came(p[:n])
	}
	for len(r.now) == 0 {
		one, more := <-r.parts
		if !more {
			return 0, r.failed(r.name, context.Canceled)
		}
		x := <-one
		if x.err != nil {
			return 0, r.failed(r.name, x.err)
		}
		if x.all != nil {
			if r.kept != nil {
				_ = os.Remove(r.kept.Name()) // the next file tries again
			}
			if x.all.Size != r.got || x.all.Sum != hex.EncodeToString(r.sum.Sum(nil)) {
				return 0, r.failed(r.name, fmt.Errorf("%w: it is not what was sent", ErrRefused))
			}
			return 0, io.EOF
		}
		if r.kept != nil {
			if _, err := r.kept.Write(x.data); err != nil {
				return 0, r.failed(r.name, err)
			}
		}
		if err := r.came(x.data); err != nil {
			return 0, err
		}
		r.now = x.data
	}
	n := copy(p, r.now)
	r.now = r.now[n:]
	return n, nil
}

// came counts what came of the file.
func (r *fetched) came(b []byte) error {
	if r.got += int64(len(b)); r.got > r.most {
		return r.failed(r.name, fmt.Errorf("%w: it is over %d bytes", ErrRefused, r.most))
	}
	r.sum.Write(b)
	if r.moved != nil {
		r.moved(r.got)
	}
	return nil
}

func (r *fetched) Close() error {
	r.end()
	if r.kept != nil {
		return r.kept.Close()
	}
	return nil
}

// clock is when something last came through.
type clock struct {
	idle time.Duration
	last atomic.Int64
}

func (f files) clock() *clock {
	c := &clock{idle: f.idle}
	c.moved()
	return c
}

func (c *clock) moved()           { c.last.Store(time.Now().UnixNano()) }
func (c *clock) until() time.Time { return time.Unix(0, c.last.Load()).Add(c.idle) }

// again repeats an operation at the server until it succeeds or, for as long as the clock
// allows, nothing came through. What is refused is not repeated.
func again[T any](ctx context.Context, c *clock, try func(context.Context) (T, error)) (T, error) {
	for {
		one, cancel := context.WithTimeout(ctx, oneTry)
		v, err := try(one)
		cancel()
		switch {
		case err == nil:
			c.moved()
			return v, nil
		case ctx.Err() != nil:
			return v, errors.Join(context.Cause(ctx), err)
		case !transient(err) || time.Now().After(c.until()):
			return v, err
		}
		pause(ctx, askAgain)
	}
}

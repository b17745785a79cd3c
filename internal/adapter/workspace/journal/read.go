package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
)

// readLimited reads at most limit bytes.
func readLimited(r io.Reader, limit int64) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, limit))
}

// errTorn means that a file changed each time it was read.
var errTorn = errors.New("it changes while it is read")

// content is the content of a file as it was read.
type content struct {
	stamp    stamp
	unstable bool
	id       id     // SHA-256, or of a guess
	git      id     // the object id, if it is needed
	data     []byte // if it is small enough to be kept
	state    state  // lost or guess; the caller decides about kept
}

// tries is how often a file that changes is read again.
const tries = 3

// read reads a file or link. The returned content is that of one moment: the
// stamp was the same before and after. An error wraps fs.ErrNotExist if the
// file is gone; any other failure to read it results in a guess.
func (j *Journal) read(f folder, name string, r *repo) (content, error) {
	var c content
	for range tries {
		st, err := f.stat(name)
		if err != nil {
			return content{}, err
		}
		c = content{stamp: st}
		if st.link() {
			err = c.readLink(f, name)
		} else if !st.dir() && !st.special() {
			err = j.readFile(&c, f, name, r)
		}
		if err == nil {
			after, err := f.stat(name)
			if err == nil && after == st {
				c.unstable = st.unstable(j.now())
				return c, nil
			}
			continue
		}
		if absent(err) || errors.Is(err, errTorn) {
			continue // look again
		}
		c.guess(name) // not readable
		return c, nil
	}
	if st, err := f.stat(name); err != nil {
		return content{}, err
	} else {
		c = content{stamp: st}
	}
	c.guess(name)
	c.unstable = true
	return c, nil
}

func (c *content) readLink(f folder, name string) error {
	target, err := f.readlink(name)
	if err != nil {
		return err
	}
	c.data = []byte(target)
	c.id, c.state = sha256.Sum256(c.data), lost
	return nil
}

func (j *Journal) readFile(c *content, f folder, name string, r *repo) error {
	if c.stamp.size > j.opt.MaxHash {
		c.guess(name)
		return nil
	}
	o, err := f.open(name)
	if err != nil {
		return err
	}
	defer o.close()
	if st, err := o.stamp(); err != nil || st != c.stamp {
		return errTorn
	}
	h := sha256.New()
	ws := []io.Writer{h}
	var buf *bytes.Buffer
	if c.stamp.size <= j.opt.MaxFile {
		buf = bytes.NewBuffer(make([]byte, 0, c.stamp.size+bytes.MinRead))
		ws = []io.Writer{buf}
	} else if r != nil {
		g := r.hasher(c.stamp.size)
		defer func() { g.Sum(c.git[:0]) }()
		ws = append(ws, g)
	}
	n, err := io.Copy(io.MultiWriter(ws...), io.LimitReader(o, c.stamp.size+1))
	if err != nil {
		return err
	}
	if n != c.stamp.size {
		return errTorn
	}
	c.state = lost
	if buf == nil {
		h.Sum(c.id[:0])
		return nil
	}
	c.data = buf.Bytes()
	c.id = sha256.Sum256(c.data)
	if r != nil {
		c.git = r.idOf(c.data)
	}
	return nil
}

// guess sets an id for a file that was not read: no content has it, and it
// changes with the stamp.
func (c *content) guess(name string) {
	b := append([]byte("pawl did not read "+name+"\x00"), 0)
	for _, n := range [...]int64{c.stamp.size, c.stamp.mtime, c.stamp.ctime, int64(c.stamp.ino), int64(c.stamp.mode)} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	c.id, c.state, c.data = sha256.Sum256(b), guess, nil
}

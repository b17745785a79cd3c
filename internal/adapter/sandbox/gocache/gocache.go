// Package gocache is a build cache for go commands in the sandbox: it reads the
// person's and writes one of the sandbox's own, as a program that the go command
// starts (GOCACHEPROG, from Go 1.24 on; older ones do not ask for it).
//
// It promises that nothing is written to the person's cache, and that its
// entries come first: what a command in the sandbox wrote cannot stand in for
// them. It runs inside the sandbox, with the rights of the command that starts
// it, so that nothing needs to be trusted of what it is asked.
package gocache

import (
	"bufio"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Word is the first argument of pawl that makes it this program, before the
// person's cache and the own one.
const Word = "__go-build-cache"

// Setting returns the environment entry by which a go command starts pawl as this
// program. It is "" where the paths cannot be said there.
func Setting(pawl, persons, own string) string {
	words := []string{pawl, Word, persons, own}
	for i, w := range words {
		if strings.ContainsAny(w, "'\n") {
			return ""
		}
		words[i] = "'" + w + "'"
	}
	return "GOCACHEPROG=" + strings.Join(words, " ")
}

// request and response are those of cmd/go/internal/cacheprog.
type request struct {
	ID       int64
	Command  string
	ActionID []byte
	OutputID []byte
	BodySize int64
}

type response struct {
	ID            int64
	Err           string     `json:",omitempty"`
	KnownCommands []string   `json:",omitempty"`
	Miss          bool       `json:",omitempty"`
	OutputID      []byte     `json:",omitempty"`
	Size          int64      `json:",omitempty"`
	Time          *time.Time `json:",omitempty"`
	DiskPath      string     `json:",omitempty"`
}

// Serve answers a go command until it closes the cache. It returns the exit
// code.
func Serve(persons, own string, in io.Reader, out io.Writer) int {
	r, w := bufio.NewReaderSize(in, 64<<10), bufio.NewWriter(out)
	send := json.NewEncoder(w)
	_ = send.Encode(response{KnownCommands: []string{"get", "put", "close"}})
	for {
		// What is answered is sent once nothing more is to be read at once.
		if r.Buffered() == 0 && w.Flush() != nil {
			return 1
		}
		line, err := r.ReadBytes('\n')
		if err != nil {
			return 0 // the go command has ended
		}
		if len(line) <= 1 {
			continue
		}
		var q request
		if err := json.Unmarshal(line, &q); err != nil {
			return 1
		}
		a := response{ID: q.ID}
		switch q.Command {
		case "get":
			a = get(q, persons, own)
		case "put":
			a, err = put(q, own, r)
			if err != nil {
				return 1
			}
		case "close":
			_ = send.Encode(a)
			_ = w.Flush()
			return 0
		default:
			a.Err = "no such command"
		}
		_ = send.Encode(a)
	}
}

// name returns where an action (a) or what it gave (d) is, as the go command has it.
func name(cache string, id []byte, kind string) string {
	h := hex.EncodeToString(id)
	return filepath.Join(cache, h[:2], h+"-"+kind)
}

const idSize = 32

func get(q request, caches ...string) response {
	for _, c := range caches {
		if a, ok := find(q, c); ok {
			return a
		}
	}
	return response{ID: q.ID, Miss: true}
}

func find(q request, cache string) (response, bool) {
	if len(q.ActionID) != idSize || cache == "" {
		return response{}, false
	}
	entry := name(cache, q.ActionID, "a")
	text, err := os.ReadFile(entry)
	if err != nil {
		return response{}, false
	}
	f := strings.Fields(string(text))
	if len(f) != 5 || f[0] != "v1" || f[1] != hex.EncodeToString(q.ActionID) {
		return response{}, false
	}
	output, err := hex.DecodeString(f[2])
	size, err2 := strconv.ParseInt(f[3], 10, 64)
	at, err3 := strconv.ParseInt(f[4], 10, 64)
	if err != nil || err2 != nil || err3 != nil || len(output) != idSize {
		return response{}, false
	}
	data := name(cache, output, "d")
	st, err := os.Stat(data)
	if err != nil || st.Size() != size || !st.Mode().IsRegular() {
		return response{}, false
	}
	when := time.Unix(0, at)
	return response{ID: q.ID, OutputID: output, Size: size, Time: &when, DiskPath: data}, true
}

// put keeps an output. An error is one of the line to the go command, not of the
// disk.
func put(q request, own string, r *bufio.Reader) (response, error) {
	body := io.Reader(strings.NewReader(""))
	if q.BodySize > 0 {
		if err := expect(r, '"'); err != nil {
			return response{}, err
		}
		body = base64.NewDecoder(base64.StdEncoding, &untilQuote{r: r})
	}
	a := response{ID: q.ID}
	file, err := keep(q, own, body)
	if _, rest := io.Copy(io.Discard, body); rest != nil {
		return a, rest
	}
	if err != nil {
		a.Err = err.Error()
		return a, nil
	}
	a.DiskPath, a.Size, a.OutputID = file, q.BodySize, q.OutputID
	return a, nil
}

// keep writes an output and, once it is whole, the action that gave it.
func keep(q request, own string, body io.Reader) (string, error) {
	if len(q.ActionID) != idSize || len(q.OutputID) != idSize {
		return "", errors.New("no such key")
	}
	data := name(own, q.OutputID, "d")
	if st, err := os.Stat(data); err != nil || st.Size() != q.BodySize {
		if err := write(data, body, q.BodySize); err != nil {
			return "", err
		}
	}
	entry := fmt.Sprintf("v1 %x %x %20d %20d\n", q.ActionID, q.OutputID, q.BodySize, time.Now().UnixNano())
	return data, write(name(own, q.ActionID, "a"), strings.NewReader(entry), int64(len(entry)))
}

// write makes a file, whole or not at all.
func write(file string, body io.Reader, size int64) error {
	dir := filepath.Dir(file)
	f, err := os.CreateTemp(dir, ".new-")
	if errors.Is(err, os.ErrNotExist) {
		if err = os.MkdirAll(dir, 0o777); err == nil {
			f, err = os.CreateTemp(dir, ".new-")
		}
	}
	if err != nil {
		return err
	}
	n, err := io.Copy(f, body)
	if err == nil && n != size {
		err = fmt.Errorf("%d bytes came of %d", n, size)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// expect reads up to a sign, over white space.
func expect(r *bufio.Reader, sign byte) error {
	for {
		b, err := r.ReadByte()
		switch {
		case err != nil:
			return err
		case b == sign:
			return nil
		case b != '\n' && b != ' ':
			return fmt.Errorf("%q where %q belongs", b, sign)
		}
	}
}

// untilQuote ends at the end of a JSON string.
type untilQuote struct {
	r    *bufio.Reader
	over bool
}

func (u *untilQuote) Read(p []byte) (int, error) {
	if u.over {
		return 0, io.EOF
	}
	if u.r.Buffered() == 0 {
		if _, err := u.r.Peek(1); err != nil {
			return 0, io.ErrUnexpectedEOF
		}
	}
	b, _ := u.r.Peek(min(len(p), u.r.Buffered()))
	for i, c := range b {
		if c == '"' {
			u.over = true
			n := copy(p, b[:i])
			_, _ = u.r.Discard(i + 1)
			return n, nil
		}
	}
	n := copy(p, b)
	_, _ = u.r.Discard(n)
	return n, nil
}

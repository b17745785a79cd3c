package lsp

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/plainfile"
	"github.com/pawl-agent/pawl/internal/core/sorting"
)

// documentLimit is the largest file that is sent to a server, in bytes. openLimit is how
// many documents are open at once; the least recently used ones are closed.
const (
	documentLimit = 4 << 20
	openLimit     = 128
	// scanEvery is how old a scan of the project's files may be when a request is sent.
	scanEvery = 2 * time.Second
)

const bom = "\ufeff"

// documents are the files as the server knows them. Only the disk counts: there are no
// editor buffers. An open document has the content that its file had when it was last
// read. Changes of other files are reported when their stamps change.
type documents struct {
	mu      sync.Mutex // held while messages are sent, so that they are in order
	open    map[string]*document
	files   map[string]stamp // files of the project, as the server knows them
	scanned time.Time
	clock   int64
}

type document struct {
	lang    string
	version int
	text    *text
	stamp   stamp
	used    int64
}

func (d *documents) init() { d.open = map[string]*document{} }

// load reads a file for a server. A byte order mark is removed, since no editor sends it.
func load(path string) (string, stamp, error) {
	f, err := plainfile.Open(path)
	if err != nil {
		return "", stamp{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return "", stamp{}, err
	}
	if !st.Mode().IsRegular() {
		return "", stamp{}, fmt.Errorf("%s is not a regular file", path)
	}
	if st.Size() > documentLimit {
		return "", stamp{}, fmt.Errorf("%s has %d bytes: language servers are shown files of up to %d", path, st.Size(), documentLimit)
	}
	var b bytes.Buffer
	if _, err := b.ReadFrom(f); err != nil {
		return "", stamp{}, err
	}
	return strings.TrimPrefix(b.String(), bom), stamp{st.Size(), st.ModTime()}, nil
}

// bring sends a file's content on disk to the server, and returns its text.
func (c *client) bring(path, lang string) (*text, error) {
	c.docs.mu.Lock()
	defer c.docs.mu.Unlock()
	return c.bringLocked(path, lang)
}

func (c *client) bringLocked(path, lang string) (*text, error) {
	if d := c.docs.open[path]; d != nil {
		if st, err := os.Stat(path); err == nil && d.stamp == (stamp{st.Size(), st.ModTime()}) && time.Since(d.stamp.mod) > time.Second {
			c.used1(d)
			return d.text, nil // a file that was just written may change again without a new time stamp
		}
	}
	content, st, err := load(path)
	if err != nil {
		if os.IsNotExist(err) {
			c.closeLocked(path)
		}
		return nil, err
	}
	return c.showLocked(path, lang, content, st)
}

func (c *client) used1(d *document) { c.docs.clock++; d.used = c.docs.clock }

// showLocked opens a document with a content, or changes it to that content.
func (c *client) showLocked(path, lang, content string, st stamp) (*text, error) {
	d := c.docs.open[path]
	if d == nil {
		d = &document{lang: lang, version: 1, text: newText(content), stamp: st}
		c.docs.open[path] = d
		c.used1(d)
		c.diags.expect(path, d.version, c.opt.Now())
		err := c.notify("textDocument/didOpen", didOpen{textDocument{toURI(path), lang, d.version, content}})
		c.evictLocked()
		return d.text, err
	}
	c.used1(d)
	d.stamp = st
	if d.text.s == content {
		return d.text, nil
	}
	d.version++
	edit := d.text.change(content, c.enc)
	next := newText(content)
	c.diags.moved(path, edit, c.enc)
	c.diags.expect(path, d.version, c.opt.Now())
	if c.sync.change != 2 {
		edit = contentEdit{Text: content}
	}
	d.text = next
	v := d.version
	if err := c.notify("textDocument/didChange", didChange{documentID{toURI(path), &v}, []contentEdit{edit}}); err != nil {
		return nil, err
	}
	if !c.sync.save {
		return d.text, nil
	}
	saved := didSave{TextDocument: documentID{URI: toURI(path)}}
	if c.sync.saveContent {
		saved.Text = &content
	}
	return d.text, c.notify("textDocument/didSave", saved)
}

func (c *client) closeLocked(path string) {
	if c.docs.open[path] == nil {
		return
	}
	delete(c.docs.open, path)
	c.diags.forget(path)
	_ = c.notify("textDocument/didClose", didClose{documentID{URI: toURI(path)}}) // if the connection is gone, other calls report it
}

// evictLocked closes the documents used longest ago.
func (c *client) evictLocked() {
	for len(c.docs.open) > openLimit {
		oldest := ""
		for p, d := range c.docs.open {
			if oldest == "" || d.used < c.docs.open[oldest].used {
				oldest = p
			}
		}
		c.closeLocked(oldest)
	}
}

// version returns the version of an open document, 0 if it is not open.
func (c *client) version(path string) int {
	c.docs.mu.Lock()
	defer c.docs.mu.Unlock()
	if d := c.docs.open[path]; d != nil {
		return d.version
	}
	return 0
}

// refresh reports to the server what changed on disk since the last report. It is called
// before each request. A server that watches its files itself is told of a change twice,
// which is harmless.
func (c *client) refresh(force bool) {
	c.docs.mu.Lock()
	defer c.docs.mu.Unlock()
	now := c.opt.Now()
	if !force && !c.docs.scanned.IsZero() && now.Sub(c.docs.scanned) < scanEvery {
		return
	}
	found, whole := scan(c.root, c.watches)
	c.docs.scanned = now
	if c.docs.files == nil { // the server reads the project when it starts
		c.docs.files = found
		return
	}
	var events []fileEvent
	for p, st := range found {
		was, known := c.docs.files[p]
		switch {
		case !known:
			events = append(events, fileEvent{toURI(p), fileCreated})
		case was != st:
			events = append(events, fileEvent{toURI(p), fileChanged})
		}
	}
	for p := range c.docs.files {
		if _, there := found[p]; !there && whole {
			events = append(events, fileEvent{toURI(p), fileDeleted})
		}
	}
	if !whole { // files that were not scanned count as unchanged
		for p, st := range c.docs.files {
			if _, there := found[p]; !there {
				found[p] = st
			}
		}
	}
	c.docs.files = found
	for p, d := range c.docs.open {
		if st, err := os.Stat(p); err != nil || d.stamp != (stamp{st.Size(), st.ModTime()}) {
			_, _ = c.bringLocked(p, d.lang) // a file that is gone is closed
		}
	}
	c.tellLocked(events)
}

// tellLocked reports changes of files that are not open.
func (c *client) tellLocked(events []fileEvent) {
	if len(events) == 0 {
		return
	}
	sorting.By(events, func(a, b fileEvent) int { return strings.Compare(a.URI, b.URI) })
	_ = c.notify("workspace/didChangeWatchedFiles", didChangeWatched{events}) // as in closeLocked
}

// changed reports changed files to the server, with their contents on disk. Their earlier
// contents were sent before: see managedServer.before.
func (c *client) changed(paths []string) {
	c.docs.mu.Lock()
	defer c.docs.mu.Unlock()
	var events []fileEvent
	for _, p := range paths {
		lang := c.server.Language(filepath.ToSlash(p))
		st, err := os.Stat(p)
		_, known := c.docs.files[p]
		open := c.docs.open[p] != nil
		switch {
		case err != nil:
			c.closeLocked(p)
			delete(c.docs.files, p)
			events = append(events, fileEvent{toURI(p), fileDeleted})
			continue
		case !st.Mode().IsRegular():
			continue
		case known || open:
			events = append(events, fileEvent{toURI(p), fileChanged})
		default:
			events = append(events, fileEvent{toURI(p), fileCreated})
		}
		if c.docs.files != nil {
			c.docs.files[p] = stamp{st.Size(), st.ModTime()}
		}
		if lang != "" {
			_, _ = c.bringLocked(p, lang) // too large, or gone again: the event is enough
		}
	}
	c.tellLocked(slices.DeleteFunc(events, func(e fileEvent) bool { p, _ := fromURI(e.URI); return !c.watches(p) }))
}

// openOld opens a document with its file's content from before a change.
func (c *client) openOld(path, lang, content string) bool {
	c.docs.mu.Lock()
	defer c.docs.mu.Unlock()
	if c.docs.open[path] != nil || len(content) > documentLimit {
		return false
	}
	_, err := c.showLocked(path, lang, strings.TrimPrefix(content, bom), stamp{})
	return err == nil
}

// dependents lists files that probably use one of the changed files: those whose text has
// the name by which it would be imported. A server that diagnoses only open files would
// not report what broke in them.
func (c *client) dependents(ctx context.Context, changed []string, limit int) []string {
	var names []string
	for _, p := range changed {
		stem := strings.TrimSuffix(filepath.Base(p), filepath.Ext(p))
		stem = strings.TrimSuffix(stem, ".d")
		switch stem {
		case "index", "__init__", "mod", "lib", "main":
			stem = filepath.Base(filepath.Dir(p))
		}
		if stem != "" {
			names = append(names, stem)
		}
	}
	out, _ := c.mention(ctx, names, changed, limit)
	return out
}

// mention lists files whose text has one of the words, newest first. whole is false if
// there may be more.
func (c *client) mention(ctx context.Context, words, except []string, limit int) (out []string, whole bool) {
	found, whole := scan(c.root, func(p string) bool { return c.language(p) != "" && !slices.Contains(except, p) })
	var paths []string
	for p := range found {
		paths = append(paths, p)
	}
	slices.SortFunc(paths, func(a, b string) int {
		if n := found[b].mod.Compare(found[a].mod); n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	for i, p := range paths {
		if i == dependentScan || ctx.Err() != nil {
			return out, false
		}
		if found[p].size > dependentSize {
			whole = false
			continue
		}
		b, err := plainfile.Read(p, dependentSize)
		if err != nil || !slices.ContainsFunc(words, func(w string) bool { return bytes.Contains(b, []byte(w)) }) {
			continue
		}
		if len(out) == limit {
			return out, false
		}
		out = append(out, p)
	}
	return out, whole
}

// openUses opens the files that may use the symbol at a place, for a server that finds
// uses in open files only. It returns false if there may be more such files.
func (c *client) openUses(ctx context.Context, s *spot) bool {
	if !c.server.OpenUses {
		return true
	}
	line := s.text.line(s.pos.Line)
	word := wordHere(line, unitsToBytes(line, s.pos.Character, c.enc))
	if word == "" {
		return true
	}
	files, whole := c.mention(ctx, []string{word}, []string{s.path}, usesLimit)
	for _, f := range files {
		if _, err := c.bring(f, c.language(f)); err != nil {
			whole = false
		}
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	return c.settle(ctx, quiet) && whole
}

// wordHere returns the name at a byte offset of a line.
func wordHere(line string, at int) string {
	ends := func(r rune) bool { return !letter(r) }
	from := 0
	if i := strings.LastIndexFunc(line[:at], ends); i >= 0 {
		_, n := utf8.DecodeRuneInString(line[i:])
		from = i + n
	}
	to := strings.IndexFunc(line[at:], ends)
	if to < 0 {
		to = len(line) - at
	}
	return line[from : at+to]
}

// Limits for dependents and openUses: files, bytes of one file, results.
const (
	dependentScan  = 5_000
	dependentSize  = 512 << 10
	dependentLimit = 30
	usesLimit      = openLimit - 8
)

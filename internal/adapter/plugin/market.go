package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/jsonc"
)

// market is a list of plugins.
type market struct {
	Name     string            `json:"name"`
	Plugins  []json.RawMessage `json:"plugins"`
	Metadata struct {
		PluginRoot string `json:"pluginRoot"`
	} `json:"metadata"`
}

// Choice is the error for a repository that lists several plugins: the person must name
// one of them.
type Choice struct {
	From   string
	Name   string // the name that was requested, "" for none
	Listed []Listed
}

// Listed is a plugin in a list.
type Listed struct{ Name, Description string }

// Error returns a message that lists the plugins.
func (c *Choice) Error() string {
	names := make([]string, 0, len(c.Listed))
	for _, l := range c.Listed {
		names = append(names, l.Name)
	}
	what := "name one of its plugins"
	if c.Name != "" {
		what = fmt.Sprintf("it has no plugin %q", c.Name)
	}
	return fmt.Sprintf("%s is a list of plugins: %s: %s", c.From, what, strings.Join(names, ", "))
}

// Fetch returns a plugin: the repository's own, or the one with this name in its list. It
// installs nothing.
func (s Store) Fetch(ctx context.Context, g Git, from Source, name string) (f *Fetched, err error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, err
	}
	err = s.opened(ctx, g, from, func(r *repository) error {
		rec := Record{From: from.From, Ref: from.Ref, Folder: from.Folder, Commit: r.commit}
		m, err := r.market(ctx, from.Folder)
		switch {
		case err != nil:
			return err
		case m == nil || name == "" && r.has(join(from.Folder, manifestFile)):
			if f, err = r.plugin(ctx, rec); err == nil && name != "" && !strings.EqualFold(name, f.Title) {
				err = fmt.Errorf("%s is the plugin %s, not %s", from, f.Title, name)
			}
		default:
			f, err = s.listed(ctx, r, m, from, name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	f.Name = cmp.Or(f.Name, f.Title)
	return f, checkName(f.Name)
}

// opened fetches a repository into a temporary folder, which is removed after do.
func (s Store) opened(ctx context.Context, g Git, from Source, do func(*repository) error) error {
	temp, err := os.MkdirTemp(s.Dir, ".git-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	r, err := g.open(ctx, from, temp)
	if err != nil {
		return err
	}
	return do(r)
}

func (r *repository) has(name string) bool {
	return slices.ContainsFunc(r.tree, func(e entry) bool { return e.path == name && e.kind == "blob" })
}

// market reads the list of plugins in a repository; nil if it has none.
func (r *repository) market(ctx context.Context, folder string) (*market, error) {
	i := slices.IndexFunc(r.tree, func(e entry) bool { return e.path == join(folder, marketFile) })
	if i < 0 {
		return nil, nil
	}
	if e := r.tree[i]; e.size > 1<<20 || checkEntry(e, e.path) != nil {
		return nil, fmt.Errorf("%s is not a regular file of at most 1 MB", marketFile)
	}
	text, err := r.contents(ctx, r.tree[i:i+1])
	if err != nil {
		return nil, err
	}
	m := &market{}
	if err := json.Unmarshal(jsonc.Plain(text[0]), m); err != nil {
		return nil, fmt.Errorf("%s: %w", marketFile, err)
	}
	return m, nil
}

// listed fetches the plugin with this name in a list; without a name, the only one.
func (s Store) listed(ctx context.Context, r *repository, m *market, from Source, name string) (*Fetched, error) {
	miss := &Choice{From: from.From, Name: name}
	for _, raw := range m.Plugins {
		var e struct {
			fields
			Source json.RawMessage `json:"source"`
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			return nil, fmt.Errorf("%s: %w", marketFile, err)
		}
		miss.Listed = append(miss.Listed, Listed{e.Name, e.Description})
		if !strings.EqualFold(e.Name, name) && (name != "" || len(m.Plugins) != 1) {
			continue
		}
		at, here, err := sourceOf(e.Source, from, m.Metadata.PluginRoot)
		if err != nil {
			return nil, fmt.Errorf("the plugin %s of %s: %w", e.Name, from, err)
		}
		rec := Record{Name: e.Name, From: at.From, Ref: at.Ref, Folder: at.Folder, Market: &from, Entry: raw}
		if here {
			rec.Commit = r.commit
			return r.plugin(ctx, rec)
		}
		var f *Fetched
		err = s.opened(ctx, r.git, at, func(r *repository) error {
			rec.Commit = r.commit
			f, err = r.plugin(ctx, rec)
			return err
		})
		return f, err
	}
	return nil, miss
}

// sourceOf returns where a plugin of a list is: in the same repository (here is true), or
// in another one, which is never a folder of this machine.
func sourceOf(raw json.RawMessage, from Source, root string) (at Source, here bool, err error) {
	var p string
	if json.Unmarshal(raw, &p) == nil {
		if !strings.HasPrefix(p, "./") && root != "" {
			p = root + "/" + p
		}
		p, err = within(p)
		if p == "." {
			p = ""
		}
		at = from
		at.Folder = join(from.Folder, p)
		return at, true, err
	}
	var o struct{ Source, Repo, URL, Path, Ref, Sha string }
	if err := json.Unmarshal(raw, &o); err != nil {
		return at, false, fmt.Errorf("its source cannot be read: %w", err)
	}
	switch o.Source {
	case "github":
		if !shorthand().MatchString(o.Repo) {
			return at, false, fmt.Errorf("%.80q is not a repository of GitHub", o.Repo)
		}
		at.From = "https://github.com/" + o.Repo
	case "url", "git-subdir":
		if at.From = o.URL; shorthand().MatchString(o.URL) {
			at.From = "https://github.com/" + o.URL
		}
	default:
		return at, false, fmt.Errorf("its source is of the kind %.40q: pawl fetches from git repositories", o.Source)
	}
	if at.Ref = o.Ref; o.Sha != "" {
		at.Ref = o.Sha
	}
	if at.Ref != "" {
		err = checkRef(at.Ref)
	}
	if o.Path != "" && err == nil {
		if at.Folder, err = within(o.Path); at.Folder == "." {
			at.Folder = ""
		}
	}
	return at, false, errors.Join(err, checkAddress(at.From))
}

// Update fetches the current version of an installed plugin from its repository. It
// installs nothing.
func (s Store) Update(ctx context.Context, g Git, p Plugin) (*Fetched, error) {
	from := Source{From: p.From, Ref: p.Ref, Folder: p.Folder}
	name := ""
	if p.Market != nil {
		from, name = *p.Market, p.Name
	}
	f, err := s.Fetch(ctx, g, from, name)
	if err == nil && !strings.EqualFold(f.Name, p.Name) {
		err = fmt.Errorf("%s is the plugin %s now, not %s", from, f.Name, p.Name)
	}
	if err == nil {
		f.Name = p.Name
	}
	return f, err
}

func join(folder, name string) string {
	switch {
	case folder == "":
		return name
	case name == "":
		return folder
	}
	return folder + "/" + name
}

// readIn returns a function that reads files of an installed plugin.
func readIn(root fs.FS) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) { return fs.ReadFile(root, name) }
}

package setup

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"github.com/pawl-agent/pawl/internal/adapter/rules"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/guidance"
)

// rulebook reads the rules of a workspace for a session. Secrets in them are
// masked before anything is compared or stored.
type rulebook struct {
	o    rules.Options
	mask func(string) string

	mu    sync.Mutex
	files []string // what was read, and what the rules import
}

// load reads the rules, and remembers their files.
func (b *rulebook) load(ctx context.Context) (rules.Set, error) {
	set, err := rules.Load(ctx, b.o)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(set)
	set.Text = b.mask(set.Text)
	return set, err
}

// add remembers the files of a set. None is forgotten: a file that an earlier state of the
// rules imports is so again after an undo.
func (b *rulebook) add(set rules.Set) {
	for _, f := range set.Read {
		if !slices.Contains(b.files, f) {
			b.files = append(b.files, f)
		}
	}
}

// links remembers where the links in the folders of instructions lead: what is there is read,
// too, and its name protects it nowhere.
func (b *rulebook) links() {
	paths := slices.Concat(guidance.Rules, guidance.Hooks, guidance.RuleFolders, []string{guidance.LocalRules, guidance.OwnRules, guidance.LegacyRules, guidance.Servers}, guidance.Agents)
	for _, at := range guidance.Texts {
		paths = append(paths, at+"/skills", at+"/commands")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	left := mostLinks
	for _, p := range paths {
		// The trailing slash follows a link that is the folder itself.
		_ = filepath.WalkDir(filepath.Join(b.o.Root, filepath.FromSlash(p))+"/", func(name string, d fs.DirEntry, err error) error {
			if left--; err != nil || left < 0 {
				return fs.SkipDir
			}
			b.leads(name)
			return nil
		})
		b.leads(filepath.Join(b.o.Root, filepath.FromSlash(p)))
	}
}

// mostLinks is how many files of instructions are looked at for links.
const mostLinks = 5000

func (b *rulebook) leads(name string) {
	real, err := filepath.EvalSymlinks(name)
	if err == nil && real != filepath.Clean(name) && !slices.Contains(b.files, real) {
		b.files = append(b.files, real)
	}
}

// Files returns the files that were read as rules, or would be.
func (b *rulebook) Files() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.files)
}

// uses returns the files for the permissions, beside those of git.
func (b *rulebook) uses(git func(...string) []tool.GitUse) func(...string) []tool.GitUse {
	return func(files ...string) []tool.GitUse {
		out := git(files...)
		for _, f := range b.Files() {
			out = append(out, tool.GitUse{Path: f, Setting: tool.Instructions})
		}
		return out
	}
}

// Rules returns where the rules of a folder are read from.
func (e *Environment) Rules(dir string, p settings.Paths) rules.Options {
	return rules.Options{Root: dir, Home: e.Env("HOME"), Config: p.Config}
}

// start returns the rules for the system prompt, and the problems with them.
func (b *rulebook) start(ctx context.Context) (string, []string, error) {
	set, err := b.load(ctx)
	b.links()
	return set.Prompt(), set.Warnings, err
}

// notes is session.Config.Rules: it returns changed rules, and those of folders that
// are new to the session. Problems were reported at the start.
func (b *rulebook) notes(ctx context.Context, g session.Guidance) []string {
	var notes []string
	if set, err := b.load(ctx); err == nil {
		if n := set.Changed(g.System, g.Notes); n != "" {
			notes = append(notes, n)
		}
	}
	for _, file := range g.Seen {
		for _, set := range rules.Below(ctx, b.o, file) {
			b.mu.Lock()
			b.add(set)
			b.mu.Unlock()
			set.Text = b.mask(set.Text)
			if n := set.Note(); n != "" && !slices.Contains(g.Notes, n) && !slices.Contains(notes, n) {
				notes = append(notes, n)
			}
		}
	}
	return notes
}

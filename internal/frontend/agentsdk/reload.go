package agentsdk

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"

	"github.com/pawl-agent/pawl/internal/engine/session"
)

// reload opens the session again. So everything that is read when a session begins is read
// anew, the guards too; the log keeps the rest.
func (t *conversation) reload(id string, r request, _ json.RawMessage) (any, error) {
	next := t.setup
	next.Plugins = slices.Concat(next.Plugins, r.Plugins)
	for _, p := range r.Plugins {
		if p.Type != "local" || !filepath.IsAbs(p.Path) {
			return nil, errors.New("add_plugins takes local plugins with an absolute path")
		}
	}
	switch {
	case r.Hold:
		return nil, errors.New("pawl does not know before what a reload changes: ask without hold_on_cache_impact")
	case t.s == nil: // it reads them when it begins
		t.setup = next
		return t.reloaded(r.Subtype), nil
	case t.Reopen == nil:
		return nil, errors.New("a new session reads them")
	case t.busy(), t.late > 0, len(t.s.View().Jobs()) > 0:
		return nil, errors.New("reload_plugins_busy: a turn or something in the background runs; ask again when it has ended")
	}
	t.quiet(true)
	t.late++
	go func() {
		s, err := t.Reopen(t.ctx, next, t.s)
		added := err == nil
		if s == nil && len(r.Plugins) > 0 { // one of them is the cause: it goes on without them
			s, _ = t.Reopen(t.ctx, t.setup, t.s)
		}
		if s != nil && s != t.s && t.servers != nil {
			if _, lost := t.SetServers(t.ctx, t.servers); lost != nil {
				err = errors.Join(err, lost)
			}
		}
		select {
		case t.replies <- func() { t.reopened(id, r, s, added, err) }:
		case <-t.ctx.Done():
		}
	}()
	return nil, errLater
}

// quiet says whether the session is opened again.
func (t *conversation) quiet(is bool) {
	t.reloading = is
	if t.setup.Hooks != nil {
		t.setup.Hooks.reopening.Store(is)
		t.setup.Hooks.reopened.Store(true)
	}
}

// reopened goes on with the session that is open again; nil if it cannot be opened.
func (t *conversation) reopened(id string, r request, s *session.Session, added bool, err error) {
	t.quiet(false)
	if added {
		t.setup.Plugins = slices.Concat(t.setup.Plugins, r.Plugins)
	}
	switch {
	case s == nil: // its guards are gone, so nothing runs any more
		t.unkept, t.s = err, nil
	case s != t.s:
		t.attach(s)
	}
	if err != nil {
		t.w.response(id, nil, err)
	} else {
		t.w.response(id, t.reloaded(r.Subtype), nil)
	}
	t.next()
}

// reloaded is the answer to a reload.
func (t *conversation) reloaded(subtype string) any {
	commands := t.commands()
	if subtype == "reload_skills" {
		return object{"skills": commands[1:]} // without pawl's own
	}
	return object{"commands": commands, "agents": t.kinds(), "plugins": t.w.pluginList(), "mcpServers": t.w.servers(), "error_count": 0}
}

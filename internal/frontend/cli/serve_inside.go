package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/web"
)

// inside is the server of a conversation.
type inside struct {
	mu      sync.Mutex
	serving *serving // nil: none
	// here is the session that the conversation has open in this process.
	here atomic.Pointer[session.Session]
}

// command does what /serve says: starts the server, shows another code if there is one, or
// ends it.
func (i *inside) command(a *App, f *flags, out io.Writer, words string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	c := &cobra.Command{}
	o := serveFlags(c)
	if err := c.ParseFlags(strings.Fields(words)); err != nil {
		return err
	}
	switch args := c.Flags().Args(); {
	case len(args) > 1:
		return errors.New("it takes watch, answer, steer or stop, and flags of pawl serve")
	case len(args) == 1 && args[0] == "stop":
		if i.serving == nil {
			return errors.New("nothing is served; /serve starts it")
		}
		i.stop()
		fmt.Fprintln(out, "pawl serves browsers no longer")
		return nil
	case len(args) == 1:
		o.rights = args[0]
	}
	if i.serving != nil && i.serving.over() {
		i.stop()
	}
	if i.serving == nil {
		s, err := a.startServing(context.Background(), *o, i.here.Load)
		if err != nil {
			return err
		}
		i.serving = s
	} else if !web.Rights(o.rights).Valid() {
		return usageError("it takes watch, answer, steer or stop, not %q", o.rights)
	}
	i.serving.showCode(out, web.Rights(o.rights))
	if f.NoSession {
		fmt.Fprintln(out, "\nThis session is not stored (--no-session), so it is not among them.")
	}
	fmt.Fprintln(out, "\n/serve: another code. It ends with pawl, or with /serve stop.")
	return nil
}

// end ends the server with the conversation.
func (i *inside) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.serving != nil {
		i.stop()
	}
}

func (i *inside) stop() {
	i.serving.end()
	i.serving = nil
}

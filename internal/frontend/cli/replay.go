package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/provider/catalog"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/engine/playback"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// replayCommand plays a recorded session on this build.
func replayCommand(a *App) *cobra.Command {
	f, write, against := &flags{}, "", ""
	c := &cobra.Command{
		Use: "replay [SESSION]", Short: "Play a session again, and say which request this build makes differently",
		Long: `Play a session, by default the newest of this folder, on this build. The recorded
replies are the model, and calls get their recorded results: nothing runs, is sent or
stored. Each request is compared with the recorded one, byte by byte; the first
differences are printed. See doc/replay.md.

Exit code: 0 if all requests are the same, 1 if one differs.`,
		Args: atMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			return a.replay(c.Context(), f, args, write, against)
		},
	}
	c.Flags().StringVarP(&f.Dir, "dir", "C", "", "play in this folder, with its rules, instead of the session's own")
	c.Flags().StringVar(&f.Effort, "effort", "", "the reasoning effort that the session was begun with, if one was given")
	c.Flags().StringVar(&write, "write", "", "write this build's requests to this new file")
	c.Flags().StringVar(&against, "against", "", "compare with the requests that another build wrote")
	return c
}

// exchanged is a line of the file of --write.
type exchanged struct {
	Request int    `json:"request"`
	Body    string `json:"body"`
}

func (a *App) replay(ctx context.Context, f *flags, args []string, write, against string) (err error) {
	st, _, row, err := a.stored(ctx, f.Dir, args...)
	if err != nil {
		return err
	}
	defer st.Close()
	rec, err := playback.Read(st.Read(ctx, row.ID, 0))
	if err != nil {
		return usageError("session %s cannot be played: %w", row.ID, err)
	}
	mask := secrets.New(a.Secrets()...)
	play := playback.New(rec)
	other, err := a.otherRequests(against)
	if err != nil {
		return err
	}
	out := io.Discard
	if write != "" {
		file, err := os.OpenFile(a.Path(write), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return usageError("cannot write the requests to %s: %w", write, err)
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		out = file
	}
	differs := ""
	play.Sent = func(n int, body []byte) error {
		body = mask.MaskBytes(body)
		if against != "" && differs == "" {
			differs = playback.Compare(n, other, body)
		}
		return json.NewEncoder(out).Encode(exchanged{n + 1, string(body)})
	}
	result, err := a.play(ctx, f, row.Dir, rec, play)
	if err != nil {
		return err
	}
	if against != "" && differs == "" && result.Compared < len(other) {
		differs = fmt.Sprintf("the other build made %s, this one %d", plural.Of(len(other), "request"), result.Compared)
	}
	fmt.Fprintln(a.Out, plain.Line(fmt.Sprintf("session %s, %s, recorded by pawl %s: %d of %s compared, %d the same", row.ID, rec.Info.Ref(), rec.Opened.Pawl, result.Compared, plural.Of(result.Recorded, "request"), result.Same)))
	for _, where := range []string{result.Head, result.Size, result.Talk, differs} {
		if where != "" {
			fmt.Fprintln(a.Out, plain.Text(mask.String(where)))
		}
	}
	if result.Cut != "" {
		fmt.Fprintln(a.Out, "not played further: "+result.Cut)
	}
	if against != "" && differs == "" {
		fmt.Fprintln(a.Out, "the other build's requests are the same as this one's")
	}
	if against != "" && differs != "" || against == "" && result.Differs() {
		return &exitError{code: 1}
	}
	return nil
}

// play opens a session that plays, in which nothing is stored.
func (a *App) play(ctx context.Context, f *flags, dir string, rec *playback.Recording, play *playback.Play) (playback.Result, error) {
	f.Dir = cmp.Or(f.Dir, dir)
	if _, err := os.Stat(a.Path(f.Dir)); err != nil {
		return playback.Result{}, usageError("the session's folder cannot be read; name a copy of it with -C: %w", err)
	}
	f.Model, f.Mode, f.NoSession, f.NoAutofix = rec.Info.Ref(), rec.Opened.Mode, true, true
	keys := catalog.KeyNames()
	e := a.Environment
	e.Env = func(name string) string { // nothing is sent, so no key is needed
		if v := a.Env(name); v != "" || !slices.Contains(keys, name) {
			return v
		}
		return "no-key-is-needed-to-play-a-session"
	}
	e.Now, e.Recorded = func() time.Time { return rec.Began }, rec.Head.System
	s, err := e.Open(ctx, &f.Options, setup.Frontend{
		Name: rec.Opened.Front, Person: rec.Person(tools.AskUser().Spec.Name), Configure: play.Configure,
	})
	if err != nil {
		return playback.Result{}, err
	}
	defer s.Close()
	return play.Run(ctx, s.Session)
}

// otherRequests reads the file of another build; "" is none.
func (a *App) otherRequests(name string) (out [][]byte, err error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(a.Path(name))
	if err != nil {
		return nil, usageError("cannot read the other build's requests: %w", err)
	}
	defer file.Close()
	lines := bufio.NewReader(file)
	for d := json.NewDecoder(lines); ; {
		var x exchanged
		if err := d.Decode(&x); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil || x.Request != len(out)+1 {
			return nil, usageError("%s is not a file that pawl replay --write wrote: request %s cannot be read", name, strconv.Itoa(len(out)+1))
		}
		out = append(out, bytes.Clone([]byte(x.Body)))
	}
}

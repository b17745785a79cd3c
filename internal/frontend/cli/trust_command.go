package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/folder"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// noTime is the time of an entry that is stored nowhere.
var noTime time.Time

// inert describes the programs of a folder that do not run.
func inert(e *event.FolderTrust) string {
	if e == nil {
		return ""
	}
	return brief.Inert(*e)
}

// inPawl reports whether this process is a command of another pawl's agent.
func (a *App) inPawl() bool { return a.Env("PAWL_JOB") != "" }

// trustCommand asks a person about a folder, shows its state, and deletes the answer.
func (a *App) trustCommand() *cobra.Command {
	var dir string
	var asJSON, sure bool
	c := &cobra.Command{
		Use: "trust", Short: "Say what a folder may have pawl run by itself", Args: exactly(0),
		Long: `Show what of this folder pawl would run by itself, its checks and the language
servers that run its code, in which words, and ask whether it may. Until then they do not run (and a run without a person
says so). A change of what is shown asks again; an edit of source does not. The
folder alone is trusted: not what is cloned into it or beside it.`,
		RunE: func(*cobra.Command, []string) error {
			if a.inPawl() {
				return usageError("pawl trust is for a person, and this was started by pawl itself")
			}
			t, parts, whole, err := a.trustHere(dir)
			if err != nil {
				return err
			}
			if !asJSON {
				t.show(wrapped(a.Out, true), whole)
			}
			if len(t.verdict.Asks()) > 0 {
				if err := a.decideTrust(t, parts, sure, asJSON); err != nil {
					return err
				}
			}
			if asJSON {
				return a.json(t.report(whole))
			}
			return nil
		},
	}
	c.Flags().BoolVarP(&sure, "yes", "y", false, "trust it without asking")
	status := &cobra.Command{
		Use: "status", Short: "Say whether a folder is trusted, and what changed", Args: exactly(0),
		RunE: func(*cobra.Command, []string) error {
			t, _, whole, err := a.trustHere(dir)
			if err != nil {
				return err
			}
			if asJSON {
				return a.json(t.report(whole))
			}
			t.show(wrapped(a.Out, true), whole)
			return nil
		},
	}
	revoke := &cobra.Command{
		Use: "revoke", Short: "Forget what was said of a folder", Args: exactly(0),
		RunE: func(*cobra.Command, []string) error {
			t, err := a.trustStore(dir)
			if err != nil {
				return err
			}
			path := t.dir
			if e, _ := t.store.Of(t.dir, t.folder); e != nil { // one that can not be read is removed as well
				path = e.Path
			}
			found, err := t.store.Revoke(path)
			switch {
			case err != nil:
				return err
			case asJSON:
				return a.json(map[string]any{"dir": t.dir, "revoked": found})
			case !found:
				return usageError("nothing was said of %s", t.dir)
			}
			fmt.Fprintln(a.Out, plain.Line(t.dir+" is not trusted any more"))
			return nil
		},
	}
	for _, x := range []*cobra.Command{c, status, revoke} {
		x.Flags().StringVarP(&dir, "dir", "C", "", "this folder instead of the current one")
		x.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	}
	c.AddCommand(status, revoke)
	return c
}

// decideTrust reads the person's answer and stores it. Without one, or with a
// no, the error has the exit code of a missing permission.
func (a *App) decideTrust(t *folderTrust, parts []trust.Part, yes, quiet bool) error {
	said := yes
	if !yes {
		if !quiet {
			fmt.Fprint(a.Out, "trust this folder? [y]es, [n]o: ")
		}
		line, err := bufio.NewReader(io.LimitReader(a.In, 1<<10)).ReadString('\n')
		if err != nil && (line == "" || !errors.Is(err, io.EOF)) {
			return &exitError{code: 8, err: errors.New("nobody answered, so nothing is trusted; --yes answers")}
		}
		said = answeredYes(line)
	}
	if err := t.keep(a, said, parts); err != nil {
		return err
	}
	if err := t.judge(parts); err != nil {
		return err
	}
	if left := t.verdict.Asks(); said && len(left) > 0 {
		return &exitError{code: 8, err: fmt.Errorf("%s can not be trusted: %s", left[0].Name, left[0].Why)}
	}
	if quiet {
		return nil
	}
	if !said {
		return &exitError{code: 8, err: errors.New("not trusted")}
	}
	fmt.Fprintln(a.Out, plain.Line(t.dir+" is trusted"))
	return nil
}

// trustStore returns what is stored about a folder, without reading what it configures.
func (a *App) trustStore(dir string) (*folderTrust, error) {
	conf, paths, err := a.settings()
	if err != nil {
		return nil, err
	}
	real, err := a.realDir(&flags{dir: dir})
	if err != nil {
		return nil, err
	}
	t := &folderTrust{dir: real, home: a.Env("HOME"), store: paths.Trust(), finder: finderOf(conf.User, real, a.Env), servers: serverTable(conf.User.LSP), find: a.serverProgram}
	t.folder, err = folder.Identity(real)
	return t, err
}

// trustHere reads all of a folder.
func (a *App) trustHere(dir string) (t *folderTrust, parts []trust.Part, whole bool, err error) {
	if t, err = a.trustStore(dir); err != nil {
		return nil, nil, false, err
	}
	if parts, whole, err = t.everything(); err != nil {
		return nil, nil, false, err
	}
	return t, parts, whole, t.judge(parts)
}

// trustReport is `pawl trust --json`.
type trustReport struct {
	Dir      string      `json:"dir"`
	State    trust.State `json:"state"`
	Declined bool        `json:"declined,omitempty"`
	Replaced bool        `json:"replaced,omitempty"`
	// Whole is false if there are more projects than were read.
	Whole bool        `json:"whole"`
	Parts []trustPart `json:"parts"`
}

type trustPart struct {
	Kind    trust.Kind `json:"kind"`
	Name    string     `json:"name"`
	Runs    []string   `json:"runs,omitempty"`
	From    []string   `json:"from,omitempty"`
	Trusted bool       `json:"trusted"`
	Why     string     `json:"why,omitempty"`
	Changed []string   `json:"changed,omitempty"`
}

func (t *folderTrust) report(whole bool) trustReport {
	r := trustReport{Dir: t.dir, State: t.verdict.State, Declined: t.verdict.Declined, Replaced: t.verdict.Replaced, Whole: whole, Parts: []trustPart{}}
	for _, p := range t.verdict.Parts {
		r.Parts = append(r.Parts, trustPart{Kind: p.Kind, Name: p.Name, Runs: p.Runs, From: p.From, Trusted: p.Trusted, Why: p.Why, Changed: p.Difference()})
	}
	return r
}

// examineTrust is the doctor's finding about the current folder.
func (a *App) examineTrust() finding {
	f := finding{what: "trust"}
	t, _, _, err := a.trustHere("")
	switch {
	case err != nil:
		f.is = err.Error()
	case t.verdict.State == trust.Nothing:
		f.ok, f.is = true, "nothing in this folder would run by itself"
	case t.verdict.State == trust.Trusted:
		f.ok, f.is = true, "what this folder has pawl run may run"
	default:
		f.is, f.do = inert(t.event()), "pawl trust shows them and asks"
	}
	return f
}

package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// trustCommand asks a person about a folder, shows the answer's state, and deletes it.
func trustCommand(a *App) *cobra.Command {
	var dir string
	var asJSON, sure bool
	c := &cobra.Command{
		Use: "trust", Short: "Trust a folder: let pawl run its checks, hooks and servers", Args: exactly(0),
		Long: `Show the programs of this folder that pawl would run by itself (checks, hooks, MCP
servers, language servers), and ask whether it may. pawl asks again if what is shown
changes, but not if source code does. The answer is for this folder only, not for
repositories in it or beside it.`,
		RunE: func(*cobra.Command, []string) error {
			t, parts, whole, err := a.ReadTrust(dir)
			if err != nil {
				return err
			}
			if !asJSON {
				showTrust(wrapped(a.Out, true), t, whole)
			}
			if len(t.Assessment.Asks()) > 0 {
				if err := decideTrust(a, t, parts, sure, asJSON); err != nil {
					return err
				}
			}
			if asJSON {
				return printJSON(a.Out, reportOf(t, whole))
			}
			return nil
		},
	}
	c.Flags().BoolVarP(&sure, "yes", "y", false, "trust the folder; do not ask for confirmation")
	status := &cobra.Command{
		Use: "status", Short: "Show whether a folder is trusted, and what changed", Args: exactly(0),
		RunE: func(*cobra.Command, []string) error {
			t, _, whole, err := a.ReadTrust(dir)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(a.Out, reportOf(t, whole))
			}
			showTrust(wrapped(a.Out, true), t, whole)
			return nil
		},
	}
	revoke := &cobra.Command{
		Use: "revoke", Short: "Delete your answer for a folder", Args: exactly(0),
		RunE: func(*cobra.Command, []string) error {
			t, err := a.StoredTrust(dir)
			if err != nil {
				return err
			}
			found, err := t.Revoke()
			switch {
			case err != nil:
				return err
			case asJSON:
				return printJSON(a.Out, map[string]any{"dir": t.Dir, "revoked": found})
			case !found:
				return usageError("no answer is stored for %s", t.Dir)
			}
			fmt.Fprintln(a.Out, plain.Line(t.Dir+" is no longer trusted"))
			return nil
		},
	}
	for _, x := range []*cobra.Command{c, status, revoke} {
		x.Flags().StringVarP(&dir, "dir", "C", "", "use this folder instead of the current one")
		x.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	}
	a.forPerson(c) // an agent may see its state, and revoke
	c.AddCommand(status, revoke)
	return c
}

// decideTrust reads the person's answer and stores it. Without an answer, or after a
// no, the error has the exit code of a missing permission.
func decideTrust(a *App, t *setup.Trust, parts []trust.Part, yes, quiet bool) error {
	said := yes
	if !yes {
		question := "trust this folder? [y]es, [n]o: "
		if quiet {
			question = ""
		}
		var err error
		if said, err = a.saysYes(question, "there was no answer, so nothing is trusted; to trust without a question: --yes"); err != nil {
			return err
		}
	}
	if err := t.Answer(said, parts, a.Now()); err != nil {
		return err
	}
	if left := t.Assessment.Asks(); said && len(left) > 0 {
		return &exitError{code: 8, err: fmt.Errorf("%s cannot be trusted: %s", left[0].Name, left[0].Why)}
	}
	if quiet {
		return nil
	}
	if !said {
		return &exitError{code: 8, err: errors.New("not trusted")}
	}
	fmt.Fprintln(a.Out, plain.Line(t.Dir+" is trusted"))
	return nil
}

// trustReport is the output of `pawl trust --json`.
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

func reportOf(t *setup.Trust, whole bool) trustReport {
	r := trustReport{Dir: t.Dir, State: t.Assessment.State, Declined: t.Assessment.Declined, Replaced: t.Assessment.Replaced, Whole: whole, Parts: []trustPart{}}
	for _, p := range t.Assessment.Parts {
		r.Parts = append(r.Parts, trustPart{Kind: p.Kind, Name: p.Name, Runs: p.Runs, From: p.From, Trusted: p.Trusted, Why: p.Why, Changed: p.Difference()})
	}
	return r
}

// examineTrust returns the finding of `pawl doctor` about the current folder.
func (a *App) examineTrust() finding {
	f := finding{what: "trust"}
	t, _, _, err := a.ReadTrust("")
	switch {
	case err != nil:
		f.is = err.Error()
	case t.Assessment.State == trust.Nothing:
		f.ok, f.is = true, "this folder configures nothing that pawl runs automatically"
	case t.Assessment.State == trust.Trusted:
		f.ok, f.is = true, "pawl may run the programs that this folder configures"
	default:
		f.is, f.do = brief.Inert(*t.Event()), "pawl trust shows them and asks you"
	}
	return f
}

// saysYes reads a yes or a no. Without an answer, its error has the exit code of a missing
// permission, and says what to do.
func (a *App) saysYes(question, none string) (bool, error) {
	fmt.Fprint(a.Out, question)
	line, err := bufio.NewReader(io.LimitReader(a.In, 1<<10)).ReadString('\n')
	if err != nil && (line == "" || !errors.Is(err, io.EOF)) {
		if question != "" {
			fmt.Fprintln(a.Out)
		}
		return false, &exitError{code: 8, err: errors.New(none)}
	}
	return answeredYes(line), nil
}

func answeredYes(answer string) bool {
	w := strings.ToLower(strings.TrimSpace(answer))
	return w == "y" || w == "yes"
}

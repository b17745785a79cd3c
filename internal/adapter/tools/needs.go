package tools

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/confine"
	"github.com/pawl-agent/pawl/internal/policy/host"
)

// This file reports to the model what the sandbox refused to a command. The model can
// request that access with the same words, as "needs" of the next call (SPEC 16.12).

// addNeeds adds a call's needs to its footprint.
func addNeeds(env tool.Env, f *tool.Footprint, needs []string) error {
	for _, n := range needs {
		act, what, _ := strings.Cut(strings.TrimSpace(n), " ")
		what = strings.TrimSpace(what)
		switch {
		case act == "unconfined" && what == "":
			f.Unconfined = true
		case what == "" || strings.ContainsAny(what, "\x00\n\r"):
			return failf("needs holds %q: say \"write PATH\", \"read PATH\", \"host NAME\" or \"unconfined\"", n)
		case act == "host", act == "connect":
			if _, err := host.ParseGrant(what); err != nil || strings.Contains(what, "*") {
				return failf("needs holds %q: say a host as example.org, example.org:8443 or 127.0.0.1:5432", n)
			}
			f.Hosts = append(f.Hosts, what)
		case act == "write", act == "read", act == "remove":
			path, err := neededPath(env, what)
			if err != nil {
				return err
			}
			f.Resolved = append(f.Resolved, tool.ResolvedPath{Path: path, Named: what, Write: act != "read"})
		default:
			return failf("needs holds %q: there is no need %q; say \"write PATH\", \"read PATH\", \"host NAME\" or \"unconfined\"", n, act)
		}
	}
	return nil
}

// neededPath returns a needed path with ~ and symlinks resolved.
func neededPath(env tool.Env, p string) (string, error) {
	if rest, ok := strings.CutPrefix(p, "~/"); ok {
		p = filepath.Join(os.Getenv("HOME"), rest)
	}
	if env.Files == nil {
		return "", failf("this session has no files")
	}
	clean, inside, err := env.Files.Resolve(p)
	if err != nil {
		return "", err
	}
	if inside {
		clean = filepath.Join(env.Files.Root(), clean)
	}
	return clean, nil
}

// withRefused adds to a result what the sandbox refused. It is in the last line, which no
// command can print.
func withRefused(env tool.Env, r tool.Result, ran tool.Ran, cmds []shellsyntax.Command) tool.Result {
	ran.Refused = slices.DeleteFunc(slices.Clone(ran.Refused), func(r process.Refusal) bool { return Optional(r, ran, cmds...) })
	if env.Closed != nil {
		for i, f := range ran.Refused {
			ran.Refused[i].Closed = env.Closed(f)
		}
	}
	r.Refused = Blamed(ran, cmds...)
	if note := refusedNote(env, ran, cmds); note != "" {
		r.Text += "\n" + note
	}
	if rs, more := Told(ran.Refused, false); len(rs) > 0 && failedRan(ran) {
		r.Note += "; the sandbox refused " + rs[0].String() // a person sees the cause, too
		if more += len(rs) - 1; more > 0 {
			r.Note += fmt.Sprintf(" and %d more", more)
		}
	}
	return r
}

// refusedShown is how many refusals of a command the model is shown.
const refusedShown = 5

// refusedNote describes what the sandbox refused to a command, and the next step that works
// in this run, "" if nothing is known.
func refusedNote(env tool.Env, ran tool.Ran, cmds []shellsyntax.Command) string {
	var out []string
	if ran.Stopped != "" {
		out = append(out, "[the sandbox stopped it: "+ran.Stopped+"]")
	}
	failed := failedRan(ran)
	refused := ran.Refused
	if !failed { // programs try more than they need: only what one complains about matters
		refused = slices.DeleteFunc(slices.Clone(refused), func(r process.Refusal) bool { return !complains(ran.Output, r) })
	}
	if rs, n := Told(refused, failed); len(rs) > 0 {
		more := ""
		if n > 0 {
			more = fmt.Sprintf(", and %d more", n)
		}
		var said []string
		for _, r := range rs {
			said = append(said, r.String())
		}
		out = append(out, "[the sandbox refused: "+strings.Join(said, ", ")+more+nextStep(env, rs, cmds)+"]")
	}
	if len(out) == 0 && failed && ran.Nameless {
		step := "if one is needed, ask for it with \"needs\": [\"host NAME\"] in the same call"
		if env.Nobody {
			step = "a run with --allow 'network(NAME)' may reach one"
		}
		out = append(out, "[commands reach no host but those that were granted; "+step+"]")
	}
	if len(out) == 0 && failed && ran.ReadOnly && !ran.TimedOut && len(cmds) > 0 && !command.ReadOnly(cmds...) {
		out = append(out, "[it ran read-only: no file can be changed, and there is no network]")
	}
	return strings.Join(out, "\n")
}

// nextStep returns how the first of these accesses that can be allowed is allowed, "" if
// none can be: the model asks the person by naming it, and where nobody is there, whoever
// starts the next run gives a flag.
func nextStep(env tool.Env, rs []process.Refusal, cmds []shellsyntax.Command) string {
	root := ""
	if env.Files != nil {
		root = env.Files.Root()
	}
	if env.Nobody && slices.ContainsFunc(rs, func(r process.Refusal) bool { return r.Act == process.ActChange }) {
		return "; nobody is here to allow changes by this command, a run with --permission-mode auto may make them"
	}
	if slices.ContainsFunc(rs, ofGoModules) {
		if env.Nobody {
			return "; Go modules are missing, a run with --allow 'unconfined(go mod download)' may get them"
		}
		return "; Go modules are missing: run go mod download as a call of its own with \"needs\": [\"unconfined\"]"
	}
	need, rule := "", ""
	if i := slices.IndexFunc(rs, askable); i >= 0 {
		need, rule = rs[i].Act+" "+rs[i].What, tool.EditFamily
		switch rs[i].Act {
		case process.ActRead:
			rule = tool.ReadFamily
		case process.ActHost, process.ActConnect:
			rule = "network"
		}
		if rule += "(" + strings.TrimPrefix(rs[i].What, root+"/") + ")"; rule == rs[i].Rule {
			rule = "" // which asks: between equals it still does
		}
	} else if i := slices.IndexFunc(rs, ofGit); i >= 0 {
		if path := rs[i].What; strings.Contains(path, "/.git/config") || strings.Contains(path, "/.git/hooks") {
			return "; git's settings and hooks stay closed to commands: say what the person should change"
		}
		need = "unconfined"
		if i := slices.IndexFunc(cmds, func(c shellsyntax.Command) bool { return c.Name() == "git" }); i >= 0 {
			rule = need + "(" + cmds[i].String() + ")"
		}
	}
	switch {
	case need == "" || env.Nobody && rule == "":
		return ""
	case !env.Nobody:
		return fmt.Sprintf("; if the command cannot do without it, name it with \"needs\": [%q] in the same call", need)
	}
	return "; nobody is here to allow it, a run with --allow " + shellsyntax.Quote(rule) + " may do it"
}

// ofGit reports whether a refusal is about what git keeps in a .git.
func ofGit(r process.Refusal) bool { return strings.Contains(r.What+"/", "/.git/") }

// ofGoModules reports whether a refusal is about Go's module cache, or a folder above it that
// is not there yet: go writes to it for each module that it lacks.
func ofGoModules(r process.Refusal) bool {
	home := os.Getenv("HOME")
	gopath, _, _ := strings.Cut(cmp.Or(os.Getenv("GOPATH"), home+"/go"), ":")
	cache := cmp.Or(os.Getenv("GOMODCACHE"), gopath+"/pkg/mod")
	return r.Act == process.ActWrite && !strings.HasPrefix(home+"/", r.What+"/") && (strings.HasPrefix(r.What, cache+"/cache/") || strings.HasPrefix(cache+"/", r.What+"/"))
}

// complains reports whether a line of an output is about a refusal: it names the host, or
// the file together with the error of the system.
func complains(output string, r process.Refusal) bool {
	for line := range strings.Lines(output) {
		switch r.Act {
		case process.ActHost, process.ActConnect, process.ActListen:
			name, _, _ := strings.Cut(r.What, " ")
			if i := strings.LastIndexByte(name, ':'); i > 0 {
				name = name[:i]
			}
			if strings.Contains(line, name) {
				return true
			}
		default:
			if strings.Contains(line, filepath.Base(r.What)) && slices.ContainsFunc(denials[:], func(d string) bool { return strings.Contains(line, d) }) {
				return true
			}
		}
	}
	return false
}

// denials are the errors of what the sandbox refuses, as programs print them.
var denials = [...]string{"ermission denied", "peration not permitted", "ead-only file system", "EACCES", "EPERM", "EROFS"}

// askable reports whether a person can allow an access by its name: not what is closed, nor
// that to a key, nor to what git keeps.
func askable(r process.Refusal) bool {
	if r.Closed != "" {
		return false
	}
	switch r.Act {
	case process.ActWrite, process.ActRemove, process.ActRead:
		return !ofGit(r) && !confine.MayHoldKeys(r.What, func(string) bool { return false })
	case process.ActHost, process.ActConnect:
		g, err := host.ParseGrant(r.What)
		return err == nil && !g.LinkLocal() && !strings.Contains(r.What, "*") // no cloud's metadata, which gives keys
	}
	return false
}

// Told returns the refusals of a command that are shown to the model, and the number of
// the others.
func Told(refused []process.Refusal, failed bool) (told []process.Refusal, more int) {
	if !failed {
		refused = slices.DeleteFunc(slices.Clone(refused), incidental)
	}
	n := min(len(refused), refusedShown)
	return refused[:n], len(refused) - n
}

// Blamed returns the refusals that may be the reason why a command failed. A program's
// own files in a home folder count only if the command's output names them.
func Blamed(ran tool.Ran, cmds ...shellsyntax.Command) []process.Refusal {
	if ran.Exit == nil || *ran.Exit == 0 || ran.TimedOut || ran.Stopped != "" {
		return nil
	}
	out := slices.DeleteFunc(slices.Clone(ran.Refused), func(r process.Refusal) bool {
		return Optional(r, ran, cmds...) || incidental(r) && !strings.Contains(ran.Output, filepath.Base(r.What))
	})
	return out[:min(len(out), refusedShown)]
}

// Optional reports whether a refusal is about what a program does without, and which the
// output does not name: git's lock to store what it found out about the files, and what go
// remembers of the version that it works on. A git that changes the repository needs its lock,
// and git stash fails without it and without a word.
func Optional(r process.Refusal, ran tool.Ran, cmds ...shellsyntax.Command) bool {
	name := filepath.Base(r.What)
	lock := ofGit(r) && name == "index.lock" && !(failedRan(ran) && slices.ContainsFunc(cmds, changesGit))
	version := ofGoModules(r) && strings.Contains(name, ".info") && strings.HasSuffix(name, ".tmp")
	return (lock || version) && !strings.Contains(ran.Output, name)
}

// changesGit reports whether a command is a git that does more than look.
func changesGit(c shellsyntax.Command) bool {
	c.Redirects = nil // they are the shell's
	return c.Name() == "git" && !command.ReadOnly(c)
}

// incidental reports whether a refusal is about a program's own files in a home folder
// (counters, histories, caches). After a successful command these are not reported.
func incidental(r process.Refusal) bool {
	home := os.Getenv("HOME")
	rest, ok := strings.CutPrefix(r.What, home+"/.")
	return home != "" && ok && rest != "" && (r.Act == "write" || r.Act == "remove")
}

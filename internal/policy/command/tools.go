package command

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// goTool returns the effect of go: the accepted subcommands build and run nothing of
// the project. Closed forbids what they could fetch.
func goTool(_ string, args []shellsyntax.Word) Effect {
	if len(args) == 0 || !args[0].Known {
		return other("go without a subcommand that is known")
	}
	sub, rest := args[0].Text, args[1:]
	r := usage{exact: true}
	switch sub {
	case "version":
		r.dash = "m v"
	case "help":
		r.operands = text
	case "doc":
		r.dash, r.operands = "all c cmd short src u", text
	case "list":
		r.dash, r.operands = "json? m f= deps test e find tags= mod= buildvcs=", text
	case "env":
		r.dash, r.operands = "json changed !w !u", text
	case "mod":
		if len(rest) == 0 || !isOneOf(rest[0], "graph", "why", "verify") {
			return other("go mod changes go.mod or fetches modules")
		}
		rest = rest[1:]
		r.dash, r.operands = "m vendor go= x", text
	case "tool":
		if len(rest) == 0 {
			return Effect{Kind: Reads}
		}
		if !isOneOf(rest[0], "cover") {
			return other("go tool " + rest[0].Text + " is not known to be harmless")
		}
		rest = rest[1:]
		r.dash, r.operands = "func<", text
		if len(rest) == 0 {
			return other("go tool cover without -func")
		}
	default:
		return other("go " + sub + " is not known to be harmless")
	}
	// A package pattern may be a glob of folders.
	for i, a := range rest {
		if a.Glob && !mayBeOption(a) {
			rest = append(append(rest[:i:i], shellsyntax.Word{Text: cmp.Or(a.Prefix, "."), Known: true}), rest[i+1:]...)
		}
	}
	opts, operands, why := r.scan(rest)
	if why != "" {
		return other("go " + sub + " " + why)
	}
	e := Effect{Kind: Reads}
	for _, o := range opts {
		switch {
		case o.name == "-mod" && !isOneOf(o.value, "readonly", "vendor"):
			return other("go -mod=mod changes go.mod")
		case o.name == "-func":
			e.Reads = append(e.Reads, o.value)
		}
	}
	for _, w := range operands {
		switch {
		case strings.Contains(w.Text, "@") && sub != "help":
			return other("go " + sub + " " + w.Text + " fetches a module")
		case sub == "version", strings.HasPrefix(w.Text, "."), strings.HasPrefix(w.Text, "/"):
			e.Reads = append(e.Reads, shellsyntax.Word{Text: strings.TrimSuffix(w.Text, "..."), Known: w.Known, Prefix: w.Prefix, Blank: w.Blank, Glob: w.Glob})
		}
	}
	return e
}

// npmTool returns the effect of npm and the like: the accepted forms report on the
// packages that exist.
func npmTool(name string, args []shellsyntax.Word) Effect {
	if len(args) == 0 || !args[0].Known {
		return other(name + " without a subcommand that is known")
	}
	r := usage{short: "aglp", long: "all depth= json long parseable prod production dev only= omit= include= link global", operands: text, exact: true}
	switch args[0].Text {
	case "ls", "list", "ll", "la", "root", "prefix", "bin", "explain", "why", "help", "-v":
		return r.effect(name, args[1:])
	case "pkg":
		if len(args) > 1 && isOneOf(args[1], "get") {
			return r.effect(name, args[2:])
		}
	case "run", "run-script":
		if len(args) == 1 {
			return Effect{Kind: Reads} // it lists the scripts
		}
	}
	return other(name + " " + args[0].Text + " is not known to be harmless")
}

// pipTool returns the effect of pip: the accepted forms report on installed packages.
// Each subcommand has its own options: pip takes an option of another subcommand as an
// abbreviation, and --local for --local-log.
func pipTool(_ string, args []shellsyntax.Word) Effect {
	if len(args) == 0 || !args[0].Known {
		return other("pip without a subcommand that is known")
	}
	r := usage{short: "vq", long: "verbose quiet disable-pip-version-check no-color", operands: text, exact: true}
	switch args[0].Text {
	case "list":
		r.short, r.long = r.short+"el", r.long+" format= local user exclude= not-required editable"
	case "freeze":
		r.short, r.long = r.short+"l", r.long+" local user all exclude="
	case "show":
		r.short, r.long = r.short+"f", r.long+" files"
	case "inspect":
		r.long += " local user"
	case "check", "help":
	default:
		return other("pip " + args[0].Text + " is not known to be harmless")
	}
	return r.effect("pip", args[1:])
}

// python returns the effect of python: only its own modules that report are accepted,
// and only with -I; otherwise its folder would precede its own library.
func python(_ string, args []shellsyntax.Word) Effect {
	if len(args) >= 3 && isOneOf(args[0], "-I") && isOneOf(args[1], "-m") {
		switch args[2].Text {
		case "json.tool":
			e := usage{long: "sort-keys no-ensure-ascii json-lines indent= tab no-indent compact", most: 2, exact: true}.effect("json.tool", args[3:])
			return e
		case "tabnanny", "platform", "sysconfig":
			return usage{exact: true}.effect(args[2].Text, args[3:])
		}
	}
	return other("python runs code")
}

// Of the programs that pack files, only listing an archive is accepted: it only reads.

func zipinfo(name string, args []shellsyntax.Word) Effect {
	return usage{short: "12smlvhtTzMC", exact: true}.first(name, args)
}

func unzip(name string, args []shellsyntax.Word) Effect {
	if len(args) == 0 || !args[0].Known || !strings.HasPrefix(args[0].Text, "-") || !strings.ContainsAny(args[0].Text, "lvtpcZ") {
		return other("unzip writes files")
	}
	return usage{short: "lvtpcZq12smhCz", exact: true}.first(name, args) // -T sets the time of the archive
}

func compressor(name string, args []shellsyntax.Word) Effect {
	opts, operands, why := usage{short: "cdtlvqkf", long: "stdout to-stdout decompress uncompress list test verbose quiet", exact: true}.scan(args)
	if why != "" {
		return other(name + " " + why)
	}
	has := func(names string) bool { return slices.ContainsFunc(opts, func(o opt) bool { return o.is(names) }) }
	// Of -t and -d, some programs obey the last one, and -d writes.
	if has("-c --stdout --to-stdout") || has("-l -t --list --test") && !has("-d --decompress --uncompress") {
		return Effect{Kind: Reads, Reads: operands}
	}
	return other(name + " writes files")
}

func tar(_ string, args []shellsyntax.Word) Effect {
	if len(args) == 0 || !args[0].Known {
		return other("tar with what cannot be known before")
	}
	if t := args[0].Text; !strings.HasPrefix(t, "-") {
		args = append([]shellsyntax.Word{{Text: "-" + t, Known: true}}, args[1:]...)
	}
	opts, _, why := usage{short: "tvzjJf=aC<", long: "list verbose file= gzip gunzip bzip2 xz zstd directory< wildcards strip-components= exclude= full-time numeric-owner", exact: true}.scan(args)
	if why != "" {
		return other("tar " + why)
	}
	e := Effect{Kind: Reads}
	list, file := false, false
	for _, o := range opts {
		switch {
		case o.is("-t --list"):
			list = true
		case o.is("-f --file"):
			// The letters before the dash take their values in turn, so f must be the
			// last of its cluster to be parsed as tar does.
			file = true
			if !o.value.Known || strings.Contains(o.value.Text, ":") {
				return other("tar reads an archive of another machine")
			}
			e.Reads = append(e.Reads, o.value)
		case o.is("-C --directory"):
			e.Reads = append(e.Reads, o.value)
		}
	}
	if !list || !file {
		return other("tar without t and f")
	}
	if t := args[0].Text; strings.Contains(t, "f") && !strings.HasPrefix(t, "--") && !strings.HasSuffix(t, "f") {
		return other("tar with letters after f")
	}
	return e
}

// first is effect for programs whose first operand is a file, and the rest are names in
// it.
func (r usage) first(name string, args []shellsyntax.Word) Effect {
	_, operands, why := r.scan(args)
	if why != "" {
		return other(name + " " + why)
	}
	if len(operands) > 0 && operands[0].Known && (operands[0].Text == "-" || strings.ContainsAny(operands[0].Text, "*?[")) {
		return other(name + " looks for the archive itself")
	}
	return Effect{Kind: Reads, Reads: operands[:min(1, len(operands))]}
}

// pager returns the effect of pagers: without a terminal they print.
func pager(name string, args []shellsyntax.Word) Effect {
	for _, a := range args {
		if strings.HasPrefix(a.Text, "+") {
			return other(name + " " + a.Text + " runs a command of its own")
		}
	}
	return usage{short: "NnSsRrXFiIMmEeGgJVqQuUwWdcfx=z=", exact: true, digits: true}.effect(name, args)
}

func manual(name string, args []shellsyntax.Word) Effect {
	if slices.ContainsFunc(args, func(a shellsyntax.Word) bool { return strings.Contains(a.Text, "/") }) {
		return other(name + " with a file may run what it formats it with")
	}
	return usage{short: "kfaw", operands: text, exact: true}.effect(name, args)
}

package command

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"mvdan.cc/sh/v3/syntax"
)

type does int

const (
	reading does = iota
	writing
	removing
)

// spec says how a program reads its arguments. A long option may be shortened
// by the person who writes it, which is why bad ones are listed and not good
// ones; where a program's options are too many to be sure, it is not listed.
type spec struct {
	vals    string // letters of the short options that take a value
	long    string // long options that take their value in the next word
	bad     string // options that make it write, send or run something
	first   bool   // the first operand is a pattern, unless…
	pattern string // …one of these options gave it; their values are no paths
	text    string // options whose values are no paths
	recurse string // options that mean all below
	none    bool   // operands are no paths
	most    int    // one more than the operands it may have
	does    does
	skip    int // operands before the paths, of writing ones
}

// specOf is the table of programs that only read, or only change the files
// that they name. It is a switch and no map so that start-up pays nothing.
func specOf(name string) (spec, bool) {
	switch name {
	case "ls", "dir":
		return spec{vals: "wTI", long: "width tabsize ignore hide", text: "-I --ignore --hide"}, true
	case "cat", "tac", "rev":
		return spec{}, true
	case "stat", "readlink", "realpath", "nl", "cmp", "comm", "paste", "join", "fold", "expand", "unexpand", "strings",
		"cksum", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "sum", "shasum":
		return spec{vals: "twsdjIaT12o", long: "tabs width spaces delimiters"}, true
	case "file":
		return spec{vals: "efFmP", bad: "-C --compile -m --magic-file -S --no-sandbox"}, true
	case "head", "tail":
		return spec{vals: "ncs", long: "lines bytes pid sleep-interval"}, true
	case "wc":
		return spec{long: "files0-from"}, true
	case "du", "df":
		return spec{vals: "dBtX", long: "max-depth block-size threshold exclude exclude-from type"}, true
	case "diff":
		return spec{vals: "UCxXIWFSDt", long: "unified context exclude", text: "-x -I -F --exclude"}, true
	case "cut":
		return spec{vals: "bcdf", long: "bytes characters delimiter fields output-delimiter", text: "-d --delimiter --output-delimiter"}, true
	case "od", "hexdump":
		return spec{vals: "AjNtwensf", text: "-e"}, true
	case "column":
		return spec{vals: "cstoNRHTO", text: "-s -o"}, true
	case "uniq":
		return spec{vals: "fsw", most: 2}, true
	case "tree":
		return spec{vals: "LIPHT", bad: "-o --output -R", text: "-I -P"}, true
	case "sort":
		return spec{vals: "ktSoT", bad: "-o --output --compress-program -T --temporary-directory", text: "-t -k"}, true
	case "grep", "egrep", "fgrep":
		return spec{vals: "efmABCdD", long: "regexp file max-count after-context before-context context", first: true, pattern: "-e --regexp -f --file", text: "-e --regexp --include --exclude --exclude-dir --label --color"}, true
	case "rg":
		return spec{
			vals: "efgtTmABCjMdrE", long: "regexp file glob iglob type type-not max-count after-context before-context context threads max-columns max-depth replace sort sortr color colors encoding ignore-file engine path-separator pre pre-glob hostname-bin type-add",
			bad: "--pre --hostname-bin --search-zip -z --hyperlink-format", first: true, pattern: "-e --regexp -f --file --files --type-list",
			text: "-e --regexp -g --glob --iglob -r --replace --path-separator --type-add --field-match-separator",
		}, true
	case "fd", "fdfind":
		return spec{vals: "dtesEcjSo", long: "max-depth type extension exclude color threads size base-directory search-path exec exec-batch format", bad: "-x --exec -X --exec-batch", first: true, text: "-E --exclude --format"}, true
	case "jq":
		return spec{bad: "--rawfile --slurpfile -f --from-file -L --run-tests --args --jsonargs --arg --argjson", first: true}, true
	case "echo", "true", "false", ":", "pwd", "basename", "dirname", "type", "which", "seq", "sleep", "tr", "whoami", "id", "uname", "arch", "nproc", "groups", "expr", "exit", "return", "break", "continue", "command", "tty", "hash":
		if name == "hash" {
			return spec{none: true, bad: "-p -d -r"}, true
		}
		return spec{none: true}, true
	case "hostname":
		return spec{none: true, most: 1, bad: "-F -b --file --boot -s"}, true
	case "date":
		return spec{vals: "drIs", long: "date reference", bad: "-s --set -f --file", none: true, text: "-d --date"}, true
	case "tee":
		return spec{does: writing}, true
	case "mkdir":
		return spec{vals: "m", long: "mode", does: writing, bad: "-Z --context"}, true
	case "touch":
		return spec{vals: "drt", long: "date reference time", does: writing, text: "-d --date"}, true
	case "truncate":
		return spec{vals: "sr", long: "size reference", does: writing}, true
	case "chmod":
		return spec{does: writing, skip: 1, bad: "--reference", recurse: "-R --recursive"}, true
	case "rm", "unlink":
		return spec{does: removing, recurse: "-r -R --recursive", bad: "--no-preserve-root"}, true
	case "rmdir":
		return spec{does: removing}, true
	}
	return spec{}, false
}

// builtins reads the shell's own commands that set variables by name, since a
// subscript in a name is evaluated.
func builtins(name string, args []shellsyntax.Word, assigns bool) Effect {
	e := Effect{Kind: Reads}
	switch name {
	case "cd":
		for _, a := range args {
			if !a.Known || !strings.HasPrefix(a.Text, "-") {
				e.Reads = append(e.Reads, a)
			}
		}
	case "set":
		if len(args) == 0 || !shellsyntax.HarmlessSet(args) {
			return other("set changes how the shell reads what follows, or prints every variable")
		}
	case "printf":
		if len(args) > 0 && (!args[0].Known || strings.HasPrefix(args[0].Text, "-v")) {
			if !args[0].Known || args[0].Text != "-v" || len(args) < 2 || !plainName(args[1]) {
				return other("printf -v to a name that cannot be known before")
			}
		}
	case "test", "[":
		for i, a := range args {
			if !a.Known && len(args) < 3 && a.Prefix == "" {
				continue
			}
			if a.Known && (a.Text == "-v" || a.Text == "-R") && (i+1 >= len(args) || !plainName(args[i+1])) {
				return other(name + " -v evaluates its operand")
			}
		}
	case "read":
		sp := spec{vals: "adinNptu"}
		opts, names, why := sp.scan(args)
		if why != "" {
			return other(why)
		}
		for _, o := range opts {
			if o.name == "-a" {
				names = append(names, o.value)
			}
		}
		for _, n := range names {
			if !plainName(n) {
				return other("read to a name that cannot be known before")
			}
		}
	default:
		if len(args) == 0 && !assigns {
			return other(name + " prints every variable")
		}
		for _, a := range args {
			if !a.Known || !plainName(a) && !strings.HasPrefix(a.Text, "-") || strings.HasPrefix(a.Text, "-") && strings.ContainsAny(a.Text, "nip") {
				return other(name + " with what cannot be known before")
			}
		}
	}
	return e
}

func plainName(w shellsyntax.Word) bool { return w.Known && syntax.ValidName(w.Text) }

// copies reads cp, mv, ln and install: the last operand is where it goes.
func copies(name string, args []shellsyntax.Word) Effect {
	if name == "install" {
		return other("install is not known to be harmless")
	}
	sp := spec{vals: "tS", long: "target-directory suffix", bad: "-Z --context --strip-program --preserve-context"}
	if name == "cp" {
		sp.bad += " -s --symbolic-link -l --link"
	}
	opts, operands, why := sp.scan(args)
	if why != "" {
		return other(why)
	}
	e := Effect{Kind: Writes}
	var target []shellsyntax.Word
	symbolic := false
	for _, o := range opts {
		switch {
		case forbids(sp.bad, o.name):
			return other(name + " " + o.name + " does more than copy")
		case o.name == "-t" || strings.HasPrefix("--target-directory", o.name) && len(o.name) > 2:
			target = append(target, o.value)
		case o.name == "-s" || o.name == "--symbolic":
			symbolic = true
		case o.name == "-r" || o.name == "-R" || o.name == "-a" || o.name == "--recursive":
			e.Recursive = true
		}
	}
	if len(target) == 0 && len(operands) > 1 {
		target, operands = operands[len(operands)-1:], operands[:len(operands)-1]
	}
	e.Writes = target
	switch name {
	case "mv":
		e.Removes = operands
	case "ln":
		if symbolic && !linkInside(operands, target) {
			return other("a link to another folder makes paths mean something else")
		}
		e.Reads = operands
	default:
		e.Reads = operands
	}
	return e
}

// linkInside: what a symbolic link names is relative to the link's own folder,
// so only plain names and paths downwards are sure to stay.
func linkInside(operands, target []shellsyntax.Word) bool {
	for _, o := range append(operands[:len(operands):len(operands)], target...) {
		if !o.Known || strings.HasPrefix(o.Text, "/") || slices.Contains(strings.Split(o.Text, "/"), "..") || strings.HasPrefix(o.Text, "~") {
			return false
		}
	}
	return true
}

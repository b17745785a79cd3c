package command

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"mvdan.cc/sh/v3/syntax"
)

// The effects of the shell's builtins. A builtin that sets a variable names it, and the
// shell evaluates a subscript in such a name.

func changesFolder(_ string, args []shellsyntax.Word) Effect {
	e := Effect{Kind: Reads}
	for _, a := range args {
		if !a.Known || !strings.HasPrefix(a.Text, "-") {
			e.Reads = append(e.Reads, a)
		}
	}
	return e
}

func setsOptions(_ string, args []shellsyntax.Word) Effect {
	if len(args) == 0 || !shellsyntax.HarmlessSet(args) {
		return other("set changes how the shell reads what follows, or prints every variable")
	}
	return Effect{Kind: Reads}
}

func prints(_ string, args []shellsyntax.Word) Effect {
	if len(args) > 0 && (!args[0].Known && mayBeOption(args[0]) || strings.HasPrefix(args[0].Text, "-v")) {
		if !args[0].Known || args[0].Text != "-v" || len(args) < 2 || !settable(args[1]) {
			return other("printf -v to a name that cannot be known before, or that programs obey")
		}
	}
	return Effect{Kind: Reads}
}

// tests returns the effect of test and [: -v evaluates the name after it. An unknown
// word may be -v, and may be several words.
func tests(name string, args []shellsyntax.Word) Effect {
	for i, a := range args {
		switch {
		case a.Known && (a.Text == "-v" || a.Text == "-R") && (i+1 >= len(args) || !plainName(args[i+1])):
			return other(name + " " + a.Text + " evaluates its operand")
		case !a.Known && !a.Glob && mayBeOption(a) && !a.Num && !harmlessOperand(args, i):
			return other("a word that cannot be known before may be -v for " + name + ": use [[ … ]]")
		case !a.Known && a.Glob && mayBeOption(a):
			return other("a pattern may be -v for " + name)
		}
	}
	return Effect{Kind: Reads}
}

func readsVariables(name string, args []shellsyntax.Word) Effect {
	opts, names, why := usage{short: "a=d=ei=n=N=p=rst=u=", exact: true}.scan(args)
	if why != "" {
		return other(name + " " + why)
	}
	for _, o := range opts {
		if o.name == "-a" {
			names = append(names, o.value)
		}
	}
	for _, n := range names {
		if !settable(n) {
			return other(name + " to a name that cannot be known before, or that programs obey")
		}
	}
	return Effect{Kind: Reads}
}

// setsVariables is the effect of export, local, unset and their like.
func setsVariables(name string, args []shellsyntax.Word) Effect {
	for _, a := range args {
		if !a.Known || !plainName(a) && !strings.HasPrefix(a.Text, "-") || strings.HasPrefix(a.Text, "-") && strings.Trim(a.Text[1:], "grxlutfF") != "" {
			return other(name + " with what cannot be known before")
		}
		if name == "unset" && !settable(a) && !strings.HasPrefix(a.Text, "-") {
			return other("unset " + a.Text + ", which programs obey")
		}
	}
	return Effect{Kind: Reads}
}

// harmlessOperand reports whether args[i] of test can only be a string or a number: one
// quoted word beside an operator. Whether a word was quoted is unknown, so only these
// forms are accepted: three words with a known binary operator, or two with a unary
// one.
func harmlessOperand(args []shellsyntax.Word, i int) bool {
	if n := len(args); n > 0 && args[n-1].Known && args[n-1].Text == "]" {
		args = args[:n-1]
	}
	if len(args) > 0 && args[0].Known && args[0].Text == "!" {
		args, i = args[1:], i-1
	}
	switch len(args) {
	case 2:
		return i == 1 && args[0].Known && len(args[0].Text) == 2 && args[0].Text[0] == '-' && args[0].Text != "-v" && args[0].Text != "-R" && args[i].One
	case 3:
		return args[1].Known && testOperator(args[1].Text) && args[i].One
	}
	return false
}

func testOperator(s string) bool {
	switch s {
	case "=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef":
		return true
	}
	return false
}

func plainName(w shellsyntax.Word) bool { return w.Known && syntax.ValidName(w.Text) }

// settable reports whether a word is the name of a variable that only the line itself
// uses.
func settable(w shellsyntax.Word) bool { return plainName(w) && !LoadedVariable(w.Text) }

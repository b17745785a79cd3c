package shellsyntax

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// UsedByBash reports whether bash itself uses or sets a variable. Setting it, by any
// means, changes what later commands of the line do or how they are parsed.
func UsedByBash(name string) bool {
	switch name {
	case "PATH", "IFS", "ENV", "HOME", "CDPATH", "PWD", "OLDPWD", "SHELL", "SHELLOPTS", "POSIXLY_CORRECT", "GLOBIGNORE", "GLOBSORT", "EXECIGNORE", "FIGNORE",
		"PROMPT_COMMAND", "PROMPT_DIRTRIM", "PS0", "PS1", "PS2", "PS3", "PS4", "FUNCNEST", "TMPDIR", "TMOUT", "TIMEFORMAT", "INPUTRC", "IGNOREEOF", "CHILD_MAX",
		"FCEDIT", "HOSTFILE", "MAIL", "MAILCHECK", "MAILPATH", "OPTERR", "auto_resume", "histchars", "_":
		return true
	}
	return attributed(name) || strings.HasPrefix(name, "BASH") || strings.HasPrefix(name, "HIST") || strings.HasPrefix(name, "COMP_") || strings.HasPrefix(name, "READLINE_")
}

// attributed reports whether a variable has the integer attribute from the start: text
// that is assigned to it is evaluated.
func attributed(name string) bool {
	switch name {
	case "RANDOM", "SRANDOM", "SECONDS", "OPTIND", "HISTCMD", "LINENO", "EPOCHSECONDS", "EPOCHREALTIME", "BASHPID", "BASH_SUBSHELL", "BASH_MONOSECONDS",
		"PPID", "UID", "EUID", "SHLVL":
		return true
	}
	return false
}

// counted reports whether bash itself ensures that a variable is an integer.
func counted(name string) bool {
	switch name {
	case "?", "#", "$", "!", "COLUMNS", "LINES", "PIPESTATUS":
		return true
	}
	return attributed(name)
}

// filled reports whether bash fills a variable with input: text of the line, of a file,
// or of a folder's name. Other variables that the line does not set come from the
// environment.
func filled(name string) bool {
	switch name {
	case "_", "PWD", "OLDPWD", "REPLY", "MAPFILE", "OPTARG", "COPROC", "DIRSTACK", "FUNCNAME", "GROUPS", "@", "*", "-", "SHELLOPTS":
		return true
	}
	return strings.Trim(name, "0123456789") == "" || strings.HasPrefix(name, "BASH") || strings.HasPrefix(name, "COMP_") || strings.HasPrefix(name, "READLINE_")
}

// arrayed reports whether a variable is an array from the start.
func arrayed(name string) bool {
	switch name {
	case "MAPFILE", "COPROC", "DIRSTACK", "FUNCNAME", "GROUPS", "PIPESTATUS", "COMP_WORDS", "COMPREPLY":
		return true
	}
	return strings.HasPrefix(name, "BASH_")
}

// private reports whether only a script's author would use this name: no shell and no
// program reads it.
func private(name string) bool {
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789") == "" && name != "histchars"
}

// put records an assignment of any kind. Text that it evaluates, and that is not known
// to be harmless, is unknown code.
func (w *walker) put(st *state, name string, v value, src string) {
	if !syntax.ValidName(name) {
		w.unknownCode(st, src)
		return
	}
	if old, _ := st.get(name); old.readonly {
		w.shaky = true // the assignment fails
	}
	if !v.integer() {
		if (attributed(name) || w.integers) && !(v.known && w.evalText(st, v.text)) {
			w.unknownCode(st, src)
		}
		w.evaluable = true
	}
	st.set(name, v)
}

// note records an assignment that is not a NAME=value before a command: by for, read,
// ${x:=y}, (( )) and others.
func (w *walker) note(st *state, name string, v value) {
	if private(name) {
		return
	}
	w.emit(st, Command{Assigns: []string{name + "=" + v.text}, From: v.from})
}

// compound handles NAME=VALUE of a declaration: a declared array evaluates a value in
// brackets.
func (w *walker) compound(st *state, name string, v value, array bool, src string) {
	begin := v.prefix
	if v.known {
		begin = v.text + "."
	}
	if begin = strings.TrimLeft(begin, " \t\n"); begin != "" && begin[0] != '(' || v.integer() {
		return
	}
	if array || arrayed(name) || w.arrays[name] {
		w.unknownCode(st, src)
	}
	w.bracketed = append(w.bracketed, name)
}

package command

import (
	"slices"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// program is a row of the table of programs: what rules, wrappers and evidence need to know
// of a program by its name. The table's files are named table_*.go; a program that is not
// in it is unknown.
type program struct {
	names    string // base names of programs that behave alike
	is       traits
	words    int                                  // how many words after it determine what it does, at most
	deeper   string                               // after one of these words, one more counts
	again    string                               // with these words it only reports, or makes what can be made again; a dot joins two words
	flags    string                               // flags that make it run something that a pattern does not name
	check    *check                               // it checks projects
	wraps    *wrapping                            // it runs the command that its words end with
	executes func(c shellsyntax.Command) []string // what Executing returns besides flags
	loses    func(args []shellsyntax.Word) bool   // it may lose what others made, so it can never be allowed permanently
}

// traits are facts about a program that do not depend on its arguments.
type traits uint

const (
	interpreter traits = 1 << iota // it runs code in a language, or in its own language
	filter                         // an interpreter that edits or filters: its input is data
	transparent                    // it runs the command after it unchanged, with the same rights
	feeds                          // it runs what its words name with more words, which are not known
	barecluster                    // its first argument is a cluster of letters, even without a dash
	exact                          // no wildcard is suggested for it
	sensitive                      // it can never be allowed permanently
)

func (p *program) has(t traits) bool { return p != nil && p.is&t != 0 }

// table is built at its first use.
var table struct {
	once   sync.Once
	named  map[string]*program
	checks []*check
}

func load() {
	scripts := scriptCheck()
	rows := slices.Concat(otherPrograms(scripts), shellPrograms(), projectPrograms(scripts))
	table.named = make(map[string]*program, 2*len(rows))
	for i := range rows {
		for name := range strings.FieldsSeq(rows[i].names) {
			table.named[name] = &rows[i]
		}
		if k := rows[i].check; k != nil && !slices.Contains(table.checks, k) {
			table.checks = append(table.checks, k)
		}
	}
}

// known returns the row of a program, or nil if there is none.
func known(name string) *program {
	table.once.Do(load)
	return table.named[name]
}

// versionless is known, also for a name that ends in a version, such as python3.12.
func versionless(name string) *program {
	if p := known(name); p != nil {
		return p
	}
	return known(strings.TrimRight(name, "0123456789."))
}

func checks() []*check {
	table.once.Do(load)
	return table.checks
}

// ExactOnly reports whether a rule about a program is suggested only for exactly one line.
func ExactOnly(name string) bool {
	return known(name).has(exact) || versionless(name).has(interpreter)
}

// Subcommands returns how many words after the program determine what it does, at most.
func Subcommands(c shellsyntax.Command) int {
	name, _ := c.Program()
	p := known(name)
	switch {
	case p == nil:
		return 0
	case p.deeper != "" && len(c.Words) > 1 && isOneOf(c.Words[1], strings.Fields(p.deeper)...):
		return p.words + 1
	}
	return p.words
}

// RepeatableSubcommand reports whether a program's subcommand is known, whatever its other arguments
// are, to only report, to make what can be made again, or to change what the project's
// history stores.
func RepeatableSubcommand(c shellsyntax.Command) bool {
	name, plain := c.Program()
	p := known(name)
	if p == nil || !plain || len(c.Words) < 2 || !c.Words[1].Known {
		return false
	}
	text := c.Words[1].Text
	words := strings.Fields(p.again)
	if slices.Contains(words, text) {
		return true
	}
	return len(c.Words) > 2 && c.Words[2].Known && slices.Contains(words, text+"."+c.Words[2].Text)
}

// Sensitive reports whether a command can never be allowed permanently (SPEC 4.15).
func Sensitive(c shellsyntax.Command) bool {
	if c.Code || len(c.Words) > 0 && !c.Words[0].Known || slices.ContainsFunc(c.Wrappers, func(w string) bool { return known(w).has(sensitive) }) {
		return true
	}
	name, _ := c.Program()
	p := known(name)
	return p.has(sensitive) || p != nil && p.loses != nil && p.loses(c.Words[1:])
}

// Feeds reports whether a program runs what its words name with words that are not known.
func Feeds(c shellsyntax.Command) bool {
	name, _ := c.Program()
	return known(name).has(feeds)
}

func isOneOf(w shellsyntax.Word, names ...string) bool {
	return w.Known && slices.Contains(names, w.Text)
}

package command

import (
	"slices"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// program is a row of the table of programs: everything that is known of a program by
// its name. The table's files are named table_*.go; a program that is not in it is
// unknown.
type program struct {
	names string // base names of programs that behave alike
	is    traits // facts that do not depend on the arguments

	// The effect of its arguments: usage lists them, effect judges them. Without
	// either, and without the trait tells, the effect is unknown.
	usage  *usage
	effect func(name string, args []shellsyntax.Word) Effect

	changes  Class     // its class if it only changes the files that it names
	words    int       // how many words after it determine what it does, at most
	deeper   string    // after one of these words, one more counts
	again    string    // with these words it only reports, or makes what can be made again; a dot joins two words
	flags    string    // flags that make it run something that a pattern does not name
	builds   BuildFile // the kind of file that defines the commands that it runs
	runner   string    // flags whose value is a program through which it runs its commands
	check    *check    // it checks projects
	copies   string    // it links, copies or moves as this program does, if moves is nil or returns its words
	wraps    *wrapping // it runs the command that its words end with
	inner    string    // options that each run a separate command, up to ";" or "+"
	env      string    // its part of ClosedEnv; not used with one of the words tellsEnv, which report these variables
	tellsEnv string
	finds    string // with this word it has the trait findsText

	// What its words mean, each for the function of the same name: whether it prints a
	// number, Search, the paths that it prints, what Executing returns besides flags,
	// what it removes, Destroys, Final, Breaks.
	prints    func(args []shellsyntax.Word) bool // it prints only an integer, or nothing
	search    func(args []shellsyntax.Word) (s Search, ok bool)
	hands     func(words []shellsyntax.Word) Search // for the commands that it runs, or for one that gets its output
	lists     func(c shellsyntax.Command, line []shellsyntax.Command) (names []shellsyntax.Word, null bool)
	executes  func(c shellsyntax.Command) []string
	removes   func(c shellsyntax.Command) []shellsyntax.Word
	destroys  func(c shellsyntax.Command) (Destruction, bool)
	final     func(args []shellsyntax.Word) bool // it discards something of which no copy is stored
	loses     func(args []shellsyntax.Word) bool // it may lose what others made, so it can never be allowed permanently
	edits     func(args []shellsyntax.Word) bool // its changes are such as an edit would make
	everyday  func(args []shellsyntax.Word) bool // it adds to what exists and loses nothing
	moves     func(c shellsyntax.Command) (args []shellsyntax.Word, ok bool)
	checksOut func(c shellsyntax.Command) string // the words with which it may create links at paths that they do not name
	breaks    func(name string, c shellsyntax.Command) string
}

// traits are facts about a program that do not depend on its arguments.
type traits uint64

const (
	tells        traits = 1 << iota // no option does more than report, and no argument is a file
	vTells                          // -v alone makes it report its version
	tellsVersion                    // --version alone makes it report its version, and runs or fetches nothing that the folder names
	reader                          // it writes to no file that it names
	counts                          // of a file it shows only the size, or the type
	presence                        // of a file it shows only that it exists, and its metadata
	hides                           // it shows nothing of the contents of files
	searches                        // it searches for files or for text in them
	findsText                       // it searches for text, and ends with exit code 1 if it finds none
	readsFolder                     // it reads its folder if no path is given
	waits                           // it only waits
	asksState                       // it asks a service or a process for its state
	downloads                       // it downloads what others wrote
	closes                          // if it only reads, it runs under ClosedEnv

	interpreter   // it runs code in a language, or in its own language
	filter        // an interpreter that edits or filters: its input is data
	scripted      // an interpreter whose argument is a script
	compiles      // it compiles or tests the source in its folder
	runsOthers    // it runs what its words name
	runsArguments // it runs a file that is one of its arguments, or the command after it
	launches      // it runs the installed program that its argument names
	runsLines     // it runs command lines that are its arguments
	ownFiles      // it runs what files of its own define, in ways that are not analysed
	inert         // it runs no file that an argument names, except after one of its flags, or only source
	containers    // it runs programs in containers, which may get access to the folder

	ofNode      // npx may start it
	runsScripts // a script of package.json is run by its name alone
	shortens    // t means test

	runsModules // -m runs a module
	testsItself // --test runs the tests of its folder

	listsVariables  // without arguments it prints every variable
	deletes         // it removes or empties everything that it names
	takesAway       // what it removes is no longer at its path
	replacesLink    // a write to a link replaces the link instead of following it
	takesAnything   // something that its words do not name may no longer be at its path
	mayTakeAnything // the same, unless it only reads
	wholeFolders    // with an option, it removes folders with everything below them
	unpacks         // it may create links at paths that its words do not name
	takesKey        // the file after its option -i is a key, which it does not show
	transparent     // it runs the command after it unchanged, with the same rights
	alters          // as a wrapper it runs the command with other rights or in another program
	stays           // as a wrapper it runs the command in its own folder, with its own variables
	feeds           // it passes to the command after it names that are not in its words
	assigns         // as a wrapper it accepts assignments, and its options change the environment of later programs
	barecluster     // its first argument is a cluster of letters, even without a dash
	exact           // no wildcard is suggested for it
	sensitive       // it can never be allowed permanently
	begins          // at the start of a prompt, its name means a command line
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
	rows := slices.Concat(textPrograms(), filePrograms(), shellPrograms(), languagePrograms(scripts), projectPrograms(scripts), systemPrograms())
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

// checks returns the checks of all programs.
func checks() []*check {
	table.once.Do(load)
	return table.checks
}

// Reader reports whether a program writes to no file that it names, whatever its
// options are.
func Reader(name string) bool { return known(name).has(reader) }

// ShowsContent reports whether a reader shows the contents of files, not only that they
// exist or how large they are.
func ShowsContent(name string) bool { return !known(name).has(hides) }

// OnlyTells reports whether a program shows of the files that it names only that they
// exist, and their metadata.
func OnlyTells(name string) bool { return known(name).has(presence) }

// OnlyThere reports whether a command shows of the paths that it names only that they
// exist, and their metadata: it lists no folder either.
func OnlyThere(c shellsyntax.Command) bool {
	name, _ := c.Program()
	if !known(name).has(presence) {
		return false
	}
	return !known(name).has(readsFolder) || slices.ContainsFunc(c.Words, func(w shellsyntax.Word) bool {
		return w.Known && (w.Text == "--directory" || strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "--") && strings.Contains(w.Text, "d"))
	})
}

// OnlyPrints reports whether a command of this program does nothing with its words but
// print them.
func OnlyPrints(name string, c shellsyntax.Command) bool {
	return name == "echo" || name == "printf" && len(c.Redirects) == 0
}

// Searches reports whether a program searches for files or for text in them.
func Searches(name string) bool { return known(name).has(searches) }

// FindsText reports whether a command searches for text, and ends with exit code 1 if
// it finds none.
func FindsText(words []string) bool {
	if len(words) == 0 {
		return false
	}
	p := known(words[0])
	return p.has(findsText) || p != nil && p.finds != "" && len(words) > 1 && words[1] == p.finds
}

// ReadsFolder reports whether the command reads its folder if no path is given.
func ReadsFolder(c shellsyntax.Command) bool {
	name, _ := c.Program()
	return known(name).has(readsFolder)
}

// BeginsLine reports whether a word at the start of a prompt is a program's name, so
// that the prompt is a command line.
func BeginsLine(word string) bool { return known(word).has(begins) }

// Waits reports whether a program only waits.
func Waits(name string) bool { return known(name).has(waits) }

// AsksState reports whether a program asks a service or a process for its state.
func AsksState(name string) bool { return known(name).has(asksState) }

// Downloads reports whether a program downloads what others wrote.
func Downloads(name string) bool { return known(name).has(downloads) }

// TakesKey reports whether a program uses the file after its option -i as a key,
// without showing it.
func TakesKey(name string) bool { return known(name).has(takesKey) }

// ExactOnly reports whether no wildcard is suggested for a program.
func ExactOnly(name string) bool { return known(name).has(exact) || Interpreter(name) }

// Interpreter reports whether a program runs code in a language, or in its own
// language.
func Interpreter(name string) bool { return versionless(name).has(interpreter) }

// Filters reports whether an interpreter edits or filters: its input is data.
func Filters(name string) bool { return versionless(name).has(filter) }

// RunsOthers reports whether a program runs what its words name, besides the wrappers
// that shellsyntax removes.
func RunsOthers(name string) bool {
	return known(name).has(runsOthers) || Interpreter(name) || shellsyntax.Shell(name) || strings.HasPrefix(name, "ld-") || strings.HasPrefix(name, "ld.")
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

// Again reports whether a program's subcommand is known, whatever its other arguments
// are, to only report, to make what can be made again, or to change what the project's
// history stores.
func Again(c shellsyntax.Command) bool {
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

// executingFlags lists the flags of a program that run something.
func executingFlags(name string) string {
	if shellsyntax.Shell(name) {
		return "-c"
	}
	if p := versionless(name); p != nil {
		return p.flags
	}
	return ""
}

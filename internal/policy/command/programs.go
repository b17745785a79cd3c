package command

import (
	"slices"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// program is a row of the table of programs: all that is known of one by its
// name. The table's files are named table_*.go; what is not in it is unknown.
type program struct {
	names string // base names of programs that are alike
	is    traits // what holds whatever its arguments are

	// What it does with its arguments: usage lists them, effect judges them.
	// With neither, and without the trait tells, its effect is not known.
	usage  *usage
	effect func(name string, args []shellsyntax.Word) Effect

	changes  Class     // what it is where it only changes the files that it names
	words    int       // how many words after it say what it does, at most
	deeper   string    // after one of these words, one more
	again    string    // with these words it only tells, or makes what can be made again; two are joined by a dot
	flags    string    // flags that make it run what a pattern does not name
	builds   BuildFile // the kind of file from which it takes the commands that it runs
	runner   string    // flags whose value is a program that runs what it would run itself
	loads    *Loading  // how it loads libraries before its script, where that is not as usual
	check    *check    // it checks projects
	copies   string    // it links, copies or moves as this program does, where moves is nil or returns its words
	wraps    *wrapping // it runs the command that its words end with
	inner    string    // options that each run a command of their own, up to ";" or "+"
	env      string    // its own part of ClosedEnv, but with one of the words tellsEnv, which tell what these variables are
	tellsEnv string
	finds    string // with this word it has the trait findsText

	// What its words tell, each for the question of the same name: whether it
	// prints a number, Search, the paths that it prints, what Executing lists
	// beside flags, what it removes, Destroys, Final, Breaks.
	prints    func(args []shellsyntax.Word) bool // nothing but an integer, or nothing
	search    func(args []shellsyntax.Word) (s Search, ok bool)
	hands     func(words []shellsyntax.Word) Search // to the commands that it runs, or to one that is fed by it
	lists     func(c shellsyntax.Command, line []shellsyntax.Command) (names []shellsyntax.Word, null bool)
	executes  func(c shellsyntax.Command) []string
	removes   func(c shellsyntax.Command) []shellsyntax.Word
	destroys  func(c shellsyntax.Command) (Destruction, bool)
	final     func(args []shellsyntax.Word) bool // it throws away what no copy is kept of
	loses     func(args []shellsyntax.Word) bool // it may lose what others made, so it can never be granted always
	edits     func(args []shellsyntax.Word) bool // what it changes is what an edit would
	everyday  func(args []shellsyntax.Word) bool // it adds to what is there and loses nothing
	moves     func(c shellsyntax.Command) (args []shellsyntax.Word, ok bool)
	checksOut func(c shellsyntax.Command) string // the words with which it may make links at places that they do not name
	breaks    func(name string, c shellsyntax.Command) string
}

// traits are facts about a program that hold whatever its arguments are.
type traits uint64

const (
	tells        traits = 1 << iota // no option does more than tell, and no argument is a file
	vTells                          // -v alone makes it tell its version
	tellsVersion                    // --version alone makes it tell it, and runs or fetches nothing that the folder names
	reader                          // it writes no file that it names
	counts                          // it shows of a file only how large it is, or what kind of file
	presence                        // it tells of a file that it is there, and what it looks like from outside
	hides                           // it shows nothing of what files hold
	searches                        // it looks for files or for text in them
	findsText                       // it looks for text, and ends with exit code 1 where it finds none
	readsFolder                     // it reads its folder where it is given no path
	waits                           // it only lets time pass
	asksState                       // it asks a service or a process how it stands
	downloads                       // it brings what others wrote
	closes                          // where it only reads, it runs under ClosedEnv

	interpreter   // it runs code of a language, or of its own
	filter        // an interpreter that edits or filters: what comes in is data
	scripted      // an interpreter that is given a script
	compiles      // it compiles or tests source of its folder
	runsOthers    // it runs what its words say
	runsArguments // it runs a file that is an argument of it, or the command after it
	launches      // it runs the installed program that its argument names
	runsLines     // it runs command lines that are arguments
	ownFiles      // it runs what files of its own define, in ways that are not followed
	inert         // it runs no file that an argument names but after one of its flags, or only source
	containers    // it runs programs in containers, which may be given the folder

	ofNode      // npx may start it
	runsScripts // a script of package.json is run by its name alone
	shortens    // t means test

	runsModules // -m runs a module of it
	testsItself // --test runs the tests of its folder

	listsVariables  // without arguments it prints every variable
	deletes         // it removes or empties all that it names
	takesAway       // what it removes is not at its place any more
	replacesLink    // writing to a link it replaces the link, and does not follow it
	takesAnything   // what its words do not name may not be at its place any more
	mayTakeAnything // the same, unless it only reads
	wholeFolders    // told to, it removes folders with all below them
	unpacks         // it may make links at places that its words do not name
	takesKey        // the file after its option -i is a key, which it does not show
	transparent     // it runs the command after it, as it is and with the same rights
	alters          // as a wrapper it runs the command with other rights or in another program
	stays           // as a wrapper it runs the command in its own folder, with its own variables
	feeds           // it hands the command after it names that are not in its words
	assigns         // as a wrapper it takes assignments, and its options change what later programs are given
	barecluster     // its first argument is a cluster of letters, also without a dash
	exact           // no wildcard is proposed for it
	sensitive       // it can never be granted always
	begins          // as the first word of a prompt its name means a command line
)

func (p *program) has(t traits) bool { return p != nil && p.is&t != 0 }

// table is made when it is first asked for.
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

// known returns the row of a program, nil where none is known.
func known(name string) *program {
	table.once.Do(load)
	return table.named[name]
}

// versionless is known for a name that may end in a version, as python3.12 does.
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

// Reader reports whether a program writes no file it names, whatever its options.
func Reader(name string) bool { return known(name).has(reader) }

// ShowsContent reports whether a reader shows what files hold, not only that
// they are there or how large they are.
func ShowsContent(name string) bool { return !known(name).has(hides) }

// OnlyTells reports whether a program tells of the files that it names no more
// than that they are there, and what they look like from outside.
func OnlyTells(name string) bool { return known(name).has(presence) }

// OnlyPrints reports whether a command of that program does nothing with its
// words but print them.
func OnlyPrints(name string, c shellsyntax.Command) bool {
	return name == "echo" || name == "printf" && len(c.Redirects) == 0
}

// Searches reports whether a program looks for files or for text in them.
func Searches(name string) bool { return known(name).has(searches) }

// FindsText reports whether a command looks for text, and ends with exit code 1
// where it finds none.
func FindsText(words []string) bool {
	if len(words) == 0 {
		return false
	}
	p := known(words[0])
	return p.has(findsText) || p != nil && p.finds != "" && len(words) > 1 && words[1] == p.finds
}

// ReadsFolder reports whether the command reads its folder where it is given no path.
func ReadsFolder(c shellsyntax.Command) bool {
	name, _ := c.Program()
	return known(name).has(readsFolder)
}

// BeginsLine reports whether a word at the beginning of a prompt is a program's
// name, so that the prompt is a command line.
func BeginsLine(word string) bool { return known(word).has(begins) }

// Waits reports whether a program only lets time pass.
func Waits(name string) bool { return known(name).has(waits) }

// AsksState reports whether a program asks a service or a process how it stands.
func AsksState(name string) bool { return known(name).has(asksState) }

// Downloads reports whether a program brings what others wrote.
func Downloads(name string) bool { return known(name).has(downloads) }

// TakesKey reports whether a program uses the file after its option -i as a key,
// without showing it.
func TakesKey(name string) bool { return known(name).has(takesKey) }

// ExactOnly reports whether no wildcard is proposed for a program.
func ExactOnly(name string) bool { return known(name).has(exact) || Interpreter(name) }

// Interpreter reports whether a program runs code of a language, or of its own.
func Interpreter(name string) bool { return versionless(name).has(interpreter) }

// Filters reports whether an interpreter edits or filters: what comes in is data.
func Filters(name string) bool { return versionless(name).has(filter) }

// Scripted reports whether a program is an interpreter that is given a script.
func Scripted(name string) bool { return versionless(name).has(scripted) }

// RunsOthers reports whether a program runs what its words say, beside those
// that shellsyntax takes off.
func RunsOthers(name string) bool {
	return known(name).has(runsOthers) || Interpreter(name) || shellsyntax.Shell(name) || strings.HasPrefix(name, "ld-") || strings.HasPrefix(name, "ld.")
}

// RunsArguments reports whether a program, or a word of the shell, runs a file
// that is an argument of it, or the command line after it.
func RunsArguments(name string) bool {
	return versionless(name).has(runsArguments|interpreter|scripted) || shellsyntax.Shell(name)
}

// RunsModules reports whether an interpreter runs a module after -m.
func RunsModules(name string) bool { return versionless(name).has(runsModules) }

// TestsItself reports whether an interpreter runs its folder's tests with --test.
func TestsItself(name string) bool { return versionless(name).has(testsItself) }

// Loading is how an interpreter loads libraries before its script.
type Loading struct {
	options   string
	Folder    string // a library that begins so is a folder to search; "" for none
	Extension string // of the file that it looks for first
	Packages  bool   // a name without a path is an installed package of node
}

// Options returns the options that load a library.
func (l Loading) Options() []string { return strings.Fields(l.options) }

// LoadingOf returns how an interpreter loads libraries.
func LoadingOf(name string) Loading {
	if p := versionless(name); p != nil && p.loads != nil {
		return *p.loads
	}
	return Loading{options: "-r -M --require --import --loader"}
}

// Launches reports whether a program runs the installed one that its argument names.
func Launches(name string) bool { return known(name).has(launches) }

// RunsLines reports whether a program runs command lines that are its arguments.
func RunsLines(name string) bool { return known(name).has(runsLines) }

// RunsOwnFiles reports whether a program runs what files of its own define, in
// ways that are not followed.
func RunsOwnFiles(name string) bool { return known(name).has(ownFiles) }

// RunsNothing reports whether a program runs none of the files that its
// arguments name but those after a flag that executes, or only source.
func RunsNothing(name string) bool { return known(name).has(inert) }

// Compiles reports whether a command of that program compiles or tests the
// source of its folder.
func Compiles(name string, args []shellsyntax.Word) bool {
	p := known(name)
	switch {
	case !p.has(compiles):
		return false
	case p.words == 0:
		return true
	}
	return len(args) > 0 && (!args[0].Known || isOneOf(args[0], "run", "test", "generate", "tool", "bench", "vet", "build", "install", "r", "t", "b", "exec"))
}

// Subcommands returns how many words after the program say what it does, at most.
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

// Again reports whether it is known of a program's subcommand that it only tells,
// makes what can be made again, or changes what the project's history keeps,
// whatever its other arguments are.
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

// HasExecutingFlags reports whether flags of a program make it run something.
func HasExecutingFlags(name string) bool { return executingFlags(name) != "" }

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

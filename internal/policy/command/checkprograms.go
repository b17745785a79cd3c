package command

// check describes a program that checks projects.
type check struct {
	// targets: the words on its command line are targets and variables.
	targets bool
	// Nothing is checked with the flags hollowFlags, with one of hollowLetters among
	// short flags, or if the flag noTests selects no test.
	hollowFlags, hollowLetters, noTests string
	// lines are the command lines whose exit code proves something.
	lines []checkLine
}

// checkLine is a way to call a check, by its first words. If two match, the longer one
// applies.
type checkLine struct {
	words    string
	proof    Proof
	compiles bool
	output   Output
	called   string // the name of the same check, if it has another one
}

// hollowAnywhere are flags with which no check checks anything.
var hollowAnywhere = []string{
	"overlay", "n", "list", "help", "h", "version", "no-run", "dry-run", "collect-only", "listTests", "if-present", "script-shell",
}

// spelling is another way to begin the line of a check. same: it is then the same
// check; otherwise a runner may turn it into another one.
type spelling struct {
	typed, means string
	same         bool
}

var spellings = []spelling{
	{"uv run", "", true}, {"poetry run", "", false}, {"pipenv run", "", false}, {"pdm run", "", false}, {"bundle exec", "", false},
	{"npx", "", false}, {"bunx", "", false}, {"pnpm exec", "", false},
	{"python3", "python", true}, {"py.test", "pytest", false}, {"pnpm", "npm", true}, {"yarn", "npm", true}, {"bun run", "npm run", true},
	{"./gradlew", "gradle", false}, {"./mvnw", "mvn", false}, {"vendor/bin/phpunit", "phpunit", false}, {"./vendor/bin/phpunit", "phpunit", false},
	{"bin/rails", "rails", false},
}

// Flags that several rows share.
const (
	makeHollow   = "touch question just-print recon ignore-errors eval shell set"
	pytestHollow = "co fixtures markers setup-plan setup-only"
)

// scriptCheck returns the check of programs that run the scripts of a package.json; the
// programs in spellings are treated as npm.
func scriptCheck() *check {
	return &check{lines: []checkLine{
		{words: "npm test", proof: Wraps, output: ScriptsOutput, called: "npm run test"},
		{words: "npm t", proof: Wraps, output: ScriptsOutput, called: "npm run test"},
		{words: "npm run test", proof: Wraps, output: ScriptsOutput},
		{words: "npm run build", proof: Builds, output: ScriptsOutput},
		{words: "npm run typecheck", proof: Builds, output: ScriptsOutput},
		{words: "npm run lint", proof: Styled, output: ScriptsOutput},
		{words: "bun test", proof: Tests, output: JavaScriptOutput},
	}}
}

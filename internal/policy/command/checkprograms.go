package command

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// check describes a program that checks projects.
type check struct {
	// The forms that run nothing but the check (SPEC 4.15): closed judges the
	// arguments, or options lists the possible ones, after one of the subcommands subs.
	// If neither is set, no form is known.
	closed  func(name string, args []shellsyntax.Word) bool
	options *usage
	subs    string
	// changed are the files, by base name and extension, that define what the program
	// does. If the agent changed one of them, it no longer counts as a check (SPEC
	// 16.4).
	changed string
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

func (l *checkLine) name() string {
	if l.called != "" {
		return l.called
	}
	return l.words
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

	pytestFiles = "conftest.py pytest.ini pyproject.toml setup.cfg tox.ini sitecustomize.py"
	nodeFiles   = "package.json .npmrc .babelrc babel.config.js babel.config.json babel.config.cjs jest.config.js jest.config.ts jest.config.mjs jest.config.cjs jest.setup.js jest.setup.ts " +
		"vitest.config.ts vitest.config.js vite.config.ts vite.config.js eslint.config.js eslint.config.mjs eslint.config.cjs eslint.config.ts .eslintrc.js .eslintrc.cjs .eslintrc.json .eslintrc.yml .eslintrc " +
		"prettier.config.js .prettierrc.js .prettierrc"
	rubyFiles = ".rspec spec_helper.rb phpunit.xml phpunit.xml.dist bootstrap.php"
	beamFiles = "package.swift mix.exs test_helper.exs config.exs build.zig"
)

// scriptCheck returns the check of programs that run the scripts of a package.json; the
// programs in spellings are treated as npm.
func scriptCheck() *check {
	return &check{closed: nodeCheck, changed: "package.json .npmrc pnpm-workspace.yaml .yarnrc.yml", lines: []checkLine{
		{words: "npm test", proof: Wraps, output: ScriptsOutput, called: "npm run test"},
		{words: "npm t", proof: Wraps, output: ScriptsOutput, called: "npm run test"},
		{words: "npm run test", proof: Wraps, output: ScriptsOutput},
		{words: "npm run build", proof: Builds, output: ScriptsOutput},
		{words: "npm run typecheck", proof: Builds, output: ScriptsOutput},
		{words: "npm run lint", proof: Styled, output: ScriptsOutput},
		{words: "bun test", proof: Tests, output: JavaScriptOutput},
	}}
}

// formatCheck is the check of programs that format Python.
var formatCheck = check{options: &usage{short: "qvl=ct=Scf", long: "check check-only diff color quiet verbose line-length= target-version= skip-string-normalization fast safe exclude= include= profile= preview", exact: true}}

// isClosed reports whether a program is called in a form that runs nothing but the
// check.
func (p *check) isClosed(name string, args []shellsyntax.Word) bool {
	switch {
	case p.closed != nil:
		return p.closed(name, args)
	case p.options == nil:
		return false
	case p.subs != "":
		if len(args) == 0 || !slices.Contains(strings.Fields(p.subs), args[0].Text) {
			return false
		}
		args = args[1:]
	}
	_, _, why := p.options.scan(args)
	return why == ""
}

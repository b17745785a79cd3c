package command

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// checkProgram is what is known of a program that checks projects.
type checkProgram struct {
	names string
	// Of the forms that run nothing but the check (SPEC 4.15): closed judges
	// the arguments, or options lists what they may be, after one of the
	// subcommands subs. With neither, no form is known.
	closed  func(name string, args []shellsyntax.Word) bool
	options *row
	subs    string
	// changed are files that say what it does: base names and extensions. Where
	// the agent changed one, it is not a check any more (SPEC 16.4).
	changed string
	// definition are those that lie in its folder, with the names that they
	// have there.
	definition string
	// targets: words on its command line are targets, and variables.
	targets bool
	// With the flags hollowFlags, with one of hollowLetters among short flags, or
	// where the flag noTests chooses no test, nothing is checked.
	hollowFlags, hollowLetters, noTests string
	// lines are its command lines whose exit code tells something.
	lines []checkLine
}

// checkLine is a way to call a check, by its first words. Of two that fit, the
// longer is meant.
type checkLine struct {
	words    string
	proof    Proof
	compiles bool
	output   Output
	called   string // the name of the same check, where that is another
	// Of its flags: flags leave nothing out ("=": a value follows), whole are
	// those that stand for all there is.
	flags, whole string
	here         bool // with nothing named it checks its own folder
	covers       func(have, want scope) bool
}

func (l *checkLine) name() string {
	if l.called != "" {
		return l.called
	}
	return l.words
}

// harmless reports whether a flag is known to leave nothing out, and whether a
// value follows it.
func (l *checkLine) harmless(flag string) (takes, known bool) {
	for f := range strings.FieldsSeq(l.flags) {
		if bare, value := strings.CutSuffix(f, "="); bare == flag {
			return value, true
		}
	}
	return false, false
}

// hollowAnywhere are flags with which no check checks anything.
var hollowAnywhere = []string{
	"overlay", "n", "list", "help", "h", "version", "no-run", "dry-run", "collect-only", "listTests", "if-present", "script-shell",
}

// spelling is another way to begin the line of a check. same: it is the same
// check then; else a runner may make another one of it.
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

// What several rows share.
const (
	goFlags     = "v race json cover failfast fullpath x count= timeout= p= parallel= shuffle="
	cargoFlags  = "q quiet v verbose locked offline no-fail-fast workspace all all-targets"
	scriptFlags = "s silent"
	pytestFlags = "v vv q qq x s l ra rA verbose quiet no-header tb color maxfail= durations="

	makeHollow   = "touch question just-print recon ignore-errors eval shell set"
	pytestHollow = "co fixtures markers setup-plan setup-only"

	pytestFiles = "conftest.py pytest.ini pyproject.toml setup.cfg tox.ini sitecustomize.py"
	nodeFiles   = "package.json .npmrc .babelrc babel.config.js babel.config.json babel.config.cjs jest.config.js jest.config.ts jest.config.mjs jest.config.cjs jest.setup.js jest.setup.ts " +
		"vitest.config.ts vitest.config.js vite.config.ts vite.config.js eslint.config.js eslint.config.mjs eslint.config.cjs eslint.config.ts .eslintrc.js .eslintrc.cjs .eslintrc.json .eslintrc.yml .eslintrc " +
		"prettier.config.js .prettierrc.js .prettierrc"
	rubyFiles = ".rspec spec_helper.rb phpunit.xml phpunit.xml.dist bootstrap.php"
	beamFiles = "package.swift mix.exs test_helper.exs config.exs build.zig"
)

// checkPrograms are all that are known.
var checkPrograms = []checkProgram{
	{names: "go", closed: goCheck, hollowFlags: "exec toolexec vettool c", noTests: "run", lines: []checkLine{
		{words: "go test", proof: Tests, compiles: true, output: GoOutput, flags: goFlags, here: true, covers: packagesCover},
		{words: "go build", proof: Builds, compiles: true, flags: goFlags, here: true, covers: packagesCover},
		{words: "go vet", proof: Builds, compiles: true, flags: goFlags, here: true, covers: packagesCover},
	}},
	{names: "staticcheck", options: &row{exact: true}, changed: "staticcheck.conf"},
	{names: "golangci-lint", subs: "run", options: &row{short: "vE=D=p=jn", long: "fast fast-only fix timeout= enable= disable= enable-all disable-all new new-from-rev= color= verbose tests build-tags= max-issues-per-linter= max-same-issues= concurrency= allow-parallel-runners out-format= show-stats sort-results", exact: true}, changed: ".golangci.yml .golangci.yaml .golangci.toml .golangci.json .custom-gcl.yml"},
	{names: "cargo", closed: cargoCheck, changed: "build.rs config.toml cargo.toml", hollowFlags: "config", lines: []checkLine{
		{words: "cargo test", proof: Tests, compiles: true, output: RustOutput, flags: cargoFlags, whole: "workspace all", covers: cratesCover},
		{words: "cargo nextest run", proof: Tests, compiles: true, output: RustOutput},
		{words: "cargo check", proof: Builds, compiles: true, flags: cargoFlags},
		{words: "cargo build", proof: Builds, compiles: true},
		{words: "cargo clippy", proof: Builds, compiles: true},
	}},

	{names: "npm pnpm yarn bun", closed: nodeCheck, changed: "package.json .npmrc pnpm-workspace.yaml .yarnrc.yml", definition: "package.json", lines: []checkLine{
		{words: "npm test", proof: Wraps, output: ScriptsOutput, called: "npm run test", flags: scriptFlags},
		{words: "npm t", proof: Wraps, output: ScriptsOutput, called: "npm run test", flags: scriptFlags},
		{words: "npm run test", proof: Wraps, output: ScriptsOutput, flags: scriptFlags},
		{words: "npm run build", proof: Builds, output: ScriptsOutput},
		{words: "npm run typecheck", proof: Builds, output: ScriptsOutput, flags: scriptFlags},
		{words: "npm run lint", proof: Styled, output: ScriptsOutput, flags: scriptFlags},
		{words: "bun test", proof: Tests, output: JavaScriptOutput},
	}},
	{names: "npx", closed: func(_ string, args []shellsyntax.Word) bool { return len(args) > 0 && nodeTool(args[0].Text, args[1:]) }, changed: nodeFiles},
	{names: "tsc eslint jest vitest prettier", closed: nodeTool, changed: nodeFiles, lines: []checkLine{
		{words: "tsc", proof: Builds}, {words: "eslint", proof: Styled},
		{words: "jest", proof: Tests, output: JavaScriptOutput}, {words: "vitest", proof: Tests, output: JavaScriptOutput},
	}},
	{names: "deno", lines: []checkLine{{words: "deno test", proof: Tests, output: JavaScriptOutput}}},
	{names: "node", lines: []checkLine{{words: "node --test", proof: Tests, output: TAPOutput}}},
	{names: "mocha ava jasmine playwright tap tape", lines: []checkLine{
		{words: "mocha", proof: Tests, output: JavaScriptOutput}, {words: "ava", proof: Tests, output: JavaScriptOutput}, {words: "jasmine", proof: Tests, output: JavaScriptOutput},
		{words: "playwright test", proof: Tests, output: JavaScriptOutput}, {words: "tap", proof: Tests, output: TAPOutput}, {words: "tape", proof: Tests, output: TAPOutput},
	}},

	{names: "pytest", closed: func(_ string, args []shellsyntax.Word) bool { return pytestCheck(args) }, changed: pytestFiles, hollowFlags: pytestHollow, lines: []checkLine{
		{words: "pytest", proof: Tests, output: PytestOutput, flags: pytestFlags, covers: filesCover},
	}},
	{names: "python python3", closed: pythonCheck, changed: pytestFiles, hollowFlags: pytestHollow, lines: []checkLine{
		{words: "python -m pytest", proof: Tests, output: PytestOutput, called: "pytest", flags: pytestFlags, covers: filesCover},
		{words: "python -m unittest", proof: Tests, output: UnittestOutput}, {words: "python manage.py test", proof: Tests, output: UnittestOutput},
	}},
	{names: "tox", options: &row{short: "qve=p?", exact: true, most: 1}, changed: "tox.ini setup.cfg pyproject.toml setup.py conftest.py", definition: "tox.ini", lines: []checkLine{{words: "tox", proof: Wraps}}},
	{names: "nox", lines: []checkLine{{words: "nox", proof: Wraps}}},
	{names: "mypy", options: &row{short: "pvm=", long: "strict ignore-missing-imports show-error-codes pretty no-incremental python-version= namespace-packages explicit-package-bases check-untyped-defs disallow-untyped-defs no-implicit-optional warn-unused-ignores no-error-summary no-color-output package= module= exclude= follow-imports= verbose", exact: true}, changed: "mypy.ini .mypy.ini pyproject.toml setup.cfg", lines: []checkLine{{words: "mypy", proof: Styled}}},
	{names: "pyright", lines: []checkLine{{words: "pyright", proof: Styled}}},
	{names: "ruff", subs: "check format", options: &row{short: "qvsn", long: "fix no-fix unsafe-fixes check diff quiet verbose silent select= ignore= extend-select= line-length= target-version= output-format= exit-zero statistics show-fixes no-cache preview exclude= force-exclude respect-gitignore", exact: true}, lines: []checkLine{{words: "ruff check", proof: Styled}}},
	{names: "black isort", options: &row{short: "qvl=ct=Scf", long: "check check-only diff color quiet verbose line-length= target-version= skip-string-normalization fast safe exclude= include= profile= preview", exact: true}},
	{names: "flake8 pylint", options: &row{short: "vqj=E", long: "max-line-length= ignore= select= extend-ignore= exclude= count statistics show-source max-complexity= disable= enable= errors-only jobs= score= quiet verbose", exact: true}, changed: ".flake8 setup.cfg tox.ini .pylintrc pylintrc pyproject.toml"},

	{
		names: "make gmake", changed: "makefile gnumakefile makefile.am *.mk", definition: "Makefile makefile GNUmakefile",
		closed: func(_ string, args []shellsyntax.Word) bool {
			return targets(args, "-j", "-k", "-s", "-B") || noTarget(args)
		},
		targets: true, hollowFlags: makeHollow, hollowLetters: "ntqi", lines: []checkLine{{words: "make", proof: Wraps}, {words: "gmake", proof: Wraps}},
	},
	{
		names: "just", changed: "justfile .justfile", definition: "justfile Justfile .justfile",
		closed:  func(_ string, args []shellsyntax.Word) bool { return targets(args) },
		targets: true, hollowFlags: makeHollow, lines: []checkLine{{words: "just", proof: Wraps}},
	},

	{names: "mvn", subs: "test verify compile", options: &row{short: "qBoe", exact: true}, changed: "pom.xml settings.xml maven.config jvm.config extensions.xml", lines: []checkLine{
		{words: "mvn test", proof: Tests, compiles: true, output: JVMOutput}, {words: "mvn verify", proof: Tests, compiles: true, output: JVMOutput},
	}},
	{names: "gradle", subs: "test build check", options: &row{short: "qi", long: "quiet info offline stacktrace console= no-daemon continue tests=", exact: true}, changed: "build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties", lines: []checkLine{
		{words: "gradle test", proof: Tests, compiles: true, output: JVMOutput}, {words: "gradle check", proof: Tests, compiles: true, output: JVMOutput},
	}},
	{names: "dotnet", subs: "test build", options: &row{short: "c=v=", long: "configuration= verbosity= no-build no-restore nologo filter=", exact: true}, changed: "*.csproj *.fsproj *.props *.targets *.sln", lines: []checkLine{
		{words: "dotnet test", proof: Tests, compiles: true, output: DotnetOutput}, {words: "dotnet build", proof: Builds, compiles: true},
	}},
	{names: "ctest", options: &row{short: "VR=j=", long: "output-on-failure verbose parallel= rerun-failed test-dir<", exact: true}, changed: "cmakelists.txt ctesttestfile.cmake", lines: []checkLine{{words: "ctest", proof: Tests, output: CTestOutput}}},
	{names: "bazel", lines: []checkLine{{words: "bazel test", proof: Tests, compiles: true, output: BazelOutput}}},

	{names: "rspec phpunit", options: &row{short: "fc", long: "format= color no-color fail-fast filter= testdox", exact: true}, changed: rubyFiles, lines: []checkLine{
		{words: "rspec", proof: Tests, output: RubyOutput}, {words: "phpunit", proof: Tests, output: PHPOutput},
	}},
	{names: "bundle", closed: bundleCheck, changed: "gemfile .rspec spec_helper.rb rakefile"},
	{names: "rake", lines: []checkLine{{words: "rake test", proof: Wraps}}},
	{names: "rails", lines: []checkLine{{words: "rails test", proof: Tests, output: RubyOutput}}},
	{names: "composer", lines: []checkLine{{words: "composer test", proof: Wraps}}},
	{names: "swift", subs: "test build", options: &row{long: "filter= parallel", exact: true}, changed: beamFiles, lines: []checkLine{
		{words: "swift test", proof: Tests, compiles: true, output: SwiftOutput}, {words: "swift build", proof: Builds, compiles: true},
	}},
	{names: "mix", subs: "test compile", options: &row{long: "filter= parallel", exact: true}, changed: beamFiles, lines: []checkLine{{words: "mix test", proof: Tests, compiles: true, output: RubyOutput}}},
	{names: "zig", subs: "test", options: &row{long: "filter= parallel", exact: true}, changed: beamFiles, lines: []checkLine{
		{words: "zig build test", proof: Wraps, compiles: true}, {words: "zig test", proof: Tests, compiles: true, output: ZigOutput},
	}},
}

// checkProgramOf returns the row of a program.
func checkProgramOf(name string) *checkProgram {
	i := slices.IndexFunc(checkPrograms, func(p checkProgram) bool { return slices.Contains(strings.Fields(p.names), name) })
	if i < 0 {
		return nil
	}
	return &checkPrograms[i]
}

// isClosed reports whether a program is called in a form that runs nothing but
// the check.
func (p *checkProgram) isClosed(name string, args []shellsyntax.Word) bool {
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

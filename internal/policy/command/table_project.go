package command

// projectPrograms returns the programs that build, check and fetch the packages of projects.
func projectPrograms(scripts *check) []program {
	return []program{
		{names: "go", flags: "-exec -toolexec -vettool -overlay -modfile -ldflags -gcflags -asmflags -gccgoflags -C", words: 1, again: "test build vet fmt mod get work", check: &check{hollowFlags: "exec toolexec vettool c", noTests: "run", lines: []checkLine{
			{words: "go test", proof: Tests, compiles: true, output: GoOutput},
			{words: "go build", proof: Builds, compiles: true},
			{words: "go vet", proof: Builds, compiles: true},
		}}},
		{names: "cargo", flags: "--config --manifest-path -Z", words: 1, again: "test build check clippy fmt add remove update fetch doc tree", check: &check{hollowFlags: "config", lines: []checkLine{
			{words: "cargo test", proof: Tests, compiles: true, output: RustOutput},
			{words: "cargo nextest run", proof: Tests, compiles: true, output: RustOutput},
			{words: "cargo check", proof: Builds, compiles: true},
			{words: "cargo build", proof: Builds, compiles: true},
			{words: "cargo clippy", proof: Builds, compiles: true},
		}}},
		{names: "npm pnpm yarn", flags: "--script-shell --prefix --node-options -C --dir --cwd", words: 1, deeper: "run compose exec", again: "test ci ls list outdated view why", check: scripts},
		{names: "tsc eslint tox nox mypy pyright ruff ctest", check: &check{lines: []checkLine{
			{words: "tsc", proof: Builds}, {words: "tox", proof: Wraps}, {words: "nox", proof: Wraps}, {words: "ctest", proof: Tests, output: CTestOutput},
			{words: "eslint", proof: Styled}, {words: "mypy", proof: Styled}, {words: "pyright", proof: Styled}, {words: "ruff check", proof: Styled},
		}}},
		{names: "jest vitest mocha ava jasmine playwright tap tape", check: &check{lines: []checkLine{
			{words: "jest", proof: Tests, output: JavaScriptOutput}, {words: "vitest", proof: Tests, output: JavaScriptOutput},
			{words: "mocha", proof: Tests, output: JavaScriptOutput}, {words: "ava", proof: Tests, output: JavaScriptOutput}, {words: "jasmine", proof: Tests, output: JavaScriptOutput},
			{words: "playwright test", proof: Tests, output: JavaScriptOutput}, {words: "tap", proof: Tests, output: TAPOutput}, {words: "tape", proof: Tests, output: TAPOutput},
		}}},
		{names: "pytest", flags: "-p -c -o --override-ini --rootdir --confcutdir", check: &check{hollowFlags: pytestHollow, lines: []checkLine{
			{words: "pytest", proof: Tests, output: PytestOutput},
		}}},
		{names: "golangci-lint stack cabal pip pip3 uv poetry bundle", words: 1},
		{names: "make gmake", executes: assignmentsExecute, flags: "-f --file --makefile --eval -E -C --directory -I --include-dir --what-if -W --old-file -o --assume-new", words: 1, check: &check{
			targets: true, hollowFlags: makeHollow, hollowLetters: "ntqi", lines: []checkLine{{words: "make", proof: Wraps}, {words: "gmake", proof: Wraps}}}},
		{names: "just", flags: "--shell --shell-arg --set -f --justfile -c --command -d --working-directory", words: 1, check: &check{
			targets: true, hollowFlags: makeHollow, lines: []checkLine{{words: "just", proof: Wraps}}}},
		{names: "bazel", check: &check{lines: []checkLine{{words: "bazel test", proof: Tests, compiles: true, output: BazelOutput}}}},
		{names: "zig", check: &check{lines: []checkLine{
			{words: "zig build test", proof: Wraps, compiles: true}, {words: "zig test", proof: Tests, compiles: true, output: ZigOutput},
		}}},
		{names: "mvn", words: 1, check: &check{lines: []checkLine{
			{words: "mvn test", proof: Tests, compiles: true, output: JVMOutput}, {words: "mvn verify", proof: Tests, compiles: true, output: JVMOutput},
		}}},
		{names: "gradle", words: 1, check: &check{lines: []checkLine{
			{words: "gradle test", proof: Tests, compiles: true, output: JVMOutput}, {words: "gradle check", proof: Tests, compiles: true, output: JVMOutput},
		}}},
		{names: "dotnet", words: 1, check: &check{lines: []checkLine{
			{words: "dotnet test", proof: Tests, compiles: true, output: DotnetOutput}, {words: "dotnet build", proof: Builds, compiles: true},
		}}},
		{names: "swift", words: 1, check: &check{lines: []checkLine{
			{words: "swift test", proof: Tests, compiles: true, output: SwiftOutput}, {words: "swift build", proof: Builds, compiles: true},
		}}},
		{names: "mix", words: 1, check: &check{lines: []checkLine{{words: "mix test", proof: Tests, compiles: true, output: RubyOutput}}}},
		{names: "composer", words: 1, check: &check{lines: []checkLine{{words: "composer test", proof: Wraps}}}},
		{names: "rspec phpunit", check: &check{lines: []checkLine{
			{words: "rspec", proof: Tests, output: RubyOutput}, {words: "phpunit", proof: Tests, output: PHPOutput},
		}}},
		{names: "rake", words: 1, check: &check{lines: []checkLine{{words: "rake test", proof: Wraps}}}},
		{names: "rails", check: &check{lines: []checkLine{{words: "rails test", proof: Tests, output: RubyOutput}}}},
	}
}

package command

import "github.com/pawl-agent/pawl/internal/core/shellsyntax"

// projectPrograms returns the programs that build, check and fetch the packages of projects.
func projectPrograms(scripts *check) []program {
	return []program{
		{names: "go", is: tellsVersion | readsFolder | compiles | runsArguments | inert | closes, effect: goTool, env: "GOPROXY=off GOVCS=*:off GOFLAGS=-buildvcs=false", tellsEnv: "env version help", flags: "-exec -toolexec -vettool -overlay -modfile -ldflags -gcflags -asmflags -gccgoflags -C", runner: "exec toolexec vettool", words: 1, again: "test build vet fmt mod get work", check: &check{closed: goCheck, hollowFlags: "exec toolexec vettool c", noTests: "run", lines: []checkLine{
			{words: "go test", proof: Tests, compiles: true, output: GoOutput},
			{words: "go build", proof: Builds, compiles: true},
			{words: "go vet", proof: Builds, compiles: true},
		}}},
		{names: "gofmt gofumpt goimports", is: tellsVersion, effect: gofmt, changes: Editing},
		{names: "staticcheck", is: tellsVersion, check: &check{options: &usage{exact: true}, changed: "staticcheck.conf"}},
		{names: "golangci-lint", is: tellsVersion, words: 1, check: &check{subs: "run", options: &usage{short: "vE=D=p=jn", long: "fast fast-only fix timeout= enable= disable= enable-all disable-all new new-from-rev= color= verbose tests build-tags= max-issues-per-linter= max-same-issues= concurrency= allow-parallel-runners out-format= show-stats sort-results", exact: true}, changed: ".golangci.yml .golangci.yaml .golangci.toml .golangci.json .custom-gcl.yml"}},
		{names: "cargo", is: compiles | runsArguments | inert, flags: "--config --manifest-path -Z", words: 1, again: "test build check clippy fmt add remove update fetch doc tree", check: &check{closed: cargoCheck, changed: "build.rs config.toml cargo.toml", hollowFlags: "config", lines: []checkLine{
			{words: "cargo test", proof: Tests, compiles: true, output: RustOutput},
			{words: "cargo nextest run", proof: Tests, compiles: true, output: RustOutput},
			{words: "cargo check", proof: Builds, compiles: true},
			{words: "cargo build", proof: Builds, compiles: true},
			{words: "cargo clippy", proof: Builds, compiles: true},
		}}},
		{names: "stack cabal", is: compiles, words: 1},

		{names: "npm", is: tellsVersion | vTells | runsOthers | closes | shortens, effect: npmTool, flags: "--script-shell --prefix --node-options -C --dir --cwd", words: 1, deeper: "run compose exec", again: "test ci ls list outdated view why", builds: PackageJSON, check: scripts},
		{names: "pnpm yarn", is: runsOthers | runsScripts, flags: "--script-shell --prefix --node-options -C --dir --cwd", words: 1, deeper: "run compose exec", again: "test ci ls list outdated view why", builds: PackageJSON, check: scripts},
		{names: "npx", is: runsOthers | launches | runsLines, builds: PackageJSON, check: &check{closed: npxCheck, changed: nodeFiles}},
		{names: "bunx", is: runsOthers | launches},
		{names: "pnpx", is: launches},
		{names: "tsc", is: tellsVersion | compiles | ofNode, check: &check{closed: tscCheck, changed: nodeFiles, lines: []checkLine{{words: "tsc", proof: Builds}}}},
		{names: "eslint", is: ofNode, check: &check{options: &usage{long: "ext= fix quiet cache max-warnings= format= color no-color report-unused-disable-directives ignore-pattern=", exact: true}, changed: nodeFiles, lines: []checkLine{{words: "eslint", proof: Styled}}}},
		{names: "prettier", is: ofNode, check: &check{options: &usage{short: "clw", long: "check list-different write ignore-unknown log-level=", exact: true}, changed: nodeFiles}},
		{names: "jest", is: compiles | ofNode, check: &check{options: &usage{short: "it=", long: "ci coverage runInBand watch watchAll? verbose silent bail testNamePattern= passWithNoTests updateSnapshot maxWorkers= testPathPattern= no-coverage detectOpenHandles forceExit", exact: true}, changed: nodeFiles, lines: []checkLine{{words: "jest", proof: Tests, output: JavaScriptOutput}}}},
		{names: "vitest", is: compiles | ofNode, check: &check{options: &usage{short: "t=", long: "run coverage reporter= testNamePattern= watch? silent passWithNoTests", exact: true}, changed: nodeFiles, lines: []checkLine{{words: "vitest", proof: Tests, output: JavaScriptOutput}}}},
		{names: "mocha ava jasmine playwright tap tape", is: compiles, check: &check{lines: []checkLine{
			{words: "mocha", proof: Tests, output: JavaScriptOutput}, {words: "ava", proof: Tests, output: JavaScriptOutput}, {words: "jasmine", proof: Tests, output: JavaScriptOutput},
			{words: "playwright test", proof: Tests, output: JavaScriptOutput}, {words: "tap", proof: Tests, output: TAPOutput}, {words: "tape", proof: Tests, output: TAPOutput},
		}}},
		{names: "cypress", is: compiles},

		{names: "pytest", is: compiles, flags: "-p -c -o --override-ini --rootdir --confcutdir", check: &check{closed: func(_ string, args []shellsyntax.Word) bool { return pytestCheck(args) }, changed: pytestFiles, hollowFlags: pytestHollow, lines: []checkLine{
			{words: "pytest", proof: Tests, output: PytestOutput},
		}}},
		{names: "py.test", is: compiles},
		{names: "pip pip3", is: tellsVersion | closes, effect: pipTool, words: 1},
		{names: "pipx uvx", is: runsArguments | launches},
		{names: "uv poetry", is: runsOthers | runsArguments | launches, words: 1},
		{names: "tox", is: ownFiles, builds: ToxINI, check: &check{options: &usage{short: "qve=p?", exact: true, most: 1}, changed: "tox.ini setup.cfg pyproject.toml setup.py conftest.py", lines: []checkLine{{words: "tox", proof: Wraps}}}},
		{names: "nox", is: ownFiles, check: &check{lines: []checkLine{{words: "nox", proof: Wraps}}}},
		{names: "mypy", is: tellsVersion, check: &check{options: &usage{short: "pvm=", long: "strict ignore-missing-imports show-error-codes pretty no-incremental python-version= namespace-packages explicit-package-bases check-untyped-defs disallow-untyped-defs no-implicit-optional warn-unused-ignores no-error-summary no-color-output package= module= exclude= follow-imports= verbose", exact: true}, changed: "mypy.ini .mypy.ini pyproject.toml setup.cfg", lines: []checkLine{{words: "mypy", proof: Styled}}}},
		{names: "pyright", check: &check{lines: []checkLine{{words: "pyright", proof: Styled}}}},
		{names: "ruff", is: tellsVersion, check: &check{subs: "check format", options: &usage{short: "qvsn", long: "fix no-fix unsafe-fixes check diff quiet verbose silent select= ignore= extend-select= line-length= target-version= output-format= exit-zero statistics show-fixes no-cache preview exclude= force-exclude respect-gitignore", exact: true}, lines: []checkLine{{words: "ruff check", proof: Styled}}}},
		{names: "black", is: tellsVersion, check: &formatCheck},
		{names: "isort", check: &formatCheck},
		{names: "flake8 pylint", check: &check{options: &usage{short: "vqj=E", long: "max-line-length= ignore= select= extend-ignore= exclude= count statistics show-source max-complexity= disable= enable= errors-only jobs= score= quiet verbose", exact: true}, changed: ".flake8 setup.cfg tox.ini .pylintrc pylintrc pyproject.toml"}},

		{names: "make gmake", is: tellsVersion | runsOthers, executes: assignmentsExecute, flags: "-f --file --makefile --eval -E -C --directory -I --include-dir --what-if -W --old-file -o --assume-new", words: 1, builds: Makefile, check: &check{changed: "makefile gnumakefile makefile.am *.mk",
			closed: func(_ string, args []shellsyntax.Word) bool {
				return targets(args, "-j", "-k", "-s", "-B") || noTarget(args)
			},
			targets: true, hollowFlags: makeHollow, hollowLetters: "ntqi", lines: []checkLine{{words: "make", proof: Wraps}, {words: "gmake", proof: Wraps}}}},
		{names: "just", is: runsOthers, flags: "--shell --shell-arg --set -f --justfile -c --command -d --working-directory", words: 1, builds: Justfile, check: &check{changed: "justfile .justfile",
			closed:  func(_ string, args []shellsyntax.Word) bool { return targets(args) },
			targets: true, hollowFlags: makeHollow, lines: []checkLine{{words: "just", proof: Wraps}}}},
		{names: "cmake", is: tellsVersion | ownFiles},
		{names: "ctest", is: ownFiles, check: &check{options: &usage{short: "VR=j=", long: "output-on-failure verbose parallel= rerun-failed test-dir<", exact: true}, changed: "cmakelists.txt ctesttestfile.cmake", lines: []checkLine{{words: "ctest", proof: Tests, output: CTestOutput}}}},
		{names: "bazel", is: ownFiles, check: &check{lines: []checkLine{{words: "bazel test", proof: Tests, compiles: true, output: BazelOutput}}}},
		{names: "zig", is: ownFiles, check: &check{subs: "test", options: &usage{long: "filter= parallel", exact: true}, changed: beamFiles, lines: []checkLine{
			{words: "zig build test", proof: Wraps, compiles: true}, {words: "zig test", proof: Tests, compiles: true, output: ZigOutput},
		}}},
		{names: "mvn", is: ownFiles, words: 1, check: &check{subs: "test verify compile", options: &usage{short: "qBoe", exact: true}, changed: "pom.xml settings.xml maven.config jvm.config extensions.xml", lines: []checkLine{
			{words: "mvn test", proof: Tests, compiles: true, output: JVMOutput}, {words: "mvn verify", proof: Tests, compiles: true, output: JVMOutput},
		}}},
		{names: "gradle", is: ownFiles, words: 1, check: &check{subs: "test build check", options: &usage{short: "qi", long: "quiet info offline stacktrace console= no-daemon continue tests=", exact: true}, changed: "build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties", lines: []checkLine{
			{words: "gradle test", proof: Tests, compiles: true, output: JVMOutput}, {words: "gradle check", proof: Tests, compiles: true, output: JVMOutput},
		}}},
		{names: "dotnet", is: compiles, words: 1, check: &check{subs: "test build", options: &usage{short: "c=v=", long: "configuration= verbosity= no-build no-restore nologo filter=", exact: true}, changed: "*.csproj *.fsproj *.props *.targets *.sln", lines: []checkLine{
			{words: "dotnet test", proof: Tests, compiles: true, output: DotnetOutput}, {words: "dotnet build", proof: Builds, compiles: true},
		}}},
		{names: "swift", is: compiles, words: 1, check: &check{subs: "test build", options: &usage{long: "filter= parallel", exact: true}, changed: beamFiles, lines: []checkLine{
			{words: "swift test", proof: Tests, compiles: true, output: SwiftOutput}, {words: "swift build", proof: Builds, compiles: true},
		}}},
		{names: "mix", is: ownFiles, words: 1, check: &check{subs: "test compile", options: &usage{long: "filter= parallel", exact: true}, changed: beamFiles, lines: []checkLine{{words: "mix test", proof: Tests, compiles: true, output: RubyOutput}}}},
		{names: "composer", is: ownFiles, words: 1, check: &check{lines: []checkLine{{words: "composer test", proof: Wraps}}}},
		{names: "rspec phpunit", is: compiles, check: &check{options: &usage{short: "fc", long: "format= color no-color fail-fast filter= testdox", exact: true}, changed: rubyFiles, lines: []checkLine{
			{words: "rspec", proof: Tests, output: RubyOutput}, {words: "phpunit", proof: Tests, output: PHPOutput},
		}}},
		{names: "bundle", is: runsOthers, words: 1, check: &check{closed: bundleCheck, changed: "gemfile .rspec spec_helper.rb rakefile"}},
		{names: "rake", is: ownFiles, words: 1, check: &check{lines: []checkLine{{words: "rake test", proof: Wraps}}}},
		{names: "rails", check: &check{lines: []checkLine{{words: "rails test", proof: Tests, output: RubyOutput}}}},

		{names: "asdf conda dotenvx nix pipenv pixi rye", is: launches},
		{names: "ansible-playbook ant bmake devbox direnv docker-compose doit dune earthly foreman gradlew grunt gulp hatch honcho husky inv invoke lefthook lerna mage meson mise mvnw ninja nix-shell nx overmind pdm pm2 podman-compose poe pre-commit rebar3 rush sbt scons skaffold task tilt turbo vagrant watchexec wireit", is: ownFiles},
	}
}

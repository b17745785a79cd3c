package command

// languagePrograms returns the interpreters, the compilers, and the editors with their
// own language.
func languagePrograms(scripts *check) []program {
	return []program{
		{names: "python python3", is: tellsVersion | interpreter | scripted | runsModules, effect: python, flags: "-c -m", check: &check{closed: pythonCheck, changed: pytestFiles, hollowFlags: pytestHollow, lines: []checkLine{
			{words: "python -m pytest", proof: Tests, output: PytestOutput, called: "pytest", flags: pytestFlags, covers: filesCover},
			{words: "python -m unittest", proof: Tests, output: UnittestOutput}, {words: "python manage.py test", proof: Tests, output: UnittestOutput},
		}}},
		{names: "pypy", is: interpreter | scripted | runsModules, flags: "-c -m"},
		{names: "perl", is: tellsVersion | interpreter | scripted, flags: "-e -E -M -m -I -x"},
		{names: "ruby", is: tellsVersion | interpreter | scripted, flags: "-e -r -I"},
		{names: "php", is: tellsVersion | interpreter | scripted, flags: "-r --run -d"},
		{names: "node nodejs", is: tellsVersion | vTells | interpreter | scripted | testsItself, flags: "-e --eval -p --print -r --require --import --loader --experimental-loader", check: &check{lines: []checkLine{{words: "node --test", proof: Tests, output: TAPOutput}}}},
		{names: "deno", is: tellsVersion | interpreter | ownFiles, flags: "-e --eval -p --print -r --require --import --loader --experimental-loader", words: 1, check: &check{lines: []checkLine{{words: "deno test", proof: Tests, output: JavaScriptOutput}}}},
		{names: "bun", is: tellsVersion | interpreter, flags: "-e --eval -p --print -r --require --import --loader --experimental-loader", words: 1, builds: PackageJSON, check: scripts},
		{names: "tsx ts-node", is: scripted},
		{names: "lua luajit", is: interpreter | scripted, flags: "-e"},
		{names: "R Rscript", is: interpreter | scripted, flags: "-e"},
		{names: "java", is: tellsVersion | scripted},
		{names: "groovy", is: interpreter | scripted, flags: "-e"},
		{names: "elixir", is: interpreter, flags: "-e"},
		{names: "osascript", is: interpreter | scripted, flags: "-e"},
		{names: "pwsh powershell", is: interpreter | scripted},
		{names: "tclsh expect", is: interpreter | scripted},
		{names: "guile", is: scripted},
		{names: "ghci irb scala", is: interpreter},

		{names: "vim vi ex nvim view", is: interpreter | filter, flags: "-c --cmd -S -s +x"},
		{names: "emacs", is: interpreter | filter, flags: "--eval -e -l --load -f --funcall --script --batch"},
		{names: "ed", is: interpreter | filter},
		{names: "gdb lldb", is: interpreter | filter, flags: "-ex --eval-command -x --command -o -s"},

		{names: "gcc g++ clang clang++ cc javac", is: tellsVersion | compiles},
		{names: "rustc", is: compiles},
		{names: "gopls", is: tellsVersion},
	}
}

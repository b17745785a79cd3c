package command

// otherPrograms returns what rules about programs need to know of those that are neither
// shells and wrappers nor tools of projects.
func otherPrograms(scripts *check) []program {
	return []program{
		// Text and files.
		{names: "sort", flags: "--compress-program -o --output"},
		{names: "rg", flags: "--pre --hostname-bin"},
		{names: "sed", is: interpreter | filter, executes: scriptExecutes},
		{names: "awk gawk mawk nawk", is: interpreter | filter, executes: scriptExecutes},
		{names: "less more man", flags: "-P --pager +!"},
		{names: "find", flags: "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from"},
		{names: "fd fdfind", flags: "-x -X --exec --exec-batch"},
		{names: "mv ln chmod rm unlink rmdir unzip", is: exact},
		{names: "chown shred dd", is: exact | sensitive},
		{names: "rsync", is: exact, flags: "-e --rsh --rsync-path"},
		{names: "tar bsdtar", is: exact | barecluster, flags: "--checkpoint-action --to-command -I --use-compress-program --rsh-command -F --info-script --new-volume-script --rmt-command"},
		{names: "zip", flags: "-T -TT --unzip-command"},
		// Languages, and editors with one.
		{names: "python python3", is: interpreter, flags: "-c -m", check: &check{hollowFlags: pytestHollow, lines: []checkLine{
			{words: "python -m pytest", proof: Tests, output: PytestOutput, called: "pytest"},
			{words: "python -m unittest", proof: Tests, output: UnittestOutput}, {words: "python manage.py test", proof: Tests, output: UnittestOutput},
		}}},
		{names: "pypy", is: interpreter, flags: "-c -m"},
		{names: "perl", is: interpreter, flags: "-e -E -M -m -I -x"},
		{names: "ruby", is: interpreter, flags: "-e -r -I"},
		{names: "php", is: interpreter, flags: "-r --run -d"},
		{names: "node nodejs", is: interpreter, flags: "-e --eval -p --print -r --require --import --loader --experimental-loader", check: &check{lines: []checkLine{{words: "node --test", proof: Tests, output: TAPOutput}}}},
		{names: "deno", is: interpreter, flags: "-e --eval -p --print -r --require --import --loader --experimental-loader", words: 1, check: &check{lines: []checkLine{{words: "deno test", proof: Tests, output: JavaScriptOutput}}}},
		{names: "bun", is: interpreter, flags: "-e --eval -p --print -r --require --import --loader --experimental-loader", words: 1, check: scripts},
		{names: "lua luajit R Rscript groovy elixir osascript", is: interpreter, flags: "-e"},
		{names: "pwsh powershell tclsh expect ghci irb scala", is: interpreter},
		{names: "vim vi ex nvim view", is: interpreter | filter, flags: "-c --cmd -S -s +x"},
		{names: "emacs", is: interpreter | filter, flags: "--eval -e -l --load -f --funcall --script --batch"},
		{names: "ed", is: interpreter | filter},
		{names: "gdb lldb", is: interpreter | filter, flags: "-ex --eval-command -x --command -o -s"},
		// The machine, networks and services.
		{names: "git", flags: "-c --exec-path --config-env --git-dir --work-tree --exec -x --upload-pack --receive-pack --open-files-in-pager -O --ext-diff --textconv --output --template --config -u", words: 1, again: "fetch pull merge rebase cherry-pick revert add commit switch", executes: gitExecutes, loses: gitLoses},
		{names: "gh", words: 2, again: "pr.view pr.list pr.diff pr.checks pr.status issue.view issue.list issue.status run.view run.list repo.view release.view release.list"},
		{names: "docker", flags: "--privileged --entrypoint --pid --cap-add", words: 1, deeper: "run compose exec", again: "ps images logs inspect version info stats top port build pull compose.ps compose.logs compose.build compose.pull"},
		{names: "podman", flags: "--privileged --entrypoint --pid --cap-add", words: 2},
		{names: "kubectl", words: 1, deeper: "run compose exec", again: "get describe logs top explain version"},
		{names: "helm terraform", words: 1, again: "plan validate show list status template lint version"},
		{names: "aws gcloud", words: 2},
		{names: "apt apt-get brew rustup", words: 1},
		{names: "curl wget", is: exact, flags: "-K --config --use-askpass -o -O --output --output-document --engine"},
		{names: "nc ncat socat kill pkill killall service iptables", is: exact},
		{names: "ssh scp", is: exact, flags: "-o -F -S -J"},
		{names: "sftp", flags: "-o -F -S -J"},
		{names: "tcpdump", flags: "-z"},
		{names: "systemctl mount umount", is: exact | sensitive},
		{names: "launchctl passwd visudo mkfs", is: sensitive},
	}
}

package command

// shellPrograms returns the shells, their own commands, and what runs the command after it.
func shellPrograms() []program {
	return []program{
		{names: "bash", is: tellsVersion | exact},
		{names: "sh dash zsh ksh fish", is: exact}, // -V is an option of some, which then read code
		{names: ". source", is: runsArguments | exact},
		{names: "eval", is: runsArguments | ownFiles | exact | sensitive},
		{names: "exec", is: runsArguments | exact},
		{names: "command", is: tells | hides | runsArguments | transparent},
		{names: "cd", is: hides | inert, effect: builtins},
		{names: "echo", is: tells | counts | hides},
		{names: "printf", is: hides, effect: builtins},
		{names: "test [", is: presence | hides | inert, effect: builtins},
		{names: "true :", is: tells | hides},
		{names: "false break continue exit return", is: tells},
		{names: "read set", is: inert, effect: builtins},
		{names: "export", is: listsVariables | inert | exact, effect: builtins},
		{names: "declare local readonly typeset unset", is: listsVariables, effect: builtins},
		{names: "type which", is: tells | hides | inert},
		{names: "hash", is: runsOthers, usage: &usage{short: "lt!p!d!r", operands: text}},
		{names: "alias", is: runsOthers},
		{names: "trap", is: runsOthers | exact},
		{names: "wait", is: waits},
		{names: "jobs", is: asksState},
		{names: "help", is: tells},
		{names: "sleep", is: tells | waits},

		{names: "if then else while do ! {", is: runsArguments},
		{names: "env xargs", is: runsOthers | runsArguments},
		{names: "nohup nice time timeout", is: runsArguments | transparent},
		{names: "stdbuf setsid builtin ionice caffeinate", is: transparent},
		{names: "sudo", is: runsArguments | sensitive},
		{names: "doas", is: sensitive},
		{names: "su", is: runsOthers | sensitive, flags: "-c --command -x"},
		{names: "script", is: runsOthers | runsLines, flags: "-c --command -x"},
		{names: "watch flock parallel entr", is: runsOthers | runsLines, flags: "-c --command -x"},
		{names: "strace ltrace unshare nsenter chroot", is: runsOthers, flags: "-c --command -x"},
		{names: "at batch", is: runsOthers},
		{names: "crontab", is: runsOthers | exact | sensitive},
		{names: "bwrap capsh dbus-run-session faketime firejail numactl perf pkexec prlimit proot rlwrap runuser screen setarch setpriv systemd-run tmux unbuffer valgrind xvfb-run", is: runsOthers},
		{names: "concurrently cross-env cross-env-shell nodemon start-server-and-test dotenv c8 nyc", is: runsLines},
	}
}

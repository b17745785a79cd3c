package command

// shellPrograms returns the shells, their builtins, and programs that run the command
// after them.
func shellPrograms() []program {
	return []program{
		{names: "bash", is: tellsVersion | exact},
		{names: "sh dash zsh ksh fish", is: exact}, // -V is an option of some, which then read code
		{names: ". source", is: runsArguments | exact},
		{names: "eval", is: runsArguments | ownFiles | exact | sensitive},
		{names: "exec", is: runsArguments | exact, wraps: &wrapping{usage: usage{short: "!c"}}},
		{names: "command", is: tells | hides | runsArguments | transparent, wraps: &wrapping{usage: usage{short: "p"}, none: "vV"}},
		{names: "cd", is: hides | inert, effect: changesFolder},
		{names: "echo", is: tells | counts | hides},
		{names: "printf", is: hides, effect: prints},
		{names: "test [", is: presence | hides | inert, effect: tests},
		{names: "true :", is: tells | hides},
		{names: "false break continue exit return", is: tells},
		{names: "read", is: inert, effect: readsVariables},
		{names: "set", is: inert, effect: setsOptions},
		{names: "export", is: listsVariables | inert | exact, effect: setsVariables},
		{names: "declare local readonly typeset unset", is: listsVariables, effect: setsVariables},
		{names: "type which", is: tells | hides | inert},
		{names: "hash", is: runsOthers, usage: &usage{short: "lt!p!d!r", operands: text}},
		{names: "alias", is: runsOthers},
		{names: "trap", is: runsOthers | exact},
		{names: "help", is: tells},
		{names: "sleep", is: tells},

		{names: "if then else while do ! {", is: runsArguments},
		{names: "env", is: runsOthers | runsArguments | assigns, executes: itselfExecutes, wraps: &wrapping{
			usage:  usage{short: "iv0u=C=S=", long: "ignore-environment debug null unset= chdir= split-string="},
			folder: "-C --chdir", split: "-S --split-string",
		}},
		{names: "xargs", is: runsOthers | runsArguments | feeds, executes: itselfExecutes, wraps: &wrapping{
			usage: usage{
				short: "0rtx!pn=P=L=s=d=E=I=l?i?!e?!a=",
				long:  "null no-run-if-empty verbose exit max-args= max-procs= max-lines? delimiter= replace? max-chars= !interactive !open-tty !eof? !arg-file=",
			},
			reads: "-a --arg-file", mark: "-I -i --replace",
		}},
		{names: "nohup", is: runsArguments | transparent | stays, wraps: &wrapping{}},
		{names: "nice", is: runsArguments | transparent | stays, wraps: &wrapping{usage: usage{short: "n=", long: "adjustment=", digits: true}}},
		{names: "time", is: runsArguments | transparent | stays, wraps: &wrapping{usage: usage{short: "pvqf=!a!o=", long: "portability verbose quiet format= !append !output="}, writes: "-o --output"}},
		{names: "timeout", is: runsArguments | transparent | stays, wraps: &wrapping{usage: usage{short: "k=s=v!f", long: "kill-after= signal= preserve-status foreground verbose"}, own: 1}},
		{names: "stdbuf", is: transparent, wraps: &wrapping{usage: usage{short: "i=o=e=", long: "input= output= error="}}},
		{names: "setsid", is: transparent, wraps: &wrapping{usage: usage{short: "w!c!f", long: "!ctty !fork !wait"}}},
		{names: "builtin", is: transparent, wraps: &wrapping{}},
		{names: "busybox toybox", is: alters, wraps: &wrapping{}},
		{names: "ionice", is: transparent | alters, wraps: &wrapping{usage: usage{short: "tc=n=", long: "ignore class= classdata="}}},
		{names: "caffeinate", is: transparent | alters, wraps: &wrapping{usage: usage{short: "dimsut=w="}}},
		{names: "chrt", is: alters, wraps: &wrapping{usage: usage{short: "abdfiorT=P=D="}, own: 1}},
		{names: "taskset", is: alters, wraps: &wrapping{usage: usage{short: "ac", long: "all-tasks cpu-list"}, own: 1}},
		{names: "sudo", is: runsArguments | sensitive | alters | assigns, executes: itselfExecutes, wraps: &wrapping{
			usage: usage{
				short: "ABEHnPSbku=g=h=p=C=T=r=t=U=",
				long:  "askpass background preserve-env non-interactive set-home stdin user= group= host= prompt= close-from= command-timeout= role= type= other-user=",
			},
			only: true,
		}},
		{names: "doas", is: sensitive | alters, executes: itselfExecutes, wraps: &wrapping{usage: usage{short: "nLu="}, only: true}},
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

package command

// shellPrograms returns the shells, their builtins, and programs that run the command
// after them.
func shellPrograms() []program {
	return []program{
		{names: "bash", is: exact},
		{names: "sh dash zsh ksh fish", is: exact}, // -V is an option of some, which then read code
		{names: ". source", is: exact},
		{names: "eval", is: exact | sensitive},
		{names: "exec", is: exact, wraps: &wrapping{usage: usage{short: "!c"}}},
		{names: "command", is: transparent, wraps: &wrapping{usage: usage{short: "p"}, none: "vV"}},
		{names: "export", is: exact},
		{names: "trap", is: exact},
		{names: "env", is: assigns, executes: itselfExecutes, wraps: &wrapping{
			usage:  usage{short: "iv0u=C=S=", long: "ignore-environment debug null unset= chdir= split-string="},
			folder: "-C --chdir", split: "-S --split-string",
		}},
		{names: "xargs", is: feeds, executes: itselfExecutes, wraps: &wrapping{
			usage: usage{
				short: "0rtx!pn=P=L=s=d=E=I=l?i?!e?!a=",
				long:  "null no-run-if-empty verbose exit max-args= max-procs= max-lines? delimiter= replace? max-chars= !interactive !open-tty !eof? !arg-file=",
			},
			reads: "-a --arg-file", mark: "-I -i --replace",
		}},
		{names: "nohup", is: transparent | stays, wraps: &wrapping{}},
		{names: "nice", is: transparent | stays, wraps: &wrapping{usage: usage{short: "n=", long: "adjustment=", digits: true}}},
		{names: "time", is: transparent | stays, wraps: &wrapping{usage: usage{short: "pvqf=!a!o=", long: "portability verbose quiet format= !append !output="}, writes: "-o --output"}},
		{names: "timeout", is: transparent | stays, wraps: &wrapping{usage: usage{short: "k=s=v!f", long: "kill-after= signal= preserve-status foreground verbose"}, own: 1}},
		{names: "stdbuf", is: transparent, wraps: &wrapping{usage: usage{short: "i=o=e=", long: "input= output= error="}}},
		{names: "setsid", is: transparent, wraps: &wrapping{usage: usage{short: "w!c!f", long: "!ctty !fork !wait"}}},
		{names: "builtin", is: transparent, wraps: &wrapping{}},
		{names: "busybox toybox", wraps: &wrapping{}},
		{names: "ionice", is: transparent, wraps: &wrapping{usage: usage{short: "tc=n=", long: "ignore class= classdata="}}},
		{names: "caffeinate", is: transparent, wraps: &wrapping{usage: usage{short: "dimsut=w="}}},
		{names: "chrt", wraps: &wrapping{usage: usage{short: "abdfiorT=P=D="}, own: 1}},
		{names: "taskset", wraps: &wrapping{usage: usage{short: "ac", long: "all-tasks cpu-list"}, own: 1}},
		{names: "sudo", is: sensitive | assigns, executes: itselfExecutes, wraps: &wrapping{
			usage: usage{
				short: "ABEHnPSbku=g=h=p=C=T=r=t=U=",
				long:  "askpass background preserve-env non-interactive set-home stdin user= group= host= prompt= close-from= command-timeout= role= type= other-user=",
			},
			only: true,
		}},
		{names: "doas", is: sensitive, executes: itselfExecutes, wraps: &wrapping{usage: usage{short: "nLu="}, only: true}},
		{names: "su", is: sensitive, flags: "-c --command -x"},
		{names: "script", flags: "-c --command -x"},
		{names: "watch flock parallel entr", flags: "-c --command -x"},
		{names: "strace ltrace unshare nsenter chroot", flags: "-c --command -x"},
		{names: "crontab", is: exact | sensitive},
	}
}

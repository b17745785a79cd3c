package command

// shellPrograms returns the shells, their builtins, and programs that run the command
// after them.
func shellPrograms() []program {
	return []program{
		{names: "bash sh dash zsh ksh fish . source export trap", is: exact},
		{names: "eval", is: exact | sensitive},
		{names: "exec", is: exact, wraps: &wrapping{}},
		{names: "command", is: transparent, wraps: &wrapping{usage: usage{letters: "p"}}},
		{names: "env", executes: itselfExecutes, wraps: &wrapping{usage: usage{"iv0", "u", "--ignore-environment --debug --null --unset="}, assigns: true}},
		{names: "xargs", is: feeds, executes: itselfExecutes},
		{names: "nohup builtin", is: transparent, wraps: &wrapping{}},
		{names: "nice", is: transparent, wraps: &wrapping{usage: usage{"0123456789", "n", "--adjustment="}}},
		{names: "time", is: transparent, wraps: &wrapping{usage: usage{"pvq", "f", "--portability --verbose --quiet --format="}}},
		{names: "timeout", is: transparent, wraps: &wrapping{usage: usage{"vf", "ks", "--kill-after= --signal= --preserve-status --foreground --verbose"}, own: 1}},
		{names: "stdbuf", is: transparent, wraps: &wrapping{usage: usage{"", "ioe", "--input= --output= --error="}}},
		{names: "setsid", is: transparent, wraps: &wrapping{usage: usage{"w", "", "--wait"}}},
		{names: "busybox toybox", wraps: &wrapping{}},
		{names: "ionice", is: transparent, wraps: &wrapping{usage: usage{"t", "cn", "--ignore --class= --classdata="}}},
		{names: "caffeinate", is: transparent, wraps: &wrapping{usage: usage{"dimsu", "tw", ""}}},
		{names: "sudo", is: sensitive, executes: itselfExecutes, wraps: &wrapping{
			usage:   usage{"ABEHnPSbk", "ughpCTrtU", "--askpass --background --preserve-env --non-interactive --set-home --stdin --user= --group= --host= --prompt= --close-from= --command-timeout= --role= --type= --other-user="},
			assigns: true,
		}},
		{names: "doas", is: sensitive, executes: itselfExecutes, wraps: &wrapping{usage: usage{"nL", "u", ""}}},
		{names: "su", is: sensitive, flags: "-c --command -x"},
		{names: "script watch flock parallel entr strace ltrace unshare nsenter chroot", flags: "-c --command -x"},
		{names: "crontab", is: exact | sensitive},
	}
}

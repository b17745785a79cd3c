package cli

// lessOn returns what pawl cannot do on an operating system, for `pawl doctor`. What
// depends on the machine, such as a Linux kernel, is tested instead of listed.
func lessOn(system string) []finding {
	unconfined := finding{
		what: "confining", is: "there is no sandbox for commands on this system, only on Linux and macOS: each command that changes something asks, and a folder's checks, hooks and servers run only if you trust it",
		do: "if you need a sandbox, use a virtual machine, a container or a dev container",
	}
	unmeasured := "pawl cannot measure free memory and the memory of language servers here: resources.memory_mb and lsp.memory_mb have no effect"
	open := finding{what: "keys", is: "your other programs can read pawl's memory, with the keys in it; on Linux they cannot"}
	switch system {
	case "linux":
		return nil
	case "darwin":
		return []finding{
			{
				what: "confining", is: "pawl was never tested on a Mac: only what pawl doctor tests here is certain; commands in the sandbox cannot reach servers that they start, and protected names are also protected in packages and temporary folders",
				do: "see doc/safety.md; please report what does not work",
			},
			open,
			{what: "memory", is: unmeasured},
			{what: "processes", is: "pawl cannot find a program that left its command's process group and whose parent has ended: an interrupt does not end it", do: "end such a program yourself"},
		}
	case "windows":
		return []finding{
			unconfined, open,
			{what: "screen", is: "the conversation is line by line"},
			{what: "shell", is: "commands run in bash", do: "install Git for Windows and put its bash on PATH, or use pawl in WSL, where everything works"},
			{what: "processes", is: "an interrupt ends the first process of a command, but not the processes that it started; if pawl is killed, nothing ends them", do: "end such processes yourself"},
			{what: "files", is: "pawl does not see the owner and the hard links of a file, and two pawls that write in one folder do not wait for each other"},
			{what: "trust", is: "pawl identifies a folder only by its path: another folder at this path with the same configuration is trusted, too"},
			{what: "memory", is: unmeasured + "; it cannot measure free disk space either"},
		}
	}
	return []finding{unconfined, open, {what: "memory", is: unmeasured}, {what: "system", is: system + ": pawl was never tested on this system", do: "use pawl on Linux or macOS"}}
}

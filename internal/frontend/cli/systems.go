package cli

// lessOn returns what pawl cannot do on a system, for the doctor. What depends
// on the machine, such as the kernel of a Linux, is tried and not listed.
func lessOn(system string) []finding {
	unconfined := finding{
		what: "confining", is: "commands are not confined on this system, only on Linux and macOS: auto is accept-edits here, and checks, hooks and servers of a folder run only where you trust it",
		do: "work in a virtual machine, a container or a dev container where that matters",
	}
	unmeasured := "free memory and the memory of language servers are not measured: resources.memory_mb and lsp.memory_mb limit nothing"
	open := finding{what: "keys", is: "pawl does not close its memory, with the keys in it, to your other programs as it does on Linux"}
	switch system {
	case "linux":
		return nil
	case "darwin":
		return []finding{
			{
				what: "confining", is: "the people who make pawl had no Mac to run it on: what the sandbox keeps is what pawl tried here; commands reach no servers of their own, and protected names hold in packages and temporary folders, too",
				do: "see doc/sandbox.md; tell us what does not work",
			},
			open,
			{what: "memory", is: unmeasured},
			{what: "processes", is: "a program that leaves its command's process group and whose parent ended is not found again: an interrupt does not end it", do: "end it yourself"},
		}
	case "windows":
		return []finding{
			unconfined, open,
			{what: "screen", is: "the conversation is line by line"},
			{what: "shell", is: "commands run in bash", do: "install Git for Windows and have its bash on PATH, or use pawl in WSL, where nothing is less"},
			{what: "processes", is: "an interrupt ends the first process of a command, and not those that it started; nothing ends them if pawl is killed", do: "end them yourself"},
			{what: "files", is: "owners and further names of a file (hard links) are not seen, and two pawls that write in one folder do not wait for each other"},
			{what: "trust", is: "a folder is known by its path: another one in its place with the same configuration is trusted too"},
			{what: "memory", is: unmeasured + "; nor is free disk space"},
		}
	}
	return []finding{unconfined, open, {what: "memory", is: unmeasured}, {what: "system", is: system + " is not tried by the people who make pawl", do: "use pawl on Linux or macOS"}}
}

package command

import "github.com/pawl-agent/pawl/internal/core/shellsyntax"

// This file knows which files a command line runs that it names, or does not
// name, for those who must know what it depends on: a line that is trusted is
// asked about again when one of them changes.

// BuildFiles returns the files of a folder from which a program takes the
// commands that it runs.
func BuildFiles(program string) []string {
	switch program {
	case "make":
		return []string{"Makefile", "makefile", "GNUmakefile"}
	case "just":
		return []string{"justfile", "Justfile"}
	case "npm", "npx", "pnpm", "yarn", "bun":
		return []string{"package.json"}
	}
	return nil
}

// RunsArguments reports whether a program, or a word of the shell, runs a file
// that is an argument of it, or the command line after it.
func RunsArguments(program string) bool {
	switch program {
	case "sh", "bash", "zsh", "dash", "ksh", "fish", ".", "source", "eval",
		"python", "python3", "node", "deno", "ruby", "perl", "php", "lua", "pwsh", "awk", "osascript",
		"tsx", "ts-node", "uv", "uvx", "pipx", "poetry", "go", "cargo", "java", "Rscript",
		"exec", "command", "env", "nohup", "nice", "time", "timeout", "xargs", "sudo", "if", "then", "else", "while", "do", "!", "{":
		return true
	}
	return false
}

// OnlyPrints reports whether a command of that program does nothing with its
// words but print them.
func OnlyPrints(program string, c shellsyntax.Command) bool {
	return program == "echo" || program == "printf" && len(c.Redirects) == 0
}

// OnlyTells reports whether a program tells of the files that it names no more
// than that they are there, and what they look like from outside.
func OnlyTells(program string) bool {
	switch program {
	case "ls", "test", "[", "stat":
		return true
	}
	return false
}

// TakesKey reports whether a program uses the file after its option -i as a key,
// without showing it.
func TakesKey(program string) bool {
	switch program {
	case "ssh", "scp", "sftp":
		return true
	}
	return false
}

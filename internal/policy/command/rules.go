package command

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// ExactOnly names programs that no wildcard is proposed for.
func ExactOnly(name string) bool {
	switch name {
	case "rm", "rmdir", "unlink", "mv", "dd", "shred", "chmod", "chown", "kill", "pkill", "killall", "curl", "wget", "ssh", "scp", "rsync", "nc", "ncat", "socat",
		"source", ".", "sh", "bash", "zsh", "dash", "ksh", "fish", "eval", "exec", "crontab", "mount", "umount", "systemctl", "service", "iptables", "ln", "tar", "unzip", "export", "trap":
		return true
	}
	return Interpreter(name)
}

// Interpreter names programs that run code of a language, or of their own.
func Interpreter(name string) bool {
	name = strings.TrimRight(name, "0123456789.")
	switch name {
	case "python", "pypy", "node", "nodejs", "perl", "ruby", "php", "lua", "luajit", "deno", "bun", "tclsh", "Rscript", "R", "osascript", "pwsh", "powershell", "groovy", "scala", "elixir", "ghci", "irb", "awk", "gawk", "mawk", "nawk", "sed", "vim", "vi", "ex", "nvim", "emacs", "ed", "gdb", "lldb", "expect":
		return true
	}
	return false
}

// Subcommands is how many words after the program say what it does.
func Subcommands(name string) int {
	switch name {
	case "go", "git", "cargo", "make", "just", "pip", "pip3", "uv", "poetry", "bundle", "rake", "mix", "dotnet", "gradle", "./gradlew", "mvn", "brew", "apt", "apt-get", "terraform", "helm", "rustup", "composer", "golangci-lint", "swift", "deno", "bun":
		return 1
	case "npm", "pnpm", "yarn", "docker", "podman", "kubectl", "gh", "aws", "gcloud":
		return 2
	}
	return 0
}

// Assignment reports whether a word is NAME=value.
func Assignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// Transparent reports whether a command's wrappers neither what runs nor with which rights.
func Transparent(c shellsyntax.Command) bool {
	for _, n := range c.Wrappers {
		switch n {
		case "timeout", "nohup", "nice", "time", "stdbuf", "setsid", "command", "builtin", "ionice", "caffeinate":
		default:
			return false
		}
	}
	return !slices.ContainsFunc(c.Via, func(w shellsyntax.Word) bool {
		return w.Text == "-o" || strings.HasPrefix(w.Text, "--output")
	}) || !slices.Contains(c.Wrappers, "time")
}

// ReadsFolder reports whether the command reads its folder where it is given no path.
func ReadsFolder(c shellsyntax.Command) bool {
	switch name, _ := c.Program(); name {
	case "ls", "find", "rg", "fd", "tree", "du", "git", "go", "dir":
		return true
	}
	return false
}

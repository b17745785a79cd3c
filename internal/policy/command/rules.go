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

// Subcommands returns how many words after the program say what it does, at most.
func Subcommands(c shellsyntax.Command) int {
	switch name, _ := c.Program(); name {
	case "go", "git", "cargo", "make", "just", "pip", "pip3", "uv", "poetry", "bundle", "rake", "mix", "dotnet", "gradle", "./gradlew", "mvn", "brew", "apt", "apt-get", "terraform", "helm", "rustup", "composer", "golangci-lint", "swift", "deno", "bun":
		return 1
	case "npm", "pnpm", "yarn", "docker", "kubectl":
		if len(c.Words) > 1 && isOneOf(c.Words[1], "run", "compose", "exec") {
			return 2
		}
		return 1
	case "podman", "gh", "aws", "gcloud":
		return 2
	}
	return 0
}

// Assignment reports whether a word is NAME=value.
func Assignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// Transparent reports whether a command's wrappers change neither what runs nor
// with which rights.
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

// RunsOthers names the programs that run what their words say, beside those
// that shellsyntax takes off.
func RunsOthers(name string) bool {
	switch name {
	case "script", "flock", "strace", "ltrace", "watch", "unshare", "setpriv", "prlimit", "runuser", "su", "capsh", "npx", "npm", "pnpm", "yarn", "bun", "bunx", "gdb", "lldb", "parallel", "entr", "nsenter", "chroot", "perf", "firejail", "systemd-run", "pkexec", "setarch",
		"numactl", "unbuffer", "rlwrap", "valgrind", "tmux", "screen", "expect", "env", "xargs", "find", "fd", "fdfind", "git", "make", "just", "ssh", "docker", "podman", "kubectl", "uv", "poetry", "bundle", "dbus-run-session", "xvfb-run", "faketime", "proot", "bwrap", "trap", "hash", "alias", "at", "batch", "crontab":
		return true
	}
	return Interpreter(name) || shellsyntax.Shell(name) || strings.HasPrefix(name, "ld-") || strings.HasPrefix(name, "ld.")
}

// Spellings returns other ways to read the words of a command, for those who
// must see a program wherever it stands: git's aliases and own programs, and in
// a command of unknown effect each word as a program, and each text as a line.
func Spellings(c shellsyntax.Command) (words [][]shellsyntax.Word, texts []string) {
	if len(c.Words) == 0 {
		return nil, nil
	}
	known := func(s string) shellsyntax.Word { return shellsyntax.Word{Text: s, Known: true} }
	base := c.Words[0].Text[strings.LastIndexByte(c.Words[0].Text, '/')+1:]
	args := c.Words[1:]
	if sub, ok := strings.CutPrefix(base, "git-"); ok {
		base, args = "git", append([]shellsyntax.Word{known(sub)}, args...)
		words = append(words, append([]shellsyntax.Word{known("git")}, args...))
	}
	if base == "git" {
		g := ParseGit(args)
		if g.Sub == "" || g.Foreign { // behind -c and its like
			for i := 0; i < len(args); i++ {
				t := args[i].Text
				if t == "-c" || t == "-C" || t == "--git-dir" || t == "--work-tree" || t == "--exec-path" || t == "--config-env" || t == "--namespace" {
					if i++; i < len(args) {
						t = "-c" + args[i].Text
					}
				}
				if name, v, ok := strings.Cut(t, "="); ok && strings.HasPrefix(name, "-calias.") {
					texts = append(texts, "git "+v, strings.TrimPrefix(v, "!"))
				}
				if args[i].Known && !strings.HasPrefix(t, "-") {
					g.Sub, g.Args = t, args[i+1:]
					words = append(words, append([]shellsyntax.Word{known("git"), args[i]}, g.Args...))
					break
				}
			}
		}
		switch g.Sub {
		case "send-pack", "http-push":
			words = append(words, append([]shellsyntax.Word{known("git"), known("push")}, g.Args...))
		case "subtree", "lfs", "annex", "flow", "submodule", "notes":
			words = append(words, append([]shellsyntax.Word{known("git")}, g.Args...))
		}
	}
	if Effects(c).Kind != Other {
		return words, texts
	}
	for i := 1; i < len(c.Words); i++ {
		if w := c.Words[i]; w.Known {
			words = append(words, c.Words[i:])
			if strings.ContainsAny(w.Text, " \t\n") {
				texts = append(texts, w.Text)
			}
		}
	}
	return words, texts
}

// Waits names the programs that only let time pass.
func Waits(name string) bool { return name == "sleep" || name == "wait" }

// AsksState names the programs that ask a service or a process how it stands.
func AsksState(name string) bool {
	switch name {
	case "curl", "nc", "ps", "pgrep", "jobs", "docker", "kubectl", "gh", "systemctl":
		return true
	}
	return false
}

// Searches names the programs that look for files or for text in them.
func Searches(name string) bool {
	switch name {
	case "grep", "rg", "find", "fd", "ag", "ls", "tree", "locate":
		return true
	}
	return false
}

// FindsText reports whether a command looks for text, and ends with exit code 1
// where it finds none.
func FindsText(words []string) bool {
	return len(words) > 0 && slices.Contains([]string{"grep", "egrep", "rg", "ag"}, words[0]) || len(words) > 1 && words[0] == "git" && words[1] == "grep"
}

package mcp

import (
	"cmp"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// This file reads which package the command of a server would fetch from a registry:
// that of npx, npm exec, pnpm dlx, bunx or uvx. Only commands of a known form count; any
// other one runs as it is written.

// launched is the package that a launcher fetches, and what it runs of it.
type launched struct {
	by      *launcher
	specs   []string // with versions as they are written
	python  string   // uv: which one
	program string   // of the package; "" for the one that has its name
	args    []string // of the program
}

// launcher is a program that fetches a package and runs it.
type launcher struct {
	words   []string // the command begins with them
	manager string   // the program that installs packages
	spec    func() *regexp.Regexp
	// Flags of the launcher: those that name a package, more packages, or a Python, and
	// those that change nothing here.
	from, with, python, plain []string
	registry                  string   // if the person has no other one
	also                      []string // hosts that have the registry's files
}

const (
	npmRegistry  = "https://registry.npmjs.org/"
	pypiRegistry = "https://pypi.org/simple"
)

var launchers = func() (out []*launcher) {
	js := func(command, manager string, from ...string) {
		out = append(out, &launcher{words: strings.Fields(command), manager: manager, spec: npmSpec, from: from, plain: []string{"-y", "--yes", "-q", "--quiet", "--silent", "--prefer-offline", "--prefer-online"}, registry: npmRegistry})
	}
	js("npx", "npm", "-p", "--package")
	js("npm exec", "npm", "-p", "--package")
	js("npm x", "npm", "-p", "--package")
	js("pnpm dlx", "pnpm", "--package")
	js("pnpx", "pnpm", "--package")
	js("bunx", "bun", "-p", "--package")
	js("bun x", "bun", "-p", "--package")
	for _, command := range []string{"uvx", "uv tool run"} {
		out = append(out, &launcher{words: strings.Fields(command), manager: "uv", spec: uvSpec, from: []string{"--from"}, with: []string{"--with", "-w"}, python: []string{"--python", "-p"}, plain: []string{"-q", "--quiet", "--isolated", "--no-progress"}, registry: pypiRegistry, also: []string{"files.pythonhosted.org"}})
	}
	return out
}()

// A package of a registry: no folder, address or repository.
var (
	npmSpec = lazyregexp.New(`^((@[a-z0-9~][a-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]*)(@[A-Za-z0-9^~<>=*][A-Za-z0-9^~<>=.*+-]*)?$`)
	uvSpec  = lazyregexp.New(`^([A-Za-z0-9][A-Za-z0-9._-]*)(\[[A-Za-z0-9,._-]+\])?((@|[=<>~!]=|[<>])[A-Za-z0-9][A-Za-z0-9.*+!,<>=~-]*)?$`)
)

// nameOf returns the name of a package without its version, "" if it is of no registry.
func (l *launcher) nameOf(spec string) string {
	if m := l.spec().FindStringSubmatch(spec); m != nil {
		return m[1]
	}
	return ""
}

// launches returns the package that a command fetches; ok is false if it fetches none, or
// in a form that is not known.
func launches(command []string) (p launched, ok bool) {
	i := slices.IndexFunc(launchers, func(l *launcher) bool {
		return len(command) > len(l.words) && slices.Equal(command[:len(l.words)], l.words)
	})
	if i < 0 {
		return p, false
	}
	p.by = launchers[i]
	rest, named := command[len(p.by.words):], false
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		flag, value, joined := strings.Cut(rest[0], "=")
		rest = rest[1:]
		if flag == "--" {
			break
		}
		if !joined && slices.Contains(p.by.plain, flag) {
			continue
		}
		if !joined {
			if len(rest) == 0 {
				return p, false
			}
			value, rest = rest[0], rest[1:]
		}
		switch {
		case slices.Contains(p.by.from, flag):
			p.specs, named = append(p.specs, value), true
		case slices.Contains(p.by.with, flag):
			p.specs = append(p.specs, value)
		case slices.Contains(p.by.python, flag) && !strings.HasPrefix(value, "-"):
			p.python = value
		default:
			return p, false
		}
	}
	if len(rest) == 0 {
		return p, false
	}
	if p.args = rest[1:]; named {
		p.program = rest[0]
	} else {
		p.specs = append([]string{rest[0]}, p.specs...)
	}
	if p.by.words[0] == "npm" && len(p.args) > 0 && p.args[0] == "--" {
		p.args = p.args[1:]
	}
	if slices.ContainsFunc(p.specs, func(s string) bool { return p.by.nameOf(s) == "" }) || strings.ContainsAny(p.program, `/\`) || strings.HasPrefix(p.program, "-") {
		return p, false
	}
	return p, true
}

// install returns the arguments with which the manager installs the package into a folder,
// and the variables that it needs.
func (p launched) install(dir string) (args, env []string) {
	switch p.by.manager {
	case "npm":
		return append([]string{"install", "--prefix", dir, "--no-audit", "--no-fund", "--no-progress", "--loglevel=error"}, p.specs...), nil
	case "pnpm":
		return append([]string{"add", "--dir", dir}, p.specs...), nil
	case "bun":
		return append([]string{"add", "--cwd", dir}, p.specs...), nil
	}
	args = []string{"tool", "install", "--no-progress"}
	if p.python != "" {
		args = append(args, "--python", p.python)
	}
	for i, s := range p.specs {
		if name, version, ok := strings.Cut(s, "@"); ok { // only uvx has this form
			if s = name + "==" + version; version == "latest" {
				s = name
			}
		}
		if i > 0 {
			args = append(args, "--with")
		}
		args = append(args, s)
	}
	return args, []string{"UV_TOOL_DIR=" + filepath.Join(dir, "tools"), "UV_TOOL_BIN_DIR=" + filepath.Join(dir, "bin")}
}

// registries returns the addresses of the registries that the person uses for the package,
// from their environment and their own .npmrc, without user names.
func (p launched) registries(env func(string) string) (out []string) {
	add := func(addresses ...string) {
		for _, a := range addresses {
			u, err := url.Parse(strings.Trim(a, `"' `))
			if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
				continue
			}
			if u.User = nil; !slices.Contains(out, u.String()) {
				out = append(out, u.String())
			}
			return
		}
	}
	switch p.by.manager {
	case "uv":
		add(env("UV_DEFAULT_INDEX"), env("UV_INDEX_URL"), p.by.registry)
	case "bun":
		add(env("BUN_CONFIG_REGISTRY"), env("npm_config_registry"), p.by.registry)
	default:
		mine := npmrc(env)
		add(env("npm_config_registry"), env("NPM_CONFIG_REGISTRY"), mine["registry"], p.by.registry)
		for _, s := range p.specs {
			if scope, _, ok := strings.Cut(s, "/"); ok {
				add(mine[scope+":registry"])
			}
		}
	}
	return out
}

// npmrc returns the settings of the person's own .npmrc.
func npmrc(env func(string) string) map[string]string {
	out := map[string]string{}
	text, err := os.ReadFile(cmp.Or(env("npm_config_userconfig"), filepath.Join(env("HOME"), ".npmrc")))
	if err != nil {
		return out // most people have none
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, "="); ok {
			out[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return out
}

package trust

import (
	"bytes"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
)

// This file extracts the parts of a file that decide what runs. A part is omitted only
// if it is known to decide nothing. A file of unknown format is included as a whole.

// Executable returns the lines of a file, given its name and text, that decide what runs.
func Executable(name, text string) []string {
	switch path.Base(name) {
	case "package.json":
		return packageLines(text)
	case "go.mod", "go.work":
		return linesThat(text, func(l string) bool { return strings.HasPrefix(l, "toolchain") })
	case "Cargo.toml":
		return cargoLines(text)
	case "pyproject.toml", "setup.cfg", "tox.ini":
		return sectionLines(text, describing)
	}
	return strings.Split(text, "\n")
}

func linesThat(text string, keep func(string) bool) []string {
	var out []string
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); keep(l) {
			out = append(out, l)
		}
	}
	return out
}

// plainKeys are the keys of a package.json that run nothing: name, authors,
// dependencies. Dependencies run code when they are installed, which pawl does
// not do, and when code that imports them runs, like source code.
var plainKeys = map[string]bool{
	"name": true, "version": true, "description": true, "keywords": true, "homepage": true, "bugs": true, "license": true,
	"author": true, "contributors": true, "maintainers": true, "funding": true, "repository": true, "private": true,
	"files": true, "publishConfig": true, "main": true, "module": true, "types": true, "typings": true, "exports": true, "sideEffects": true,
	"dependencies": true, "devDependencies": true, "peerDependencies": true, "peerDependenciesMeta": true,
	"optionalDependencies": true, "bundledDependencies": true, "bundleDependencies": true,
	"engines": true, "os": true, "cpu": true, "browserslist": true, "$schema": true,
}

// packageLines returns the keys of a package.json except the plain ones, with one line
// for each script. A file that is not a JSON object is included as a whole.
func packageLines(text string) []string {
	var all map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &all) != nil {
		return strings.Split(text, "\n")
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if plainKeys[k] {
			continue
		}
		var scripts map[string]string
		if k == "scripts" && json.Unmarshal(all[k], &scripts) == nil {
			for _, name := range slices.Sorted(maps.Keys(scripts)) {
				out = append(out, "scripts."+name+" = "+scripts[name])
			}
			continue
		}
		var flat bytes.Buffer
		if json.Compact(&flat, all[k]) != nil {
			flat.Write(all[k])
		}
		out = append(out, k+" = "+flat.String())
	}
	return out
}

// cargoLines returns the lines of a Cargo.toml that name a program, or that are
// in a table that is not known to be only descriptive.
func cargoLines(text string) []string {
	plain := func(table string) bool {
		for _, t := range strings.Split(table, ".") {
			if strings.HasSuffix(strings.Trim(t, `"' `), "dependencies") {
				return true
			}
		}
		return table == "features" || strings.HasPrefix(table, "profile.") || strings.HasPrefix(table, "lints")
	}
	return slices.DeleteFunc(sectionLines(text, plain), func(l string) bool {
		key, _, ok := strings.Cut(l, "=")
		return ok && describes[strings.TrimSpace(key)]
	})
}

// describes are the keys of a crate that only describe it.
var describes = map[string]bool{
	"name": true, "version": true, "authors": true, "edition": true, "rust-version": true, "description": true, "license": true,
	"license-file": true, "readme": true, "homepage": true, "repository": true, "documentation": true, "keywords": true,
	"categories": true, "publish": true, "exclude": true, "include": true,
}

// describing reports whether a table of a Python project's files is only
// descriptive, or is read only by tools that pawl does not run as a check.
func describing(table string) bool {
	return slices.ContainsFunc([]string{
		"project", "dependency-groups", "build-system", "metadata", "options",
		"tool.black", "tool.ruff", "tool.isort", "tool.mypy", "tool.poetry", "tool.coverage",
	}, func(t string) bool {
		return table == t || strings.HasPrefix(table, t+".")
	})
}

// sectionLines returns the lines of a file with sections, without the plain sections.
// Any line that could begin a section, except the exact heading of a plain one, ends
// the omission, even inside a multi-line text or list. So a line that is not a heading
// may be included, but none is omitted by mistake.
func sectionLines(text string, plain func(table string) bool) []string {
	var out []string
	skip, quoted := false, false
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "[") {
			table, ends := strings.CutSuffix(l[1:], "]")
			skip = ends && !quoted && !strings.ContainsAny(table, "[]#;") && plain(table)
		}
		if (strings.Count(l, `"""`)+strings.Count(l, "'''"))%2 == 1 {
			quoted = !quoted
		}
		if !skip && l != "" {
			out = append(out, l)
		}
	}
	return out
}

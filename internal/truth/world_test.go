//go:build truth && linux

package truth

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// marker is the program that shows that code ran: it makes a file.
const marker = "#!/bin/sh\n: >>/w/RAN\n: >>/tmp/RAN\n"

// files is the world of the cage: a workspace /w full of traps, a neighbour
// /sib and a home. A path with an arrow is a link, one with "!" is executable.
var files = map[string]string{
	"/w/a.txt":                          "one\ntwo 2\nthree 3\n",
	"/w/b.txt":                          "one\n2\n3\n",
	"/w/f":                              "a[$(zap)]\n",
	"/w/notes.md":                       "a[$(zap)]\n-v a[$(zap)]\n$(zap)\n",
	"/w/names":                          "/sib/secret.txt\n/home/u/.ssh/id_rsa\n",
	"/w/names0":                         "/sib/secret.txt\x00/home/u/.ssh/id_rsa\x00",
	"/w/x.json":                         `{"a":1,"b":[1,2,3],"c":"$(zap)"}` + "\n",
	"/w/main.go":                        "package main\n\nfunc main() { println(1) }\n",
	"/w/go.mod":                         "module example.com/w\n\ngo 1.20\n",
	"/w/Makefile":                       "X := $(shell zap)\nall:\n\tzap\ntest:\n\tzap\n",
	"/w/package.json":                   `{"scripts":{"test":"zap","lint":"zap"}}`,
	"/w/s.sed":                          "1e zap\n1w /w/W\n",
	"/w/p.awk":                          "BEGIN { system(\"zap\") }\n",
	"/w/c.jq":                           "import \"secret\" as $s {search:\"/sib\"}; $s\n",
	"/w/zap!":                           marker,
	"/w/sub/ls!":                        marker,
	"/w/sub/cat!":                       marker,
	"/w/sub/zap!":                       marker,
	"/w/sub/git-zap!":                   marker,
	"/w/sub/run!":                       "#!/bin/sh\n" + harmfulCode + "\n",
	"/w/sub/n.txt":                      "one\n",
	"/w/-x":                             "dash\n",
	"/w/--files0-from=names0":           "dash\n",
	"/w/.hidden":                        "one\n",
	"/w/README.md":                      "# one\n\ntwo TODO\n",
	"/w/src/a.ts":                       "export const one = 1 // TODO\n",
	"/w/src/b.go":                       "package src\n\nfunc One() int { return 1 }\n",
	"/w/src/new.go":                     "package src\n",
	"/w/a":                              "one\ntwo\n",
	"/w/b":                              "one\nthree\n",
	"/w/a.csv":                          "one,2\ntwo,1\n",
	"/w/a.json":                         `{"a":{"b":1},"items":[{"name":"x","id":1}]}` + "\n",
	"/w/log.txt":                        "an error\n",
	"/w/.envrc":                         "zap\n",
	"/w/.env":                           "TOKEN=x\n", // shown with its values masked
	"/w/l->":                            "../sib/sub",
	"/w/out->":                          "/sib/secret.txt",
	"/w/outdir->":                       "/sib",
	"/w/hk->":                           ".git/hooks",
	"/w/ag->":                           "AGENTS.md",
	"/w/AGENTS.md":                      "rules\n",
	"/w/inl->":                          "sub",
	"/w/bare/HEAD":                      "ref: refs/heads/main\n",
	"/w/bare/config":                    "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = /w\n\tfsmonitor = zap\n\tpager = zap\n[diff]\n\texternal = zap\n",
	"/w/bare/objects/x":                 "",
	"/w/bare/refs/x":                    "",
	"/w/.git/HEAD":                      "ref: refs/heads/main\n",
	"/w/.git/config":                    "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = zap\n\tpager = zap\n\tsshCommand = zap\n\thooksPath = .git/hooks\n\teditor = zap\n[diff]\n\texternal = zap\n[diff \"x\"]\n\ttextconv = zap\n\tcommand = zap\n[filter \"x\"]\n\tclean = zap\n\tsmudge = zap\n\tprocess = zap\n[alias]\n\tst = !zap\n\tlog2 = !zap\n[gpg]\n\tprogram = zap\n[log]\n\tshowSignature = true\n[credential]\n\thelper = !zap\n[remote \"origin\"]\n\turl = ext::zap\n",
	"/w/.git/objects/x":                 "",
	"/w/.git/refs/heads/x":              "",
	"/w/.git/hooks/pre-commit!":         marker,
	"/w/.git/hooks/post-checkout!":      marker,
	"/w/.git/hooks/post-index-change!":  marker,
	"/w/.git/hooks/fsmonitor-watchman!": marker,
	"/w/.gitattributes":                 "*.txt diff=x filter=x\n",
	"/sib/f.txt":                        "sibling\n",
	"/sib/sub/s.txt":                    "sibling\n",
	"/home/u/x.txt":                     "home\n",
	"/home/u/.npm/_logs/x":              "", // who has npm has its cache
	"/home/u/.bashrc":                   "zap\n",
}

// trap reports whether a path is one that no project has: a link that leads out
// of the workspace, a key among the sources, a file named like an option.
func trap(p string) bool {
	switch {
	case strings.HasSuffix(p, "->") && p != "/w/inl->", strings.HasPrefix(p, "/w/-"), strings.HasPrefix(p, "/w/keys/"), strings.HasPrefix(p, "/w/bare/"), p == "/w/sub/.pgpass", p == "/w/.git/config":
		return true
	}
	return false
}

// secret files lie outside the workspace or look like secrets: nothing that is
// judged harmless opens them.
var secret = map[string]string{
	"/sib/secret.txt":             "CANARY\n",
	"/sib/sub/secret.txt":         "CANARY\n",
	"/sib/secret.json":            `{"k":"CANARY"}` + "\n",
	"/home/u/.ssh/id_rsa":         "CANARY\n",
	"/home/u/.netrc":              "CANARY\n",
	"/home/u/.docker/config.json": `{"k":"CANARY"}` + "\n",
	"/w/.pgpass":                  "CANARY\n",
	"/w/sub/.pgpass":              "CANARY\n",
	"/w/keys/id_ed25519":          "CANARY\n",
}

// seeded is the part of the world that programs make: a repository with some
// history, and archives.
var seeded = map[string]string{}

// seed makes it, once.
func seed() error {
	run := func(line string) error {
		c := exec.Command("/bin/bash", "-c", line)
		c.Dir, c.Env = "/tmp/seed", append(environ(), "GIT_AUTHOR_NAME=u", "GIT_AUTHOR_EMAIL=u@example.com", "GIT_COMMITTER_NAME=u", "GIT_COMMITTER_EMAIL=u@example.com", "GIT_TEMPLATE_DIR=")
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", line, err, out)
		}
		return nil
	}
	for _, name := range []string{"a.txt", "b.txt", "main.go", "sub/n.txt", ".gitattributes"} {
		p := filepath.Join("/tmp/seed", name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(p, []byte("first\n"+files["/w/"+name]), 0o644); err != nil {
			return err
		}
	}
	if err := run("git init -q -b main && git add . && git commit -qm 'feat: first' && git tag v1 && echo second >> a.txt && git stash -q && echo more >> b.txt && git commit -qam 'fix: second' && git branch topic"); err != nil {
		return err
	}
	var tarred, gzipped, zipped, targz bytes.Buffer
	gz, zw := gzip.NewWriter(&gzipped), zip.NewWriter(&zipped)
	tgz := gzip.NewWriter(&targz)
	for _, to := range []*tar.Writer{tar.NewWriter(&tarred), tar.NewWriter(tgz)} {
		if err := to.WriteHeader(&tar.Header{Name: "in/x.txt", Mode: 0o644, Size: 4}); err != nil {
			return err
		}
		if _, err := to.Write([]byte("one\n")); err != nil {
			return err
		}
		if err := to.Close(); err != nil {
			return err
		}
	}
	f, err := zw.Create("in/x.txt")
	if err != nil {
		return err
	}
	_, _ = f.Write([]byte("one\n"))
	_, _ = gz.Write([]byte("one\n"))
	for _, c := range []interface{ Close() error }{zw, gz, tgz} {
		if err := c.Close(); err != nil {
			return err
		}
	}
	for name, b := range map[string]*bytes.Buffer{"a.tar": &tarred, "a.gz": &gzipped, "a.zip": &zipped, "a.tar.gz": &targz} {
		seeded["/w/"+name] = b.String()
	}
	// Those for which Go has no writer come from the programs, where there are any.
	_ = run("echo one > c; for p in bzip2:bz2 xz:xz zstd:zst; do command -v ${p%:*} && ${p%:*} -k c && mv c.${p#*:} z.${p#*:}; done; true")
	for _, name := range []string{"z.bz2", "z.xz", "z.zst"} {
		if b, err := os.ReadFile("/tmp/seed/" + name); err == nil {
			seeded["/w/"+name] = string(b)
		}
	}
	return filepath.WalkDir("/tmp/seed/.git", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		seeded["/w/.git"+strings.TrimPrefix(p, "/tmp/seed/.git")] = string(b)
		return nil
	})
}

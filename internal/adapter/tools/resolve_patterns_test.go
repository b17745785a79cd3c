package tools

import (
	"os"
	"path/filepath"
	"testing"
)

// SPEC 16.3: a pattern is about a protected file if its words or the disk say so: what
// bash expands is looked up, and what stands in quotes is a word for the program.
func TestPatternsAndProtectedNames(t *testing.T) {
	dir, files := pathRig(t)
	for _, name := range []string{"test/a/b.js", "lib/x.js", "lib/x.go", "deep/a/b/CLAUDE.md", "x.go", "dash/-w.go", "dash/y.go"} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	n := pathRows(t, dir, files, nil, `
# what cannot name a protected file
?d??a npx tape 'test/**/*.js'
?d??a node --test 'test/**/*.js'
?d??a npx tape test/**/*.js
?d??a npx mocha --recursive "lib/*.js" 'test/**'
?daaa npx prettier --write 'lib/*'
?d??a ./tool lib/*
?d?aa rm -f lib/*
?daaa touch lib/*
?daaa sed -i s/a/b/ lib/*
?daaa npx eslint --fix 'src/**/*.{js,ts}'
# what may, by its words
?d??? npx prettier --write '**/*.md'
?d??? npx rimraf '.pa*'
?d??? npx rimraf 'A*.md'
?d??? ./tool 'AGENTS.md'
?d??? sed -i s/a/b/ A*
?d??? rm *.md
?d??? rm -rf .git*
# what does, by the disk
?d??? rm *
RRRRR touch *
RRRRR ./tool *
?d??? cd deep/a/b && touch *
?d??? cd deep/a/b && sed -i s/a/b/ *
?d??? cd deep/a/b && ./tool *
?d??? cd deep && npx prettier --write '**'
?d??? sed -i s/a/b/ deep/*/*/*
?d??? npx prettier --write 'deep/**'
?d??? npx prettier --write 'deep/**/*'
?d??? npx prettier --write=deep/**
?d??? shopt -s globstar; rm deep/**/*
?d??? cp deep/a/b/* .
?d??? cd deep/a/b && rm *
?d??? for f in deep/*/*; do rm $f/*; done
# a pattern is no option if the disk has no match with a dash
aaaaa gofmt -l *.go
aaaaa gofmt -l *.go | head
?daaa gofmt -w *.go
aaaaa cd lib && gofmt -l *.go
aaaaa gofmt -d *.go lib/*.go
aaaaa cat f.txt; gofmt -l *.go 2>/dev/null
?d??a cd dash && gofmt -l *.go
?d??a cd dash && gofmt -l *
?d??a cp f.txt ./-w.go; gofmt -l *.go
?d??a echo x > ./-w.go; gofmt -l *.go
?d??a for i in 1 2; do gofmt -l *.go; touch ./-w.go; done
?d??a cat f.txt | tee ./-w.go | gofmt -l *.go
?d??a cd "$X" && gofmt -l *.go
`)
	if n < 40 {
		t.Errorf("%d rows", n)
	}
}

package checks

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

const goWork = `
-- go.work --
go 1.26

use (
	. // the shop
	./lib/price
	"./lib/tax"
)
use ./lib/other
-- go.mod --
module example.com/shop

go 1.26
-- main.go --
package main

import _ "example.com/tax/vat"
-- lib/tax/go.mod --
module example.com/tax

go 1.26
-- lib/tax/vat/vat.go --
package vat

import _ "example.com/price"
-- lib/price/go.mod --
module example.com/price

go 1.26
-- lib/price/price.go --
package price
-- lib/other/go.mod --
module example.com/other

go 1.26
-- lib/other/other.go --
package other
-- tools/go.mod --
module example.com/tools

go 1.26
-- tools/tools.go --
package tools

import _ "example.com/price"
`

// SPEC 13.3: in a go.work a change is checked in all modules that build on it;
// a module that it does not use is checked as go can, without it.
func TestGoWork(t *testing.T) {
	f := &Finder{Root: project(t, goWork)}
	for file, want := range map[string]string{
		"lib/price/price.go": "cd lib/price && go test ./...|cd lib/tax && go test ./...|go test ./...",
		"lib/tax/vat/vat.go": "cd lib/tax && go test ./...|go test ./...",
		"lib/other/other.go": "cd lib/other && go test ./...",
		"main.go":            "go test ./...",
		"tools/tools.go":     "cd tools && go test ./...",
	} {
		found, err := f.Find([]string{file})
		must.Do(t, err)
		if got := strings.Join(lines(found), "|"); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
		for _, c := range found.Wide {
			if off := slices.Contains(c.Env, "GOWORK=off"); off != strings.HasPrefix(file, "tools/") {
				t.Errorf("%s: %s with %v", file, c.Command, c.Env)
			}
		}
	}
}

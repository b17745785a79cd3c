// Command models writes the table of models and their prices: what the newest release of a
// published catalogue (charm.land/catwalk) says of the makers' own servers, with the rows
// of own.csv in place of those that are missing or wrong there. Each of them says why.
//
//	go run ./bench/models
package main

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const table = "internal/adapter/provider/catalog/models.csv"

//go:embed own.csv
var own []byte

// makers are the files of the catalogue, and "": models that no maker serves.
var makers = []string{"anthropic", "openai", "gemini", "xai", "deepseek", "mistral", "zai", "moonshot", "minimax", ""}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "models:", err)
		os.Exit(1)
	}
}

func run() error {
	var module struct{ Version, Info, Dir string }
	get := exec.Command("go", "mod", "download", "-json", "charm.land/catwalk@latest")
	get.Env = append(os.Environ(), "GOTOOLCHAIN=go1.26.11") // it asks for a newer one than pawl
	out, err := get.Output()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	if err := json.Unmarshal(out, &module); err != nil {
		return err
	}
	var release struct{ Time string }
	if err := read(module.Info, &release); err != nil {
		return err
	}
	text := regexp.MustCompile(`(?m)^#.*\n`).ReplaceAll(own, nil)
	ours, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return err
	}
	var rows [][]string
	for _, maker := range makers { // in the order of the catalogue, the newest first
		published, err := catalogue(filepath.Join(module.Dir, "internal/providers/configs", maker+".json"), maker)
		if err != nil {
			return err
		}
		for _, row := range append(published, ours...) {
			named := func(r []string) bool { return r[0] == row[0] }
			if i := slices.IndexFunc(ours, named); i >= 0 {
				row = ours[i]
			}
			if row[1] == maker && !slices.ContainsFunc(rows, named) {
				rows = append(rows, row)
			}
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Written by go run ./bench/models: charm.land/catwalk %s of %.10s, and bench/models/own.csv.\n", module.Version, release.Time)
	fmt.Fprintln(&b, "model,maker,window,output,sees,input $,output $,cache read $,cache write $")
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		return err
	}
	return os.WriteFile(table, b.Bytes(), 0o644)
}

func read(file string, to any) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, to)
}

var dated = regexp.MustCompile(`-(20\d{6}|preview)$`)

// catalogue returns the rows of a maker's file, none if there is no such file.
func catalogue(file, maker string) (rows [][]string, err error) {
	var c struct {
		Models []struct {
			ID     string  `json:"id"`
			Window int     `json:"context_window"`
			Output int     `json:"default_max_tokens"`
			Sees   bool    `json:"supports_attachments"`
			In     float64 `json:"cost_per_1m_in"`
			Out    float64 `json:"cost_per_1m_out"`
			// Which of the two is for reading and which for writing differs from row to row.
			Cached  float64 `json:"cost_per_1m_in_cached"`
			Cached2 float64 `json:"cost_per_1m_out_cached"`
		} `json:"models"`
	}
	if err := read(file, &c); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	for _, m := range c.Models {
		name := dated.ReplaceAllString(strings.ToLower(m.ID), "")
		if m.Window < 100_000 || strings.HasSuffix(name, "customtools") {
			continue
		}
		sees, output := "text", strconv.Itoa(m.Output)
		if m.Sees {
			sees = "images"
		}
		if m.Output == m.Window/10 { // not known to the catalogue
			output = ""
		}
		row := []string{name, maker, strconv.Itoa(cheap(name, m.Window)), output, sees, "", "", "", ""}
		if m.In > 0 {
			reads, writes := m.In, m.In
			for _, price := range []float64{m.Cached, m.Cached2} {
				if price > 0 && price < reads {
					reads = price
				}
				if price > m.In && price < 2*m.In {
					writes = price
				}
			}
			for i, price := range []float64{m.In, m.Out, reads, writes} {
				row[5+i] = strconv.FormatFloat(price, 'g', 6, 64)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// cheap returns the window up to which a token has the price in the catalogue: beyond it
// the makers charge more, so the shown cost would be too low.
func cheap(name string, window int) int {
	switch {
	case strings.HasPrefix(name, "gpt-5"), strings.HasPrefix(name, "gpt-6"):
		return min(window, 272_000)
	case strings.HasPrefix(name, "grok-"), strings.HasPrefix(name, "gemini-") && strings.HasSuffix(name, "-pro"), strings.HasPrefix(name, "gemini-4"):
		return min(window, 200_000)
	}
	return window
}

//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// again opens a long session of a home that bench/resume -dir kept, with a key typed
// before the screen is there, and tells what that costs until all of it is shown.
func again(pawl, dir, url string, times int) error {
	// The first time there may be no snapshot that fits this program.
	if err := os.RemoveAll(filepath.Join(dir, "home", ".local", "state", "pawl", "pawl.db.folds")); err != nil {
		return err
	}
	var prompts, keys, whole, cpus []time.Duration
	var bytes int
	memory, own := 0.0, 0.0
	for range times + 1 {
		t, err := start(pawl, dir, url, "-c", "--permission-mode", "ask")
		if err != nil {
			return err
		}
		prompt, err := t.send("ж").until("\x1b[2C\x1b[?25h", "› ")
		if err != nil {
			return err
		}
		key := prompt
		if !strings.Contains(t.all(), "ж") {
			if key, err = t.until("ж"); err != nil {
				return err
			}
		}
		if _, err := t.until("model repl"); err != nil { // the end of a turn: the last ones are short
			return err
		}
		last, at := -1, time.Now()
		for end := time.Now(); time.Since(end) < time.Second; time.Sleep(2 * time.Millisecond) {
			if n := t.written(); n != last {
				last, at, end = n, time.Now(), time.Now()
			}
		}
		prompts, keys, whole, cpus = append(prompts, prompt), append(keys, key), append(whole, at.Sub(t.began)), append(cpus, t.cpu())
		bytes, memory, own = last, t.memory(), t.own()
		t.end()
	}
	fmt.Printf("a session taken up without snapshots: prompt %s, key %s, all shown %s; CPU %s\n", ms(prompts[0]), ms(keys[0]), ms(whole[0]), ms(cpus[0]))
	prompts, keys, whole, cpus = prompts[1:], keys[1:], whole[1:], cpus[1:]
	fmt.Printf("and with them (median of %d): prompt %s, key %s, all shown %s; CPU %s, written %.1f KB, memory %.1f MB, %.1f MB of it its own\n",
		times, ms(middle(prompts)), ms(middle(keys)), ms(middle(whole)), ms(middle(cpus)), float64(bytes)/1000, memory, own)
	return nil
}

func middle(ds []time.Duration) time.Duration { return slices.Sorted(slices.Values(ds))[len(ds)/2] }

// Command route scores the classification of prompts on labelled lists.
//
//	go run ./bench/route [-misses] [LIST…]
//
// Without a list it is those of internal/policy/route/testdata. With -misses
// every prompt that was taken for something else is printed.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/pawl-agent/pawl/internal/policy/route"
	"github.com/pawl-agent/pawl/internal/policy/route/labelled"
)

func main() {
	misses := flag.Bool("misses", false, "print every prompt that was taken for something else")
	flag.Parse()
	lists := flag.Args()
	if len(lists) == 0 {
		lists = []string{"internal/policy/route/testdata/prompts.txt", "internal/policy/route/testdata/heldout.txt"}
	}
	for _, list := range lists {
		if err := run(list, *misses); err != nil {
			fmt.Fprintln(os.Stderr, "bench/route:", err)
			os.Exit(1)
		}
	}
}

func run(list string, misses bool) error {
	b, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	ps, err := labelled.Parse(string(b))
	if err != nil {
		return fmt.Errorf("%s: %w", list, err)
	}
	s := labelled.Of(ps)
	fmt.Printf("%s\n%s", list, s)
	start, n := time.Now(), 0
	for time.Since(start) < 200*time.Millisecond {
		for _, p := range ps {
			route.Classify(p.Text)
			n++
		}
	}
	fmt.Printf("%s a prompt\n\n", time.Since(start)/time.Duration(max(n, 1)))
	if !misses {
		return nil
	}
	for _, m := range s.Misses {
		fmt.Printf("  is %s (firm: %v), taken for %q (firm: %v, by %q): %q\n", m.Route, m.Explicit, m.Got.Route, m.Got.Explicit, m.Got.Why, m.Text)
	}
	return nil
}

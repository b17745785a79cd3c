//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

// inTmux starts pawl in a terminal of tmux, with a key typed at once, and tells when the
// prompt is seen through tmux, and the key in it.
func inTmux(pawl, dir, url string, times int) error {
	var prompts, keys []time.Duration
	for i := range times {
		socket := filepath.Join(dir, fmt.Sprint("tmux", i)) // a server that ends takes no new session
		prompt, key, err := onceInTmux(socket, pawl, dir, url)
		// A server that is gone already was told so by its last session.
		_ = exec.Command("tmux", "-S", socket, "kill-server").Run()
		if err != nil {
			return err
		}
		prompts, keys = append(prompts, prompt), append(keys, key)
	}
	fmt.Printf("start to prompt in tmux (median of %d): %s (aim 60), with the key that was typed before: %s\n", times, ms(middle(prompts)), ms(middle(keys)))
	return nil
}

func onceInTmux(socket, pawl, dir, url string) (prompt, key time.Duration, err error) {
	line := "stty -echo; echo re''ady; read x; exec " + pawl // a terminal's own echo would show the key
	for _, a := range arguments() {
		line += " " + a
	}
	t, err := open(dir, url, "tmux", "-S", socket, "-f", "/dev/null", "new-session", "sh", "-c", line)
	if err != nil {
		return 0, 0, err
	}
	defer t.end()
	if _, err := t.until("ready"); err != nil {
		return 0, 0, err
	}
	time.Sleep(200 * time.Millisecond) // tmux has drawn
	t.began = time.Now()
	if prompt, err = t.send("\r").send("ж").until("›"); err != nil {
		return 0, 0, err
	}
	key, err = t.until("ж")
	return prompt, key, err
}

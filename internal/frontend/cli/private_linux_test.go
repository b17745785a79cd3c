package cli

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 16.7: another process of the same user cannot read the keys out of
// pawl's own environment or memory, while what pawl executes is a process like
// any other. Root reads everything, so as root pawl is run as somebody else.
func TestOwnProcessIsNotReadable(t *testing.T) {
	t.Parallel()
	self := must.Get(os.Executable())(t)
	raw := must.Get(os.ReadFile(self))(t)
	top := t.TempDir()
	bin, home, dir := filepath.Join(top, "pawl"), filepath.Join(top, "home"), filepath.Join(top, "dir")
	must.WriteMode(t, bin, string(raw), 0o755)
	var as *syscall.SysProcAttr
	uid := os.Getuid()
	if uid == 0 {
		uid = 65534
		as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	for _, d := range []string{home, dir} {
		must.Do(t, os.Mkdir(d, 0o755))
		must.Do(t, os.Chown(d, uid, -1))
	}
	for _, d := range []string{top, filepath.Dir(top)} { // both are this test's own
		must.Do(t, os.Chmod(d, 0o755))
	}
	var stderr strings.Builder
	tries := make(chan string, 1)
	var c *exec.Cmd
	started := make(chan struct{})
	pid := func() int { <-started; return c.Process.Pid }
	web := httptest.NewServer(&llmtest.Server{Reply: func(n int, _ []byte) llmtest.Turn {
		if n == 0 {
			return llmtest.Use("bash", `{"command":"test -O /proc/self/maps && cat /proc/self/maps > maps && echo fine > fine"}`)
		}
		var got strings.Builder
		for _, file := range []string{"environ", "mem", "maps"} {
			c := exec.Command("head", "-c", "1", fmt.Sprintf("/proc/%d/%s", pid(), file))
			c.SysProcAttr = as
			out, err := c.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "ermission denied") {
				fmt.Fprintf(&got, "%s: %v %q; ", file, err, out)
			}
		}
		tries <- got.String()
		return llmtest.Say("over")
	}})
	defer web.Close()
	c = exec.Command(bin, "run", "--permission-mode", "yolo", "-m", "anthropic/claude-script", "hello")
	c.Dir, c.SysProcAttr, c.Stderr = dir, as, &stderr
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, asPawl + "=1", "ANTHROPIC_API_KEY=test-key-000000", "ANTHROPIC_BASE_URL=" + web.URL}
	must.Do(t, c.Start())
	close(started)
	if err := c.Wait(); err != nil {
		t.Fatal(err, stderr.String())
	}
	if got := <-tries; got != "" {
		t.Error("readable by another process: " + got)
	}
	if _, err := os.Stat(filepath.Join(dir, "fine")); err != nil {
		t.Error("a command cannot read itself", err)
	}
}

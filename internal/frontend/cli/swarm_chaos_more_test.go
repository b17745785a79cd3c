//go:build chaos && linux

package cli

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// more is what else can go wrong, with worker i.
func (c *chaos) more(k, i int) {
	switch {
	case k == 30: // past its lease
		c.note("stop worker %d for a while", i)
		c.sleeps(c.workers[i])
	case k == 31:
		c.note("stop the coordinator for a while")
		c.sleeps(c.coordinator)
	case k == 32 && c.killed < 6:
		c.killed++
		c.note("tell all workers to end, one after the other")
		for i, w := range c.workers {
			_ = w.cmd.Process.Signal(syscall.SIGTERM)
			_ = w.cmd.Process.Signal(syscall.SIGCONT)
			select {
			case <-w.end:
			case <-time.After(patient):
				c.fail("worker %d does not end: %s", i, w.out)
			}
			c.worker(i)
		}
	case k <= 34 && len(c.servers) == 1 && c.stores < 3:
		c.note("the server loses its store")
		c.servers[0].Shutdown()
		c.servers[0].WaitForShutdown()
		c.serve()
	case k == 35 && !c.down.Load():
		long := 2 * time.Second
		if c.random.IntN(4) == 0 {
			long = 2 * time.Minute
		}
		c.note("the provider is down for %s", long)
		c.down.Store(true)
		c.trouble.Go(func() {
			time.Sleep(long)
			c.down.Store(false)
		})
	case k == 36 && c.died < 3: // twice, the second one just after its start
		c.died += 2
		c.note("kill coordinator twice")
		c.coordinator.kill()
		c.begin()
		time.Sleep(100 * time.Millisecond)
		c.coordinator.kill()
		c.begin()
	}
}

// sleeps stops a process for longer than a lease.
func (c *chaos) sleeps(p *person) {
	_ = p.cmd.Process.Signal(syscall.SIGSTOP)
	c.trouble.Go(func() {
		time.Sleep(2 * chaosLease)
		_ = p.cmd.Process.Signal(syscall.SIGCONT)
	})
}

// serve starts the only server with an empty store, on the port that it had before.
func (c *chaos) serve() {
	c.stores++
	s, err := natstest.New(filepath.Join(c.t.TempDir(), strconv.Itoa(c.stores)), func(o *server.Options) {
		if c.port > 0 {
			o.Port = c.port
		}
	})
	if err != nil || !s.ReadyForConnections(time.Minute) {
		c.t.Fatalf("no server: %v", err)
	}
	c.servers[0], c.port = s, s.Addr().(*net.TCPAddr).Port
}

// budget is how many tokens the swarm may use: some runs must be resumed with more.
func (c *chaos) budget() string {
	if c.poor {
		return "20000"
	}
	return "5000000"
}

// withoutGrep makes a folder of all programs but grep, which the tasks' checks need.
func (c *chaos) withoutGrep() string {
	dir := filepath.Join(c.base, fmt.Sprint("path", c.started))
	must.Do(c.t, os.Mkdir(dir, 0o755))
	for _, from := range filepath.SplitList(os.Getenv("PATH")) {
		all, _ := os.ReadDir(from)
		for _, e := range all {
			if e.Name() != "grep" {
				_ = os.Symlink(filepath.Join(from, e.Name()), filepath.Join(dir, e.Name())) // the first of a name counts
			}
		}
	}
	return dir
}

// Package natstest runs NATS servers in the process of a test. Only tests import it, so
// the pawl binary contains no server.
package natstest

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// soon limits how long a server may take to be ready.
const soon = 30 * time.Second

// Server starts a server with JetStream, which syncs before it acknowledges. The
// functions in set change its options.
func Server(t testing.TB, set ...func(*server.Options)) *server.Server {
	t.Helper()
	s := start(t, set...)
	if !s.ReadyForConnections(soon) {
		t.Fatal("the server is not ready")
	}
	return s
}

func start(t testing.TB, set ...func(*server.Options)) *server.Server {
	t.Helper()
	s, err := New(t.TempDir(), set...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s
}

// New starts a server that stores its data in dir.
func New(dir string, set ...func(*server.Options)) (*server.Server, error) {
	o := &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true,
		JetStream: true, StoreDir: dir, SyncAlways: true,
	}
	for _, f := range set {
		f(o)
	}
	s, err := server.NewServer(o)
	if err != nil {
		return nil, err
	}
	s.Start()
	return s, nil
}

// Cluster starts servers that replicate their streams, and returns them when they have a
// leader.
func Cluster(t testing.TB, n int, set ...func(*server.Options)) []*server.Server {
	t.Helper()
	// Each server must know the addresses of the others before it starts.
	routes, ports := make([]string, n), make([]net.Listener, n)
	for i := range routes {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ports[i], routes[i] = l, l.Addr().String()
	}
	var all []*server.Server
	for i := range n {
		host, port, err := net.SplitHostPort(routes[i])
		if err != nil {
			t.Fatal(err)
		}
		number, err := strconv.Atoi(port)
		if err != nil {
			t.Fatal(err)
		}
		ports[i].Close()
		all = append(all, start(t, append(set, func(o *server.Options) {
			o.ServerName = fmt.Sprint("n", i)
			o.Cluster.Name, o.Cluster.Host, o.Cluster.Port = "c", host, number
			o.Routes = server.RoutesFromStr("nats://" + strings.Join(routes, ",nats://"))
		})...))
	}
	wait(t, "leads", func() bool {
		for _, s := range all {
			if s.JetStreamIsLeader() && len(s.JetStreamClusterPeers()) == n {
				return true
			}
		}
		return false
	})
	return all
}

func wait(t testing.TB, what string, ready func() bool) {
	t.Helper()
	for until := time.Now().Add(soon); !ready(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("no server %s after %s", what, soon)
		}
	}
}

// JetStream connects to a server. The connection is closed when the test ends.
func JetStream(t testing.TB, url string, opts ...nats.Option) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(url, append([]nats.Option{nats.MaxReconnects(-1), nats.ReconnectWait(20 * time.Millisecond)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

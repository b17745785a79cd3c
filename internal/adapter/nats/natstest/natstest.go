// Package natstest runs NATS servers in the process of a test. Only tests import it, so
// the pawl binary contains no server.
package natstest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// soon limits how long servers may take to be ready. An election alone takes up to nine
// seconds, and more than one where the machine is busy.
const soon = 3 * time.Minute

// Server starts a server with JetStream, which syncs before it acknowledges. The
// functions in set change its options.
func Server(t testing.TB, set ...func(*server.Options)) *server.Server {
	t.Helper()
	s, err := New(t.TempDir(), set...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(soon) {
		t.Fatal("the server is not ready")
	}
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
	// Each server listens where the system lets it, so that no other program can take its
	// port. The first one waits for n servers whose addresses nobody knows yet: as many
	// routes as servers say how many they are.
	route := "nats://127.0.0.1:1"
	var all []*server.Server
	for i := range n {
		all = append(all, Server(t, append(set, func(o *server.Options) {
			o.ServerName = fmt.Sprint("n", i)
			o.Cluster.Name, o.Cluster.Host, o.Cluster.Port = "c", "127.0.0.1", server.RANDOM_PORT
			o.Routes = server.RoutesFromStr(strings.Repeat(route+",", n-1) + route)
		})...))
		route = "nats://" + all[0].ClusterAddr().String()
	}
	for until := time.Now().Add(soon); ; time.Sleep(5 * time.Millisecond) {
		for _, s := range all {
			if s.JetStreamIsLeader() && len(s.JetStreamClusterPeers()) == n {
				return all
			}
		}
		if time.Now().After(until) {
			t.Fatalf("the %d servers have no leader after %s", n, soon)
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

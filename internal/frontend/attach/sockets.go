package attach

import (
	"os"
	"path/filepath"
	"time"
)

// Sockets lists the sockets of sessions that are open, or whose process was killed, with
// the times when they were made. Socket names a session's.
func Sockets(state string) map[string]time.Time {
	entries, _ := os.ReadDir(filepath.Join(state, "live")) // none before the first session
	out := map[string]time.Time{}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			out[e.Name()] = info.ModTime()
		}
	}
	return out
}

// Socket returns the name of a session's socket.
func Socket(id string) string { return filepath.Base(socketPath("", id)) }

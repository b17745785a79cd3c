package processtest

import (
	"os"
	"path/filepath"
	"strings"
)

// Alone takes out of the environment what is the person's who runs the tests, and
// would change what git and shells that a test starts do: the variables of git and of
// shells, and the home in which git finds its configuration. Go finds its cache all
// the same. It is for TestMain.
func Alone() {
	home, _ := os.UserHomeDir()
	cache, _ := os.UserCacheDir()
	config, _ := os.UserConfigDir()
	for name, value := range map[string]string{
		"GOPATH": filepath.Join(home, "go"), "GOCACHE": filepath.Join(cache, "go-build"), "GOENV": filepath.Join(config, "go", "env"),
	} {
		if os.Getenv(name) == "" {
			_ = os.Setenv(name, value)
		}
	}
	for _, entry := range os.Environ() {
		switch name, _, _ := strings.Cut(entry, "="); {
		case strings.HasPrefix(name, "GIT_"), name == "BASH_ENV", name == "ENV", name == "CDPATH":
			_ = os.Unsetenv(name)
		}
	}
	_ = os.Setenv("HOME", os.DevNull)
	_ = os.Setenv("XDG_CONFIG_HOME", os.DevNull)
}

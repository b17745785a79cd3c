//go:build !darwin && (!linux || !(amd64 || arm64))

package sandbox

import (
	"os/exec"
	"runtime"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// Holds: there is no sandbox.
const Holds = false

// Box would confine commands; there is none here.
type Box struct{}

// Child would be a confined command.
type Child struct{}

func lack() error {
	return &Unsupported{"anything", "pawl has no sandbox for " + runtime.GOOS + "/" + runtime.GOARCH}
}

func tryKernel(bool) error { return lack() }

// Open returns an error: this system has none.
func Open(confine.Policy) (*Box, error) { return nil, lack() }

func (*Box) start(*exec.Cmd, holding) (*Child, error) { return nil, lack() }

func (*Box) share(*Box) {}

// Close does nothing.
func (*Box) Close() error { return nil }

func (*Child) Wait() error { return lack() }

// Refused is nothing.
func (*Child) Refused() []process.Refusal { return nil }

func Probe() []Proof { return []Proof{{"sandbox", lack()}} }

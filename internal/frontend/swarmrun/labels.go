package swarmrun

import (
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// toolchains are programs that a machine says it has, since tasks may need them.
var toolchains = strings.Fields(`go cargo rustc gcc clang make cmake node npm pnpm yarn bun deno python3 pip3 uv poetry
	java mvn gradle dotnet ruby bundle php composer swift zig ghc elixir docker podman kubectl terraform psql`)

// labelsHere returns what this machine has: the labels that the person gave it, its system
// and processor, and its toolchains.
func labelsHere(own []string) []string {
	all := append(slices.Clone(own), runtime.GOOS, runtime.GOARCH)
	for _, name := range toolchains {
		if _, err := exec.LookPath(name); err == nil {
			all = append(all, name)
		}
	}
	return all
}

// canHere returns an error for a task that needs what this machine lacks, where no other
// machine could take it.
func (r *run) canHere(tasks []event.Task) error {
	if r.Server.URL != "" {
		return nil
	}
	labels := labelsHere(nil)
	for _, t := range tasks {
		if lacks := swarm.Lacks(t, labels); len(lacks) > 0 {
			return fault.NewConfiguration("run it on a machine that has it, or with --nats and workers that have it", "task %s needs %s, which this machine does not have", t.ID, strings.Join(lacks, ", "))
		}
	}
	return nil
}

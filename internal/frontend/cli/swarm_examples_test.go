package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// The examples of workers have flags that there are; .ci/run checks the rest of them.
// SPEC 14.6
func TestWorkerExamples(t *testing.T) {
	for file, line := range map[string]string{"kubernetes.yaml": `args: \[(.*)\]`, "pawl-worker.service": `ExecStart=\S+/pawl (.*)`} {
		text := must.Get(os.ReadFile("../../../doc/examples/" + file))(t)
		m := regexp.MustCompile(line).FindSubmatch(text)
		if m == nil {
			t.Fatalf("%s: no command", file)
		}
		args := strings.Fields(strings.NewReplacer(",", "", `"`, "").Replace(string(m[1])))
		a := &App{}
		c, rest, err := a.root().Find(args)
		if err != nil || c.Name() != "worker" {
			t.Fatalf("%s: %v", file, err)
		}
		if err := c.ParseFlags(rest); err != nil || len(c.Flags().Args()) > 0 {
			t.Errorf("%s: %v, %q", file, err, c.Flags().Args())
		}
		if c.Flag("health").Value.String() == "" || !strings.HasPrefix(c.Flag("nats").Value.String(), "tls://") {
			t.Errorf("%s: %q", file, args)
		}
	}
}

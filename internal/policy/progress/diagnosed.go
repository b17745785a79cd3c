package progress

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/normalize"
)

// outcomeLimit bounds how many outcomes are remembered.
const outcomeLimit = 1 << 10

// diagnosed applies a report of language servers about a change (SPEC 6.2, 12.2). A
// report that was not seen before is news, like a new result of a test, but it does not
// count as a test run. One that was seen before changes nothing.
func (f *Fold) diagnosed(b event.Diagnosed) {
	outcome := outcomeOf(b)
	if _, seen := f.outcomes.get(hash(outcome)); seen {
		return
	}
	f.outcomes.put(hash(outcome), struct{}{})
	f.note(record{c: call{kind: Read, brief: "the language server's diagnostics"}, ok: true, outcome: event.OK})
	f.judge(Step{Tool: "diagnostics", Kind: Read, OK: true, Exact: normalize.Digest(outcome), Len: len(outcome)})
}

// outcomeOf is what an outcome is compared by: what is wrong, and not where nor
// how often, so that one mistake made in ever more files is one outcome.
func outcomeOf(b event.Diagnosed) string {
	if b.Errors == 0 && len(b.Found) == 0 {
		return "nothing is wrong any more"
	}
	var all []string
	for _, d := range b.Found {
		all = append(all, strings.Join([]string{d.Severity.String(), d.Source, d.Code, normalize.Error(d.Message)}, " "))
	}
	if len(all) == 0 {
		all = append(all, "some of what was wrong is mended")
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "\n")
}

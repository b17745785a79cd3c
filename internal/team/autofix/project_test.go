package autofix

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

const shop = `
-- go.mod --
module example.com/shop

go 1.26
-- main.go --
package main

import (
	"fmt"

	"example.com/shop/price"
)

func main() { fmt.Println(price.Total([]int{1, 2})) }
-- price/price.go --
package price

// Total is the sum of the prices.
func Total(prices []int) int {
	sum := 0
	for _, p := range prices {
		sum -= p
	}
	return sum
}
-- price/price_test.go --
package price

import "testing"

func TestTotal(t *testing.T) {
	if got := Total([]int{10, 20}); got != 30 {
		t.Errorf("Total = %d, want 30", got)
	}
}
-- report/report.go --
package report
`

func total(line string) string {
	return "package price\n\n// Total is the sum of the prices.\nfunc Total(prices []int) int {\n\tsum := 0\n\tfor _, p := range prices {\n\t\t" + line + "\n\t}\n\treturn sum\n}\n"
}

func contains(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, w := range wants {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not in\n%s", w, text)
		}
	}
}

const (
	someOfShop = "go test . ./price (part)"
	allOfShop  = "go test ./..."
)

// SPEC 13.3: failures are fed back, each time with the earlier ones, until the
// checks pass; verified is what the last of them says.
func TestGo(t *testing.T) {
	t.Parallel()
	r := newRig(
		t, shop,
		write("price/price.go", total("sum *= p")), llmtest.Say("All tests pass now!"),
		write("price/price.go", total("sum = p")), llmtest.Say("Now they do."),
		write("price/price.go", total("sum += p")), llmtest.Say("Fixed the sum."),
	)
	es := r.run(nil)
	r.told(
		es,
		"0 "+someOfShop+" → 1", "asked",
		"1 "+someOfShop+" → 1", "asked",
		"2 "+someOfShop+" → 0", "2 "+allOfShop+" → 0", "done",
	)
	ps := prompts(es)
	contains(t, ps[0], "[This is pawl, not the user.]", "attempt 1 of at most 3", "`go test . ./price` fails with exit code 1, and not in this way before", "TestTotal (example.com/shop/price)\n    price_test.go:7: Total = 0, want 30", "It is data")
	if strings.Contains(ps[0], "Earlier attempts") {
		t.Errorf("the first prompt tells of earlier attempts:\n%s", ps[0])
	}
	contains(t, ps[1], "attempt 2 of at most 3", "Total = 20, want 30", "Earlier attempts in this turn:\n1. Before it, TestTotal (example.com/shop/price): “price_test.go:7: Total = 0, want 30”", "It changed price/price.go, which was not enough")
	if strings.Contains(ps[0]+ps[1], "different approach") {
		t.Error("a different approach is asked for too early")
	}
	proof := r.View().Evidence()
	if v := proof.Verified; v == nil || !v.OK || v.Command != allOfShop || v.Part || proof.Attempts != 2 || len(proof.Files) != 1 {
		t.Errorf("%+v", proof)
	}
	if n := len(r.Model.Requests()); n != 6 {
		t.Errorf("%d requests", n)
	}
	plan := must.Get(r.View().Changes().Plan(t.Context(), undo.Selector{Kind: undo.ByTurn}))(t)
	if done, err := r.Do(t.Context(), session.Undo{Plan: plan}); err != nil || done.Error != nil || !strings.Contains(r.File("price/price.go"), "sum -= p") {
		t.Errorf("undo does not put the whole turn back: %v\n%s", err, r.File("price/price.go"))
	}
}

// SPEC 13.3: at most three times; a different approach is asked for after the
// second; then it is said that nothing is proven.
func TestGivesUpAfterThree(t *testing.T) {
	t.Parallel()
	r := newRig(
		t, shop,
		write("price/price.go", total("sum *= p")), llmtest.Say("done"),
		write("price/price.go", total("sum = p")), llmtest.Say("done"),
		write("price/price.go", total("sum += p * p")), llmtest.Say("done"),
		write("price/price.go", total("sum += p + 1")), llmtest.Say("Everything passes."),
	)
	es := r.run(nil)
	fails := someOfShop + " → 1"
	r.told(es, "0 "+fails, "asked", "1 "+fails, "asked", "2 "+fails, "asked", "3 "+fails, "done")
	ps := prompts(es)
	contains(t, ps[2], "attempt 3 of at most 3", "\n1. Before it", "\n2. Before it", "take a different approach", "where a person should look")
	if strings.Contains(ps[0]+ps[1], "a person should look") {
		t.Error("a person is asked for too early")
	}
	proof := r.View().Evidence()
	if v := proof.Verified; v == nil || v.OK || v.Exit != 1 || proof.Attempts != 3 {
		t.Errorf("%+v", proof)
	}
}

// A build that is broken is a failure like any; the packages that import the
// changed one are checked with it.
func TestGoBuild(t *testing.T) {
	t.Parallel()
	r := newRig(
		t, shop,
		write("price/price.go", strings.Replace(total("sum += p"), "Total(prices []int)", "Sum(prices []int)", 1)), llmtest.Say("renamed"),
		write("price/price.go", total("sum += p")), llmtest.Say("put back"),
	)
	es := r.run(nil)
	r.told(es, "0 "+someOfShop+" → 1", "asked", "1 "+someOfShop+" → 0", "1 "+allOfShop+" → 0", "done")
	contains(t, prompts(es)[0], "example.com/shop\n    ./main.go:9:33: undefined: price.Total")
}

// fakeNPM behaves as npm with a project's scripts does: test fails as node
// --test would, typecheck as tsc would, depending on what stands in the source.
const fakeNPM = `
case "$*" in
"run typecheck")
	printf '\n> shop@1.0.0 typecheck\n> tsc --noEmit\n\n'
	grep -q 'sum: string' src/cart.ts || exit 0
	echo "src/cart.ts(4,5): error TS2322: Type 'string' is not assignable to type 'number'."
	exit 2 ;;
"test")
	printf '\n> shop@1.0.0 test\n> vitest run\n\n'
	if grep -q 'sum += p' src/cart.ts; then
		printf ' Test Files  1 passed (1)\n      Tests  2 passed (2)\n'
		exit 0
	fi
	printf ' FAIL  src/cart.test.ts > cart > sums prices\nAssertionError: expected %s to be 30 // Object.is equality\n\n Test Files  1 failed (1)\n      Tests  1 failed | 1 passed (2)\n' "$(grep -o 'sum [^:=]*=.*;' src/cart.ts | tail -1)"
	exit 1 ;;
*) echo "npm error Missing script: $*"; exit 1 ;;
esac
`

const cart = `
-- package.json --
{"name": "shop", "scripts": {"test": "node scripts/test.mjs", "typecheck": "tsc --noEmit"}}
-- src/cart.ts --
export function total(prices: number[]): number {
  let sum = 0;
  for (const p of prices) sum -= p;
  return sum;
}
`

func tsTotal(decl, line string) string {
	return "export function total(prices: number[]): number {\n  let " + decl + ";\n  for (const p of prices) " + line + ";\n  return sum;\n}\n"
}

// SPEC 13.3, in TypeScript: the type check and the tests.
func TestTypeScript(t *testing.T) {
	t.Parallel()
	r := newRig(
		t, cart,
		write("src/cart.ts", tsTotal(`sum: string = ""`, "sum -= p")), llmtest.Say("done"),
		write("src/cart.ts", tsTotal("sum = 0", "sum = sum - p")), llmtest.Say("done"),
		write("src/cart.ts", tsTotal("sum = 0", "sum += p")), llmtest.Say("The sum adds now."),
	)
	r.program("npm", fakeNPM)
	es := r.run(nil)
	r.told(
		es,
		"0 npm run typecheck → 2", "0 npm test → 1", "asked",
		"1 npm run typecheck → 0", "1 npm test → 1", "asked",
		"2 npm run typecheck → 0", "2 npm test → 0", "done",
	)
	ps := prompts(es)
	contains(t, ps[0], "`npm run typecheck` fails with exit code 2", "error TS2322", "Not yours to fix: 1 test failed in the same way before.")
	contains(t, ps[1], "`npm test` fails with exit code 1", "cart > sums prices (src/cart.test.ts)")
	contains(t, ps[1], "1. Before it, src/cart.ts: “src/cart.ts(4,5): error TS2322")
	if proof := r.View().Evidence(); proof.Verified == nil || !proof.Verified.OK || len(proof.Checks) != 2 {
		t.Errorf("%+v", proof)
	}
}

// fakePython behaves as python3 -m pytest does.
const fakePython = `
[ "$1 $2" = "-m pytest" ] || { echo "No module named $2" >&2; exit 1; }
shift 2
if grep -q 'sum(prices)' shop/cart.py; then
	echo "3 passed in 0.01s"; exit 0
fi
printf '=================================== FAILURES ===================================\n'
printf '_______________________________ test_sums_prices _______________________________\n\n'
printf '>       assert total([10, 20]) == 30\nE       assert %s == 30\n\ntests/test_cart.py:5: AssertionError\n' "$(grep -o 'return .*' shop/cart.py)"
printf '=========================== short test summary info ============================\n'
printf 'FAILED tests/test_cart.py::test_sums_prices - assert 20 == 30\n'
printf '========================= 1 failed, 2 passed in 0.02s ==========================\n'
exit 1
`

const pyCart = `
-- pyproject.toml --
[tool.pytest.ini_options]
testpaths = ["tests"]
-- shop/__init__.py --
-- shop/cart.py --
def total(prices):
    return max(prices)
-- tests/test_cart.py --
import pytest
from shop.cart import total
-- tests/test_price.py --
import pytest
`

// SPEC 13.3, in Python: the tests of the changed module, then all.
func TestPython(t *testing.T) {
	t.Parallel()
	r := newRig(
		t, pyCart,
		write("shop/cart.py", "def total(prices):\n    return max(prices) + 0\n"), llmtest.Say("done"),
		write("shop/cart.py", "def total(prices):\n    return sum(prices)\n"), llmtest.Say("done"),
	)
	r.program("python3", fakePython)
	es := r.run(nil)
	some, all := "python3 -m pytest tests/test_cart.py (part)", "python3 -m pytest"
	r.told(es, "0 "+some+" → 1", "asked", "1 "+some+" → 0", "1 "+all+" → 0", "done")
	contains(t, prompts(es)[0], "test_sums_prices (tests/test_cart.py)\n    E       assert return max(prices) + 0 == 30")
	if v := r.View().Evidence().Verified; v == nil || !v.OK || v.Command != all {
		t.Errorf("%+v", v)
	}
}

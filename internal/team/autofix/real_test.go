//go:build realchecks

package autofix

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

// These run the tools of other languages for real. The ordinary tests do the
// same over recorded output and need none of them; .ci/run runs these with
//
//	go test -tags realchecks -run TestReal ./internal/team/autofix
//
// and needs node with npm, and python3. Nothing is downloaded.

// realCart is TypeScript that any node can test: the types are taken out first,
// since only newer ones take them out by themselves.
const realCart = `
-- package.json --
{"name": "shop", "private": true, "scripts": {"test": "node scripts/types.mjs && node --test build/cart.test.mjs"}}
-- scripts/types.mjs --
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
mkdirSync("build", { recursive: true });
for (const f of readdirSync("src")) {
  const js = readFileSync("src/" + f, "utf8").replace(/: (number|string)(\[\])?/g, "").replace(/\.ts"/g, '.mjs"');
  writeFileSync("build/" + f.replace(/\.ts$/, ".mjs"), js);
}
-- src/cart.ts --
export function total(prices: number[]): number {
  let sum: number = 0;
  for (const p of prices) sum -= p;
  return sum;
}
-- src/cart.test.ts --
import test from "node:test";
import assert from "node:assert";
import { total } from "./cart.ts";

test("sums prices", () => assert.strictEqual(total([10, 20]), 30));
test("starts empty", () => assert.strictEqual(total([]), 0));
`

// SPEC 13.3, in TypeScript, with the real node and npm.
func TestRealTypeScript(t *testing.T) {
	r := newRig(
		t, realCart,
		write("src/cart.ts", tsTotal("sum: number = 0", "sum = p")), llmtest.Say("All tests pass."),
		write("src/cart.ts", tsTotal("sum: number = 0", "sum += p")), llmtest.Say("The sum adds now."),
	)
	es := r.run(nil)
	r.told(es, "0 npm test → 1", "asked", "1 npm test → 0", "done")
	contains(t, prompts(es)[0], "`npm test` fails with exit code 1, and not in this way before them", "sums prices", "20 !== 30")
	if v := r.View().Evidence().Verified; v == nil || !v.OK {
		t.Errorf("%+v", r.View().Evidence())
	}
}

const realPython = `
-- shop.py --
def total(prices):
    return max(prices, default=0)
-- test_shop.py --
import unittest

from shop import total


class Total(unittest.TestCase):
    def test_sums_prices(self):
        self.assertEqual(total([10, 20]), 30)

    def test_starts_empty(self):
        self.assertEqual(total([]), 0)
`

// SPEC 13.3, in Python, with the real python3. Its own unittest needs nothing
// to be installed.
func TestRealPython(t *testing.T) {
	r := newRig(
		t, realPython,
		write("shop.py", "def total(prices):\n    return min(prices, default=0)\n"), llmtest.Say("All tests pass."),
		write("shop.py", "def total(prices):\n    return sum(prices)\n"), llmtest.Say("The sum adds now."),
	)
	es := r.run(nil)
	r.told(es, "0 python3 -m unittest → 1", "asked", "1 python3 -m unittest → 0", "done")
	contains(t, prompts(es)[0], "`python3 -m unittest` fails with exit code 1, and not in this way before them", "test_sums_prices (test_shop.Total.test_sums_prices)", "AssertionError: 10 != 30")
	if v := r.View().Evidence().Verified; v == nil || !v.OK {
		t.Errorf("%+v", r.View().Evidence())
	}
}

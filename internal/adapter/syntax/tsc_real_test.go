//go:build realservers

package syntax

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
)

// SPEC 12.2: what the real compiler newly finds in a project is told once, also in files
// that the change did not touch; what it found before is not. PAWL_SERVERS is as in
// package realservers.
func TestTypeScript(t *testing.T) {
	t.Parallel()
	// The compiler lies beside the server for TypeScript: …/node_modules/typescript-language-server/lib/cli.mjs.
	server, err := filepath.EvalSymlinks(filepath.Join(os.Getenv("PAWL_SERVERS"), "typescript-language-server"))
	must.Do(t, err)
	modules := filepath.Join(server, "../../..")
	must.Done(t)(os.Stat(filepath.Join(modules, "typescript/lib/typescript.js")))
	const (
		plain = "{\"compilerOptions\":{\"strict\":true,\"module\":\"nodenext\"},\"include\":[\"src\"]}"
		a     = "export function f(n: any) { return n }\n"
		b     = "import { f } from \"./a.js\"\nf(\"x\")\n"
		said  = "src/b.ts:2: Argument of type 'string' is not assignable to parameter of type 'number'."
	)
	for name, c := range map[string]struct {
		config, file, before, after, b, want string
	}{
		"a caller":        {plain, "src/a.ts", a, "export function f(n: number) { return n }\n", b, said},
		"broken before":   {plain, "src/a.ts", "export function f(n: number) { return 1 }\n", "export function f(n: number) { return n }\n", b, ""},
		"fine":            {plain, "src/a.ts", a, a + "export const x = 1\n", b, ""},
		"its syntax":      {plain, "src/a.ts", a, "export function f(n: any) {\n", b, "src/a.ts:2: '}' expected."},
		"a new file":      {plain, "src/new.ts", "", "let n: number = \"s\"\nexport { n }\n", "export {}\n", "src/new.ts:1: Type 'string' is not assignable to type 'number'."},
		"a component":     {plain, "src/c.tsx", "", "export const n: number = \"s\"\n", "export {}\n", "src/c.tsx:1: Type 'string' is not assignable to type 'number'."},
		"a name is gone":  {plain, "src/a.ts", a, "export function g(n: any) { return n }\n", b, "src/b.ts:1: Module '\"./a.js\"' has no exported member 'f'."},
		"a composite one": {"{\"compilerOptions\":{\"composite\":true,\"outDir\":\"out\",\"module\":\"nodenext\"},\"include\":[\"src\"]}", "src/a.ts", a, "export function f(n: number) { return n }\n", b, said},
		"by reference":    {"{\"files\":[],\"references\":[{\"path\":\"./app.json\"}]}", "src/a.ts", a, "export function f(n: number) { return n }\n", b, said},
		"not in it":       {"{\"include\":[\"lib\"]}", "src/a.ts", a, "export function f(n: number) { return n }\n", b, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := must.Dir(t)
			save(t, root, "tsconfig.json", c.config)
			save(t, root, "app.json", plain)
			save(t, root, "src/b.ts", c.b)
			save(t, root, c.file, c.after)
			must.Do(t, os.Symlink(modules, filepath.Join(root, "node_modules")))
			l := &Look{Root: root, Start: &processtest.Plain{}, Limit: time.Hour, TypeLimit: time.Hour}
			if got := look(t, l, c.file, c.before, c.after); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

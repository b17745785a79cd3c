//go:build realservers

package realservers

import "github.com/pawl-agent/pawl/internal/core/tool"

func init() { projects = append(projects, others...) }

// others are projects whose servers .ci/run installs.
// none: the server does not have this verb.
var none = place{want: "-"}

// typescript is one project for each of the two servers that know the language.
func typescript(server string) project {
	return project{
		server: server, files: tsProject,
		definition: place{at("src/main.ts", 3, "square"), "src/area.ts:2"},
		references: place{at("src/area.ts", 2, "square"), "src/area.ts src/main.ts"},
		hover:      place{at("src/main.ts", 3, "square"), "square(side: number): number"},
		completion: place{tool.CodeAt{Path: "src/main.ts", Line: 3, Column: 25}, "square"},
		symbols:    place{tool.CodeAt{Path: "src/area.ts"}, "src/area.ts:2 square"},
		diagnostic: place{tool.CodeAt{Path: "src/main.ts"}, "4: error: Type 'string' is not assignable to type 'number'"},
		rename:     place{at("src/area.ts", 2, "square"), "quad: src/area.ts function quad(|src/main.ts \"🐾漢字\", area.quad(2)"},
		action:     place{at("src/late.ts", 1, "square"), "Add import: import { square } from \"./area\""},
		breaks:     [4]string{"src/area.ts", "/** Squares 🐾. */\nexport function square(side: number, other: number): number { return side * other }\n", "src/main.ts", "Expected 2 arguments"},
	}
}

var others = []project{
	typescript("typescript"),
	typescript("tsc"),
	{
		server: "pyright",
		files: map[string]string{
			"pyproject.toml": "[project]\nname = \"m\"\nversion = \"1\"\n",
			"area.py":        "class Area:\n    \"\"\"Measures 🐾.\"\"\"\n\n    def square(self, side: int) -> int:\n        return side * side\n",
			"main.py":        "from area import Area\n\na = Area()\nprint(\"🐾漢字\", a.square(2))\nwrong: int = \"text\"\n",
		},
		definition: place{at("main.py", 4, "square"), "area.py:4"},
		references: place{tool.CodeAt{Symbol: "Area.square"}, "area.py main.py"},
		hover:      place{at("main.py", 4, "square"), "square(side: int) -> int"},
		completion: place{tool.CodeAt{Path: "main.py", Line: 4, Column: 16}, "square"},
		symbols:    place{tool.CodeAt{Symbol: "square"}, "area.py:4 square"},
		diagnostic: place{tool.CodeAt{Path: "main.py"}, "5: error: Type \"Literal"},
		rename:     place{tool.CodeAt{Symbol: "Area.square"}, "quad: area.py def quad(|main.py \"🐾漢字\", a.quad(2)"},
		action:     none, // pyright offers none for what is open here
		breaks:     [4]string{"area.py", "class Area:\n    def square(self, side: int, other: int) -> int:\n        return side * other\n", "main.py", "Argument missing"},
	},
	{
		server:     "json",
		files:      map[string]string{"a.json": "{\n  \"🐾漢字\": 1, \"b\": [1,\n  \"c\": 2\n}\n"},
		symbols:    place{tool.CodeAt{Path: "a.json"}, "a.json:2 b"},
		diagnostic: place{tool.CodeAt{Path: "a.json"}, "3: error:"},
		definition: none, references: none, hover: none, completion: none, rename: none, action: none,
		breaks: [4]string{"a.json", "{\n  \"x\": 1,,\n  \"y\": 2\n}\n", "a.json", "expected"},
	},
	{
		server: "bash",
		files: map[string]string{
			"lib.sh":  "#!/bin/bash\n# Squares 🐾.\nsquare() { echo $(($1 * $1)); }\n",
			"main.sh": "#!/bin/bash\nsource ./lib.sh\necho \"🐾漢字\"; square 2\n",
		},
		definition: place{at("main.sh", 3, "square"), "lib.sh:3"},
		references: place{at("lib.sh", 3, "square"), "lib.sh main.sh"},
		hover:      place{at("main.sh", 3, "square"), "Squares"},
		completion: place{tool.CodeAt{Path: "main.sh", Line: 3, Column: 15}, "square"},
		symbols:    place{tool.CodeAt{Path: "lib.sh"}, "lib.sh:3 square"},
		diagnostic: none, // by shellcheck, which is another program
		rename:     place{at("lib.sh", 3, "square"), "quad: lib.sh quad()|main.sh \"🐾漢字\"; quad 2"},
		action:     none,
	},
	{
		server:     "yaml",
		files:      map[string]string{"a.yaml": "🐾漢字: &mark {b: 1}\nc: *mark\nd: [1, 2\n"},
		definition: place{at("a.yaml", 2, "mark"), "a.yaml:1"},
		symbols:    place{tool.CodeAt{Path: "a.yaml"}, "a.yaml:2 c"},
		diagnostic: place{tool.CodeAt{Path: "a.yaml"}, "error: Flow sequence"},
		references: none, hover: none, completion: none, rename: none, action: none,
		breaks: [4]string{"a.yaml", "a: 1\nb: [1, 2]\na: 2\n", "a.yaml", "Map keys must be unique"},
	},
	{
		server: "clangd",
		files: map[string]string{
			"compile_flags.txt": "-Wall\n",
			"area.h":            "// Squares.\nint square(int side);\n",
			"area.c":            "#include \"area.h\"\nint square(int side) { return side * side; }\n",
			"main.c":            "#include \"area.h\"\nint main(void) {\n\tconst char *s = \"🐾漢字\"; (void)s; int r = square(2);\n\tint missing\n\treturn r;\n}\n",
		},
		definition: place{at("main.c", 3, "square"), "area.h:2"},
		references: place{at("main.c", 3, "square"), "area.c area.h main.c"},
		hover:      place{at("main.c", 3, "square"), "int square(int side)"},
		completion: place{tool.CodeAt{Path: "main.c", Line: 3, Column: 47}, "square"},
		symbols:    place{tool.CodeAt{Path: "area.c"}, "area.c:2 square"},
		diagnostic: place{tool.CodeAt{Path: "main.c"}, "5: error: Expected ';'"},
		rename:     place{at("main.c", 3, "square"), "quad: area.h int quad(int|main.c \"🐾漢字\"; (void)s; int r = quad(2)"},
		action:     place{at("main.c", 5, ""), "insert ';': missing;\n"},
		breaks:     [4]string{"area.h", "// Squares.\nint square(int side, int other);\n", "main.c", "Too few arguments"},
	},
}

var tsProject = map[string]string{
	"tsconfig.json": "{\"compilerOptions\": {\"strict\": true, \"module\": \"commonjs\", \"target\": \"es2020\", \"lib\": [\"es2020\", \"dom\"]}, \"include\": [\"src\"]}\n",
	"package.json":  "{\"name\": \"m\", \"version\": \"1.0.0\"}\n",
	"src/area.ts":   "/** Squares 🐾. */\nexport function square(side: number): number { return side * side }\n",
	"src/main.ts":   "import * as area from \"./area\"\n\nconsole.log(\"🐾漢字\", area.square(2))\nconst wrong: number = \"text\"\nexport { wrong }\n",
	"src/late.ts":   "export const nine = square(3)\n",
}

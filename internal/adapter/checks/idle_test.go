package checks

import "testing"

// SPEC 13.3: a run that passed without a single test in it has shown nothing.
func TestReadIdle(t *testing.T) {
	for _, c := range []struct {
		kind, out, broken string
	}{
		{kindPython, "\n----\nRan 0 tests in 0.000s\n\nOK\n", "it ran no tests"},
		{kindPython, "..\nRan 2 tests in 0.000s\n\nOK\n", ""},
		{kindNode, "# tests 0\n# pass 0\n", "it ran no tests"},
		{kindNode, "ℹ tests 0\nℹ pass 0\n", "it ran no tests"},
		{kindNode, "# tests 10\n", ""},
		{kindGo, "?   \tm\t[no test files]\n", ""}, // it has built and vetted
		{kindMake, "Ran 0 tests in 0.000s\n", ""},  // it may have done more
	} {
		if r := Read(c.kind, c.out, 0); r != (Reading{Broken: c.broken}) {
			t.Errorf("%q: %+v", c.out, r)
		}
	}
}

// SPEC 13.3: unittest finds the tests that are there, wherever they are.
func TestUnittestFindsTests(t *testing.T) {
	const text = " --\nimport unittest\n"
	for archive, want := range map[string]string{
		"-- test_a.py" + text:                                "python3 -m unittest",
		"-- tests/__init__.py --\n-- tests/test_a.py" + text: "python3 -m unittest",
		"-- tests/test_a.py" + text:                          "python3 -m unittest discover -s tests",
		"-- a_test.py" + text:                                "python3 -m unittest discover -p '*_test.py'",
		"-- test/a_test.py" + text:                           "python3 -m unittest discover -s test -p '*_test.py'",
		"-- test_b.py" + text + "-- tests/test_a.py" + text:  "python3 -m unittest",
		"-- tests/__init__.py --\n-- tests/a_test.py" + text: "python3 -m unittest discover -p '*_test.py'",
	} {
		f := &Finder{Root: project(t, archive+"-- calc.py --\n"), LookPath: installed("python3")}
		found, err := f.Find([]string{"calc.py"})
		if err != nil || len(found.Wide) != 1 || found.Wide[0].Command != want {
			t.Errorf("%s: %v, %v, want %s", archive, lines(found), err, want)
		}
	}
}

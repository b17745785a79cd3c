package checks

import "testing"

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

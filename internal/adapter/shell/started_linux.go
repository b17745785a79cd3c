package shell

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// Started reports whether a process was started by any pawl, descends from such a
// process, or from this pawl, which also connects for confined commands. An error means
// that the answer is not known.
func Started(pid int) (bool, error) { return startedBy(os.Getpid(), pid, stat, ofAPawl) }

// startedBy is Started for the pawl with the process id self. stat and marked return a
// process's parent, and whether it has a mark.
func startedBy(self, pid int, stat func(int) (entry, bool), marked func(int) (bool, error)) (bool, error) {
	for child, p := 0, pid; p > 1; {
		if p == self {
			return true, nil
		}
		yes, err := false, fmt.Errorf("process %d is gone", p)
		e, ok := stat(p)
		if ok && !e.zombie {
			yes, err = marked(p)
		}
		if yes {
			return true, nil
		}
		if err != nil && child != 0 {
			// When a parent ends, its children get another parent. This happens at most
			// once for each process above pid.
			if c, ok := stat(child); !ok || c.zombie || c.parent != p {
				child, p = 0, pid
				continue
			}
		}
		if err != nil {
			return false, err
		}
		child, p = p, e.parent
	}
	return false, nil
}

// ofAPawl reports whether a process has the mark of any pawl's command. The limit can be
// read for every process, and shows each one that this pawl or a newer one started. The
// environment cannot always be read; it shows those for which no limit could be set.
func ofAPawl(pid int) (bool, error) {
	folder := "/proc/" + strconv.Itoa(pid)
	limits, err := os.ReadFile(folder + "/limits")
	if err != nil {
		return false, err
	}
	_, rest, ok := bytes.Cut(limits, []byte("\n"+limitName))
	soft := bytes.Fields(rest)
	if !ok || len(soft) < 2 {
		return false, fmt.Errorf("process %d has no limit named %q", pid, limitName)
	}
	if string(soft[1]) == strconv.FormatUint(ceiling, 10) || len(soft[0]) == marksDigits {
		return true, nil
	}
	env, err := os.ReadFile(folder + "/environ")
	if err != nil {
		return false, nil
	}
	return bytes.HasPrefix(env, []byte(envName)) || bytes.Contains(env, []byte("\x00"+envName)), nil
}

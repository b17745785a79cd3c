//go:build unix && !linux && !darwin

package shell

// members returns the group of a family. Its single processes are not known here.
func members(f family) []int {
	if f.group > 0 && groupAlive(f.group) {
		return []int{-f.group}
	}
	return nil
}

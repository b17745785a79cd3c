//go:build unix && !linux && !darwin

package shell

// members of a family are its group, where nothing more can be seen.
func members(f family) []int {
	if f.group > 0 && groupAlive(f.group) {
		return []int{-f.group}
	}
	return nil
}

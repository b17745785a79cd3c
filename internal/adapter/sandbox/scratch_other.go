//go:build !linux || !(amd64 || arm64)

package sandbox

func identity(string) (is made, mine, ok bool) { return made{}, false, false }

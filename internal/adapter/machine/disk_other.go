//go:build !unix

package machine

func disk(string) (uint64, bool) { return 0, false }

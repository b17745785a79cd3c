//go:build !unix

package sandbox

func oneLink(string) error { return nil }

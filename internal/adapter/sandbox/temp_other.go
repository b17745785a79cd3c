//go:build !unix

package sandbox

func ownTemp() (string, func() error, error) { return "", nil, lack() }

func sweepTemps() {}

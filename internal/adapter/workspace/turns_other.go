//go:build !unix

package workspace

import "os"

// takeTurn does nothing where folders cannot be locked.
func takeTurn(*os.Root) (release func()) { return func() {} }

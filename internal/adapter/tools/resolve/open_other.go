//go:build !unix

package resolve

import (
	"io/fs"
	"os"
)

const openFolder = os.O_RDONLY

// hardLinks returns 1: the number of a file's names is not known here.
func hardLinks(fs.FileInfo) int { return 1 }

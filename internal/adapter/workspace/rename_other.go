//go:build !linux && !darwin

package workspace

import (
	"errors"
	"os"
)

func renameNew(*os.Root, string, string) error { return errors.ErrUnsupported }

func exchange(*os.Root, string, string) error { return errors.ErrUnsupported }

//go:build !linux

package journal

import "errors"

// newNotifier fails: on this system every file is looked at each time.
func newNotifier(string) (notifier, int, error) { return nil, 0, errors.ErrUnsupported }

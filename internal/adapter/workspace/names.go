package workspace

import "golang.org/x/text/unicode/norm"

// nfd returns the canonical decomposition of a name, so that é typed as one
// character and é stored as e with an accent compare equal. Bytes that are not
// UTF-8 stay as they are.
func nfd(s string) string { return norm.NFD.String(s) }

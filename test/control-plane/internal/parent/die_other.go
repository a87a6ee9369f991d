//go:build !linux

package parent

// dieWithParent has no counterpart here; the closing of standard input remains.
func dieWithParent() {}

package parent

import (
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent reaches also a program that is stopped (SIGSTOP) and so cannot notice that its input closed.
// The kernel keeps the setting a thread, so it is made on the main thread, which lives as long as the program.
func dieWithParent() {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0)
	runtime.UnlockOSThread()
}

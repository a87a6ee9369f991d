// Package parent ends a program together with the test process that started it, however that process ends.
package parent

import (
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Variable switches the behavior on; without it the programs are the ordinary ones and may be run by hand.
// Its value is a mode, a colon and the parent's process id. The modes:
//
//	stdin   end when standard input closes (the parent holds the other end of it), and when the parent is killed
//	signal  only when the parent is killed: for programs that read their input, such as kubectl
const Variable = "CLOUDWIRE_END_WITH_PARENT"

// graceTime is what a program gets to end by itself after SIGTERM before it is ended without asking.
const graceTime = 5 * time.Second

// Follow is the first call of every main.
func Follow() {
	mode, pid, found := strings.Cut(os.Getenv(Variable), ":")
	if !found {
		return
	}
	dieWithParent()
	// The parent may have ended before the prctl call.
	if strconv.Itoa(os.Getppid()) != pid {
		os.Exit(1)
	}
	if mode == "stdin" {
		go endWithStdin()
	}
}

func endWithStdin() {
	// No process writes: the copy returns when the last process with the other end is gone, be it by exit, crash or SIGKILL.
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
	time.Sleep(graceTime)
	os.Exit(1)
}

package unixsocket

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// maxLockWait for a rival that is starting; it needs milliseconds.
	maxLockWait = 5 * time.Second
	lockRetry   = 10 * time.Millisecond
)

func modified(stat *syscall.Stat_t) syscall.Timespec { return stat.Mtim }

// lockPath keeps other processes from clearing the same path meanwhile. The lock is a socket in the abstract namespace: it
// leaves no file beside the provider's socket, and ends with its process however that ends. Its name is that of the directory
// itself, because containers see one directory under different paths; it is the same in every SDK.
func lockPath(path string) (unlock func()) {
	name, err := lockName(path)
	if err != nil {
		return func() {}
	}
	for deadline := time.Now().Add(maxLockWait); time.Now().Before(deadline); time.Sleep(lockRetry) {
		if listener, err := net.Listen("unix", name); err == nil {
			return func() { listener.Close() }
		}
	}
	// A rival holds it for too long: the look at the socket has to decide.
	return func() {}
}

func lockName(path string) (string, error) {
	info, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("%s has no inode", filepath.Dir(path))
	}
	hash := sha256.Sum256(fmt.Appendf(nil, "%d/%d/%s", stat.Dev, stat.Ino, filepath.Base(path)))
	return "@cloudwire-provider-" + hex.EncodeToString(hash[:])[:32], nil
}

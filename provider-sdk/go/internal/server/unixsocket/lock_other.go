//go:build !linux

package unixsocket

import "syscall"

func modified(stat *syscall.Stat_t) syscall.Timespec { return stat.Mtimespec }

// lockPath: only Linux has sockets without files.
func lockPath(string) (unlock func()) { return func() {} }

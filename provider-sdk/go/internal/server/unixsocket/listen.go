// Package unixsocket makes and removes the socket of a provider: a stale one is replaced, a live one is never taken away.
package unixsocket

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// mode is read and write for owner and group: connecting needs write.
	mode = 0o660
	// umask leaves exactly mode of the 0777 with which sockets are made.
	umask = 0o117
	// probeTimeout limits the check whether another process listens.
	probeTimeout = 2 * time.Second
	// maxAttempts: a rival that starts at the same moment can win at most this often.
	maxAttempts = 5
	// secondLook is a thousand times the longest delay between another process's bind and listen.
	secondLook = 50 * time.Millisecond
)

// Error says why there is no socket, and what to do.
type Error struct {
	// Config is true for a mistake in what was asked for, false when the place cannot be had.
	Config  bool
	Problem string
	Cause   error
}

func (e *Error) Error() string { return e.Problem }

// Unwrap is the error behind it.
func (e *Error) Unwrap() error { return e.Cause }

func unavailable(cause error, format string, args ...any) *Error {
	return &Error{Problem: fmt.Sprintf(format, args...), Cause: cause}
}

func cannotListen(path string, err error) *Error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return unavailable(err, "user %d cannot create a socket in %s; grant it write permission, in a pod with an emptyDir volume and fsGroup",
			os.Getuid(), filepath.Dir(path))
	}
	return unavailable(err, "cannot listen on unix://%s: %v", path, err)
}

// identity distinguishes socket files: a new file may get the inode of a removed one.
type identity struct {
	inode   uint64
	changed syscall.Timespec
}

// Listener is a socket of this process.
type Listener struct {
	*net.UnixListener
	path   string
	own    identity
	closed atomic.Bool
}

// Listen makes the socket; group may be empty.
func Listen(path, group string) (*Listener, error) {
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return nil, unavailable(err, "the directory %s does not exist; make it, or mount the volume there", filepath.Dir(path))
	}
	unlock := lockPath(path)
	defer unlock()
	if err := clearPath(path); err != nil {
		return nil, err
	}
	listener, err := bind(path)
	if err != nil {
		if live, _ := isLive(path); live {
			return nil, inUse(path, err)
		}
		return nil, cannotListen(path, err)
	}
	// Whose file is at the path by then is looked at in Close.
	listener.SetUnlinkOnClose(false)
	own, found, err := identify(path)
	if err != nil || !found {
		listener.Close()
		return nil, unavailable(err, "the socket %s was removed as it was made", path)
	}
	out := &Listener{UnixListener: listener, path: path, own: own}
	if err := secure(path, group); err != nil {
		out.Close()
		return nil, err
	}
	return out, nil
}

// bind makes the socket with its mode from its first moment on.
func bind(path string) (*net.UnixListener, error) {
	before := syscall.Umask(umask)
	defer syscall.Umask(before)
	return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
}

// Close stops listening and removes the file, if it is still this process's.
func (l *Listener) Close() error {
	if l.closed.Swap(true) {
		return net.ErrClosed
	}
	err := l.UnixListener.Close()
	if l.IsOwn() {
		err = errors.Join(err, os.Remove(l.path))
	}
	return err
}

// IsOwn is true while the socket at the path is the one that this process made.
func (l *Listener) IsOwn() bool {
	found, ok, err := identify(l.path)
	return err == nil && ok && found == l.own
}

// clearPath frees the path: it removes a socket without a listener, and rejects a live one or another kind of file.
// Removal is by renaming first and looks at what was renamed: of two providers that start at once, none removes
// the other's fresh socket.
func clearPath(path string) error {
	for range maxAttempts {
		found, exists, err := identify(path)
		if err != nil || !exists {
			return err
		}
		// Twice: a process that is between bind and listen refuses too.
		for look := range 2 {
			if look > 0 {
				time.Sleep(secondLook)
			}
			live, err := isLive(path)
			if err != nil {
				return err
			}
			if live {
				return inUse(path, nil)
			}
		}
		removed, err := removeStale(path, found)
		if err != nil || removed {
			return err
		}
	}
	return inUse(path, nil)
}

func inUse(path string, cause error) *Error {
	return unavailable(cause, "another process listens on %s; stop it or give another endpoint", path)
}

func identify(path string) (id identity, exists bool, err error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return identity{}, false, nil
	}
	if err != nil {
		return identity{}, false, unavailable(err, "%s cannot be looked at (%v); the directory must exist and be readable", path, err)
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return identity{}, false, unavailable(nil, "%s exists and is no socket; remove it or give another endpoint", path)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}, false, unavailable(nil, "%s cannot be distinguished from other files on this system", path)
	}
	return identity{inode: stat.Ino, changed: modified(stat)}, true, nil
}

func isLive(path string) (bool, error) {
	connection, err := net.DialTimeout("unix", path, probeTimeout)
	switch {
	case err == nil:
		connection.Close()
		return true, nil
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		return false, nil
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, os.ErrDeadlineExceeded):
		// A listener whose backlog is full neither accepts nor refuses: it lives.
		return true, nil
	}
	return false, unavailable(err, "%s cannot be probed (%v)", path, err)
}

// removeStale removes a socket that was found dead. False: another file was there by now; it is back in its place.
func removeStale(path string, dead identity) (bool, error) {
	aside := path + "." + rand.Text()[:8]
	if err := os.Rename(path, aside); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		return false, unavailable(err, "the stale socket %s cannot be removed (%v)", path, err)
	}
	found, exists, err := identify(aside)
	isDead := err == nil && exists && found == dead
	if !isDead {
		// A link is refused where a rename would take the place of a third one's socket.
		_ = os.Link(aside, path)
	}
	return isDead, os.Remove(aside)
}

func secure(path, group string) error {
	if err := os.Chmod(path, mode); err != nil {
		return unavailable(err, "%s cannot be given its mode (%v)", path, err)
	}
	if group == "" {
		return nil
	}
	gid, err := strconv.Atoi(group)
	if err != nil {
		known, err := user.LookupGroup(group)
		if err != nil {
			return &Error{Config: true, Problem: "socket group " + group + " is not known on this system", Cause: err}
		}
		gid, _ = strconv.Atoi(known.Gid)
	}
	if err := os.Chown(path, -1, gid); err != nil {
		return &Error{Config: true, Problem: fmt.Sprintf("%s cannot be given to group %s (%v)", path, group, err), Cause: err}
	}
	return nil
}

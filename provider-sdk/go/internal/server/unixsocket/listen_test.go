package unixsocket

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
)

func TestCannotListenSaysWhatToDo(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"no right":            {fmt.Errorf("bind: %w", syscall.EACCES), "cannot create a socket in /run/x; grant it write permission"},
		"read-only directory": {fmt.Errorf("bind: %w", syscall.EROFS), "cannot create a socket in /run/x; grant it write permission"},
		"anything else":       {errors.New("no luck"), "cannot listen on unix:///run/x/p.sock: no luck"},
	} {
		if got := cannotListen("/run/x/p.sock", test.err).Problem; !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

package state

import (
	"context"
	"sync"
	"time"
)

// SharedTask is work that several callers wait for. It ends when the last of them has gone, unless it is kept.
type SharedTask[Value any] struct {
	done   chan struct{}
	cancel context.CancelFunc
	// givenUp is closed when the work has been canceled.
	givenUp chan struct{}

	mu      sync.Mutex
	waiters int
	kept    bool
	heard   bool
	value   Value
	err     error
}

// StartShared begins the work, with the values of ctx but not its end; forced ends it in any case.
func StartShared[Value any](ctx, forced context.Context, work func(context.Context) (Value, error)) *SharedTask[Value] {
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(forced, cancel)
	task := &SharedTask[Value]{done: make(chan struct{}), givenUp: make(chan struct{}), cancel: cancel}
	go func() {
		defer stop()
		defer cancel()
		defer close(task.done)
		task.value, task.err = Recovered(func() (Value, error) { return work(inner) })
	}()
	return task
}

// Join waits for the work, or for the caller's end.
func (t *SharedTask[Value]) Join(ctx context.Context) (Value, error) {
	value, _, err := t.JoinWithin(ctx, nil)
	return value, err
}

// JoinWithin waits until soft at most. Work that has not ended by then is kept: it continues without a caller.
func (t *SharedTask[Value]) JoinWithin(ctx context.Context, soft <-chan time.Time) (value Value, stillRunning bool, err error) {
	t.mu.Lock()
	t.waiters++
	t.mu.Unlock()
	defer t.leave()
	select {
	case <-t.done:
		t.mu.Lock()
		t.heard = true
		t.mu.Unlock()
		return t.value, false, t.err
	case <-ctx.Done():
		return value, false, context.Cause(ctx)
	case <-soft:
		t.mu.Lock()
		t.kept = true
		t.mu.Unlock()
		return value, true, nil
	}
}

func (t *SharedTask[Value]) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiters--
	if t.waiters == 0 && !t.kept {
		t.giveUp()
	}
}

// giveUp cancels the work; t.mu is held.
func (t *SharedTask[Value]) giveUp() {
	if !t.Abandoned() {
		close(t.givenUp)
		t.cancel()
	}
}

// isKept is true for work that continues without a caller.
func (t *SharedTask[Value]) isKept() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.kept
}

// unheard is true for work whose result no caller got.
func (t *SharedTask[Value]) unheard() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.kept && !t.Abandoned() && t.waiters == 0 && !t.heard
}

// giveUpKept cancels kept work for which no caller waits.
func (t *SharedTask[Value]) giveUpKept() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept && t.waiters == 0 {
		t.giveUp()
	}
}

// Abandoned is true for canceled work.
func (t *SharedTask[Value]) Abandoned() bool {
	select {
	case <-t.givenUp:
		return true
	default:
		return false
	}
}

package bridge

import (
	"context"
	"sync"
	"time"

	"cloudwire.dev/provider-sdk/go/provider"
)

// changes runs the vendor's changes beyond the calls that asked for them. Upstream waits for a change as long as it takes,
// often minutes; a caller of the contract is answered within seconds and asks again. One change of an object runs at a time.
type changes struct {
	// life ends all changes when the process does.
	life context.Context
	// answerWithin is how long a call waits for its change.
	answerWithin time.Duration
	// timeout ends a change that hangs.
	timeout time.Duration
	now     func() time.Time

	mu      sync.Mutex
	entries map[string]*change
}

// change is in progress, or finished and not reported yet.
type change struct {
	// desired identifies the requested state; equal calls join.
	desired string
	started time.Time
	done    chan struct{}
	// value and err are there once done is closed.
	value    any
	err      error
	finished time.Time
}

const (
	// busyRetryAfter is the delay reported to a call that meets another change of its object.
	busyRetryAfter = 2 * time.Second
	// resultMemory is how long a result is kept for the next call; a caller retries within a minute.
	resultMemory = 2 * time.Minute
)

func newChanges(life context.Context, answerWithin, timeout time.Duration, now func() time.Time) *changes {
	return &changes{life: life, answerWithin: answerWithin, timeout: timeout, now: now, entries: map[string]*change{}}
}

// runChange starts the change of the object key, or joins one in progress with the same desired state. finished is false when
// the change continues after the response; the next call with the same desired state returns its outcome.
func runChange[T any](ctx context.Context, c *changes, key, desired string, work func(context.Context) (T, error)) (value T, finished bool, err error) {
	wait, cancel := context.WithTimeout(ctx, c.answerWithin)
	defer cancel()
	for {
		entry := c.join(ctx, key, desired, func(ctx context.Context) (any, error) { return guarded(ctx, key, work) })
		select {
		case <-entry.done:
		case <-wait.Done():
			if entry.desired != desired {
				return value, false, provider.NewError(provider.ReasonOperationInProgress,
					"another change of "+key+" is under way", provider.RetryAfter(busyRetryAfter))
			}
			return value, false, nil
		}
		c.reported(key, entry)
		if entry.desired == desired {
			value, _ = entry.value.(T)
			return value, true, entry.err
		}
	}
}

func (c *changes) join(ctx context.Context, key, desired string, work func(context.Context) (any, error)) *change {
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry, known := c.entries[key]; known && !c.isOver(entry, desired) {
		return entry
	}
	entry := &change{desired: desired, started: c.now(), done: make(chan struct{})}
	c.entries[key] = entry
	// What the call knows of itself stays: its log lines carry the request id.
	work0, end := context.WithTimeout(context.WithoutCancel(ctx), c.timeout)
	stopWithLife := context.AfterFunc(c.life, end)
	go func() {
		defer end()
		defer stopWithLife()
		value, err := work(work0)
		c.mu.Lock()
		defer c.mu.Unlock()
		entry.value, entry.err, entry.finished = value, err, c.now()
		close(entry.done)
	}()
	return entry
}

// isOver is true for a result that no caller will request.
func (c *changes) isOver(entry *change, desired string) bool {
	return entry.isDone() && (entry.desired != desired || c.now().Sub(entry.finished) > resultMemory)
}

func (e *change) isDone() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

func (c *changes) reported(key string, entry *change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[key] == entry {
		delete(c.entries, key)
	}
}

// drop discards an unreported result that newer information supersedes.
func (c *changes) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry, known := c.entries[key]; known && entry.isDone() {
		delete(c.entries, key)
	}
}

// since is when the change in progress began; ok is false if there is none.
func (c *changes) since(key string) (started time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry, known := c.entries[key]
	if !known || entry.isDone() {
		return time.Time{}, false
	}
	return entry.started, true
}

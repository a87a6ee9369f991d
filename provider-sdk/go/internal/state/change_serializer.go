package state

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cloudwire.dev/provider-sdk/go/internal/state/lru"
)

const (
	maxReplays   = 1000
	replayMaxAge = 10 * time.Minute
	// lateMaxAge is twice the maximum of Operation.poll_after in the contract: another client may have reverted an older result.
	lateMaxAge = 2 * time.Minute
	// keptMax is how long work goes on beyond its call, however often it is asked about.
	keptMax = 30 * time.Minute
	// abandonedMax: a handler that goes on for so long after its context has ended has lost its right to the key.
	abandonedMax = 10 * time.Minute
	// busyRetry is the delay reported to callers who find a key busy.
	busyRetry = 2 * time.Second
)

// Change is a change that wants to run.
type Change[Answer any] struct {
	// Key is what is changed; changes of one key never overlap.
	Key string
	// ChangeID is the id of the intended change; Digest distinguishes changes that carry the same id by mistake.
	ChangeID, Digest string
	// Work runs when the key is free; it refuses what became stale while it waited.
	Work func(context.Context) (Answer, error)
	// Final is true for an answer with which repetitions are answered; false for work that goes on.
	Final func(Answer) bool
	// Soft is how long a caller waits before the result is pending; 0: until its own deadline.
	Soft time.Duration
}

// ChangeSerializer runs changes one at a time for each key: one runs, one may wait, a third must retry. A repetition of the running
// change joins it, a repetition of a finished one gets its answer.
type ChangeSerializer[Answer any] struct {
	forced  context.Context // it is the life of the server
	log     *slog.Logger
	replays *lru.Map[string, replay[Answer]]
	// late are, by key, unreported results of work that outlived its calls. The next equal change returns them, unless the
	// object was changed in the meantime.
	late *lru.Map[string, lateEnd[Answer]]

	mu     sync.Mutex
	active map[string]*activeChange[Answer]
}

type replay[Answer any] struct {
	digest string
	answer Answer
}

type lateEnd[Answer any] struct {
	digest string
	answer Answer
	err    error
}

type activeChange[Answer any] struct {
	changeID, digest string
	task             *SharedTask[Answer]
	// freed is closed when the key is free again.
	freed   chan struct{}
	waiting bool
}

// NewChangeSerializer makes one; forced ends all work.
func NewChangeSerializer[Answer any](forced context.Context, log *slog.Logger) *ChangeSerializer[Answer] {
	return &ChangeSerializer[Answer]{
		forced: forced, log: log, active: map[string]*activeChange[Answer]{},
		replays: lru.New[string](lru.Options[replay[Answer]]{MaxEntries: maxReplays, MaxAge: replayMaxAge}),
		late:    lru.New[string](lru.Options[lateEnd[Answer]]{MaxEntries: maxReplays, MaxAge: lateMaxAge}),
	}
}

// Run answers when the change has ended. stillRunning is true when it has not within change.Soft: it goes on.
func (c *ChangeSerializer[Answer]) Run(ctx context.Context, change Change[Answer]) (answer Answer, stillRunning bool, err error) {
	var soft <-chan time.Time
	if change.Soft > 0 {
		timer := time.NewTimer(change.Soft)
		defer timer.Stop()
		soft = timer.C
	}
	for {
		if known, ok := c.replays.Get(change.Key + "\x00" + change.ChangeID); ok && known.digest == change.Digest {
			return known.answer, false, nil
		}
		current, join, err := c.enter(ctx, change)
		if err != nil {
			return answer, false, err
		}
		if join != nil {
			return join(ctx, soft)
		}
		err = c.waitFor(ctx, change.Key, current, soft)
		if err != nil {
			return answer, false, err
		}
		// Another may have taken the key between its release and this turn.
	}
}

// joining waits for the end of work, for so long.
type joining[Answer any] func(ctx context.Context, soft <-chan time.Time) (answer Answer, stillRunning bool, err error)

// enter starts the change, joins the one that it repeats, or takes the place of the one that waits; join is nil for the last.
func (c *ChangeSerializer[Answer]) enter(ctx context.Context, change Change[Answer]) (current *activeChange[Answer], join joining[Answer], err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	current = c.active[change.Key]
	if current == nil {
		late, ended := c.late.Get(change.Key)
		c.late.Delete(change.Key)
		if ended && late.digest == change.Digest {
			return nil, late.joinWithin, nil
		}
		return nil, c.start(ctx, change).task.JoinWithin, nil
	}
	// Any call for the same change joins work that outlived its callers.
	sameChange := current.digest == change.Digest && (current.changeID == change.ChangeID || current.task.isKept())
	if sameChange && !current.task.Abandoned() {
		return nil, current.task.JoinWithin, nil
	}
	// A superseded change ends, and the new one follows.
	current.task.giveUpKept()
	if current.waiting {
		return nil, nil, busy(change.Key)
	}
	current.waiting = true
	return current, nil, nil
}

func (l lateEnd[Answer]) joinWithin(context.Context, <-chan time.Time) (answer Answer, stillRunning bool, err error) {
	return l.answer, false, l.err
}

func (c *ChangeSerializer[Answer]) start(ctx context.Context, change Change[Answer]) *activeChange[Answer] {
	started := &activeChange[Answer]{changeID: change.ChangeID, digest: change.Digest, freed: make(chan struct{})}
	started.task = StartShared(ctx, c.forced, func(ctx context.Context) (Answer, error) {
		answer, err := change.Work(ctx)
		if err == nil && change.Final(answer) {
			c.replays.Set(change.Key+"\x00"+change.ChangeID, replay[Answer]{change.Digest, answer})
		}
		return answer, err
	})
	c.active[change.Key] = started
	go c.freeWhenDone(change, started)
	return started
}

// freeWhenDone: the key stays taken while the handler works, even when every caller has gone: the cloud may still change.
func (c *ChangeSerializer[Answer]) freeWhenDone(change Change[Answer], started *activeChange[Answer]) {
	unheard := c.awaitEnd(change.Key, started.task)
	c.mu.Lock()
	defer c.mu.Unlock()
	if unheard {
		c.late.Set(change.Key, lateEnd[Answer]{change.Digest, started.task.value, started.task.err})
	}
	delete(c.active, change.Key)
	close(started.freed)
}

// awaitEnd waits until the handler has ended, or has ignored its cancellation for too long. unheard is true if no caller got
// the result.
func (c *ChangeSerializer[Answer]) awaitEnd(key string, task *SharedTask[Answer]) (unheard bool) {
	tooLong := time.NewTimer(keptMax)
	defer tooLong.Stop()
	for givenUp := false; !givenUp; {
		select {
		case <-task.done:
			return task.unheard()
		case <-task.givenUp:
			givenUp = true
		case <-tooLong.C:
			task.giveUpKept()
			// A caller waits just now and gets its answer soon.
			tooLong.Reset(time.Minute)
		}
	}
	stubborn := time.NewTimer(abandonedMax)
	defer stubborn.Stop()
	select {
	case <-task.done:
	case <-stubborn.C:
		c.log.Error("A change ignores its cancellation; its key is free again", "key", key)
	}
	return false
}

func (c *ChangeSerializer[Answer]) waitFor(ctx context.Context, key string, current *activeChange[Answer], soft <-chan time.Time) error {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		current.waiting = false
	}()
	select {
	case <-current.freed:
		return nil
	case <-soft:
		return busy(key)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Working is the digest of a running change that outlived its call; empty if none.
func (c *ChangeSerializer[Answer]) Working(key string) (digest string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if current := c.active[key]; current != nil && current.task.isKept() {
		return current.digest
	}
	return ""
}

func busy(key string) *Refusal {
	return &Refusal{
		Reason: "OPERATION_IN_PROGRESS", Message: "another change of " + key + " is under way and a second one waits", RetryAfter: busyRetry,
	}
}

// maxFencedObjects are those whose newest change is remembered.
const maxFencedObjects = 50_000

// SequenceFence refuses changes that were superseded on their way: a leader that did not know yet that it had been replaced
// must not undo what its successor did. Contract: ChangeContext.sequence.
type SequenceFence struct {
	mu     sync.Mutex
	newest *lru.Map[string, uint64]
}

// NewSequenceFence makes an empty one.
func NewSequenceFence() *SequenceFence {
	return &SequenceFence{newest: lru.New[string](lru.Options[uint64]{MaxEntries: maxFencedObjects})}
}

// Enter says why a change comes too late; nil if it does not. It then counts as applied, because a failed change
// may have taken effect in part. 0 is not compared.
func (f *SequenceFence) Enter(object string, sequence uint64) *Refusal {
	if sequence == 0 {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	newest, _ := f.newest.Get(object)
	if sequence < newest {
		return &Refusal{
			Reason:   "STALE_GENERATION",
			Message:  fmt.Sprintf("the change has sequence %d, but %d came for the same object already; read it again", sequence, newest),
			Metadata: []Metadatum{{"applied_sequence", fmt.Sprint(newest)}},
		}
	}
	f.newest.Set(object, sequence)
	return nil
}

package provider

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
	// lateMaxAge is two polls at their slowest: somebody else may have undone what ended earlier.
	lateMaxAge = 2 * maxPollAfter
	// keptMax is how long work goes on beyond its call, however often it is asked about.
	keptMax = 30 * time.Minute
	// abandonedMax: a handler that goes on for so long after its context has ended has lost its right to the key.
	abandonedMax = 10 * time.Minute
	// gateRetry is told to callers who find a key busy.
	gateRetry = 2 * time.Second
)

// gatedChange is a change that wants to run.
type gatedChange[Answer any] struct {
	// key is what is changed; changes of one key never overlap.
	key string
	// changeID is the id of the intended change, digest tells changes apart that carry the same by mistake.
	changeID, digest string
	// work runs when the key is free; it refuses what became stale while it waited.
	work func(context.Context) (Answer, error)
	// final is true for an answer with which repetitions are answered; false for work that goes on.
	final func(Answer) bool
	// soft is how long a caller waits before it is told that the work goes on; 0: until its own end.
	soft time.Duration
}

// changeGate runs changes one at a time for each key: one runs, one may wait, a third is told to come again. A repetition of
// the running change joins it, a repetition of a finished one gets its answer.
type changeGate[Answer any] struct {
	forced  context.Context // it is the life of the server
	log     *slog.Logger
	replays *lru.Map[string, replay[Answer]]
	// late are, by key, the ends of work that outlived its calls and that nobody heard. The next who asks for the same is told,
	// unless something else was done to the object meanwhile.
	late *lru.Map[string, lateEnd[Answer]]

	mu    sync.Mutex
	lanes map[string]*lane[Answer]
}

type replay[Answer any] struct {
	digest string
	answer Answer
}

type lateEnd[Answer any] struct {
	digest string
	outcome[Answer]
}

type lane[Answer any] struct {
	changeID, digest string
	task             *sharedTask[Answer]
	// freed is closed when the key is free again.
	freed   chan struct{}
	waiting bool
}

func newChangeGate[Answer any](s *service) *changeGate[Answer] {
	return &changeGate[Answer]{
		forced: s.forced, log: s.log, lanes: map[string]*lane[Answer]{},
		replays: lru.New[string](lru.Options[replay[Answer]]{MaxEntries: maxReplays, MaxAge: replayMaxAge}),
		late:    lru.New[string](lru.Options[lateEnd[Answer]]{MaxEntries: maxReplays, MaxAge: lateMaxAge}),
	}
}

// run answers when the change has ended. stillRunning is true when it has not within change.soft: it goes on.
func (g *changeGate[Answer]) run(ctx context.Context, change gatedChange[Answer]) (answer Answer, stillRunning bool, err error) {
	var soft <-chan time.Time
	if change.soft > 0 {
		timer := time.NewTimer(change.soft)
		defer timer.Stop()
		soft = timer.C
	}
	for {
		if known, ok := g.replays.Get(change.key + "\x00" + change.changeID); ok && known.digest == change.digest {
			return known.answer, false, nil
		}
		current, join, err := g.enter(ctx, change)
		if err != nil {
			return answer, false, err
		}
		if join != nil {
			return join(ctx, soft)
		}
		err = g.waitFor(ctx, change.key, current, soft)
		if err != nil {
			return answer, false, err
		}
		// Another may have taken the key between its release and this turn.
	}
}

// joining waits for the end of work, for so long.
type joining[Answer any] func(ctx context.Context, soft <-chan time.Time) (answer Answer, stillRunning bool, err error)

// enter starts the change, joins the one that it repeats, or takes the place of the one that waits; join is nil for the last.
func (g *changeGate[Answer]) enter(ctx context.Context, change gatedChange[Answer]) (current *lane[Answer], join joining[Answer], err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	current = g.lanes[change.key]
	if current == nil {
		late, ended := g.late.Get(change.key)
		g.late.Delete(change.key)
		if ended && late.digest == change.digest {
			return nil, late.tell, nil
		}
		return nil, g.start(ctx, change).task.joinWithin, nil
	}
	// Work that goes on after its callers were told so is joined by any call for the same wish.
	sameWish := current.digest == change.digest && (current.changeID == change.changeID || current.task.isKept())
	if sameWish && !current.task.abandoned() {
		return nil, current.task.joinWithin, nil
	}
	// A wish that has been replaced ends, and the new one follows.
	current.task.giveUpKept()
	if current.waiting {
		return nil, nil, busy(change.key)
	}
	current.waiting = true
	return current, nil, nil
}

func (l lateEnd[Answer]) tell(context.Context, <-chan time.Time) (answer Answer, stillRunning bool, err error) {
	return l.value, false, l.err
}

func (g *changeGate[Answer]) start(ctx context.Context, change gatedChange[Answer]) *lane[Answer] {
	started := &lane[Answer]{changeID: change.changeID, digest: change.digest, freed: make(chan struct{})}
	started.task = startShared(ctx, g.forced, func(ctx context.Context) (Answer, error) {
		// The work may outlive the call that began it.
		answer, err := change.work(withCall(ctx, CallOf(ctx)))
		if err == nil && change.final(answer) {
			g.replays.Set(change.key+"\x00"+change.changeID, replay[Answer]{change.digest, answer})
		}
		return answer, err
	})
	g.lanes[change.key] = started
	go g.freeWhenDone(change, started)
	return started
}

// freeWhenDone: the key stays taken while the handler works, even when every caller has gone: the cloud may still change.
func (g *changeGate[Answer]) freeWhenDone(change gatedChange[Answer], started *lane[Answer]) {
	unheard := g.awaitEnd(change.key, started.task)
	g.mu.Lock()
	defer g.mu.Unlock()
	if unheard {
		g.late.Set(change.key, lateEnd[Answer]{change.digest, outcome[Answer]{started.task.value, started.task.err}})
	}
	delete(g.lanes, change.key)
	close(started.freed)
}

// awaitEnd waits until the handler has ended, or has not although it was told to long ago. unheard is true for an end that
// nobody was there to hear.
func (g *changeGate[Answer]) awaitEnd(key string, task *sharedTask[Answer]) (unheard bool) {
	tooLong := time.NewTimer(keptMax)
	defer tooLong.Stop()
	for told := false; !told; {
		select {
		case <-task.done:
			return task.unheard()
		case <-task.givenUp:
			told = true
		case <-tooLong.C:
			task.giveUpKept()
			// Somebody waits just now, and is answered soon.
			tooLong.Reset(time.Minute)
		}
	}
	stubborn := time.NewTimer(abandonedMax)
	defer stubborn.Stop()
	select {
	case <-task.done:
	case <-stubborn.C:
		g.log.Error("A change does not end although it was told to; its key is free again", "key", key)
	}
	return false
}

func (g *changeGate[Answer]) waitFor(ctx context.Context, key string, current *lane[Answer], soft <-chan time.Time) error {
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
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

// working says for which wish work goes on that outlived its call; empty if there is none.
func (g *changeGate[Answer]) working(key string) (digest string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if current := g.lanes[key]; current != nil && current.task.isKept() {
		return current.digest
	}
	return ""
}

func busy(key string) *Error {
	return NewError(ReasonOperationInProgress, "another change of "+key+" is under way and a second one waits", RetryAfter(gateRetry))
}

// maxFencedObjects are those whose newest change is remembered.
const maxFencedObjects = 50_000

// sequenceFence refuses changes that were overtaken on their way: a leader that did not know yet that it had been replaced
// must not undo what its successor did. Contract: ChangeContext.sequence.
type sequenceFence struct {
	mu     sync.Mutex
	newest *lru.Map[string, uint64]
}

func newSequenceFence() *sequenceFence {
	return &sequenceFence{newest: lru.New[string](lru.Options[uint64]{MaxEntries: maxFencedObjects})}
}

// enter says why a change comes too late; nil if it does not. It then counts as applied, for if it fails something of it may
// have taken effect all the same. 0 is not compared.
func (f *sequenceFence) enter(object string, sequence uint64) *Error {
	if sequence == 0 {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	newest, _ := f.newest.Get(object)
	if sequence < newest {
		return NewError(ReasonStaleGeneration,
			fmt.Sprintf("the change has sequence %d, but %d came for the same object already; read it again", sequence, newest),
			Metadata("applied_sequence", fmt.Sprint(newest)))
	}
	f.newest.Set(object, sequence)
	return nil
}

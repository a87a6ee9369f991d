package provider

import (
	"context"
	"fmt"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/rules"
	"cloudwire.dev/provider-sdk/go/internal/state"
)

// defaultMaxDataAge is what a read allows when the caller does not say. Contract: BAT-4.
const defaultMaxDataAge = 30 * time.Second

// maxSingleLookUps run at once, over all calls.
const maxSingleLookUps = 16

// lookUpResult is what was learned about one object. One of the first four is set.
type lookUpResult[Found any] struct {
	found    Found
	isFound  bool
	absent   *cpv1.Absence
	notOwned *cpv1.NotOwned
	unknown  *Error
	readTime time.Time
}

func unknownResult[Found any](err *Error, readTime time.Time) lookUpResult[Found] {
	return lookUpResult[Found]{unknown: err, readTime: readTime}
}

// lookUp asks a provider about many objects, together or one by one, so that one object's failure is not the others'.
// Answer is the vendor's answer type, Found what exists.
type lookUp[Ref, Answer, Found any] struct {
	s       *service
	get     func(context.Context, Ref) (Answer, error)
	getMany func(context.Context, []Ref) ([]Answer, error)
	// found takes an answer that says that the object exists apart.
	found func(Answer) (value Found, readTime time.Time, ok bool)
	// refuse forbids an absence for its own reasons; may be nil.
	refuse func(Ref, *AbsentResult) *Error

	slots   chan struct{}
	mu      sync.Mutex
	flights map[string]*flight[lookUpResult[Found]]
}

type flight[Value any] struct {
	started time.Time
	task    *state.SharedTask[Value]
}

func newLookUp[Ref, Answer, Found any](s *service) *lookUp[Ref, Answer, Found] {
	return &lookUp[Ref, Answer, Found]{
		s: s, slots: make(chan struct{}, maxSingleLookUps), flights: map[string]*flight[lookUpResult[Found]]{},
	}
}

// ask answers one result for each question, in their order.
func (l *lookUp[Ref, Answer, Found]) ask(ctx context.Context, questions []state.Request[Ref]) ([]lookUpResult[Found], error) {
	if len(questions) == 0 {
		return nil, nil
	}
	if l.getMany != nil {
		return l.askTogether(ctx, questions)
	}
	results := make([]lookUpResult[Found], len(questions))
	var group sync.WaitGroup
	for i, each := range questions {
		group.Go(func() {
			result, err := l.shared(ctx, each).Join(ctx)
			if err != nil {
				result = unknownResult[Found](l.note(ctx, CallOf(ctx), err), time.Now())
			}
			results[i] = result
		})
	}
	group.Wait()
	return results, ctx.Err()
}

// shared joins a lookup of the same object that another call began, if its data will be young enough.
func (l *lookUp[Ref, Answer, Found]) shared(ctx context.Context, each state.Request[Ref]) *state.SharedTask[lookUpResult[Found]] {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if current := l.flights[each.Key]; current != nil && !current.task.Abandoned() &&
		now.Sub(current.started) < CallOf(ctx).MaxDataAge {
		return current.task
	}
	started := &flight[lookUpResult[Found]]{started: now}
	started.task = state.StartShared(ctx, l.s.forced, func(ctx context.Context) (lookUpResult[Found], error) {
		defer l.forget(each.Key, started)
		return l.askOne(ctx, each.Ref), nil
	})
	l.flights[each.Key] = started
	return started.task
}

func (l *lookUp[Ref, Answer, Found]) forget(key string, ended *flight[lookUpResult[Found]]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.flights[key] == ended {
		delete(l.flights, key)
	}
}

func (l *lookUp[Ref, Answer, Found]) askOne(ctx context.Context, ref Ref) lookUpResult[Found] {
	call := CallOf(ctx).fork()
	ctx = withCall(ctx, call)
	select {
	case l.slots <- struct{}{}:
		defer func() { <-l.slots }()
	case <-ctx.Done():
		return unknownResult[Found](l.note(ctx, call, ctx.Err()), time.Now())
	}
	readTime := time.Now()
	answer, err := state.Recovered(func() (Answer, error) { return l.get(ctx, ref) })
	if err != nil {
		return unknownResult[Found](l.note(ctx, call, err), readTime)
	}
	return l.toResult(ctx, call, ref, answer, readTime)
}

func (l *lookUp[Ref, Answer, Found]) askTogether(ctx context.Context, questions []state.Request[Ref]) ([]lookUpResult[Found], error) {
	refs := make([]Ref, len(questions))
	for i, each := range questions {
		refs[i] = each.Ref
	}
	readTime := time.Now()
	answers, err := l.getMany(ctx, refs)
	if err != nil {
		return nil, err
	}
	if len(answers) != len(questions) {
		return nil, NewError(ReasonInvariantBroken,
			fmt.Sprintf("GetMany answered %d items to %d questions", len(answers), len(questions)))
	}
	call := CallOf(ctx)
	// Every error is recorded before any absence is evaluated.
	failed := map[int]*Error{}
	for i, answer := range answers {
		if failure, ok := any(answer).(*FailedResult); ok {
			failed[i] = l.note(ctx, call, failure.err)
		}
	}
	results := make([]lookUpResult[Found], len(questions))
	for i, answer := range answers {
		if failed[i] != nil {
			results[i] = unknownResult[Found](failed[i], readTime)
		} else {
			results[i] = l.toResult(ctx, call, refs[i], answer, readTime)
		}
	}
	return results, nil
}

func (l *lookUp[Ref, Answer, Found]) toResult(ctx context.Context, call *Call, ref Ref, answer Answer, readTime time.Time) lookUpResult[Found] {
	if value, at, ok := l.found(answer); ok {
		if !at.IsZero() {
			readTime = at
		}
		return lookUpResult[Found]{found: value, isFound: true, readTime: readTime}
	}
	switch typed := any(answer).(type) {
	case *NotOwnedResult:
		return lookUpResult[Found]{notOwned: &cpv1.NotOwned{Message: rules.CutToBytes(typed.message, rules.MaxMessageBytes)}, readTime: readTime}
	case *FailedResult:
		return unknownResult[Found](l.note(ctx, call, typed.err), readTime)
	case *AbsentResult:
		return l.toAbsence(call, ref, typed, readTime)
	}
	return unknownResult[Found](l.note(ctx, call, NewError(ReasonInvariantBroken, "the provider answered nothing for an item")), readTime)
}

func (l *lookUp[Ref, Answer, Found]) toAbsence(call *Call, ref Ref, answer *AbsentResult, readTime time.Time) lookUpResult[Found] {
	refused := call.recorder.refusesAbsence(answer.basis)
	if refused == nil && l.refuse != nil {
		refused = l.refuse(ref, answer)
	}
	if refused != nil {
		call.recorder.observe(refused)
		return unknownResult[Found](permitted(refused, call.Method, true), readTime)
	}
	absence := toAbsence(answer, readTime)
	return lookUpResult[Found]{absent: absence, readTime: absence.GetObserveTime().AsTime()}
}

// note makes an item's error of what went wrong with it, and draws conclusions from it.
func (l *lookUp[Ref, Answer, Found]) note(ctx context.Context, call *Call, err error) *Error {
	return noteItem(ctx, call, err)
}

// noteItem makes an item's error of what a handler returned for it, logs what the peer must not see, and draws conclusions.
func noteItem(ctx context.Context, call *Call, err error) *Error {
	known, masked := classify(err, rpcCallOf(ctx).mutation, call.RequestID)
	reported := permitted(known, call.Method, true)
	call.recorder.note(reported)
	if masked || reported != known {
		call.Log.Error("An item failed in a way the provider did not expect", "error", errorText(err))
	}
	return reported
}

func toAbsence(answer *AbsentResult, readTime time.Time) *cpv1.Absence {
	observed := answer.observeTime
	if observed.IsZero() {
		observed = readTime
	}
	return &cpv1.Absence{
		Basis: answer.basis, ObserveTime: timestamppb.New(observed), StronglyConsistent: answer.stronglyConsistent,
	}
}

func maxDataAge(request interface{ GetMaxDataAge() *durationpb.Duration }) time.Duration {
	if given := request.GetMaxDataAge(); given != nil {
		return given.AsDuration()
	}
	return defaultMaxDataAge
}

package provider

import (
	"context"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/state"
	"cloudwire.dev/provider-sdk/go/internal/state/lru"
	"google.golang.org/protobuf/proto"
)

const (
	// walkMaxAge: tokens are good for at least 10 minutes. Contract: LST-3.
	walkMaxAge = 11 * time.Minute
	// maxWalks are lists that are being read at once; one controller reads a handful.
	maxWalks = 64
)

// listRequest is what list requests have in common.
type listRequest interface {
	contextual
	GetPageSize() int32
	GetPageToken() string
}

// listPage is a page, in the words that all list RPCs share.
type listPage[Item proto.Message] struct {
	items         []Item
	nextPageToken string
	unreachable   []string
	resumeToken   string
	complete      bool
	scopeID       string
	quota         *cpv1.RouteQuota
	stats         *cpv1.CallStats
}

// pagedList serves a list RPC from a function that yields everything.
type pagedList[Item proto.Message] struct {
	s           *service
	name        string
	maxPageSize int
	list        func(context.Context, func(Item) error) error
	// complete fills in what a provider may leave out; its argument is not changed.
	complete func(Item) Item
	tokens   *state.PageTokens
	runs     *lru.Map[string, *listRun[Item]]
}

// listRun is a list that is being read, with the call that began it: what the list meets counts for as long as it runs, not only
// until its first page is answered.
type listRun[Item proto.Message] struct {
	*state.ListWalk[Item]
	call *Call
}

func newPagedList[Item proto.Message](s *service, name string, maxPageSize uint32, list func(context.Context, func(Item) error) error, complete func(Item) Item) *pagedList[Item] {
	return &pagedList[Item]{
		s: s, name: name, maxPageSize: int(maxPageSize), list: list, complete: complete, tokens: state.NewPageTokens(),
		runs: lru.New[string](lru.Options[*listRun[Item]]{
			MaxEntries: maxWalks, MaxAge: walkMaxAge, Evicted: func(run *listRun[Item]) { run.Close() },
		}),
	}
}

// close ends all lists that are being read.
func (p *pagedList[Item]) close() {
	if p != nil {
		p.runs.Clear()
	}
}

func (p *pagedList[Item]) page(ctx context.Context, request listRequest) (*listPage[Item], error) {
	binding := p.name + " " + string(state.Bytes(request.GetContext()))
	id, offset, current, err := p.open(ctx, request.GetPageToken(), binding)
	if err != nil {
		return nil, err
	}
	wanted := p.maxPageSize
	if size := int(request.GetPageSize()); size > 0 {
		wanted = min(wanted, size)
	}
	items, next, err := current.Page(ctx, offset, wanted)
	if err != nil {
		// The caller's own impatience leaves the walk to its next try.
		if offset == 0 || ctx.Err() == nil {
			p.runs.Delete(id)
			current.Close()
		}
		return nil, err
	}
	if next > 0 || offset > 0 {
		// Setting it again makes it young again: its tokens are good from now on.
		p.runs.Set(id, current)
	}
	scope, err := p.s.knownScope()
	if err != nil {
		return nil, err
	}
	recorder := current.call.recorder
	out := &listPage[Item]{
		items: items, unreachable: recorder.unread(), scopeID: scope, quota: recorder.reportedQuota(), stats: recorder.takeStats(),
	}
	if next > 0 {
		out.nextPageToken = p.tokens.Sign(id, next, binding)
		return out, nil
	}
	// A list that swallowed a refusal is not complete either.
	out.complete = len(out.unreachable) == 0 && recorder.refusesAbsence(CompleteListMiss) == nil
	out.resumeToken = recorder.resumeToken()
	return out, nil
}

// open begins a list, or finds the one that a token continues.
func (p *pagedList[Item]) open(ctx context.Context, token, binding string) (id string, offset int, current *listRun[Item], err error) {
	if token == "" {
		return newID(), 0, p.start(ctx), nil
	}
	id, offset, ok := p.tokens.Read(token, binding)
	if !ok {
		return "", 0, nil, errPageToken()
	}
	current, ok = p.runs.Get(id)
	if !ok {
		return "", 0, nil, errPageToken()
	}
	return id, offset, current, nil
}

func (p *pagedList[Item]) start(ctx context.Context) *listRun[Item] {
	call := CallOf(ctx)
	walk := state.StartList(ctx, p.s.forced, func(ctx context.Context, yield func(Item) error) error {
		return p.list(withCall(ctx, call), func(item Item) error { return p.checked(call, item, yield) })
	})
	return &listRun[Item]{ListWalk: walk, call: call}
}

// checked yields an item unless it breaks the contract: one such object must not hide the others, but the list is not complete
// without it.
func (p *pagedList[Item]) checked(call *Call, item Item, yield func(Item) error) error {
	completed := p.complete(item)
	if problem := answerProblem(completed); problem != nil {
		call.Log.Error("A list yielded an object that breaks the contract; it is left out", "list", p.name, "error", problem.message)
		call.recorder.unreachable("an object that breaks the contract in " + p.name)
		return nil
	}
	return yield(completed)
}

// errPageToken is the refusal of a token, regardless of its problem.
func errPageToken() *Error {
	return NewError(ReasonPageTokenInvalid,
		"page_token is not one of this provider's, has expired, or belongs to another request; list from the first page",
		Field("page_token"))
}

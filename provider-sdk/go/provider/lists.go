package provider

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/state/lru"
	"google.golang.org/protobuf/proto"
)

const (
	// maxPageBytes: pages are at most 1 MiB; the rest is for what stands beside the items.
	maxPageBytes = 900 * 1024
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
	tokenKey []byte
	walks    *lru.Map[string, *walk[Item]]
}

func newPagedList[Item proto.Message](s *service, name string, maxPageSize uint32, list func(context.Context, func(Item) error) error, complete func(Item) Item) *pagedList[Item] {
	key := make([]byte, sha256.Size)
	rand.Read(key) // never fails, by its documentation
	return &pagedList[Item]{
		s: s, name: name, maxPageSize: int(maxPageSize), list: list, complete: complete, tokenKey: key,
		walks: lru.New[string](lru.Options[*walk[Item]]{MaxEntries: maxWalks, MaxAge: walkMaxAge, Evicted: (*walk[Item]).close}),
	}
}

// close ends all lists that are being read.
func (p *pagedList[Item]) close() {
	if p != nil {
		p.walks.Clear()
	}
}

func (p *pagedList[Item]) page(ctx context.Context, request listRequest) (*listPage[Item], error) {
	binding := p.name + " " + string(deterministic(request.GetContext()))
	id, offset, current, err := p.open(ctx, request.GetPageToken(), binding)
	if err != nil {
		return nil, err
	}
	wanted := p.maxPageSize
	if size := int(request.GetPageSize()); size > 0 {
		wanted = min(wanted, size)
	}
	items, next, err := current.page(ctx, offset, wanted)
	if err != nil {
		// The caller's own impatience leaves the walk to its next try.
		if offset == 0 || ctx.Err() == nil {
			p.walks.Delete(id)
			current.close()
		}
		return nil, err
	}
	if next > 0 || offset > 0 {
		// Setting it again makes it young again: its tokens are good from now on.
		p.walks.Set(id, current)
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
		out.nextPageToken = p.sign(id, next, binding)
		return out, nil
	}
	// A list that swallowed a refusal is not complete either.
	out.complete = len(out.unreachable) == 0 && recorder.refusesAbsence(CompleteListMiss) == nil
	out.resumeToken = recorder.resumeToken()
	return out, nil
}

// open begins a list, or finds the one that a token continues.
func (p *pagedList[Item]) open(ctx context.Context, token, binding string) (id string, offset int, current *walk[Item], err error) {
	if token == "" {
		return newID(), 0, p.start(ctx), nil
	}
	id, offset, ok := p.read(token, binding)
	if !ok {
		return "", 0, nil, errPageToken()
	}
	current, ok = p.walks.Get(id)
	if !ok {
		return "", 0, nil, errPageToken()
	}
	return id, offset, current, nil
}

// start runs the provider's list: it outlives the call, so that the next page goes on where this one ends.
func (p *pagedList[Item]) start(ctx context.Context) *walk[Item] {
	call := CallOf(ctx)
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(p.s.forced, cancel)
	// What the list meets counts for as long as it runs, not only until its first page is answered.
	inner = withCall(inner, call)
	w := &walk[Item]{call: call, events: make(chan Item), ended: make(chan struct{}), cancel: cancel, turn: make(chan struct{}, 1)}
	go func() {
		defer stop()
		defer close(w.ended)
		_, w.err = recovered(func() (struct{}, error) {
			return struct{}{}, p.list(inner, func(item Item) error { return p.yield(inner, w, item) })
		})
	}()
	return w
}

// yield hands an item over when a page needs it. One object that breaks the contract must not hide the others, but the list
// is not complete without it.
func (p *pagedList[Item]) yield(ctx context.Context, w *walk[Item], item Item) error {
	completed := p.complete(item)
	if problem := answerProblem(completed); problem != nil {
		w.call.Log.Error("A list yielded an object that breaks the contract; it is left out", "list", p.name, "error", problem.message)
		w.call.recorder.unreachable("an object that breaks the contract in " + p.name)
		return nil
	}
	select {
	case w.events <- completed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var pageToken = regexp.MustCompile(`^([\w-]{1,64})\.(\d{1,9})\.([\w-]{43})$`)

func (p *pagedList[Item]) sign(id string, offset int, binding string) string {
	payload := fmt.Sprintf("%s.%d", id, offset)
	return payload + "." + base64.RawURLEncoding.EncodeToString(p.signature(payload, binding))
}

func (p *pagedList[Item]) read(token, binding string) (id string, offset int, ok bool) {
	parts := pageToken.FindStringSubmatch(token)
	if parts == nil {
		return "", 0, false
	}
	given, err := base64.RawURLEncoding.DecodeString(parts[3])
	if err != nil || !hmac.Equal(given, p.signature(parts[1]+"."+parts[2], binding)) {
		return "", 0, false
	}
	offset, err = strconv.Atoi(parts[2])
	return parts[1], offset, err == nil
}

func (p *pagedList[Item]) signature(payload, binding string) []byte {
	mac := hmac.New(sha256.New, p.tokenKey)
	mac.Write([]byte(payload + "\x00" + binding))
	return mac.Sum(nil)
}

// errPageToken is the refusal of a token, whatever is wrong with it.
func errPageToken() *Error {
	return NewError(ReasonPageTokenInvalid,
		"page_token is not one of this provider's, has expired, or belongs to another request; list from the first page",
		Field("page_token"))
}

// walk is one run of a provider's list. It is read no further than pages ask for, and what was read is kept, so that each
// page can be asked for again.
type walk[Item proto.Message] struct {
	call   *Call
	events chan Item
	// ended is closed when the list has; err is why, written before.
	ended  chan struct{}
	err    error
	cancel context.CancelFunc
	// turn is held by the page that reads.
	turn  chan struct{}
	items []Item
	sizes []int
	done  bool
}

// close ends the provider's work.
func (w *walk[Item]) close() { w.cancel() }

// page answers the items from an offset, and where the next page begins: 0 after the last.
func (w *walk[Item]) page(ctx context.Context, offset, maxItems int) (items []Item, next int, err error) {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return nil, 0, context.Cause(ctx)
	}
	bytes := 0
	for index := offset; ; index++ {
		// One item is read ahead, so that no last page is empty.
		if err := w.readTo(ctx, index); err != nil {
			return nil, 0, err
		}
		if index >= len(w.items) {
			return w.items[min(offset, index):index], 0, nil
		}
		bytes += w.sizes[index]
		// A page has at least one item, however large.
		if index > offset && (index-offset >= maxItems || bytes > maxPageBytes) {
			return w.items[offset:index], index, nil
		}
	}
}

// readTo reads on until there is an item at index, or the list has ended.
func (w *walk[Item]) readTo(ctx context.Context, index int) error {
	for !w.done && index >= len(w.items) {
		select {
		case item := <-w.events:
			w.items, w.sizes = append(w.items, item), append(w.sizes, proto.Size(item))
		case <-w.ended:
			if w.err != nil {
				return w.err
			}
			w.done = true
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

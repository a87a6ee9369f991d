package state

import (
	"context"

	"google.golang.org/protobuf/proto"
)

// maxPageBytes: pages are at most 1 MiB; the rest is for what surrounds the items.
const maxPageBytes = 900 * 1024

// ListWalk is one run of a provider's list. It is read no further than pages ask for, and what was read is kept, so that each
// page can be asked for again.
type ListWalk[Item proto.Message] struct {
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

// StartList runs a provider's list: it outlives the call, so that the next page goes on where this one ends. forced ends it in
// any case.
func StartList[Item proto.Message](ctx, forced context.Context, list func(context.Context, func(Item) error) error) *ListWalk[Item] {
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(forced, cancel)
	w := &ListWalk[Item]{events: make(chan Item), ended: make(chan struct{}), cancel: cancel, turn: make(chan struct{}, 1)}
	go func() {
		defer stop()
		defer close(w.ended)
		_, w.err = Recovered(func() (struct{}, error) {
			return struct{}{}, list(inner, func(item Item) error { return w.yield(inner, item) })
		})
	}()
	return w
}

// yield hands an item over when a page needs it.
func (w *ListWalk[Item]) yield(ctx context.Context, item Item) error {
	select {
	case w.events <- item:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends the provider's work.
func (w *ListWalk[Item]) Close() { w.cancel() }

// Page answers the items from an offset, and where the next page begins: 0 after the last.
func (w *ListWalk[Item]) Page(ctx context.Context, offset, maxItems int) (items []Item, next int, err error) {
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
func (w *ListWalk[Item]) readTo(ctx context.Context, index int) error {
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

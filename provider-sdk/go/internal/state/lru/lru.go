// Package lru keeps the entries used last, up to a number and an age.
package lru

import (
	"container/list"
	"sync"
	"time"
)

// Map is safe for use by several goroutines. The zero value holds nothing; use [New].
type Map[Key comparable, Value any] struct {
	maxEntries int
	maxAge     time.Duration
	now        func() time.Time
	evicted    func(Value)

	mu      sync.Mutex
	order   *list.List
	entries map[Key]*list.Element
}

type entry[Key comparable, Value any] struct {
	key   Key
	value Value
	setAt time.Time
}

// Options say how much is kept.
type Options[Value any] struct {
	MaxEntries int
	// MaxAge is counted from Set; 0: no limit.
	MaxAge time.Duration
	// Now defaults to time.Now.
	Now func() time.Time
	// Evicted is called for entries removed because of number, age or Clear; may be nil.
	Evicted func(Value)
}

// New makes an empty map.
func New[Key comparable, Value any](options Options[Value]) *Map[Key, Value] {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Evicted == nil {
		options.Evicted = func(Value) {}
	}
	return &Map[Key, Value]{
		maxEntries: options.MaxEntries, maxAge: options.MaxAge, now: options.Now, evicted: options.Evicted,
		order: list.New(), entries: map[Key]*list.Element{},
	}
}

// Get answers an entry and makes it the one used last.
func (m *Map[Key, Value]) Get(key Key) (Value, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropOld()
	element, ok := m.entries[key]
	if !ok {
		var none Value
		return none, false
	}
	if m.maxAge == 0 {
		m.order.MoveToFront(element)
	}
	return entryOf[Key, Value](element).value, true
}

// Set keeps an entry; what is over the number goes, the one not used for longest first.
func (m *Map[Key, Value]) Set(key Key, value Value) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropOld()
	m.remove(key)
	m.entries[key] = m.order.PushFront(&entry[Key, Value]{key, value, m.now()})
	for len(m.entries) > max(m.maxEntries, 1) {
		m.evict(m.order.Back())
	}
}

// Delete drops an entry without telling Evicted.
func (m *Map[Key, Value]) Delete(key Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.remove(key)
}

// Clear evicts everything.
func (m *Map[Key, Value]) Clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.order.Len() > 0 {
		m.evict(m.order.Back())
	}
}

func (m *Map[Key, Value]) remove(key Key) {
	if element, ok := m.entries[key]; ok {
		m.order.Remove(element)
		delete(m.entries, key)
	}
}

// dropOld relies on the order being that of age: with an age, reading does not change it.
func (m *Map[Key, Value]) dropOld() {
	if m.maxAge == 0 {
		return
	}
	oldest := m.now().Add(-m.maxAge)
	for back := m.order.Back(); back != nil && entryOf[Key, Value](back).setAt.Before(oldest); back = m.order.Back() {
		m.evict(back)
	}
}

func (m *Map[Key, Value]) evict(element *list.Element) {
	gone := entryOf[Key, Value](element)
	m.remove(gone.key)
	m.evicted(gone.value)
}

func entryOf[Key comparable, Value any](element *list.Element) *entry[Key, Value] {
	out, _ := element.Value.(*entry[Key, Value]) // nothing else is ever put in
	return out
}

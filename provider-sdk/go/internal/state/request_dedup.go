package state

import "google.golang.org/protobuf/proto"

// Request is one object asked about; Key is shared by equal requests.
type Request[Ref any] struct {
	Key string
	Ref Ref
}

// RequestDedup is what one call asks the provider: the same only once.
type RequestDedup[Ref any] struct {
	// Requests are those that differ.
	Requests []Request[Ref]
	// Of says which request answers an item, by the item's index.
	Of    map[int]int
	byKey map[string]int
}

// NewRequestDedup makes one for a batch of this size.
func NewRequestDedup[Ref any](items int) *RequestDedup[Ref] {
	return &RequestDedup[Ref]{Of: make(map[int]int, items), byKey: make(map[string]int, items)}
}

// Add asks for an item.
func (d *RequestDedup[Ref]) Add(item int, key string, ref Ref) {
	at, known := d.byKey[key]
	if !known {
		at = len(d.Requests)
		d.byKey[key] = at
		d.Requests = append(d.Requests, Request[Ref]{key, ref})
	}
	d.Of[item] = at
}

// Bytes are those of a message, the same for equal messages of this process.
func Bytes(message proto.Message) []byte {
	// Only invalid UTF-8 fails, which was refused when the message was read.
	bytes, _ := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	return bytes
}

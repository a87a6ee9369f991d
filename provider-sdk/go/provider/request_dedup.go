package provider

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

// questions are what one call asks the provider: equal ones once.
type questions[Ref any] struct {
	asked []question[Ref]
	// of says which question answers an item, by the item's index.
	of    map[int]int
	byKey map[string]int
}

func newQuestions[Ref any](items int) *questions[Ref] {
	return &questions[Ref]{of: make(map[int]int, items), byKey: make(map[string]int, items)}
}

func (q *questions[Ref]) add(item int, key string, ref Ref) {
	at, known := q.byKey[key]
	if !known {
		at = len(q.asked)
		q.byKey[key] = at
		q.asked = append(q.asked, question[Ref]{key, ref})
	}
	q.of[item] = at
}

// deterministic are the bytes of a message, the same for equal messages of this process.
func deterministic(message proto.Message) []byte {
	// Only invalid UTF-8 fails, which was refused when the message was read.
	bytes, _ := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	return bytes
}

func maxDataAge(request interface{ GetMaxDataAge() *durationpb.Duration }) time.Duration {
	if given := request.GetMaxDataAge(); given != nil {
		return given.AsDuration()
	}
	return defaultMaxDataAge
}

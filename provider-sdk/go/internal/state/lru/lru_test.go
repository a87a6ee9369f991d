package lru

import (
	"testing"
	"time"
)

func TestMapKeepsWhatWasUsedLast(t *testing.T) {
	var gone []int
	m := New[string](Options[int]{MaxEntries: 2, Evicted: func(value int) { gone = append(gone, value) }})
	m.Set("a", 1)
	m.Set("b", 2)
	m.Get("a")
	m.Set("c", 3)
	if _, ok := m.Get("b"); ok || len(gone) != 1 || gone[0] != 2 {
		t.Errorf("evicted %v", gone)
	}
	m.Delete("a")
	m.Clear()
	if len(gone) != 2 || gone[1] != 3 {
		t.Errorf("evicted %v", gone)
	}
}

func TestMapForgetsWhatIsOld(t *testing.T) {
	now := time.Unix(0, 0)
	m := New[string](Options[int]{MaxEntries: 9, MaxAge: time.Minute, Now: func() time.Time { return now }})
	m.Set("a", 1)
	now = now.Add(time.Minute)
	if _, ok := m.Get("a"); !ok {
		t.Error("gone too early")
	}
	now = now.Add(time.Second)
	if _, ok := m.Get("a"); ok {
		t.Error("still there")
	}
}

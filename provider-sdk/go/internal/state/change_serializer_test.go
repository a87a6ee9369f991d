package state

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestAChangeThatIgnoresItsCancellationKeepsItsKeyForTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forced, end := context.WithCancel(t.Context())
		defer end()
		serializer := NewChangeSerializer[string](forced, slog.New(slog.DiscardHandler))
		release := make(chan struct{})
		var working, most atomic.Int32
		change := func(digest string, work func()) Change[string] {
			return Change[string]{
				Key: "lb", ChangeID: digest, Digest: digest, Soft: time.Second, Final: func(string) bool { return true },
				Work: func(context.Context) (string, error) {
					most.Store(max(most.Load(), working.Add(1)))
					defer working.Add(-1)
					work()
					return digest, nil
				},
			}
		}
		ask := func(change Change[string]) (string, bool, error) { return serializer.Run(t.Context(), change) }

		if _, running, err := ask(change("first", func() { <-release })); !running || err != nil {
			t.Fatalf("running is %t, error %v", running, err)
		}
		time.Sleep(abandonedMax - time.Minute)
		second := change("second", func() {})
		// It cancels the first, which does not end.
		if _, _, err := ask(second); err == nil {
			t.Error("the second did not find the key taken")
		}
		time.Sleep(abandonedMax - time.Minute)
		if _, _, err := ask(second); err == nil || most.Load() != 1 {
			t.Errorf("%d worked at once, error %v", most.Load(), err)
		}
		time.Sleep(2 * time.Minute)
		if answer, _, err := ask(second); answer != "second" || err != nil {
			t.Errorf("answer is %q, error %v", answer, err)
		}
		close(release)
		synctest.Wait()
	})
}

package provider

import (
	"context"
	"time"

	"cloudwire.dev/provider-sdk/go/internal/rules"
	"cloudwire.dev/provider-sdk/go/internal/state"
)

// heartbeatInterval: a message comes at least every 30 s (contract, WAT-3); this leaves room for a slow path.
const heartbeatInterval = 20 * time.Second

// watchRequest is what watch requests have in common.
type watchRequest interface {
	contextual
	GetResumeToken() string
	GetSendInitialEvents() bool
}

// watchOf is what a watch needs, by the type of its events.
type watchOf[Event any] struct {
	run       func(ctx context.Context, send func(Event) error) error
	send      func(Event) error
	heartbeat func() Event
	// complete fills in what a provider may leave out.
	complete func(Event) Event
	token    func(Event) *string
}

// serveWatch adds heartbeats to a provider's watch, and ends with PROVIDER_DRAINING when the provider shuts down and never
// with OK.
func serveWatch[Event any](ctx context.Context, s *service, request watchRequest, w watchOf[Event]) error {
	special := rules.Watch(request.GetResumeToken(), request.GetSendInitialEvents())
	if err := s.check(rpcCallOf(ctx).method, request, special); err != nil {
		return err
	}
	// The provider's work ends with the stream, for whatever reason it ends.
	inner, cancel := context.WithCancel(withCall(ctx, s.callOf(ctx, request)))
	defer cancel()
	events := make(chan Event)
	ended := make(chan error, 1)
	go func() {
		_, err := state.Recovered(func() (struct{}, error) {
			return struct{}{}, w.run(inner, func(event Event) error { return handOver(inner, events, event) })
		})
		ended <- err
	}()
	resumeToken := request.GetResumeToken()
	timer := time.NewTimer(heartbeatInterval)
	defer timer.Stop()
	for {
		var event Event
		select {
		case <-s.draining:
			return errDraining()
		case <-ctx.Done():
			return context.Cause(ctx)
		case err := <-ended:
			if err != nil {
				if known, _ := classify(err, false, ""); ctx.Err() == nil {
					s.monitor.observe(known)
				}
				return err
			}
			return NewError(ReasonCloudUnavailable, "The provider's feed of changes has ended; watch again", RetryAfter(time.Second))
		case event = <-events:
			event = w.complete(event)
		case <-timer.C:
			event = w.heartbeat()
		}
		if token := w.token(event); *token == "" {
			*token = resumeToken
		} else {
			resumeToken = *token
		}
		if err := w.send(event); err != nil {
			return err
		}
		timer.Reset(heartbeatInterval)
	}
}

func handOver[Event any](ctx context.Context, events chan<- Event, event Event) error {
	select {
	case events <- event:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

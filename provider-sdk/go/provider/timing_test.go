package provider

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/telemetry"
	"google.golang.org/grpc"
)

// silent is a definition whose watch sends nothing.
func silent() *Definition {
	return &Definition{
		Name: "acme.example.com", Version: "1.0.0", IDPrefixes: []string{"acme://"}, Scope: StaticScope("account-42"),
		Check: func(context.Context) (*CheckResult, error) { return nil, nil },
		Instances: &Instances{
			Get: func(context.Context, *cpv1.NodeRef) (InstanceResult, error) { return Absent(LookupMiss), nil },
			Watch: func(ctx context.Context, _ *cpv1.WatchInstancesRequest, _ func(*cpv1.WatchInstancesResponse) error) error {
				<-ctx.Done()
				return ctx.Err()
			},
		},
	}
}

// watcher is a reader of a stream, in the place of gRPC.
type watcher struct {
	grpc.ServerStream
	ctx  context.Context
	sent chan any
}

// Context is that of the stream.
func (w *watcher) Context() context.Context { return w.ctx }

// SendMsg waits for the reader, as gRPC does when its windows are full.
func (w *watcher) SendMsg(message any) error {
	select {
	case w.sent <- message:
		return nil
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
}

// watch begins a watch of a provider and answers its end.
func watch(ctx context.Context, wire *watcher) <-chan error {
	s := newService(silent(), nil, slog.New(slog.DiscardHandler), ctx)
	s.monitor.check(ctx)
	ctx = context.WithValue(ctx, rpcCallKey{}, rpcCall{method: "WatchInstances", log: s.log})
	request := &cpv1.WatchInstancesRequest{Context: &cpv1.CallContext{Cluster: &cpv1.ClusterRef{Id: "cluster-1", Name: "c"}, ScopeId: "account-42"}}
	stream := &grpc.GenericServerStream[cpv1.WatchInstancesRequest, cpv1.WatchInstancesResponse]{
		ServerStream: &serverStream{ServerStream: wire, ctx: ctx, method: "WatchInstances"},
	}
	ended := make(chan error, 1)
	go func() { ended <- s.WatchInstances(request, stream) }()
	return ended
}

func TestWatchesSendHeartbeatsWithinThirtySeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		wire := &watcher{ctx: ctx, sent: make(chan any)}
		ended := watch(ctx, wire)
		for range 3 {
			before := time.Now()
			event, ok := (<-wire.sent).(*cpv1.WatchInstancesResponse)
			if waited := time.Since(before); !ok || event.GetBookmark() == nil || waited > 30*time.Second {
				t.Errorf("after %s came %v", waited, event)
			}
		}
		cancel()
		if err := <-ended; err == nil {
			t.Error("the watch ended with OK")
		}
	})
}

func TestWatchesAreCutOffFromReadersThatDoNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		// The client reads nothing.
		ended := watch(ctx, &watcher{ctx: ctx, sent: make(chan any)})
		began := time.Now()
		var stated *Error
		if err := <-ended; !errors.As(err, &stated) || stated.Reason() != ReasonSlowConsumer {
			t.Errorf("it ended with %v", err)
		}
		if waited := time.Since(began); waited != heartbeatInterval+slowConsumer {
			t.Errorf("it ended after %s", waited)
		}
		cancel()
	})
}

func TestAScopeThatNamesNothingLeavesTheKnownOne(t *testing.T) {
	for name, bad := range map[string]string{"empty": "", "oversized": strings.Repeat("x", 254), "no UTF-8": "\xff"} {
		t.Run(name, func(t *testing.T) {
			definition := silent()
			monitor := newStatusMonitor(definition, "boot-1", slog.New(slog.DiscardHandler), telemetry.NewMetrics())
			monitor.check(t.Context())
			definition.Scope = StaticScope(bad)
			monitor.check(t.Context())
			if status := monitor.status(); status.GetScopeId() != "account-42" || status.GetReady() {
				t.Errorf("the status is %v", status)
			}
		})
	}
}

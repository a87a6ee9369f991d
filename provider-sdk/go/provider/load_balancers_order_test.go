package provider_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
	"cloudwire.dev/provider-sdk/go/providertest"
	"google.golang.org/protobuf/types/known/durationpb"
)

func TestTheResultOfLongWorkIsDroppedAfterAnotherChange(t *testing.T) {
	leave := make(chan struct{}, 1)
	var runs atomic.Int32
	definition := withBalancers(&provider.LoadBalancers{
		Ensure: func(_ context.Context, request *provider.EnsureRequest) (provider.LoadBalancerResult, error) {
			if runs.Add(1) == 1 {
				<-leave
			}
			return provider.Ready(&cpv1.LoadBalancer{Id: "lb-" + request.SpecFingerprint}), nil
		},
	})
	definition.Limits = &cpv1.Limits{SoftCallDuration: durationpb.New(500 * time.Millisecond)}
	p := providertest.Start(t, definition)
	ensure := func(id, fingerprint string) *cpv1.LoadBalancer {
		request := ensureRequest(p, id)
		request.SpecFingerprint = fingerprint
		response, err := p.Client.EnsureLoadBalancer(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		return response.GetLoadBalancer()
	}
	if first := ensure("r-1", "a"); first.GetOperation() == nil {
		t.Fatalf("got %v", first)
	}
	leave <- struct{}{}
	for {
		// Reads do not hear how the work ended.
		reading, err := p.Client.GetLoadBalancer(t.Context(), &cpv1.GetLoadBalancerRequest{Context: p.Context(), Service: p.Service("web", "uid-1")})
		if err != nil {
			t.Fatal(err)
		}
		if reading.GetAbsent() != nil {
			break
		}
	}
	if between := ensure("r-2", "b"); between.GetOperation() != nil || runs.Load() != 2 {
		t.Fatalf("got %v after %d runs", between, runs.Load())
	}
	if again := ensure("r-3", "a"); again.GetId() != "lb-a" || runs.Load() != 3 {
		t.Errorf("got %v after %d runs: the change was not applied again", again, runs.Load())
	}
}

func TestNodesAreComparedWhenTheirTurnHasCome(t *testing.T) {
	entered, leave := make(chan struct{}, 2), make(chan struct{})
	diffs := make(chan *provider.NodesDiff, 3)
	p := providertest.Start(t, withBalancers(&provider.LoadBalancers{
		Ensure: func(_ context.Context, request *provider.EnsureRequest) (provider.LoadBalancerResult, error) {
			diffs <- request.NodesDiff
			entered <- struct{}{}
			<-leave
			return provider.Ready(&cpv1.LoadBalancer{Id: "lb-1"}), nil
		},
	}))
	ended := make(chan error, 3)
	ensure := func(id string, nodes *cpv1.NodeSelection) {
		request := ensureRequest(p, id)
		request.Nodes = nodes
		_, err := p.Client.EnsureLoadBalancer(context.Background(), request)
		ended <- err
	}
	go ensure("r-1", p.Nodes("n-1", "acme://m-1"))
	<-entered
	// One of two waits, and that is certain when the other has been refused.
	go ensure("r-2", p.Nodes("n-2", "acme://m-2"))
	go ensure("r-3", p.Nodes("n-2", "acme://m-2"))
	if err := <-ended; providertest.Reason(err) != provider.ReasonOperationInProgress {
		t.Fatal(err)
	}
	close(leave)
	for range 2 {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	<-diffs
	second := <-diffs
	if second == nil || len(second.Added) != 1 || len(second.Removed) != 1 || second.Removed[0].GetProviderId() != "acme://m-1" {
		t.Errorf("got %+v", second)
	}
}

func TestADeletionThatFailedForgetsTheNodes(t *testing.T) {
	var diff *provider.NodesDiff
	p := providertest.Start(t, withBalancers(&provider.LoadBalancers{
		Ensure: func(_ context.Context, request *provider.EnsureRequest) (provider.LoadBalancerResult, error) {
			diff = request.NodesDiff
			return provider.Ready(&cpv1.LoadBalancer{Id: "lb-1"}), nil
		},
		Delete: func(context.Context, *provider.LoadBalancerRef) (*provider.PendingResult, error) {
			return nil, provider.NewError(provider.ReasonDependencyInUse, "x")
		},
	}))
	for i, id := range []string{"r-1", "r-2", "r-3"} {
		if i == 2 {
			_, err := p.Client.DeleteLoadBalancer(t.Context(), &cpv1.DeleteLoadBalancerRequest{Context: p.Context(), Change: p.Change("d-1"), Service: p.Service("web", "uid-1")})
			if providertest.Reason(err) != provider.ReasonDependencyInUse {
				t.Fatal(err)
			}
		}
		if _, err := p.Client.EnsureLoadBalancer(t.Context(), ensureRequest(p, id)); err != nil {
			t.Fatal(err)
		}
		if known := diff != nil; known != (i == 1) {
			t.Errorf("%s: the difference is %v", id, diff)
		}
	}
}

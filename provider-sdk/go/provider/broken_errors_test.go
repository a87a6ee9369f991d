package provider_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
	"cloudwire.dev/provider-sdk/go/providertest"
)

// brokenError is an error whose every method panics when it is a nil pointer, as happens to those who return one.
type brokenError struct{ text string }

// Error panics for nil.
func (e *brokenError) Error() string { return e.text }

// embedded has a status in an embedded pointer that is nil.
type embedded struct{ *provider.HTTPError }

// Error is not the embedded one's.
func (embedded) Error() string { return "embedded" }

func TestErrorsWhoseMethodsPanicEndNoProcess(t *testing.T) {
	for name, broken := range map[string]error{
		"nil *provider.Error": (*provider.Error)(nil), "nil of a vendor": (*brokenError)(nil), "embedded nil": embedded{},
		"wrapped": errors.Join(errors.New("x"), (*brokenError)(nil)),
	} {
		t.Run(name, func(t *testing.T) {
			definition := machines(nil)
			var checks atomic.Int32
			definition.Check = func(context.Context) (*provider.CheckResult, error) {
				checks.Add(1)
				return nil, broken
			}
			definition.Instances.Get = func(context.Context, *cpv1.NodeRef) (provider.InstanceResult, error) { return nil, broken }
			definition.Instances.Watch = func(context.Context, *cpv1.WatchInstancesRequest, func(*cpv1.WatchInstancesResponse) error) error {
				return broken
			}
			definition.Instances.List = func(context.Context, func(*cpv1.Instance) error) error { return broken }
			p := providertest.StartUnready(t, definition)
			scoped := p.Context()
			scoped.ScopeId = "account-42"
			for checks.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
			response, err := p.Client.BatchGetInstances(t.Context(), &cpv1.BatchGetInstancesRequest{Context: scoped, Nodes: []*cpv1.NodeRef{{Name: "n"}}})
			if err != nil || response.GetResults()[0].GetUnknown().GetReason() != "UNMAPPED_ERROR" {
				t.Errorf("a look-up: %v, %v", response, err)
			}
			if _, err := p.Client.ListInstances(t.Context(), &cpv1.ListInstancesRequest{Context: scoped}); providertest.Reason(err) != provider.ReasonUnmappedError {
				t.Errorf("a list: %v", err)
			}
			stream, err := p.Client.WatchInstances(t.Context(), &cpv1.WatchInstancesRequest{Context: scoped})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := stream.Recv(); providertest.Reason(err) != provider.ReasonUnmappedError {
				t.Errorf("a watch: %v", err)
			}
		})
	}
}

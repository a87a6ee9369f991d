package provider_test

import (
	"context"
	"testing"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
	"cloudwire.dev/provider-sdk/go/providertest"
	"google.golang.org/protobuf/proto"
)

// machines is a definition over instances in memory.
func machines(known map[string]*cpv1.Instance) *provider.Definition {
	return &provider.Definition{
		Name: "acme.example.com", Version: "1.0.0", IDPrefixes: []string{"acme://"},
		Scope: provider.StaticScope("account-42"),
		Check: func(context.Context) (*provider.CheckResult, error) { return nil, nil },
		Instances: &provider.Instances{
			Get: func(ctx context.Context, ref *cpv1.NodeRef) (provider.InstanceResult, error) {
				if found, ok := known[provider.CallOf(ctx).ID(ref.GetProviderId())]; ok {
					return provider.Present(found), nil
				}
				return provider.Absent(provider.LookupMiss), nil
			},
		},
	}
}

func TestBatchGetInstancesAnswersEachNode(t *testing.T) {
	p := providertest.Start(t, machines(map[string]*cpv1.Instance{"m-1": {ProviderId: "m-1", Name: "web-1"}}))
	response, err := p.Client.BatchGetInstances(t.Context(), &cpv1.BatchGetInstancesRequest{
		Context: p.Context(),
		Nodes:   []*cpv1.NodeRef{{Name: "a", ProviderId: "acme://m-1"}, {Name: "b", ProviderId: "acme://m-2"}, {Name: "c", ProviderId: "gce://x"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	results := response.GetResults()
	if got, want := results[0].GetInstance(), (&cpv1.Instance{ProviderId: "acme://m-1", Name: "web-1"}); !proto.Equal(got, want) {
		t.Errorf("first is %v, want %v", results[0], want)
	}
	if results[1].GetAbsent().GetBasis() != provider.LookupMiss {
		t.Errorf("second is %v, want absent", results[1])
	}
	if results[2].GetNotOwned() == nil {
		t.Errorf("third is %v, want not mine", results[2])
	}
}

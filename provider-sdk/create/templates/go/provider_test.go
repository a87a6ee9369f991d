package main

import (
	"net/http"
	"slices"
	"testing"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
	"cloudwire.dev/provider-sdk/go/providertest"

	"acme.example.com/acme-provider/internal/cloud"
	"acme.example.com/acme-provider/internal/fakecloud"
)

// start serves the provider over a fake cloud until the test ends.
func start(t *testing.T, machines ...cloud.Machine) (*fakecloud.Cloud, *providertest.Provider) {
	t.Helper()
	fake := fakecloud.Start(machines...)
	t.Cleanup(fake.Close)
	client := cloud.New(fake.URL(), func() (string, error) { return fakecloud.Token, nil })
	return fake, providertest.Start(t, define(client))
}

func lookUp(t *testing.T, p *providertest.Provider, refs ...*cpv1.NodeRef) ([]*cpv1.InstanceResult, error) {
	t.Helper()
	request := &cpv1.BatchGetInstancesRequest{Context: p.Context(), Nodes: refs}
	response, err := p.Client.BatchGetInstances(t.Context(), request)
	return response.GetResults(), err
}

func TestBatchGetInstancesFindsByIDAndByNameWithOneRequest(t *testing.T) {
	fake, p := start(t, fakecloud.Machine("i-1", "any"), fakecloud.Machine("i-2", "web"))
	results, err := lookUp(t, p, &cpv1.NodeRef{Name: "x", ProviderId: idPrefix + "i-1"}, &cpv1.NodeRef{Name: "web"})
	if err != nil {
		t.Fatal(err)
	}
	for index, want := range []string{idPrefix + "i-1", idPrefix + "i-2"} {
		if got := results[index].GetInstance().GetProviderId(); got != want {
			t.Errorf("result %d is %q, want %q", index, got, want)
		}
	}
	if got := fake.Requests(); got != 1 {
		t.Errorf("the cloud got %d requests, want 1", got)
	}
}

func TestBatchGetInstancesSaysAbsentOfWhatTheCloudHasNot(t *testing.T) {
	_, p := start(t)
	results, err := lookUp(t, p, &cpv1.NodeRef{Name: "gone", ProviderId: idPrefix + "i-9"})
	if err != nil {
		t.Fatal(err)
	}
	if got := results[0].GetAbsent().GetBasis(); got != provider.LookupMiss {
		t.Errorf("the answer is %v, want absent", results[0])
	}
}

// A Node is deleted on the strength of "absent": no failure may ever look like it.
func TestBatchGetInstancesNeverSaysAbsentWhenTheCloudFails(t *testing.T) {
	for _, status := range []int{401, 403, 404, 429, 500} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			fake, p := start(t)
			fake.Fail(status)
			results, _ := lookUp(t, p, &cpv1.NodeRef{Name: "node", ProviderId: idPrefix + "i-1"})
			for _, result := range results {
				if result.GetAbsent() != nil {
					t.Errorf("the answer is %v", result)
				}
			}
		})
	}
}

func TestBatchGetInstancesDoesNotGuessWhichOfTwoMachinesIsMeant(t *testing.T) {
	_, p := start(t, fakecloud.Machine("i-1", "web"), fakecloud.Machine("i-2", "web"))
	results, err := lookUp(t, p, &cpv1.NodeRef{Name: "web"})
	if err != nil {
		t.Fatal(err)
	}
	if results[0].GetUnknown() == nil {
		t.Errorf("the answer is %v, want unknown", results[0])
	}
}

func ensureRequest(p *providertest.Provider, change string) *cpv1.EnsureLoadBalancerRequest {
	nodePort := uint32(30080)
	ports := []*cpv1.ServicePort{{Protocol: cpv1.Protocol_PROTOCOL_TCP, Port: 80, NodePort: &nodePort}}
	return &cpv1.EnsureLoadBalancerRequest{
		Context: p.Context(), Change: p.Change(change), Service: p.Service("web", "uid-1"),
		Spec:            &cpv1.LoadBalancerSpec{Ports: ports, IpFamilies: []cpv1.IpFamily{cpv1.IpFamily_IP_FAMILY_IPV4}},
		SpecFingerprint: "spec-1", Nodes: p.Nodes("nodes-1", idPrefix+"i-1"),
	}
}

func TestEnsureLoadBalancerLeavesOneWhenCalledTwice(t *testing.T) {
	fake, p := start(t, fakecloud.Machine("i-1", "web"))
	for _, change := range []string{"first", "second"} {
		response, err := p.Client.EnsureLoadBalancer(t.Context(), ensureRequest(p, change))
		if err != nil {
			t.Fatal(err)
		}
		if got := response.GetLoadBalancer().GetIngress().GetItems()[0].GetIp(); got != "192.0.2.1" {
			t.Errorf("traffic enters at %q", got)
		}
	}
	got := fake.Balancers()
	if len(got) != 1 || !slices.Equal(got[0].TargetIDs, []string{"i-1"}) {
		t.Errorf("the cloud has %v, want one load balancer that leads to i-1", got)
	}
}

func TestEnsureLoadBalancerTellsOfNodesWithoutMachine(t *testing.T) {
	_, p := start(t, fakecloud.Machine("i-1", "web"))
	request := ensureRequest(p, "first")
	request.Nodes = p.Nodes("nodes-2", idPrefix+"i-1", idPrefix+"i-9")
	response, err := p.Client.EnsureLoadBalancer(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	diagnostics := response.GetDiagnostics()
	if len(diagnostics) != 1 || diagnostics[0].GetReason() != "TargetsNotFound" {
		t.Errorf("diagnostics %v, want TargetsNotFound", diagnostics)
	}
	if got := response.GetLoadBalancer().GetRegisteredNodes(); got != 1 {
		t.Errorf("%d nodes are registered, want 1", got)
	}
}

// listed returns the load balancer as GetLoadBalancer and ListLoadBalancers return it.
func listed(t *testing.T, p *providertest.Provider) []*cpv1.LoadBalancer {
	t.Helper()
	get := &cpv1.GetLoadBalancerRequest{Context: p.Context(), Service: p.Service("web", "uid-1")}
	got, err := p.Client.GetLoadBalancer(t.Context(), get)
	if err != nil {
		t.Fatal(err)
	}
	list, err := p.Client.ListLoadBalancers(t.Context(), &cpv1.ListLoadBalancersRequest{Context: p.Context()})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.GetLoadBalancers()) != 1 || got.GetLoadBalancer() == nil {
		t.Fatalf("there are %v and %v, want one load balancer", got, list)
	}
	return []*cpv1.LoadBalancer{got.GetLoadBalancer(), list.GetLoadBalancers()[0]}
}

func TestLoadBalancersArePendingUntilTheyHaveAnAddress(t *testing.T) {
	fake, p := start(t)
	fake.GiveAddress("")
	response, err := p.Client.EnsureLoadBalancer(t.Context(), ensureRequest(p, "first"))
	if err != nil {
		t.Fatal(err)
	}
	for _, balancer := range append(listed(t, p), response.GetLoadBalancer()) {
		if balancer.GetOperation() == nil || balancer.GetIngress() != nil {
			t.Errorf("the load balancer is %v, want one that is worked on", balancer)
		}
	}
}

// A controller that was restarted compares them with its spec, and changes nothing.
func TestLoadBalancersKeepTheFingerprintsOfTheirSpec(t *testing.T) {
	_, p := start(t)
	if _, err := p.Client.EnsureLoadBalancer(t.Context(), ensureRequest(p, "first")); err != nil {
		t.Fatal(err)
	}
	for _, balancer := range listed(t, p) {
		if balancer.GetSpecFingerprint() != "spec-1" || balancer.GetNodesFingerprint() != "nodes-1" ||
			balancer.GetOperation() != nil {
			t.Errorf("the load balancer is %v, want it to match the spec", balancer)
		}
	}
}

func TestGetLoadBalancerNeverSaysAbsentWhenTheCloudFails(t *testing.T) {
	fake, p := start(t)
	fake.Fail(http.StatusNotFound)
	request := &cpv1.GetLoadBalancerRequest{Context: p.Context(), Service: p.Service("web", "uid-1")}
	if response, err := p.Client.GetLoadBalancer(t.Context(), request); err == nil {
		t.Errorf("the answer is %v, want an error", response)
	}
}

func TestEnsureLoadBalancerLeavesAnotherClustersAlone(t *testing.T) {
	fake, p := start(t)
	if _, err := p.Client.EnsureLoadBalancer(t.Context(), ensureRequest(p, "first")); err != nil {
		t.Fatal(err)
	}
	foreign := fake.Balancers()[0]
	foreign.Tags = map[string]string{tagCluster: "another"}
	fake.PutBalancer(foreign)
	_, err := p.Client.EnsureLoadBalancer(t.Context(), ensureRequest(p, "second"))
	if got := providertest.Reason(err); got != provider.ReasonOwnedByAnotherCluster {
		t.Errorf("the error is %v, want %s", err, provider.ReasonOwnedByAnotherCluster)
	}
	list, err := p.Client.ListLoadBalancers(t.Context(), &cpv1.ListLoadBalancersRequest{Context: p.Context()})
	if err != nil || len(list.GetLoadBalancers()) != 0 {
		t.Errorf("the list is %v, %v, want it empty", list, err)
	}
	request := &cpv1.DeleteLoadBalancerRequest{
		Context: p.Context(), Change: p.Change("third"), Service: p.Service("web", "uid-1"),
	}
	if _, err := p.Client.DeleteLoadBalancer(t.Context(), request); err == nil {
		t.Error("it was deleted, want an error")
	}
	if got := fake.Balancers(); len(got) != 1 || got[0].Tags[tagCluster] != "another" {
		t.Errorf("the cloud has %v, want what it had", got)
	}
}

func TestDeleteLoadBalancerRemovesItAndFindsNothingAfterwards(t *testing.T) {
	fake, p := start(t)
	if _, err := p.Client.EnsureLoadBalancer(t.Context(), ensureRequest(p, "ensure")); err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{"first", "second"} {
		request := &cpv1.DeleteLoadBalancerRequest{
			Context: p.Context(), Change: p.Change(change), Service: p.Service("web", "uid-1"),
		}
		if _, err := p.Client.DeleteLoadBalancer(t.Context(), request); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(fake.Balancers()); got != 0 {
		t.Errorf("the cloud has %d load balancers, want none", got)
	}
}

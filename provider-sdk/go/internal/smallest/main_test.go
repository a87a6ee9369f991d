package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/providertest"
)

func TestTheSmallestProviderIsThatOfTheREADME(t *testing.T) {
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```go\n"+string(program)+"```\n") {
		t.Error("README.md shows another program than internal/smallest/main.go: copy it there")
	}
}

func TestTheSmallestProviderServesItsCloud(t *testing.T) {
	cloud := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var answer any
		switch {
		case r.URL.Path == "/machines" && r.URL.Query().Get("name") == "web-1":
			answer = []machine{{ID: "m-1", Name: "web-1", Zone: "a", IP: "10.0.0.7"}}
		case r.URL.Path == "/machines", r.Method == http.MethodGet && r.URL.Path == "/balancers":
			answer = []any{}
		case r.Method == http.MethodPut:
			answer = balancer{ID: "lb-1", IP: "192.0.2.7"}
		}
		json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(cloud.Close)
	p := providertest.Start(t, define(acme{cloud.URL}))

	machines, err := p.Client.BatchGetInstances(t.Context(), &cpv1.BatchGetInstancesRequest{
		Context: p.Context(), Nodes: []*cpv1.NodeRef{{Name: "web-1"}, {Name: "web-2"}},
	})
	if err != nil || machines.GetResults()[0].GetInstance().GetProviderId() != "acme://m-1" || machines.GetResults()[1].GetAbsent() == nil {
		t.Errorf("machines are %v, %v", machines, err)
	}
	made, err := p.Client.EnsureLoadBalancer(t.Context(), &cpv1.EnsureLoadBalancerRequest{
		Context: p.Context(), Change: p.Change("r-1"), Service: p.Service("web", "uid-1"), SpecFingerprint: "s-1", Nodes: p.Nodes("n-1", "acme://m-1"),
		Spec: &cpv1.LoadBalancerSpec{Ports: []*cpv1.ServicePort{{Protocol: cpv1.Protocol_PROTOCOL_TCP, Port: 80}}},
	})
	if err != nil || made.GetLoadBalancer().GetIngress().GetItems()[0].GetIp() != "192.0.2.7" {
		t.Errorf("the load balancer is %v, %v", made, err)
	}
	none, err := p.Client.GetLoadBalancer(t.Context(), &cpv1.GetLoadBalancerRequest{Context: p.Context(), Service: p.Service("web", "uid-1")})
	if err != nil || none.GetAbsent() == nil {
		t.Errorf("a read is %v, %v", none, err)
	}
	gone, err := p.Client.DeleteLoadBalancer(t.Context(), &cpv1.DeleteLoadBalancerRequest{Context: p.Context(), Change: p.Change("r-2"), Service: p.Service("web", "uid-1")})
	if err != nil || !gone.GetDone() {
		t.Errorf("the deletion is %v, %v", gone, err)
	}
}

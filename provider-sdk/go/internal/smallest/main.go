package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
)

type acme struct{ url string }
type balancer struct{ ID, IP string }
type machine struct {
	ID, Name, Zone, IP string
	On                 bool
}

var states = map[bool]cpv1.InstanceState{
	true: cpv1.InstanceState_INSTANCE_STATE_RUNNING, false: cpv1.InstanceState_INSTANCE_STATE_STOPPED,
}

var client = &http.Client{Transport: &provider.Transport{}}

func (a acme) call(ctx context.Context, method, path string, body []byte, answer any) error {
	request, err := http.NewRequestWithContext(ctx, method, a.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if err := provider.CheckResponse(response); err != nil {
		return err
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

func (a acme) machine(ctx context.Context, ref *cpv1.NodeRef) (provider.InstanceResult, error) {
	query := url.Values{"id": {provider.CallOf(ctx).ID(ref.ProviderId)}, "name": {ref.Name}}
	var found []machine
	if err := a.call(ctx, "GET", "/machines?"+query.Encode(), nil, &found); err != nil || len(found) == 0 {
		return provider.Absent(provider.LookupMiss), err
	}
	m := found[0]
	addresses := provider.NodeAddresses(cpv1.NodeAddressType_NODE_ADDRESS_TYPE_INTERNAL_IP, m.IP)
	return provider.Present(&cpv1.Instance{
		ProviderId: m.ID, Name: m.Name, Zone: &m.Zone, Addresses: addresses, State: states[m.On],
	}), nil
}

func (a acme) balancer(ctx context.Context, ref *provider.LoadBalancerRef) (provider.LoadBalancerReadResult, error) {
	var found []balancer
	if err := a.call(ctx, "GET", "/balancers?name="+ref.Key, nil, &found); err != nil || len(found) == 0 {
		return provider.Absent(provider.LookupMiss), err
	}
	return found[0].answer(), nil
}

func (a acme) ensure(ctx context.Context, request *provider.EnsureRequest) (provider.LoadBalancerResult, error) {
	body, _ := json.Marshal(map[string]any{"ports": request.Spec.Ports, "targets": request.Nodes})
	var made balancer
	err := a.call(ctx, "PUT", "/balancers/"+request.Key, body, &made)
	return made.answer(), err
}

func (b balancer) answer() provider.LoadBalancerResult {
	if b.IP == "" {
		return provider.Pending(b.ID) // The cloud still works on it: asked again in 5 s.
	}
	return provider.Ready(&cpv1.LoadBalancer{Id: b.ID, Ingress: provider.IngressIPs(b.IP)})
}

func (a acme) delete(ctx context.Context, ref *provider.LoadBalancerRef) (*provider.PendingResult, error) {
	return nil, a.call(ctx, "DELETE", "/balancers/"+ref.Key, nil, new(any))
}

func (a acme) check(ctx context.Context) (*provider.CheckResult, error) {
	return nil, a.call(ctx, "GET", "/ping", nil, new(any))
}

func define(a acme) *provider.Definition {
	return &provider.Definition{
		Name: "acme.example.com", Version: "1.0.0", IDPrefixes: []string{"acme://"},
		Scope: provider.StaticScope("account-42"), Check: a.check,
		Instances:     &provider.Instances{Get: a.machine},
		LoadBalancers: &provider.LoadBalancers{Get: a.balancer, Ensure: a.ensure, Delete: a.delete},
	}
}

func main() { provider.Main(define(acme{os.Getenv("ACME_URL")})) }

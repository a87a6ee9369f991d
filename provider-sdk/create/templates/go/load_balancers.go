package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"

	"acme.example.com/acme-provider/internal/cloud"
)

// Tags on each load balancer: its owner, and the fingerprints of its spec, so that a restart of the controller changes nothing.
const (
	tagCluster   = "cloudwire-cluster"
	tagService   = "cloudwire-service"
	tagNamespace = "cloudwire-service-namespace"
	tagUID       = "cloudwire-service-uid"
	tagSpec      = "cloudwire-spec"
	tagNodes     = "cloudwire-nodes"
)

// pollAfter is how often to look while the cloud gives a load balancer its address.
const pollAfter = 5 * time.Second

// loadBalancers serves Services of type LoadBalancer.
type loadBalancers struct{ client *cloud.Client }

func (l loadBalancers) handlers() *provider.LoadBalancers {
	// Without Features: TCP and IPv4. What is not declared is not asked for: SDK and controller refuse it, and the user reads
	// why.
	return &provider.LoadBalancers{Get: l.get, List: l.list, Ensure: l.ensure, Delete: l.delete}
}

func (l loadBalancers) get(ctx context.Context, ref *provider.LoadBalancerRef) (provider.LoadBalancerReadResult, error) {
	balancer, err := l.client.Balancer(ctx, ref.Key)
	switch {
	case err != nil:
		return nil, err
	case balancer == nil:
		return provider.Absent(provider.LookupMiss), nil
	case balancer.IP == "":
		return provider.Pending(balancer.ID, provider.PollAfter(pollAfter)), nil
	default:
		return provider.Ready(toLoadBalancer(balancer)), nil
	}
}

func (l loadBalancers) list(ctx context.Context, yield func(*cpv1.LoadBalancer) error) error {
	balancers, err := l.client.BalancersWithTag(ctx, tagCluster, provider.CallOf(ctx).Cluster.GetId())
	if err != nil {
		return err
	}
	for index := range balancers {
		if err := yield(toLoadBalancer(&balancers[index])); err != nil {
			return err
		}
	}
	return nil
}

func (l loadBalancers) ensure(ctx context.Context, request *provider.EnsureRequest) (provider.LoadBalancerResult, error) {
	existing, err := l.client.Balancer(ctx, request.Key)
	if err != nil {
		return nil, err
	}
	if err := refuseForeign(existing, request.Cluster); err != nil {
		return nil, err
	}
	balancer, err := l.client.PutBalancer(ctx, request.Key, specOf(ctx, request))
	if err != nil {
		return nil, err
	}
	reportMissing(ctx, request.Nodes, balancer.TargetIDs)
	if balancer.IP == "" {
		return provider.Pending(balancer.ID, provider.PollAfter(pollAfter)), nil
	}
	return provider.Ready(toLoadBalancer(balancer)), nil
}

func (l loadBalancers) delete(ctx context.Context, ref *provider.LoadBalancerRef) (*provider.PendingResult, error) {
	existing, err := l.client.Balancer(ctx, ref.Key)
	if err != nil || existing == nil {
		return nil, err
	}
	if err := refuseForeign(existing, ref.Cluster); err != nil {
		return nil, err
	}
	return nil, l.client.DeleteBalancer(ctx, ref.Key)
}

func specOf(ctx context.Context, request *provider.EnsureRequest) cloud.BalancerSpec {
	spec := cloud.BalancerSpec{Ports: []cloud.Port{}, TargetIDs: []string{}, Tags: map[string]string{}}
	for _, port := range request.Spec.GetPorts() {
		spec.Ports = append(spec.Ports, cloud.Port{Port: port.GetPort(), NodePort: port.GetNodePort()})
	}
	for _, node := range request.Nodes {
		if id := provider.CallOf(ctx).ID(node.GetProviderId()); id != "" {
			spec.TargetIDs = append(spec.TargetIDs, id)
		}
	}
	maps.Copy(spec.Tags, request.Spec.GetTags())
	maps.Copy(spec.Tags, map[string]string{
		tagCluster:   request.Cluster.GetId(),
		tagService:   request.Service.GetName(),
		tagNamespace: request.Service.GetNamespace(),
		tagUID:       request.Service.GetUid(),
		tagSpec:      request.SpecFingerprint,
		tagNodes:     request.NodesFingerprint,
	})
	return spec
}

// reportMissing reports the nodes that the cloud did not accept as targets; the others get traffic.
func reportMissing(ctx context.Context, nodes []*cpv1.TargetNode, taken []string) {
	call := provider.CallOf(ctx)
	var missing []string
	for _, node := range nodes {
		if !slices.Contains(taken, call.ID(node.GetProviderId())) {
			missing = append(missing, node.GetName())
		}
	}
	if len(missing) == 0 {
		return
	}
	summary := fmt.Sprintf("The cloud has no machines for %d of %d nodes, which get no traffic: %s",
		len(missing), len(nodes), strings.Join(missing[:min(len(missing), 5)], ", "))
	call.AddDiagnostic(&cpv1.Diagnostic{Severity: cpv1.Severity_SEVERITY_WARNING, Reason: "TargetsNotFound", Summary: summary})
}

// refuseForeign lets nothing be changed or deleted that this cluster has not made.
func refuseForeign(balancer *cloud.Balancer, cluster *cpv1.ClusterRef) error {
	if balancer == nil {
		return nil
	}
	owner, tagged := balancer.Tags[tagCluster]
	switch {
	case !tagged:
		message := fmt.Sprintf("load balancer %s is named %s and was not made by a cluster; rename it",
			balancer.ID, balancer.Name)
		return provider.NewError(provider.ReasonNameTaken, message, provider.Metadata("name", balancer.Name),
			provider.Metadata("id", balancer.ID))
	case owner != cluster.GetId():
		message := fmt.Sprintf("load balancer %s belongs to cluster %s; remove its tags if that cluster no longer exists",
			balancer.ID, owner)
		return provider.NewError(provider.ReasonOwnedByAnotherCluster, message,
			provider.Metadata("owner_cluster_id", owner), provider.Metadata("id", balancer.ID))
	default:
		return nil
	}
}

func toLoadBalancer(balancer *cloud.Balancer) *cpv1.LoadBalancer {
	registered := uint32(len(balancer.TargetIDs))
	loadBalancer := &cpv1.LoadBalancer{
		Id: balancer.ID,
		Service: &cpv1.ServiceRef{
			Name:      balancer.Tags[tagService],
			Namespace: balancer.Tags[tagNamespace],
			Uid:       balancer.Tags[tagUID],
		},
		SpecFingerprint:  balancer.Tags[tagSpec],
		NodesFingerprint: balancer.Tags[tagNodes],
		RegisteredNodes:  &registered,
		Tags:             balancer.Tags,
	}
	if balancer.IP == "" {
		// In a list too: what is not ready must not look as if nothing were to be waited for.
		loadBalancer.Operation = &cpv1.Operation{PollAfter: durationpb.New(pollAfter)}
		return loadBalancer
	}
	ingress := []*cpv1.LoadBalancerIngress{{Ip: &balancer.IP}}
	loadBalancer.Ingress = &cpv1.LoadBalancerIngressList{Items: ingress}
	return loadBalancer
}

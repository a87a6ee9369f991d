package bridge

import (
	"context"
	"errors"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	cloudprovider "k8s.io/cloud-provider"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
)

// routes serves cloudprovider.Routes.
type routes struct {
	cloud    cloudprovider.Routes
	nodes    *nodeStore
	informed func(context.Context)
	errors   errorMapper
	changes  *changes
	// machines resolve Nodes that the controller has not shown yet; nil where the provider has no instances.
	machines        machineSource
	clusterName     string
	targetAddresses bool
}

func (r *routes) definition(features *cpv1.RouteCapabilities) *provider.Routes {
	return &provider.Routes{Features: features, List: r.list, Ensure: r.ensure, Delete: r.remove}
}

func (r *routes) cluster(ctx context.Context) string {
	return clusterNameFor(r.clusterName, provider.CallOf(ctx).Cluster)
}

func (r *routes) read(ctx context.Context) ([]*cloudprovider.Route, error) {
	cluster := r.cluster(ctx)
	return guarded(ctx, "ListRoutes", func(ctx context.Context) ([]*cloudprovider.Route, error) {
		return r.cloud.ListRoutes(ctx, cluster)
	})
}

func (r *routes) list(ctx context.Context, yield func(*cpv1.Route) error) error {
	r.informed(ctx)
	all, err := r.read(ctx)
	if err != nil {
		return r.errors.toContract(err, readRPC, "list routes")
	}
	targets, err := r.targets(ctx, all)
	if err != nil {
		return err
	}
	for _, route := range all {
		if err := yield(r.toContract(route, targets[route.TargetNode])); err != nil {
			return err
		}
	}
	return nil
}

func (r *routes) toContract(route *cloudprovider.Route, target string) *cpv1.Route {
	cidr := provider.CanonicalCIDR(route.DestinationCIDR)
	out := &cpv1.Route{
		Id:               route.Name,
		TargetNodeName:   string(route.TargetNode),
		TargetProviderId: target,
		DestinationCidr:  cidr,
		Blackhole:        route.Blackhole,
	}
	if out.GetId() == "" {
		out.Id = cidr
	}
	if r.targetAddresses {
		out.TargetAddresses = addressesToContract(route.TargetNodeAddresses)
	}
	return out
}

// maxTargetLookUps is how many Nodes not shown yet are looked up at once.
const maxTargetLookUps = 8

// targets are the provider IDs of the Nodes that routes lead to. A route without target is taken for stale and removed, so the
// list fails unless each target is known or known to be gone.
func (r *routes) targets(ctx context.Context, all []*cloudprovider.Route) (map[types.NodeName]string, error) {
	targets := map[types.NodeName]string{}
	var unknown []types.NodeName
	for _, route := range all {
		if route == nil {
			return nil, provider.NewError(provider.ReasonInvariantBroken, "list routes: the provider listed a nil route")
		}
		name := route.TargetNode
		if _, seen := targets[name]; seen || name == "" {
			continue
		}
		if targets[name] = r.nodes.providerIDOf(string(name)); targets[name] == "" {
			unknown = append(unknown, name)
		}
	}
	var mu sync.Mutex
	err := forEach(unknown, maxTargetLookUps, func(name types.NodeName) error {
		target, err := r.lookUp(ctx, name)
		mu.Lock()
		defer mu.Unlock()
		targets[name] = target
		return err
	})
	return targets, err
}

// lookUp is the provider ID of an instance by the name of its Node; empty if there is no such instance.
func (r *routes) lookUp(ctx context.Context, name types.NodeName) (string, error) {
	if r.machines == nil {
		return "", provider.NewError(provider.ReasonIncompleteAnswer,
			"list routes: the machine of node "+string(name)+" is not known, and the provider cannot look machines up")
	}
	metadata, err := r.machines.metadata(ctx, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: string(name)}})
	switch {
	case errors.Is(err, cloudprovider.InstanceNotFound):
		return "", nil
	case err != nil:
		return "", r.errors.toContract(err, readRPC, "list routes: look up node "+string(name))
	case metadata == nil || metadata.ProviderID == "":
		return "", provider.NewError(provider.ReasonIncompleteAnswer,
			"list routes: the provider returned no provider ID for node "+string(name))
	}
	return metadata.ProviderID, nil
}

// ensure asks upstream's CreateRoute, which is not asked there for a route that exists: where it fails, the list decides.
func (r *routes) ensure(ctx context.Context, wanted *cpv1.Route) (provider.RouteResult, error) {
	node, err := r.node(ctx, wanted)
	if err != nil {
		return nil, err
	}
	route := r.fromContract(wanted, node.Name)
	if r.targetAddresses {
		route.EnableNodeAddresses, route.TargetNodeAddresses = true, node.Status.Addresses
	}
	cluster := r.cluster(ctx)
	desired := "ensure " + node.Name + " " + wanted.GetTargetProviderId()
	return r.change(ctx, wanted, routeChange, desired, func(ctx context.Context) error {
		err := r.cloud.CreateRoute(ctx, cluster, wanted.GetNameHint(), route)
		if err == nil {
			return nil
		}
		return r.unlessThere(ctx, wanted, node.Name, err)
	})
}

// unlessThere is nil if the route that could not be created exists and matches the request.
func (r *routes) unlessThere(ctx context.Context, wanted *cpv1.Route, nodeName string, cause error) error {
	all, err := r.read(ctx)
	if err != nil {
		return cause
	}
	for _, route := range all {
		if route == nil || provider.CanonicalCIDR(route.DestinationCIDR) != provider.CanonicalCIDR(wanted.GetDestinationCidr()) || route.Blackhole {
			continue
		}
		if string(route.TargetNode) == nodeName {
			return nil
		}
		return provider.NewError(provider.ReasonCIDRConflict,
			wanted.GetDestinationCidr()+" has a route to "+string(route.TargetNode)+": "+cause.Error(),
			provider.Metadata("cidr", wanted.GetDestinationCidr()), provider.Cause(cause))
	}
	return cause
}

func (r *routes) remove(ctx context.Context, unwanted *cpv1.Route) (*provider.PendingResult, error) {
	r.informed(ctx)
	route := r.fromContract(unwanted, unwanted.GetTargetNodeName())
	cluster := r.cluster(ctx)
	answer, err := r.change(ctx, unwanted, routeDeletion, "delete "+route.Name, func(ctx context.Context) error {
		err := r.cloud.DeleteRoute(ctx, cluster, route)
		if err == nil {
			return nil
		}
		return r.unlessGone(ctx, unwanted, err)
	})
	pending, _ := answer.(*provider.PendingResult)
	return pending, err
}

// unlessGone is nil if the route that could not be removed does not exist.
func (r *routes) unlessGone(ctx context.Context, unwanted *cpv1.Route, cause error) error {
	all, err := r.read(ctx)
	if err != nil {
		return cause
	}
	isIt := func(route *cloudprovider.Route) bool {
		return route != nil && provider.CanonicalCIDR(route.DestinationCIDR) == provider.CanonicalCIDR(unwanted.GetDestinationCidr())
	}
	if slices.ContainsFunc(all, isIt) {
		return cause
	}
	return nil
}

func (r *routes) change(
	ctx context.Context, route *cpv1.Route, kind rpcKind, desired string, work func(context.Context) error,
) (provider.RouteResult, error) {
	key := "route to " + route.GetDestinationCidr()
	started := r.changes.now()
	_, finished, err := runChange(ctx, r.changes, key, desired, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, work(ctx)
	})
	if err != nil {
		return nil, r.errors.toContract(err, kind, key)
	}
	if !finished {
		return provider.Pending(route.GetId(), provider.PollAfter(pollAfter), provider.StartedAt(started)), nil
	}
	return provider.RouteReady(route), nil
}

func (r *routes) fromContract(route *cpv1.Route, nodeName string) *cloudprovider.Route {
	return &cloudprovider.Route{
		Name:            route.GetId(),
		TargetNode:      types.NodeName(nodeName),
		DestinationCIDR: route.GetDestinationCidr(),
		Blackhole:       route.GetBlackhole(),
	}
}

// node is the target of a route, by name as upstream's interface wants it.
func (r *routes) node(ctx context.Context, route *cpv1.Route) (*v1.Node, error) {
	if route.GetTargetNodeName() == "" {
		name := r.nodes.nameOf(route.GetTargetProviderId())
		if name == "" {
			return nil, provider.NewError(provider.ReasonRouteTargetNotFound,
				"no node with provider ID "+route.GetTargetProviderId()+" has been shown, and target_node_name is empty")
		}
		return r.nodes.named(name), nil
	}
	node := r.nodes.routed(route)
	r.informed(ctx)
	return node, nil
}

// forEach calls work for all items, at most limit at once, and gives the first error.
func forEach[T any](items []T, limit int, work func(T) error) error {
	slots := make(chan struct{}, limit)
	failures := make(chan error, len(items))
	var all sync.WaitGroup
	for _, item := range items {
		slots <- struct{}{}
		all.Add(1)
		go func() {
			defer func() { <-slots; all.Done() }()
			if err := work(item); err != nil {
				failures <- err
			}
		}()
	}
	all.Wait()
	close(failures)
	return <-failures
}

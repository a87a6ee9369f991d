package bridge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	v1 "k8s.io/api/core/v1"
	cloudprovider "k8s.io/cloud-provider"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
)

// pollAfter is when to ask again about a change that goes on.
const pollAfter = 5 * time.Second

// balancers serves cloudprovider.LoadBalancer.
type balancers struct {
	cloud    cloudprovider.LoadBalancer
	nodes    *nodeStore
	informed func(context.Context)
	errors   errorMapper
	changes  *changes
	applied  *appliedState
	// readService is nil without error for one that is gone, or that cannot be read here at all.
	readService func(context.Context, *cpv1.ServiceRef) (*v1.Service, error)
	// slots bound how many changes run at once.
	slots chan struct{}
	// clusterName is the operator's; empty: the controller's.
	clusterName string
}

func (b *balancers) definition(features *cpv1.LoadBalancerCapabilities) *provider.LoadBalancers {
	return &provider.LoadBalancers{Features: features, Get: b.get, Ensure: b.ensure, Delete: b.remove}
}

// defaultClusterName is that of upstream's flag --cluster-name.
const defaultClusterName = "kubernetes"

func clusterNameFor(option string, cluster *cpv1.ClusterRef) string {
	if option != "" {
		return option
	}
	if name := cluster.GetName(); name != "" {
		return name
	}
	return defaultClusterName
}

func (b *balancers) cluster(ref *provider.LoadBalancerRef) string {
	return clusterNameFor(b.clusterName, ref.Cluster)
}

// get answers the state of the load balancer, and how far a change of it is. The provider's own status is not published from
// here: upstream takes it from changes alone.
func (b *balancers) get(ctx context.Context, ref *provider.LoadBalancerRef) (provider.LoadBalancerReadResult, error) {
	service, err := b.service(ctx, ref)
	if err != nil {
		return nil, err
	}
	id, err := b.id(ctx, ref, service)
	if err != nil {
		return nil, err
	}
	if started, busy := b.changes.since(changeKey(ref)); busy {
		return b.pending(id, ref, started), nil
	}
	exists, err := guarded(ctx, "GetLoadBalancer", func(ctx context.Context) (bool, error) {
		_, exists, err := b.cloud.GetLoadBalancer(ctx, b.cluster(ref), service)
		return exists, err
	})
	switch {
	case errors.Is(err, cloudprovider.ImplementedElsewhere), err == nil && !exists:
		// Another implementation's is none of ours; asked to make one, the provider says so again.
		b.applied.vanished(ref.Service.GetUid())
		b.changes.drop(changeKey(ref))
		return provider.Absent(provider.LookupMiss), nil
	case err != nil:
		return nil, b.errors.toContract(err, readRPC, "read the load balancer of "+serviceName(ref))
	}
	return provider.Ready(b.applied.loadBalancer(id, ref)), nil
}

// ensure makes the load balancer, or gives it other nodes only. A call whose desired is in force already is carried out all the
// same: the controller asks for it when it has reason to.
func (b *balancers) ensure(ctx context.Context, request *provider.EnsureRequest) (provider.LoadBalancerResult, error) {
	ref := &request.LoadBalancerRef
	if len(request.Spec.GetTags()) > 0 {
		provider.CallOf(ctx).AddDiagnostic(tagsIgnored)
	}
	nodes := b.nodes.targets(request.Nodes)
	b.informed(ctx)
	service, err := b.wanted(ctx, request)
	if err != nil {
		return nil, err
	}
	id, err := b.id(ctx, ref, service)
	if err != nil {
		return nil, err
	}
	started := b.changes.now()
	desired := "ensure " + request.SpecFingerprint + " " + request.NodesFingerprint
	status, finished, err := runChange(ctx, b.changes, changeKey(ref), desired,
		func(ctx context.Context) (*v1.LoadBalancerStatus, error) {
			return b.apply(ctx, request, service, nodes)
		})
	if err != nil {
		return nil, b.errors.toContract(err, balancerChange, "ensure the load balancer of "+serviceName(ref))
	}
	if !finished {
		return b.pending(id, ref, started), nil
	}
	return provider.Ready(&cpv1.LoadBalancer{Id: id, Ingress: ingressToContract(status)}), nil
}

// apply can outlive its call, so it updates the applied state itself.
func (b *balancers) apply(
	ctx context.Context, request *provider.EnsureRequest, service *v1.Service, nodes []*v1.Node,
) (*v1.LoadBalancerStatus, error) {
	ref := &request.LoadBalancerRef
	if err := b.acquire(ctx); err != nil {
		return nil, err
	}
	defer b.release()
	if nodesOnly := b.applied.began(request, service); nodesOnly {
		if err := b.cloud.UpdateLoadBalancer(ctx, b.cluster(ref), service, nodes); err != nil {
			return nil, fmt.Errorf("update its nodes: %w", err)
		}
		return b.applied.nodesDone(request), nil
	}
	status, err := b.cloud.EnsureLoadBalancer(ctx, b.cluster(ref), service, nodes)
	if err != nil {
		return nil, err
	}
	if status == nil {
		return nil, provider.NewError(provider.ReasonInvariantBroken,
			"the provider answered EnsureLoadBalancer with neither a status nor an error")
	}
	b.applied.done(request, status)
	return status, nil
}

// remove always asks the provider: only it can see what a load balancer has left behind.
func (b *balancers) remove(ctx context.Context, ref *provider.LoadBalancerRef) (*provider.PendingResult, error) {
	service, err := b.service(ctx, ref)
	if err != nil {
		return nil, err
	}
	started := b.changes.now()
	_, finished, err := runChange(ctx, b.changes, changeKey(ref), "delete", func(ctx context.Context) (struct{}, error) {
		if err := b.acquire(ctx); err != nil {
			return struct{}{}, err
		}
		defer b.release()
		b.applied.vanished(ref.Service.GetUid())
		err := b.cloud.EnsureLoadBalancerDeleted(ctx, b.cluster(ref), service)
		if errors.Is(err, cloudprovider.ImplementedElsewhere) {
			// Nothing of it is this provider's; upstream lets the Service go then.
			err = nil
		}
		if err == nil {
			b.applied.forget(ref.Service.GetUid())
		}
		return struct{}{}, err
	})
	if err != nil {
		return nil, b.errors.toContract(err, deletion, "delete the load balancer of "+serviceName(ref))
	}
	if finished {
		return nil, nil //nolint:nilnil // says that nothing is left
	}
	return provider.Pending(ref.ID, provider.PollAfter(pollAfter), provider.StartedAt(started),
		provider.Stage("the provider deletes it")), nil
}

// service is the Service of a read or deletion: as this process was last asked for it, else as the API server has it. Some
// providers make the names of parts from its ports, and without them would leave these parts behind.
func (b *balancers) service(ctx context.Context, ref *provider.LoadBalancerRef) (*v1.Service, error) {
	if known := b.applied.service(ref); known != nil {
		return known, nil
	}
	stored, err := b.stored(ctx, ref)
	if err != nil || stored != nil {
		return stored, err
	}
	return serviceOfRef(ref.Service, ref.Class, ref.Annotations), nil
}

// wanted is the Service of a desired, with the status that upstream would have written to it.
func (b *balancers) wanted(ctx context.Context, request *provider.EnsureRequest) (*v1.Service, error) {
	service := serviceOfSpec(request.Service, request.Spec)
	if b.applied.publish(service) {
		return service, nil
	}
	stored, err := b.stored(ctx, &request.LoadBalancerRef)
	if stored != nil {
		service.Status = stored.Status
	}
	return service, err
}

// stored is the Service at the API server; nil if it is gone, or there is no client.
func (b *balancers) stored(ctx context.Context, ref *provider.LoadBalancerRef) (*v1.Service, error) {
	service, err := b.readService(ctx, ref.Service)
	if err != nil {
		// Nothing is guessed: the half of a Service might be the half of a deletion.
		return nil, provider.NewVendorError(b.errors.domain, reasonServiceUnreadable, codes.Unknown, fmt.Sprintf(
			"read service %s, which this process has not seen yet, from the Kubernetes API; the sidecar needs the right to get services: %v",
			serviceName(ref), err), provider.Cause(err))
	}
	return service, nil
}

// acquire waits for its turn. Upstream's default is one change at a time, which providers' code may count on; their own calls
// alone would not keep to it, because a change may go on after its answer.
func (b *balancers) acquire(ctx context.Context) error {
	select {
	case b.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *balancers) release() { <-b.slots }

// id is the name of the load balancer in the cloud. It equals upstream's, so that existing load balancers are found.
func (b *balancers) id(ctx context.Context, ref *provider.LoadBalancerRef, service *v1.Service) (string, error) {
	name, err := guarded(ctx, "GetLoadBalancerName", func(ctx context.Context) (string, error) {
		return b.cloud.GetLoadBalancerName(ctx, b.cluster(ref), service), nil
	})
	if err != nil {
		return "", err
	}
	if name == "" {
		name = cloudprovider.DefaultLoadBalancerName(service)
	}
	return name, nil
}

func (b *balancers) pending(id string, ref *provider.LoadBalancerRef, started time.Time) *provider.PendingResult {
	options := []provider.PendingOption{
		provider.PollAfter(pollAfter), provider.StartedAt(started), provider.Stage("the provider works on it"),
	}
	if status := b.applied.status(ref.Service.GetUid()); status != nil && len(status.Ingress) > 0 {
		options = append(options, provider.Updating(), provider.WithIngress(ingressToContract(status).GetItems()...))
	}
	return provider.Pending(id, options...)
}

var tagsIgnored = &cpv1.Diagnostic{
	Severity: cpv1.Severity_SEVERITY_WARNING,
	Reason:   "TagsNotSet",
	Summary:  "The bridge cannot pass tags to this provider; use its own annotations or its configuration.",
	Field:    "spec.tags",
}

func changeKey(ref *provider.LoadBalancerRef) string { return "load balancer " + ref.Service.GetUid() }

func serviceName(ref *provider.LoadBalancerRef) string {
	return ref.Service.GetNamespace() + "/" + ref.Service.GetName()
}

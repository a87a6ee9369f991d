package provider

import (
	"context"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
)

// Definition is a provider: its properties and handlers. Each handler that is not nil claims its capability.
type Definition struct {
	// Name is a DNS-style name, unique among the providers of a cluster: acme.example.com. Also the domain of
	// vendor-specific reasons.
	Name string
	// Version of the provider program.
	Version string
	// IDPrefixes are the prefixes of the provider IDs, each ending in ://. The provider writes the first one. Others
	// are for earlier schemes or another product.
	IDPrefixes []string
	// Scope returns what the credentials give access to: account, project, region. Opaque, no secrets, at most 253
	// bytes. When it changes, the controller stops everything destructive until an operator confirms the change. Called
	// at the start and before each check; until it first succeeds, calls fail with PROVIDER_STARTING. See
	// [StaticScope].
	Scope func(ctx context.Context) (string, error)
	// Check sends the cheapest request that proves that the cloud is reachable with these credentials. Runs every 60 s
	// while ready, every 10 s while not. A nil result means success without further details.
	Check func(ctx context.Context) (*CheckResult, error)

	// Instances serves instances behind Nodes.
	Instances *Instances
	// LoadBalancers serves load balancers for Services.
	LoadBalancers *LoadBalancers
	// Routes serves routes to pod CIDRs.
	Routes *Routes
	// Volumes serves volumes, for labels and node affinity of PersistentVolumes.
	Volumes *Volumes

	// Limits of the provider. A zero field gets the SDK's default: 64 concurrent calls, messages of 16 MiB, changes of
	// 10 s.
	Limits *cpv1.Limits
	// Annotations are the Service annotations that the provider supports; the SDK rejects invalid values.
	Annotations []*cpv1.AnnotationSchema
	// AnnotationPrefixes are the prefixes of annotations to receive. Nil: the domains of Annotations.
	AnnotationPrefixes []string
	// NodeLabelKeys are the keys of the Node labels that the provider needs.
	NodeLabelKeys []string
	// NodeAnnotationKeys are the keys of the Node annotations that the provider needs.
	NodeAnnotationKeys []string
	// Diagnostics are messages to the operator: deprecated options in use, a missing permission.
	Diagnostics []*cpv1.Diagnostic
	// Build is build information for bug reports; the SDK adds sdk and runtime.
	Build map[string]string
	// HomeURL is the URL of the provider's documentation.
	HomeURL string
}

// StaticScope is a [Definition.Scope] that is known from the configuration.
func StaticScope(scopeID string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return scopeID, nil }
}

// CheckResult contains additional results of a successful check of the cloud.
type CheckResult struct {
	// Conditions are additional conditions; CloudReachable and CredentialsValid override those of the SDK.
	Conditions []*cpv1.Condition
	// CredentialsExpireTime is when the credentials expire; zero if unknown.
	CredentialsExpireTime time.Time
	// ConfigRevision is the version of the active configuration.
	ConfigRevision string
	// RateLimits are the remaining call budgets of the cloud account.
	RateLimits []*cpv1.RateLimit
}

// Instances are the handlers for instances: Get or GetMany, and optionally List and Watch.
type Instances struct {
	// Features are capabilities that the handlers do not show. Nil: a batch of 200, lookup by name, STOPPED
	// distinguished from RUNNING. Otherwise they are used as given; List and Watch in them are ignored unless the
	// handler exists.
	Features *cpv1.InstanceCapabilities
	// Get looks up one instance: ref.ProviderId alone identifies it if set ([Call.ID] removes the prefix), otherwise
	// the name and the hints do. The SDK runs at most 16 lookups concurrently and shares equal ones.
	Get func(ctx context.Context, ref *cpv1.NodeRef) (InstanceResult, error)
	// GetMany looks up instances; it returns one result for each ref, in the same order. [Failed] is the error of one
	// alone.
	GetMany func(ctx context.Context, refs []*cpv1.NodeRef) ([]InstanceResult, error)
	// List yields all instances of the scope; claims instances.list. A nil error means that the list was complete,
	// unless [Call.Unreachable] was called. It runs only as far as pages are requested, and ends when yield returns an
	// error.
	List func(ctx context.Context, yield func(*cpv1.Instance) error) error
	// Watch sends events about instances until ctx ends; claims instances.watch. The SDK adds heartbeats.
	Watch func(ctx context.Context, request *cpv1.WatchInstancesRequest, send func(*cpv1.WatchInstancesResponse) error) error
}

// LoadBalancers are the handlers for load balancers: Ensure, Delete, and Get or List.
type LoadBalancers struct {
	// Features are capabilities that the handlers do not show. Nil: TCP, IPv4, node ports needed, one change per
	// Service at a time, node sets kept by the SDK. Otherwise they are used as given; List, Watch and UpdateNodes
	// follow the handlers.
	Features *cpv1.LoadBalancerCapabilities
	// NoNodeSets turns off the node sets that the SDK keeps for every provider.
	NoNodeSets bool
	// Get reads one load balancer: its state, or the progress of a change. Nil: the SDK finds it in List.
	Get func(ctx context.Context, ref *LoadBalancerRef) (LoadBalancerReadResult, error)
	// Ensure creates the load balancer, or updates it to match the spec. May be called again at any time, also for a
	// load balancer that an interrupted call left half-created. With [Call.ValidateOnly] it changes nothing and may
	// return nil for one that does not exist.
	Ensure func(ctx context.Context, request *EnsureRequest) (LoadBalancerResult, error)
	// UpdateNodes sets the targets to these nodes and changes nothing else; claims load_balancers.update_nodes. Nil:
	// node changes arrive as Ensure. Without load balancer it returns LOAD_BALANCER_NOT_FOUND.
	UpdateNodes func(ctx context.Context, request *UpdateNodesRequest) (LoadBalancerResult, error)
	// Delete deletes the load balancer and all its parts, in any state; finding nothing is success. Nil means that
	// nothing is left, [Pending] that something is.
	Delete func(ctx context.Context, ref *LoadBalancerRef) (*PendingResult, error)
	// List yields the load balancers with the ownership tags of this cluster, each with its Service; claims
	// load_balancers.list.
	List func(ctx context.Context, yield func(*cpv1.LoadBalancer) error) error
	// Watch sends events about load balancers until ctx ends; claims load_balancers.watch.
	Watch func(ctx context.Context, request *cpv1.WatchLoadBalancersRequest, send func(*cpv1.WatchLoadBalancersResponse) error) error
}

// Routes are the handlers for routes: List, and Ensure or EnsureMany, Delete or DeleteMany. [Call.ReportRouteQuota]
// reports the usage of the route table.
type Routes struct {
	// Features are capabilities that the handlers do not show. Nil: a batch of 200, pages of 500, IPv4.
	Features *cpv1.RouteCapabilities
	// List yields the routes with the ownership tags of [Call.Cluster], and no others.
	List func(ctx context.Context, yield func(*cpv1.Route) error) error
	// Ensure creates one route, or updates it to match; one that already matches is success. Its target is an instance
	// of this provider.
	Ensure func(ctx context.Context, route *cpv1.Route) (RouteResult, error)
	// EnsureMany creates routes, or updates them to match; it returns results in the order of the request.
	EnsureMany func(ctx context.Context, routes []*cpv1.Route) ([]RouteResult, error)
	// Delete deletes one route; nil means that it is deleted. It rejects a route without this cluster's ownership tags.
	Delete func(ctx context.Context, route *cpv1.Route) (*PendingResult, error)
	// DeleteMany deletes routes; it returns results in the order of the request, nil for a deleted one.
	DeleteMany func(ctx context.Context, routes []*cpv1.Route) ([]RouteResult, error)
}

// Volumes are the handlers for volumes: Get or GetMany.
type Volumes struct {
	// Features name at least the CSI drivers or in-tree plugins whose volumes are in this cloud; the SDK returns
	// not-owned for others.
	Features *cpv1.VolumeCapabilities
	// Get looks up one volume.
	Get func(ctx context.Context, ref *cpv1.VolumeRef) (VolumeResult, error)
	// GetMany looks up volumes; it returns one result for each ref, in the same order.
	GetMany func(ctx context.Context, refs []*cpv1.VolumeRef) ([]VolumeResult, error)
}

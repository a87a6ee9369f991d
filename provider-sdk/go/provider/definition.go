package provider

import (
	"context"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
)

// Definition is a provider: facts about it and the functions it has. Each function that is not nil claims its capability.
type Definition struct {
	// Name is a DNS-style name, unique among the providers of a cluster: acme.example.com. Also the domain of own reasons.
	Name string
	// Version of the provider program.
	Version string
	// IDPrefixes are the prefixes of the provider IDs, each ending in ://; the first is the one written. The others are
	// former schemes and machines of another product.
	IDPrefixes []string
	// Scope names what the credentials reach: account, project, region. Opaque, no secrets, at most 253 bytes. A change
	// stops every destructive act of the controller until an operator confirms it. Called at the start and before each
	// check; until it has answered once, calls are refused with PROVIDER_STARTING. See [StaticScope].
	Scope func(ctx context.Context) (string, error)
	// Check asks the cloud the cheapest question that proves that it can be reached with these credentials. Runs every
	// 60 s while all is well, every 10 s while not. A nil result says only that it works.
	Check func(ctx context.Context) (*CheckResult, error)

	// Instances serves machines behind Nodes.
	Instances *Instances
	// LoadBalancers serves load balancers for Services.
	LoadBalancers *LoadBalancers
	// Routes serves routes to pod ranges.
	Routes *Routes
	// Volumes serves volumes, for labels and node affinity of PersistentVolumes.
	Volumes *Volumes

	// Limits say what the provider can take. A field that is zero gets the SDK's default: 64 calls at once, messages of
	// 16 MiB, changes of 10 s.
	Limits *cpv1.Limits
	// Annotations are the Service annotations that the provider understands; values that do not fit are refused.
	Annotations []*cpv1.AnnotationSchema
	// AnnotationPrefixes are the prefixes of annotations to receive. Nil: the domains of Annotations.
	AnnotationPrefixes []string
	// NodeLabelKeys are the keys of the Node labels that the provider needs.
	NodeLabelKeys []string
	// NodeAnnotationKeys are the keys of the Node annotations that the provider needs.
	NodeAnnotationKeys []string
	// Diagnostics are what the operator should know: deprecated options in use, a missing right.
	Diagnostics []*cpv1.Diagnostic
	// Build holds facts for bug reports; the SDK adds sdk and runtime.
	Build map[string]string
	// HomeURL says where the provider is documented.
	HomeURL string
}

// StaticScope is a [Definition.Scope] that is known from the configuration.
func StaticScope(scopeID string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return scopeID, nil }
}

// CheckResult is what a check found besides that the cloud works.
type CheckResult struct {
	// Conditions are more aspects; CloudReachable and CredentialsValid take the place of what the SDK derives.
	Conditions []*cpv1.Condition
	// CredentialsExpireTime is when the credentials expire; zero if that is not known.
	CredentialsExpireTime time.Time
	// ConfigRevision is the version of the configuration in force.
	ConfigRevision string
	// RateLimits tell what is left of the cloud's call budgets.
	RateLimits []*cpv1.RateLimit
}

// Instances serves machines: Get or GetMany, and what else the cloud can do.
type Instances struct {
	// Features are facts that the functions do not show. Nil: a batch of 200, machines are found by name, STOPPED is told
	// apart from RUNNING. Else they are taken as they are, and List and Watch in them are ignored unless the function exists.
	Features *cpv1.InstanceCapabilities
	// Get looks one machine up: ref.ProviderId alone decides if it is set ([Call.ID] takes the prefix off), else the name
	// and the hints. The SDK asks for at most 16 at once and shares equal questions.
	Get func(ctx context.Context, ref *cpv1.NodeRef) (InstanceResult, error)
	// GetMany looks many machines up; answers in the order of refs, one for each. [Failed] is the error of one alone.
	GetMany func(ctx context.Context, refs []*cpv1.NodeRef) ([]InstanceResult, error)
	// List yields all machines of the scope; claims instances.list. A nil error says that the list was complete, unless
	// [Call.Unreachable] was called. It is run only as far as pages are asked for, and ends when yield returns an error.
	List func(ctx context.Context, yield func(*cpv1.Instance) error) error
	// Watch sends hints about machines until ctx ends; claims instances.watch. Heartbeats are added by the SDK.
	Watch func(ctx context.Context, request *cpv1.WatchInstancesRequest, send func(*cpv1.WatchInstancesResponse) error) error
}

// LoadBalancers serves load balancers: Ensure, Delete, and Get or List.
type LoadBalancers struct {
	// Features are facts that the functions do not show. Nil: TCP, IPv4, node ports needed, one change a Service at a time,
	// node sets kept by the SDK. Else they are taken as they are; List, Watch and UpdateNodes follow the functions.
	Features *cpv1.LoadBalancerCapabilities
	// NoNodeSets turns the node sets off which the SDK keeps for every provider.
	NoNodeSets bool
	// Get reads one load balancer: its state, or how far a change is. Nil: it is looked for in List.
	Get func(ctx context.Context, ref *LoadBalancerRef) (LoadBalancerReadResult, error)
	// Ensure makes the load balancer be as wished: creates it, changes it, or finds nothing to do. May be called again at
	// any time, also for one that an earlier, interrupted call half made. With [Call.ValidateOnly] it changes nothing and
	// may answer nil for one that does not exist.
	Ensure func(ctx context.Context, request *EnsureRequest) (LoadBalancerResult, error)
	// UpdateNodes makes the targets be these nodes and touches nothing else; claims load_balancers.update_nodes. Nil: node
	// changes arrive as Ensure. Without load balancer the error is LOAD_BALANCER_NOT_FOUND.
	UpdateNodes func(ctx context.Context, request *UpdateNodesRequest) (LoadBalancerResult, error)
	// Delete makes the load balancer and all its parts be gone, in every state; finding nothing is success. Nil says that
	// nothing is left, [Pending] that something still is.
	Delete func(ctx context.Context, ref *LoadBalancerRef) (*PendingResult, error)
	// List yields the load balancers with the stamp of this cluster, each with its Service; claims load_balancers.list.
	List func(ctx context.Context, yield func(*cpv1.LoadBalancer) error) error
	// Watch sends hints about load balancers until ctx ends; claims load_balancers.watch.
	Watch func(ctx context.Context, request *cpv1.WatchLoadBalancersRequest, send func(*cpv1.WatchLoadBalancersResponse) error) error
}

// Routes serves routes: List, and Ensure or EnsureMany, Delete or DeleteMany. [Call.ReportRouteQuota] tells how full the
// table is.
type Routes struct {
	// Features are facts that the functions do not show. Nil: a batch of 200, pages of 500, IPv4.
	Features *cpv1.RouteCapabilities
	// List yields the routes that carry the stamp of [Call.Cluster], and no others.
	List func(ctx context.Context, yield func(*cpv1.Route) error) error
	// Ensure makes one route exist; one that exists as wished is success. Its target is a machine of this provider.
	Ensure func(ctx context.Context, route *cpv1.Route) (RouteResult, error)
	// EnsureMany makes many routes exist; answers in the order asked for.
	EnsureMany func(ctx context.Context, routes []*cpv1.Route) ([]RouteResult, error)
	// Delete makes one route be gone; nil says that it is. One without this cluster's stamp is refused.
	Delete func(ctx context.Context, route *cpv1.Route) (*PendingResult, error)
	// DeleteMany makes many routes be gone; answers in the order asked for, nil for one that is gone.
	DeleteMany func(ctx context.Context, routes []*cpv1.Route) ([]RouteResult, error)
}

// Volumes serves volumes: Get or GetMany.
type Volumes struct {
	// Features name at least the CSI drivers or in-tree plugins whose volumes live in this cloud; those of others are
	// answered with not-owned by the SDK.
	Features *cpv1.VolumeCapabilities
	// Get looks one volume up.
	Get func(ctx context.Context, ref *cpv1.VolumeRef) (VolumeResult, error)
	// GetMany looks many volumes up; answers in the order of refs, one for each.
	GetMany func(ctx context.Context, refs []*cpv1.VolumeRef) ([]VolumeResult, error)
}

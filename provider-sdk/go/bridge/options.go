package bridge

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	cloudprovider "k8s.io/cloud-provider"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
)

// Options say what cloudprovider.Interface does not. All but Name and Scope have defaults that do as upstream's
// cloud-controller-manager does.
type Options struct {
	// Name is a DNS-style name of the provider, unique in a cluster: acme.example.com. Also the domain of own error reasons.
	// Default: cloud.ProviderName().
	Name string
	// Version of the vendor's program. Default: that of the main module, or "unknown".
	Version string
	// IDPrefixes of provider IDs, each ending in ://. Default: cloud.ProviderName() and ://.
	IDPrefixes []string
	// Scope names what the credentials reach: account, project, region. A change of it stops every destructive act until an
	// operator confirms it. Default: cloud.ProviderName(), and a warning in the handshake, because such a scope never changes.
	Scope func(ctx context.Context) (string, error)
	// Check asks the cloud the cheapest question that proves that it can be reached. Default: nothing is asked, and the state
	// of the provider follows from other calls alone.
	Check func(ctx context.Context) error
	// ClusterName is passed to load balancers and routes, as upstream's flag --cluster-name is. Default: the name that the
	// controller has for the cluster, else kubernetes. Some clouds use it in names: keep the old program's value.
	ClusterName string

	// AnnotationPrefixes of Service annotations that the provider reads, besides service.beta.kubernetes.io/ and
	// service.kubernetes.io/. Others are not sent.
	AnnotationPrefixes []string
	// NodeLabelKeys are the keys of Node labels that the provider reads, besides Kubernetes' own about host name, zone, region,
	// instance type, operating system, architecture and role. Others are not sent.
	NodeLabelKeys []string
	// NodeAnnotationKeys are the keys of Node annotations that the provider reads. Others are not sent.
	NodeAnnotationKeys []string

	// Instances narrows what is asked about instances.
	Instances InstanceOptions
	// LoadBalancers are facts about load balancers that the interface does not show. Nil: everything is passed on, as upstream
	// does, and the provider rejects what it does not support. Narrow it to report unsupported fields before a call is made.
	LoadBalancers *cpv1.LoadBalancerCapabilities
	// Routes are facts about routes. Nil: IPv4 and IPv6, no target addresses.
	Routes *cpv1.RouteCapabilities
	// Volumes name the CSI drivers and in-tree plugins of PVLabeler's volumes. Nil: the in-tree plugin that goes with
	// cloud.ProviderName(), if there is one; else volumes are not served.
	Volumes *cpv1.VolumeCapabilities
	// Limits as in [provider.Definition].
	Limits *cpv1.Limits

	// ConcurrentServiceSyncs is how many load balancers are changed at once, as upstream's flag of that name. Default: 1.
	ConcurrentServiceSyncs int
	// ChangeTimeout ends a change that hangs; its context is cancelled. Default: 30 min.
	ChangeTimeout time.Duration
	// MapError turns errors of the vendor's own into errors of the contract; nil for those it does not know. It comes before the
	// bridge's table.
	MapError func(error) *provider.Error

	// CloudProvider is the default of [Main]'s flag --cloud-provider: the name under which the program registers its cloud.
	CloudProvider string
	// AddFlags adds the program's own flags to those of [Main].
	AddFlags func(flags *flag.FlagSet)

	// Kube gives the provider a client of the API server, for Initialize and SetInformers. Nil: it gets a local stand-in that
	// shows the Nodes which the controller has shown to the bridge, takes events into the log, and refuses everything else.
	Kube *rest.Config
	// Log is where the bridge writes. Default: JSON lines on standard error.
	Log *slog.Logger
}

// InstanceOptions say how much of the cloud is asked about one instance. By default it is three questions: does it exist, what
// is it, is it shut down.
type InstanceOptions struct {
	// MetadataProvesExistence says that InstanceMetadata fails for instances that are terminated: existence is then asked for
	// only where metadata is not found. Saves one call per instance.
	MetadataProvesExistence bool
	// NoShutdownState says that shutdown taints are not needed. Saves one call per instance.
	NoShutdownState bool
}

// serviceAnnotationPrefixes hold the annotations of Kubernetes itself and those of the older providers.
var serviceAnnotationPrefixes = []string{"service.beta.kubernetes.io/", "service.kubernetes.io/"}

var nodeLabelKeys = []string{
	v1.LabelHostname, v1.LabelTopologyZone, v1.LabelTopologyRegion, v1.LabelFailureDomainBetaZone, v1.LabelFailureDomainBetaRegion,
	v1.LabelInstanceTypeStable, v1.LabelInstanceType, v1.LabelOSStable, v1.LabelArchStable, v1.LabelNodeExcludeBalancers,
	"node-role.kubernetes.io/control-plane",
}

const (
	defaultChangeTimeout = 30 * time.Minute
	defaultAnswerWithin  = 8 * time.Second
)

// complete fills in values of the cloud and defaults.
func (o Options) complete(cloud cloudprovider.Interface) Options {
	name := cloud.ProviderName()
	if o.Name == "" {
		o.Name = name
	}
	if o.Version == "" {
		o.Version = mainVersion()
	}
	if len(o.IDPrefixes) == 0 {
		o.IDPrefixes = []string{name + "://"}
	}
	if o.Check == nil {
		o.Check = func(context.Context) error { return nil }
	}
	if o.LoadBalancers == nil {
		o.LoadBalancers = everyLoadBalancerFeature()
	}
	if o.Routes == nil {
		o.Routes = &cpv1.RouteCapabilities{Blackhole: true, IpFamilies: bothFamilies}
	}
	if plugin, known := inTreePlugins[name]; known && o.Volumes == nil {
		o.Volumes = &cpv1.VolumeCapabilities{InTreePlugins: []string{plugin}}
	}
	if o.ConcurrentServiceSyncs == 0 {
		o.ConcurrentServiceSyncs = 1
	}
	if o.ChangeTimeout == 0 {
		o.ChangeTimeout = defaultChangeTimeout
	}
	if o.Log == nil {
		o.Log = slog.New(slog.NewJSONHandler(os.Stderr, nil))
	}
	return o
}

func (o *Options) check() error {
	if o.ConcurrentServiceSyncs < 0 {
		return fmt.Errorf("bridge: ConcurrentServiceSyncs is %d; it must be 1 or more", o.ConcurrentServiceSyncs)
	}
	if o.ChangeTimeout < 0 {
		return errors.New("bridge: ChangeTimeout must not be negative")
	}
	return nil
}

var bothFamilies = []cpv1.IpFamily{cpv1.IpFamily_IP_FAMILY_IPV4, cpv1.IpFamily_IP_FAMILY_IPV6}

// everyLoadBalancerFeature leaves all judgment to the provider's code, as upstream does.
func everyLoadBalancerFeature() *cpv1.LoadBalancerCapabilities {
	return &cpv1.LoadBalancerCapabilities{
		Protocols: []cpv1.Protocol{
			cpv1.Protocol_PROTOCOL_TCP, cpv1.Protocol_PROTOCOL_UDP, cpv1.Protocol_PROTOCOL_SCTP,
		},
		MixedProtocols: true,
		IpFamilies:     bothFamilies,
		DualStack:      true,
		SourceRanges:   true,
		RequestedIp:    true, SessionAffinity: true,
		ExternalTrafficPolicyLocal: true,
		IpModes:                    []cpv1.IpMode{cpv1.IpMode_IP_MODE_VIP, cpv1.IpMode_IP_MODE_PROXY},
		LockScope:                  cpv1.LockScope_LOCK_SCOPE_SERVICE,
	}
}

var scopeNotReported = &cpv1.Diagnostic{
	Severity: cpv1.Severity_SEVERITY_WARNING,
	Reason:   "ScopeNotReported",
	Summary: "The provider does not say which account, project or region its credentials reach, so a change of them is not " +
		"noticed: give bridge.Options.Scope, or the flag --scope.",
}

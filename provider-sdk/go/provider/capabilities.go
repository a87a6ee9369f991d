package provider

import (
	"strings"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

const (
	defaultMaxBatchSize       = 200
	defaultMaxPageSize        = 500
	defaultMaxConcurrentCalls = 64
	// defaultMaxReceiveBytes is the SDK's, both sides' default in this project.
	defaultMaxReceiveBytes = 16 << 20
	defaultMaxNodeSets     = 64
	defaultMaxSetNodes     = 20_000
)

// capabilitiesOf is what a provider claims: each function that exists, and the facts declared beside.
func capabilitiesOf(definition *Definition) *cpv1.Capabilities {
	out := &cpv1.Capabilities{}
	if definition.Instances != nil {
		out.Instances = instanceCapabilities(definition.Instances)
	}
	if definition.LoadBalancers != nil {
		out.LoadBalancers = loadBalancerCapabilities(definition.LoadBalancers)
	}
	if definition.Routes != nil {
		out.Routes = routeCapabilities(definition.Routes)
	}
	if definition.Volumes != nil {
		out.Volumes = proto.CloneOf(definition.Volumes.Features)
		if out.Volumes == nil {
			out.Volumes = &cpv1.VolumeCapabilities{}
		}
		out.Volumes.MaxBatchSize = orDefault(out.Volumes.MaxBatchSize, defaultMaxBatchSize)
	}
	return out
}

func instanceCapabilities(handlers *Instances) *cpv1.InstanceCapabilities {
	out := proto.CloneOf(handlers.Features)
	if out == nil {
		out = &cpv1.InstanceCapabilities{LookupByName: true, ShutdownState: true}
	}
	out.MaxBatchSize = orDefault(out.MaxBatchSize, defaultMaxBatchSize)
	out.List = listCapability(out.List, handlers.List != nil)
	out.Watch = watchCapability(out.Watch, handlers.Watch != nil)
	return out
}

func loadBalancerCapabilities(handlers *LoadBalancers) *cpv1.LoadBalancerCapabilities {
	out := proto.CloneOf(handlers.Features)
	if out == nil {
		out = &cpv1.LoadBalancerCapabilities{NeedsNodePorts: true, LockScope: cpv1.LockScope_LOCK_SCOPE_SERVICE}
	}
	if len(out.Protocols) == 0 {
		out.Protocols = []cpv1.Protocol{cpv1.Protocol_PROTOCOL_TCP}
	}
	if len(out.IpFamilies) == 0 {
		out.IpFamilies = []cpv1.IpFamily{cpv1.IpFamily_IP_FAMILY_IPV4}
	}
	if len(out.IpModes) == 0 {
		out.IpModes = []cpv1.IpMode{cpv1.IpMode_IP_MODE_VIP}
	}
	out.List = listCapability(out.List, handlers.List != nil)
	out.Watch = watchCapability(out.Watch, handlers.Watch != nil)
	out.UpdateNodes = handlers.UpdateNodes != nil
	out.NodeSets = nodeSetCapability(out.NodeSets, handlers.NoNodeSets)
	return out
}

// nodeSetCapability: the SDK keeps node sets for every provider, in memory.
func nodeSetCapability(declared *cpv1.NodeSetCapability, off bool) *cpv1.NodeSetCapability {
	if off {
		return nil
	}
	if declared == nil {
		declared = &cpv1.NodeSetCapability{}
	}
	return &cpv1.NodeSetCapability{
		MaxSets:  orDefault(declared.MaxSets, defaultMaxNodeSets),
		MaxNodes: orDefault(declared.MaxNodes, defaultMaxSetNodes),
	}
}

func routeCapabilities(handlers *Routes) *cpv1.RouteCapabilities {
	out := proto.CloneOf(handlers.Features)
	if out == nil {
		out = &cpv1.RouteCapabilities{}
	}
	out.MaxBatchSize = orDefault(out.MaxBatchSize, defaultMaxBatchSize)
	out.MaxPageSize = orDefault(out.MaxPageSize, defaultMaxPageSize)
	if len(out.IpFamilies) == 0 {
		out.IpFamilies = []cpv1.IpFamily{cpv1.IpFamily_IP_FAMILY_IPV4}
	}
	return out
}

func listCapability(declared *cpv1.ListCapability, served bool) *cpv1.ListCapability {
	if !served {
		return nil
	}
	return &cpv1.ListCapability{
		MaxPageSize:        orDefault(declared.GetMaxPageSize(), defaultMaxPageSize),
		ConsistentSnapshot: declared.GetConsistentSnapshot(),
	}
}

func watchCapability(declared *cpv1.WatchCapability, served bool) *cpv1.WatchCapability {
	if !served {
		return nil
	}
	if declared == nil {
		return &cpv1.WatchCapability{}
	}
	return declared
}

// limitsOf is what the provider can take, completed by the SDK's own limits.
func limitsOf(definition *Definition) *cpv1.Limits {
	out := proto.CloneOf(definition.Limits)
	if out == nil {
		out = &cpv1.Limits{}
	}
	out.MaxConcurrentCalls = orDefault(out.MaxConcurrentCalls, defaultMaxConcurrentCalls)
	out.MaxReceiveBytes = orDefault(out.MaxReceiveBytes, defaultMaxReceiveBytes)
	return out
}

// annotationPrefixes are the declared ones, or the domains of the annotations described.
func annotationPrefixes(definition *Definition) []string {
	if definition.AnnotationPrefixes != nil {
		return definition.AnnotationPrefixes
	}
	var out []string
	seen := map[string]bool{}
	for _, schema := range definition.Annotations {
		prefix := schema.GetKey()[:strings.Index(schema.GetKey(), "/")+1]
		if !seen[prefix] {
			seen[prefix] = true
			out = append(out, prefix)
		}
	}
	return out
}

func orDefault[Number uint32 | uint64](value, fallback Number) Number {
	if value == 0 {
		return fallback
	}
	return value
}

// isClaimed follows the path of a capability, instances.list, through what is claimed. The empty path is mandatory.
func isClaimed(capabilities *cpv1.Capabilities, path string) bool {
	if path == "" {
		return true
	}
	message := capabilities.ProtoReflect()
	for name := range strings.SplitSeq(path, ".") {
		field := message.Descriptor().Fields().ByName(protoreflect.Name(name))
		if field == nil || !message.Has(field) {
			return false
		}
		if field.Message() == nil {
			// A feature that is a yes or no is the end of its path; one that is no is not there.
			return true
		}
		message = message.Get(field).Message()
	}
	return true
}

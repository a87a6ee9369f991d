package provider

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/rules"
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

var (
	idPrefix         = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://$`)
	annotationPrefix = regexp.MustCompile(`^[a-z0-9.-]+\.[a-z]+/?`)
)

// shapeProblems are the problems of the shape of a definition, all at once.
func shapeProblems(definition *Definition) []string {
	if definition == nil {
		return []string{"there is no definition"}
	}
	var out []string
	add := func(wrong bool, problem string) {
		if wrong {
			out = append(out, problem)
		}
	}
	add(definition.Check == nil, "Check is required: a function that asks the cloud something cheap")
	add(definition.Scope == nil, "Scope is required: a function that names what the credentials reach, such as StaticScope")
	out = append(out, prefixProblems(definition.IDPrefixes)...)
	instances, balancers, routes, volumes := definition.Instances, definition.LoadBalancers, definition.Routes, definition.Volumes
	add(instances == nil && balancers == nil && routes == nil && volumes == nil,
		"nothing is served: give at least one of Instances, LoadBalancers, Routes, Volumes")
	if instances != nil {
		add((instances.Get == nil) == (instances.GetMany == nil), "Instances needs Get or GetMany, and not both")
	}
	if balancers != nil {
		add(balancers.Ensure == nil, "LoadBalancers.Ensure is required")
		add(balancers.Delete == nil, "LoadBalancers.Delete is required")
		add(balancers.Get == nil && balancers.List == nil, "LoadBalancers needs Get, or List to find one in")
	}
	if routes != nil {
		add(routes.List == nil, "Routes.List is required")
		add((routes.Ensure == nil) == (routes.EnsureMany == nil), "Routes needs Ensure or EnsureMany, and not both")
		add((routes.Delete == nil) == (routes.DeleteMany == nil), "Routes needs Delete or DeleteMany, and not both")
	}
	if volumes != nil {
		add((volumes.Get == nil) == (volumes.GetMany == nil), "Volumes needs Get or GetMany, and not both")
		add(len(volumes.Features.GetCsiDrivers()) == 0 && len(volumes.Features.GetInTreePlugins()) == 0,
			"Volumes.Features needs CsiDrivers or InTreePlugins: volumes of others are not looked up")
	}
	return append(out, limitProblems(definition.Limits)...)
}

func prefixProblems(prefixes []string) []string {
	if len(prefixes) == 0 {
		return []string{"IDPrefixes is required, for example acme://"}
	}
	var out []string
	for i, prefix := range prefixes {
		if !idPrefix.MatchString(prefix) {
			out = append(out, fmt.Sprintf("IDPrefixes: %q must be a scheme in lower case with :// at its end, for example acme://", prefix))
		}
		if slices.Index(prefixes, prefix) < i {
			out = append(out, fmt.Sprintf("IDPrefixes holds %q twice", prefix))
		}
	}
	return out
}

// maxReceiveBytes is more than any message has; gRPC takes a signed 32-bit number.
const maxReceiveBytes = math.MaxInt32

func limitProblems(limits *cpv1.Limits) []string {
	var out []string
	if limits.GetMaxReceiveBytes() > maxReceiveBytes {
		out = append(out, fmt.Sprintf("Limits.MaxReceiveBytes must be at most %d", maxReceiveBytes))
	}
	if soft := limits.GetSoftCallDuration(); soft != nil && soft.AsDuration() <= 0 {
		out = append(out, "Limits.SoftCallDuration must be more than 0")
	}
	given := map[cpv1.QuotaClass]bool{}
	for i, rate := range limits.GetCallRates() {
		if perSecond := rate.GetCloudCallsPerSecond(); !(perSecond > 0) || math.IsInf(perSecond, 1) {
			out = append(out, fmt.Sprintf("Limits.CallRates[%d].CloudCallsPerSecond must be a number above 0", i))
		}
		classes := rate.GetClasses()
		if len(classes) == 0 {
			classes = []cpv1.QuotaClass{cpv1.QuotaClass_QUOTA_CLASS_UNSPECIFIED}
		}
		for _, class := range classes {
			if given[class] {
				out = append(out, fmt.Sprintf("Limits.CallRates gives %s two rates; give one", class))
			}
			given[class] = true
		}
	}
	return out
}

// factProblems are the problems of the facts that a definition declares, as the contract's own rules see its handshake.
func factProblems(info *cpv1.GetProviderInfoResponse) []string {
	var out []string
	for _, each := range rules.Check(info) {
		out = append(out, vendorPath(each.Field)+" "+each.Description)
	}
	for _, prefix := range info.GetAnnotationPrefixes() {
		if !annotationPrefix.MatchString(prefix) {
			out = append(out, fmt.Sprintf("annotation prefix %q must begin with a DNS name, for example acme.example.com/", prefix))
		}
	}
	for _, schema := range info.GetAnnotations() {
		if schema.GetType() == cpv1.AnnotationType_ANNOTATION_TYPE_ENUM && len(schema.GetAllowedValues()) == 0 {
			out = append(out, "annotation "+schema.GetKey()+" is an enum without AllowedValues")
		}
	}
	return out
}

var capabilityPath = regexp.MustCompile(`^capabilities\.(\w+)\.`)

// vendorPath is the field that a vendor wrote, for a path of the handshake.
func vendorPath(field string) string {
	field = capabilityPath.ReplaceAllString(field, "$1.features.")
	field = strings.Replace(field, "provider_id_prefixes", "id_prefixes", 1)
	var out strings.Builder
	upper := true
	for _, r := range field {
		if r == '_' {
			upper = true
			continue
		}
		text := string(r)
		if upper {
			text = strings.ToUpper(text)
		}
		upper = r == '.'
		out.WriteString(text)
	}
	return strings.Replace(out.String(), "IdPrefixes", "IDPrefixes", 1)
}

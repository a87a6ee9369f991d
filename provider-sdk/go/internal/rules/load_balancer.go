package rules

import (
	"fmt"
	"slices"
	"strings"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
)

// Ensure is what an Ensure must keep to beyond the rules of its fields: nothing is asked for that was not declared.
func Ensure(request *cpv1.EnsureLoadBalancerRequest, claimed *cpv1.LoadBalancerCapabilities, schemas []*cpv1.AnnotationSchema) []Violation {
	var out []Violation
	if spec := request.GetSpec(); spec != nil {
		out = slices.Concat(
			checkClass(spec, claimed), checkPorts(spec, claimed), checkFamilies(spec, claimed), checkFeatures(spec, claimed),
			checkHealthCheck(spec), checkAnnotations(spec.GetAnnotations(), schemas),
		)
	}
	out = append(out, Nodes(request.GetNodes())...)
	if request.GetAdopt() != nil && !claimed.GetAdopt() {
		out = append(out, unsupported("adopt", "adoption of existing load balancers"))
	}
	return out
}

func unsupported(field, feature string) Violation {
	return Violation{
		Reason: FeatureUnsupported, Field: field,
		Description: "asks for " + feature + ", which this provider does not offer",
	}
}

// unknownEnum rejects an unknown value: applying another value instead would be wrong. Contract: EVO-3.
func unknownEnum(field string, value int32) Violation {
	return Violation{
		Reason: Invalid, Field: field,
		Description: fmt.Sprintf("is %d, which this provider does not know", value),
	}
}

// checkHealthCheck: a check that cannot be made would take every node out.
func checkHealthCheck(spec *cpv1.LoadBalancerSpec) []Violation {
	if spec.GetHealthCheck() == nil || spec.GetHealthCheck().GetKind() != nil {
		return nil
	}
	return []Violation{{Reason: Missing, Field: "spec.health_check.kind", Description: "is required"}}
}

// checkClass: a class must be one of the declared; Services without one are the cluster's default provider's.
func checkClass(spec *cpv1.LoadBalancerSpec, claimed *cpv1.LoadBalancerCapabilities) []Violation {
	if spec.Class == nil || slices.Contains(claimed.GetClasses(), spec.GetClass()) {
		return nil
	}
	served := "none is"
	if len(claimed.GetClasses()) > 0 {
		quoted := make([]string, len(claimed.GetClasses()))
		for i, class := range claimed.GetClasses() {
			quoted[i] = Quote(class)
		}
		served = strings.Join(quoted, ", ") + " are"
	}
	return []Violation{{
		Reason: ClassUnsupported, Field: "spec.class",
		Description: fmt.Sprintf("is %s; %s served here", Quote(spec.GetClass()), served),
	}}
}

func protocolName(protocol cpv1.Protocol) string {
	return strings.TrimPrefix(protocol.String(), "PROTOCOL_")
}

func checkPorts(spec *cpv1.LoadBalancerSpec, claimed *cpv1.LoadBalancerCapabilities) []Violation {
	var out []Violation
	type key struct {
		protocol cpv1.Protocol
		port     uint32
	}
	firstAt := map[key]int{}
	protocols := map[cpv1.Protocol]bool{}
	for i, port := range spec.GetPorts() {
		field, protocol := fmt.Sprintf("spec.ports[%d]", i), port.GetProtocol()
		protocols[protocol] = true
		out = append(out, checkProtocol(field+".protocol", protocol, claimed)...)
		at := key{protocol, port.GetPort()}
		if earlier, twice := firstAt[at]; twice {
			out = append(out, Violation{
				Reason: Invalid, Field: field,
				Description: fmt.Sprintf("is the same port and protocol as spec.ports[%d]", earlier),
			})
			continue
		}
		firstAt[at] = i
	}
	if most := claimed.GetMaxPorts(); most > 0 && len(spec.GetPorts()) > int(most) {
		out = append(out, Violation{
			Reason: TooLarge, Field: "spec.ports",
			Description: fmt.Sprintf("has %d ports; at most %d are served", len(spec.GetPorts()), most),
		})
	}
	if len(protocols) > 1 && !claimed.GetMixedProtocols() {
		out = append(out, unsupported("spec.ports", "mixed protocols"))
	}
	return out
}

func checkProtocol(field string, protocol cpv1.Protocol, claimed *cpv1.LoadBalancerCapabilities) []Violation {
	if _, known := cpv1.Protocol_name[int32(protocol)]; !known {
		return []Violation{unknownEnum(field, int32(protocol))}
	}
	if protocol == cpv1.Protocol_PROTOCOL_UNSPECIFIED || slices.Contains(claimed.GetProtocols(), protocol) {
		return nil
	}
	served := make([]string, len(claimed.GetProtocols()))
	for i, each := range claimed.GetProtocols() {
		served[i] = protocolName(each)
	}
	return []Violation{{
		Reason: PortProtocolUnsupported, Field: field,
		Description: fmt.Sprintf("is %s; served are %s", protocolName(protocol), strings.Join(served, ", ")),
	}}
}

func checkFamilies(spec *cpv1.LoadBalancerSpec, claimed *cpv1.LoadBalancerCapabilities) []Violation {
	var out []Violation
	for i, family := range spec.GetIpFamilies() {
		field := fmt.Sprintf("spec.ip_families[%d]", i)
		switch _, known := cpv1.IpFamily_name[int32(family)]; {
		case !known:
			out = append(out, unknownEnum(field, int32(family)))
		case family != cpv1.IpFamily_IP_FAMILY_UNSPECIFIED && !slices.Contains(claimed.GetIpFamilies(), family):
			out = append(out, unsupported(field, familyName(family)))
		}
		if slices.Index(spec.GetIpFamilies(), family) < i {
			out = append(out, Violation{Reason: Invalid, Field: field, Description: "is given twice"})
		}
	}
	if len(spec.GetIpFamilies()) > 1 && !claimed.GetDualStack() {
		out = append(out, unsupported("spec.ip_families", "two families at once"))
	}
	return out
}

func familyName(family cpv1.IpFamily) string {
	if family == cpv1.IpFamily_IP_FAMILY_IPV6 {
		return "IPv6"
	}
	return "IPv4"
}

func checkFeatures(spec *cpv1.LoadBalancerSpec, claimed *cpv1.LoadBalancerCapabilities) []Violation {
	policy := spec.GetExternalTrafficPolicy()
	if _, known := cpv1.ExternalTrafficPolicy_name[int32(policy)]; !known {
		return []Violation{unknownEnum("spec.external_traffic_policy", int32(policy))}
	}
	local := policy == cpv1.ExternalTrafficPolicy_EXTERNAL_TRAFFIC_POLICY_LOCAL
	asked := []struct {
		wanted, offered bool
		field, feature  string
	}{
		{spec.GetSourceRanges() != nil, claimed.GetSourceRanges(), "spec.source_ranges", "source ranges"},
		{len(spec.GetRequestedIps()) > 0, claimed.GetRequestedIp(), "spec.requested_ips", "requested addresses"},
		{spec.GetSessionAffinity() != nil, claimed.GetSessionAffinity(), "spec.session_affinity", "session affinity"},
		{spec.GetDeletionProtection(), claimed.GetDeletionProtection(), "spec.deletion_protection", "deletion protection"},
		{local, claimed.GetExternalTrafficPolicyLocal(), "spec.external_traffic_policy", "external traffic policy Local"},
	}
	var out []Violation
	for _, each := range asked {
		if each.wanted && !each.offered {
			out = append(out, unsupported(each.field, each.feature))
		}
	}
	return out
}

// Nodes: a selection must say where the nodes are; without it, it must not be read as "no nodes".
func Nodes(nodes *cpv1.NodeSelection) []Violation {
	if nodes == nil {
		return nil
	}
	field := ""
	switch source := nodes.GetSource().(type) {
	case nil:
		field = "nodes.source"
	case *cpv1.NodeSelection_NodeSetId:
		if source.NodeSetId == "" {
			field = "nodes.node_set_id"
		}
	}
	if field == "" {
		return nil
	}
	return []Violation{{Reason: Missing, Field: field, Description: "is required"}}
}

// NodeSetChunk is what a chunk of a node set must keep to beyond the rules of its fields.
func NodeSetChunk(request *cpv1.ApplyNodeSetRequest, claimed *cpv1.LoadBalancerCapabilities) []Violation {
	var out []Violation
	if request.GetChunkCount() > 0 && request.GetChunkIndex() >= request.GetChunkCount() {
		out = append(out, Violation{
			Reason: Invalid, Field: "chunk_index",
			Description: fmt.Sprintf("is %d; the chunks are 0 to %d", request.GetChunkIndex(), request.GetChunkCount()-1),
		})
	}
	if request.GetBaseFingerprint() == "" && len(request.GetRemovedProviderIds()) > 0 {
		out = append(out, Violation{
			Reason: Invalid, Field: "removed_provider_ids",
			Description: "takes nodes out, but there is no base_fingerprint to take them from",
		})
	}
	if most := claimed.GetNodeSets().GetMaxNodes(); request.GetTargetCount() > most {
		out = append(out, Violation{
			Reason: TooLarge, Field: "target_count",
			Description: fmt.Sprintf("is %d; a set has at most %d nodes", request.GetTargetCount(), most),
		})
	}
	return out
}

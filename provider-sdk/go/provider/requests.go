package provider

import (
	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
)

// LoadBalancerRef identifies a load balancer.
type LoadBalancerRef struct {
	// Key is the natural key: at most 32 characters of [a-z0-9-], starting with a letter, constant for the Service. Use
	// it as name or idempotency token in the cloud.
	Key string
	// Cluster goes into the ownership tags of created objects; check it before an object is changed.
	Cluster *cpv1.ClusterRef
	// Service of the load balancer; its UID goes into the ownership tags.
	Service *cpv1.ServiceRef
	// Class is spec.loadBalancerClass; empty if none.
	Class string
	// Annotations of the Service with the declared prefixes.
	Annotations map[string]string
	// ID is the provider's ID of the load balancer, a hint.
	ID string
	// OperationID is that of the last pending result, a hint.
	OperationID string
}

// DesiredNodes are the desired target nodes, always complete, whatever the wire form.
type DesiredNodes struct {
	// Nodes are all desired targets. Empty: no node. They are shared: do not change them.
	Nodes []*cpv1.TargetNode
	// NodesFingerprint must be stored with the load balancer and returned in reads.
	NodesFingerprint string
	// NodesDiff are the changes since the last acknowledged call; nil when its nodes are unknown, as after a restart.
	NodesDiff *NodesDiff
}

// NodesDiff is how nodes differ from those of the last acknowledged call for the same load balancer.
type NodesDiff struct {
	// Added nodes become targets.
	Added []*cpv1.TargetNode
	// Removed nodes are no longer targets.
	Removed []*cpv1.TargetNode
	// Changed nodes have the same provider ID and other properties, in their current state.
	Changed []*cpv1.TargetNode
}

// EnsureRequest contains the complete desired state of a load balancer.
type EnsureRequest struct {
	LoadBalancerRef
	DesiredNodes
	// Spec is the desired state; what is absent is not requested.
	Spec *cpv1.LoadBalancerSpec
	// SpecFingerprint must be stored with the load balancer and returned in reads.
	SpecFingerprint string
	// AdoptID is the load balancer to adopt, regardless of its ownership tags; empty: none.
	AdoptID string
	// Request is the original request.
	Request *cpv1.EnsureLoadBalancerRequest
}

// UpdateNodesRequest contains the desired targets of an existing load balancer.
type UpdateNodesRequest struct {
	LoadBalancerRef
	DesiredNodes
	// Request is the original request.
	Request *cpv1.UpdateLoadBalancerNodesRequest
}

// NodeAddresses returns addresses of one type, without empty ones.
func NodeAddresses(kind cpv1.NodeAddressType, addresses ...string) []*cpv1.NodeAddress {
	var out []*cpv1.NodeAddress
	for _, address := range addresses {
		if address != "" {
			out = append(out, &cpv1.NodeAddress{Type: kind, Address: address})
		}
	}
	return out
}

// IngressIPs returns ingress points with these addresses, without empty ones. Without any address it returns nil, which
// leaves the published addresses unchanged.
func IngressIPs(addresses ...string) *cpv1.LoadBalancerIngressList {
	var out *cpv1.LoadBalancerIngressList
	for _, address := range addresses {
		if address == "" {
			continue
		}
		if out == nil {
			out = &cpv1.LoadBalancerIngressList{}
		}
		out.Items = append(out.Items, &cpv1.LoadBalancerIngress{Ip: &address})
	}
	return out
}

// InternalIP returns the first internal IP address of a node; empty if it has none.
func InternalIP(node *cpv1.TargetNode) string {
	for _, address := range node.GetAddresses() {
		if address.GetType() == cpv1.NodeAddressType_NODE_ADDRESS_TYPE_INTERNAL_IP {
			return address.GetAddress()
		}
	}
	return ""
}

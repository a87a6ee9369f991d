package provider

import (
	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
)

// LoadBalancerRef says which load balancer is meant.
type LoadBalancerRef struct {
	// Key is the natural key: at most 32 characters of [a-z0-9-], a letter first, the same in every call for this Service.
	// Use it as name or idempotency token at the cloud.
	Key string
	// Cluster to stamp on what is made, and to check before it is changed.
	Cluster *cpv1.ClusterRef
	// Service whose load balancer it is; its UID belongs into the stamp.
	Service *cpv1.ServiceRef
	// Class is spec.loadBalancerClass; empty if there is none.
	Class string
	// Annotations of the Service under the declared prefixes.
	Annotations map[string]string
	// ID is the provider's id of the load balancer, a hint.
	ID string
	// OperationID is that of the last pending answer, a hint.
	OperationID string
}

// DesiredNodes are the nodes wanted, always resolved and complete, however they traveled.
type DesiredNodes struct {
	// Nodes shall be the targets, all of them and no others. Empty: no node at all. They are shared: do not change them.
	Nodes []*cpv1.TargetNode
	// NodesFingerprint is to be kept with the load balancer and given back in reads.
	NodesFingerprint string
	// NodesDiff is how they differ from those of the last call; nil when these are not known, as after a restart.
	NodesDiff *NodesDiff
}

// NodesDiff is how nodes differ from those of the last acknowledged call for the same load balancer.
type NodesDiff struct {
	// Added nodes are to be targets and were not.
	Added []*cpv1.TargetNode
	// Removed nodes were targets and are not to be.
	Removed []*cpv1.TargetNode
	// Changed nodes have the same provider ID and other facts; they are given as they are now.
	Changed []*cpv1.TargetNode
}

// EnsureRequest is the whole wish for a load balancer.
type EnsureRequest struct {
	LoadBalancerRef
	DesiredNodes
	// Spec is what it shall be; what is absent is not wished for.
	Spec *cpv1.LoadBalancerSpec
	// SpecFingerprint is to be kept with the load balancer and given back in reads.
	SpecFingerprint string
	// AdoptID is the load balancer to take over, whoever stamped it; empty: none.
	AdoptID string
	// Request is the request as it came.
	Request *cpv1.EnsureLoadBalancerRequest
}

// UpdateNodesRequest is the wish for other targets.
type UpdateNodesRequest struct {
	LoadBalancerRef
	DesiredNodes
	// Request is the request as it came.
	Request *cpv1.UpdateLoadBalancerNodesRequest
}

// NodeAddresses are addresses of one kind; empty texts are left out.
func NodeAddresses(kind cpv1.NodeAddressType, addresses ...string) []*cpv1.NodeAddress {
	var out []*cpv1.NodeAddress
	for _, address := range addresses {
		if address != "" {
			out = append(out, &cpv1.NodeAddress{Type: kind, Address: address})
		}
	}
	return out
}

// IngressIPs are the addresses at which traffic enters a load balancer; empty texts are left out. Without any it says nothing
// about them.
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

// InternalIP is the first internal IP address of a node; empty if it has none.
func InternalIP(node *cpv1.TargetNode) string {
	for _, address := range node.GetAddresses() {
		if address.GetType() == cpv1.NodeAddressType_NODE_ADDRESS_TYPE_INTERNAL_IP {
			return address.GetAddress()
		}
	}
	return ""
}

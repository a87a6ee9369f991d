package bridge

import (
	"maps"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cloud-provider/api"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
)

// nodeOfRef rebuilds a Node from the reference in a lookup request.
func nodeOfRef(ref *cpv1.NodeRef) *v1.Node {
	node := &v1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        ref.GetName(),
			UID:         types.UID(ref.GetUid()),
			Labels:      maps.Clone(ref.GetLabels()),
			Annotations: maps.Clone(ref.GetAnnotations()),
		},
		Spec: v1.NodeSpec{ProviderID: ref.GetProviderId()},
		Status: v1.NodeStatus{
			Addresses: addressesOf(ref.GetAddresses()),
			NodeInfo:  v1.NodeSystemInfo{SystemUUID: ref.GetSystemUuid()},
		},
	}
	if created := ref.GetCreateTime(); created != nil {
		// Kubernetes keeps whole seconds.
		node.CreationTimestamp = metav1.Unix(created.GetSeconds(), 0)
	}
	if ips := ref.GetProvidedNodeIps(); len(ips) > 0 {
		setAnnotation(node, api.AnnotationAlphaProvidedIPAddr, strings.Join(ips, ","))
	}
	return node
}

// nodeOfTarget rebuilds a Node that is a target of a load balancer; known is the same Node from an earlier lookup, or nil.
func nodeOfTarget(target *cpv1.TargetNode, known *v1.Node) *v1.Node {
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: target.GetName()}}
	if known != nil && isSameMachine(known.Spec.ProviderID, target.GetProviderId()) {
		node = known.DeepCopy()
	}
	node.Spec.ProviderID = target.GetProviderId()
	node.Status.Addresses = addressesOf(target.GetAddresses())
	node.Labels = maps.Clone(target.GetLabels())
	if target.Zone != nil {
		setLabel(node, v1.LabelTopologyZone, target.GetZone())
	}
	return node
}

// nodeOfRoute rebuilds the target Node of a route; known is the same Node from an earlier lookup, or nil.
func nodeOfRoute(route *cpv1.Route, known *v1.Node) *v1.Node {
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: route.GetTargetNodeName()}}
	if known != nil && isSameMachine(known.Spec.ProviderID, route.GetTargetProviderId()) {
		node = known.DeepCopy()
	}
	node.Spec.ProviderID = route.GetTargetProviderId()
	if addresses := route.GetTargetAddresses(); len(addresses) > 0 {
		node.Status.Addresses = addressesOf(addresses)
	}
	return node
}

// isSameMachine is true unless both IDs are known and differ: a Node that is made again under its name is another instance.
func isSameMachine(left, right string) bool {
	return left == "" || right == "" || left == right
}

func setLabel(node *v1.Node, key, value string) {
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	node.Labels[key] = value
}

func setAnnotation(node *v1.Node, key, value string) {
	if node.Annotations == nil {
		node.Annotations = map[string]string{}
	}
	node.Annotations[key] = value
}

var addressTypes = map[cpv1.NodeAddressType]v1.NodeAddressType{
	cpv1.NodeAddressType_NODE_ADDRESS_TYPE_INTERNAL_IP:  v1.NodeInternalIP,
	cpv1.NodeAddressType_NODE_ADDRESS_TYPE_EXTERNAL_IP:  v1.NodeExternalIP,
	cpv1.NodeAddressType_NODE_ADDRESS_TYPE_HOSTNAME:     v1.NodeHostName,
	cpv1.NodeAddressType_NODE_ADDRESS_TYPE_INTERNAL_DNS: v1.NodeInternalDNS,
	cpv1.NodeAddressType_NODE_ADDRESS_TYPE_EXTERNAL_DNS: v1.NodeExternalDNS,
}

func addressesOf(addresses []*cpv1.NodeAddress) []v1.NodeAddress {
	var out []v1.NodeAddress
	for _, address := range addresses {
		if kind, known := addressTypes[address.GetType()]; known {
			out = append(out, v1.NodeAddress{Type: kind, Address: address.GetAddress()})
		}
	}
	return out
}

// addressesToContract keeps the order and removes duplicates. An address type that Kubernetes does not know becomes
// unspecified, and the controller warns about it.
func addressesToContract(addresses []v1.NodeAddress) []*cpv1.NodeAddress {
	var out []*cpv1.NodeAddress
	seen := map[v1.NodeAddress]bool{}
	for _, address := range addresses {
		if seen[address] || address.Address == "" {
			continue
		}
		seen[address] = true
		out = append(out, &cpv1.NodeAddress{Type: addressTypeToContract(address.Type), Address: address.Address})
	}
	return out
}

func addressTypeToContract(kind v1.NodeAddressType) cpv1.NodeAddressType {
	for contract, known := range addressTypes {
		if known == kind {
			return contract
		}
	}
	return cpv1.NodeAddressType_NODE_ADDRESS_TYPE_UNSPECIFIED
}

// machineName is what the cloud calls the instance. InstanceMetadata has no such field, and the contract forbids to copy the
// Node's own name: so it is the host name or the internal DNS name that the cloud gives, else the id.
func machineName(addresses []v1.NodeAddress, providerID string) string {
	for _, kind := range []v1.NodeAddressType{v1.NodeHostName, v1.NodeInternalDNS} {
		for _, address := range addresses {
			if address.Type == kind && address.Address != "" {
				return address.Address
			}
		}
	}
	return providerID[strings.LastIndex(providerID, "/")+1:]
}

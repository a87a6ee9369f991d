package bridge

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	v1 "k8s.io/api/core/v1"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
)

// Any bytes that are a message become an object, without a panic, and nothing of the message is lost. In `go test` the seeds
// run; longer: `go test -run='^$' -fuzz=FuzzNode -fuzztime=5m .`

func marshal(f *testing.F, message proto.Message) []byte {
	f.Helper()
	bytes, err := proto.Marshal(message)
	if err != nil {
		f.Fatal(err)
	}
	return bytes
}

func FuzzNode(f *testing.F) {
	f.Add(marshal(f, &cpv1.NodeRef{
		Name: "node-1", Uid: "u", ProviderId: "fake://vm-1", SystemUuid: "s", Labels: map[string]string{"a": "b"}, ProvidedNodeIps: []string{"10.0.0.1"},
		Addresses: []*cpv1.NodeAddress{{Type: cpv1.NodeAddressType_NODE_ADDRESS_TYPE_INTERNAL_IP, Address: "10.0.0.1"}, {Type: 99, Address: "x"}},
	}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, bytes []byte) {
		ref := &cpv1.NodeRef{}
		if proto.Unmarshal(bytes, ref) != nil {
			return
		}
		store := newNodeStore(time.Now)
		node := store.lookedUp(ref)
		if node.Name != ref.GetName() || string(node.UID) != ref.GetUid() || node.Spec.ProviderID != ref.GetProviderId() ||
			node.Status.NodeInfo.SystemUUID != ref.GetSystemUuid() {
			t.Errorf("%v became %+v", ref, node)
		}
		for key, value := range ref.GetLabels() {
			if node.Labels[key] != value {
				t.Errorf("label %q is %q, want %q", key, node.Labels[key], value)
			}
		}
		if got, want := len(node.Status.Addresses), knownAddresses(ref.GetAddresses()); got != want {
			t.Errorf("%d of %d addresses are left", got, want)
		}
		target := &cpv1.TargetNode{Name: ref.GetName(), ProviderId: ref.GetProviderId(), Addresses: ref.GetAddresses(), Labels: ref.GetLabels()}
		if seen := store.targets([]*cpv1.TargetNode{target})[0]; seen.UID != node.UID || seen.Spec.ProviderID != node.Spec.ProviderID {
			t.Errorf("as a target it is %+v, as looked up %+v", seen, node)
		}
	})
}

func knownAddresses(addresses []*cpv1.NodeAddress) int {
	count := 0
	for _, address := range addresses {
		if kind := address.GetType(); kind >= cpv1.NodeAddressType_NODE_ADDRESS_TYPE_INTERNAL_IP && kind <= cpv1.NodeAddressType_NODE_ADDRESS_TYPE_EXTERNAL_DNS {
			count++
		}
	}
	return count
}

func FuzzService(f *testing.F) {
	nodePort := uint32(30080)
	f.Add(marshal(f, &cpv1.LoadBalancerSpec{
		Class: proto.String("c"), Ports: []*cpv1.ServicePort{{Name: "http", Protocol: cpv1.Protocol_PROTOCOL_TCP, Port: 80, NodePort: &nodePort}},
		IpFamilies: bothFamilies, SourceRanges: &cpv1.SourceRanges{Cidrs: []string{"10.0.0.0/8"}}, SessionAffinity: &cpv1.SessionAffinity{},
		RequestedIps: []string{"192.0.2.1"}, Annotations: map[string]string{"a": "b"},
	}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, bytes []byte) {
		desired := &cpv1.LoadBalancerSpec{}
		if proto.Unmarshal(bytes, desired) != nil {
			return
		}
		service := serviceOfSpec(&cpv1.ServiceRef{Namespace: "default", Name: "web", Uid: "uid"}, desired)
		if len(service.Spec.Ports) != len(desired.GetPorts()) || len(service.Annotations) != len(desired.GetAnnotations()) ||
			len(service.Spec.LoadBalancerSourceRanges) != len(desired.GetSourceRanges().GetCidrs()) {
			t.Errorf("%v became %+v", desired, service)
		}
		for i, port := range desired.GetPorts() {
			got := service.Spec.Ports[i]
			if got.Name != port.GetName() || uint32(got.Port) != port.GetPort() || uint32(got.NodePort) != port.GetNodePort() {
				t.Errorf("port %v became %+v", port, got)
			}
		}
		if want := max(len(desired.GetIpFamilies()), 1); len(service.Spec.IPFamilies) != want || service.Spec.IPFamilyPolicy == nil {
			t.Errorf("families %v became %v", desired.GetIpFamilies(), service.Spec.IPFamilies)
		}
	})
}

func FuzzIngress(f *testing.F) {
	f.Add("192.0.2.1", "LB.example.com", int32(80), "TCP")
	f.Add("", "", int32(-1), "")
	f.Fuzz(func(t *testing.T, ip, hostname string, port int32, protocol string) {
		status := &v1.LoadBalancerStatus{Ingress: []v1.LoadBalancerIngress{
			{IP: ip, Hostname: hostname, Ports: []v1.PortStatus{{Port: port, Protocol: v1.Protocol(protocol)}}},
		}}
		items := ingressToContract(status).GetItems()
		if isEmpty := ip == "" && hostname == ""; isEmpty != (len(items) == 0) {
			t.Fatalf("%q and %q became %v", ip, hostname, items)
		}
		for _, item := range items {
			if item.GetIp() != ip || (hostname == "") != (item.Hostname == nil) || len(item.GetPorts()) != 1 {
				t.Errorf("%q and %q became %v", ip, hostname, item)
			}
		}
	})
}

// FuzzError finds a reason for whatever an error has in it.
func FuzzError(f *testing.F) {
	f.Add("broken", 503, uint8(0))
	f.Fuzz(func(t *testing.T, text string, status int, kind uint8) {
		mapper := errorMapper{domain: "acme.example.com"}
		if mapper.toContract(&httpError{Code: status}, rpcKind(kind%6), text) == nil {
			t.Error("an error became none")
		}
	})
}

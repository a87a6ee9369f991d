package bridge

import (
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"
	v1 "k8s.io/api/core/v1"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
)

func TestServiceOfSpec(t *testing.T) {
	nodePort := uint32(30080)
	port := &cpv1.ServicePort{Protocol: cpv1.Protocol_PROTOCOL_TCP, Port: 80}
	withNodePort := &cpv1.ServicePort{Protocol: cpv1.Protocol_PROTOCOL_TCP, Port: 80, NodePort: &nodePort}
	singleStack, preferDual, hours := v1.IPFamilyPolicySingleStack, v1.IPFamilyPolicyPreferDualStack, int32(10800)
	cases := []struct {
		name    string
		desired *cpv1.LoadBalancerSpec
		read    func(v1.ServiceSpec) any
		want    any
	}{
		{"no families are IPv4", &cpv1.LoadBalancerSpec{}, func(s v1.ServiceSpec) any { return s.IPFamilies }, []v1.IPFamily{v1.IPv4Protocol}},
		{"one family is single stack", &cpv1.LoadBalancerSpec{IpFamilies: []cpv1.IpFamily{cpv1.IpFamily_IP_FAMILY_IPV6}},
			func(s v1.ServiceSpec) any { return *s.IPFamilyPolicy }, singleStack},
		{"two families are dual stack", &cpv1.LoadBalancerSpec{IpFamilies: bothFamilies},
			func(s v1.ServiceSpec) any { return *s.IPFamilyPolicy }, preferDual},
		{"no policy is Cluster", &cpv1.LoadBalancerSpec{},
			func(s v1.ServiceSpec) any { return s.ExternalTrafficPolicy }, v1.ServiceExternalTrafficPolicyTypeCluster},
		{"a health check without policy Local is no health check node port",
			&cpv1.LoadBalancerSpec{HealthCheck: &cpv1.HealthCheck{Port: 10256}},
			func(s v1.ServiceSpec) any { return s.HealthCheckNodePort }, int32(0)},
		{"no affinity is None", &cpv1.LoadBalancerSpec{}, func(s v1.ServiceSpec) any { return s.SessionAffinity }, v1.ServiceAffinityNone},
		{"affinity without time is Kubernetes' three hours", &cpv1.LoadBalancerSpec{SessionAffinity: &cpv1.SessionAffinity{}},
			func(s v1.ServiceSpec) any { return *s.SessionAffinityConfig.ClientIP.TimeoutSeconds }, hours},
		{"no class is none", &cpv1.LoadBalancerSpec{}, func(s v1.ServiceSpec) any { return s.LoadBalancerClass }, (*string)(nil)},
		{"ports without node ports were not allocated any", &cpv1.LoadBalancerSpec{Ports: []*cpv1.ServicePort{port}},
			func(s v1.ServiceSpec) any { return *s.AllocateLoadBalancerNodePorts }, false},
		{"node ports were allocated", &cpv1.LoadBalancerSpec{Ports: []*cpv1.ServicePort{withNodePort}},
			func(s v1.ServiceSpec) any { return *s.AllocateLoadBalancerNodePorts }, true},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			service := serviceOfSpec(&cpv1.ServiceRef{Namespace: "default", Name: "web", Uid: "uid"}, test.desired)
			if got := test.read(service.Spec); !reflect.DeepEqual(got, test.want) {
				t.Errorf("is %v, want %v", got, test.want)
			}
		})
	}
}

func TestIngressToContract(t *testing.T) {
	ip, host, quota := "192.0.2.1", "lb.example.com", "NoQuota"
	status := &v1.LoadBalancerStatus{Ingress: []v1.LoadBalancerIngress{
		{IP: ip, Ports: []v1.PortStatus{{Port: 80, Protocol: v1.ProtocolTCP}, {Port: 81, Protocol: v1.ProtocolUDP, Error: &quota}}},
		{Hostname: "LB.Example.com"},
		{},
	}}
	want := &cpv1.LoadBalancerIngressList{Items: []*cpv1.LoadBalancerIngress{
		{Ip: &ip, Ports: []*cpv1.IngressPort{
			{Port: 80, Protocol: cpv1.Protocol_PROTOCOL_TCP}, {Port: 81, Protocol: cpv1.Protocol_PROTOCOL_UDP, Error: &quota},
		}},
		{Hostname: &host},
	}}
	if got := ingressToContract(status); !proto.Equal(got, want) {
		t.Errorf("is %v, want %v", got, want)
	}
}

func TestMachineName(t *testing.T) {
	cases := []struct {
		name      string
		addresses []v1.NodeAddress
		want      string
	}{
		{"the host name", []v1.NodeAddress{{Type: v1.NodeInternalDNS, Address: "dns"}, {Type: v1.NodeHostName, Address: "host"}}, "host"},
		{"else the internal DNS name", []v1.NodeAddress{{Type: v1.NodeInternalIP, Address: "10.0.0.1"}, {Type: v1.NodeInternalDNS, Address: "dns"}}, "dns"},
		{"else the id", nil, "i-1"},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			if got := machineName(test.addresses, "aws:///zone-a/i-1"); got != test.want {
				t.Errorf("is %q, want %q", got, test.want)
			}
		})
	}
}

func TestAddressesKeepTheirOrderAndComeOnce(t *testing.T) {
	given := []v1.NodeAddress{
		{Type: v1.NodeExternalIP, Address: "192.0.2.1"}, {Type: v1.NodeInternalIP, Address: "10.0.0.1"},
		{Type: v1.NodeExternalIP, Address: "192.0.2.1"}, {Type: v1.NodeInternalIP},
	}
	if got := addressesOf(addressesToContract(given)); !reflect.DeepEqual(got, given[:2]) {
		t.Errorf("is %v, want %v", got, given[:2])
	}
}

package bridge_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/fake"

	"cloudwire.dev/provider-sdk/go/bridge"
	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
	"cloudwire.dev/provider-sdk/go/providertest"
)

const serviceUID = "11111111-2222-3333-4444-555555555555"

// newFake is upstream's fake cloud with one instance, and an address for load balancers.
func newFake() *fake.Cloud {
	return &fake.Cloud{
		EnableInstancesV2:  true,
		ExistsByProviderID: true,
		Exists:             true,
		ExternalIP:         net.IPv4(192, 0, 2, 1),
		Addresses:          []v1.NodeAddress{{Type: v1.NodeInternalIP, Address: "10.0.0.1"}, {Type: v1.NodeHostName, Address: "vm-1"}},
		ProviderID:         map[types.NodeName]string{"node-1": "fake://vm-1"},
		InstanceTypes:      map[types.NodeName]string{"fake://vm-1": "small"},
		Zone:               cloudprovider.Zone{FailureDomain: "zone-a", Region: "region-1"},
		RouteMap:           map[string]*fake.Route{},
	}
}

func testOptions() bridge.Options {
	return bridge.Options{
		Name: "fake.example.com", Version: "1.0.0", Scope: provider.StaticScope("account-1"),
		Log:    slog.New(slog.NewJSONHandler(io.Discard, nil)),
		Limits: &cpv1.Limits{SoftCallDuration: durationpb.New(2 * time.Second)},
	}
}

// serve bridges cloud until the test ends.
func serve(t *testing.T, cloud cloudprovider.Interface, options bridge.Options) *providertest.Provider {
	t.Helper()
	life, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	definition, err := bridge.Define(life, cloud, options)
	if err != nil {
		t.Fatal(err)
	}
	return providertest.Start(t, definition)
}

func getInstance(t *testing.T, p *providertest.Provider, ref *cpv1.NodeRef) *cpv1.InstanceResult {
	t.Helper()
	response, err := p.Client.BatchGetInstances(t.Context(), &cpv1.BatchGetInstancesRequest{
		Context: p.Context(), Nodes: []*cpv1.NodeRef{ref}, MaxDataAge: durationpb.New(0),
	})
	if err != nil {
		t.Fatal(err)
	}
	return response.GetResults()[0]
}

func ensureRequest(p *providertest.Provider, requestID, fingerprint string, nodes *cpv1.NodeSelection) *cpv1.EnsureLoadBalancerRequest {
	nodePort, targetPort := uint32(30080), uint32(8080)
	return &cpv1.EnsureLoadBalancerRequest{
		Context: p.Context(), Change: p.Change(requestID), Service: p.Service("web", serviceUID),
		Spec: &cpv1.LoadBalancerSpec{
			Ports: []*cpv1.ServicePort{{
				Name: "http", Protocol: cpv1.Protocol_PROTOCOL_TCP, Port: 80, NodePort: &nodePort, TargetPort: &targetPort,
			}},
			IpFamilies: []cpv1.IpFamily{cpv1.IpFamily_IP_FAMILY_IPV4},
		},
		SpecFingerprint: fingerprint, Nodes: nodes,
	}
}

func TestBridgeAnswersAMachine(t *testing.T) {
	p := serve(t, newFake(), testOptions())
	got := getInstance(t, p, &cpv1.NodeRef{Name: "node-1", ProviderId: "fake://vm-1"}).GetInstance()
	if got.GetProviderId() != "fake://vm-1" || got.GetName() != "vm-1" || got.GetZone() != "zone-a" ||
		got.GetState() != cpv1.InstanceState_INSTANCE_STATE_RUNNING || len(got.GetAddresses()) != 2 {
		t.Errorf("instance is %v", got)
	}
}

func TestBridgeServesALoadBalancer(t *testing.T) {
	cloud := newFake()
	p := serve(t, cloud, testOptions())
	ensured, err := p.Client.EnsureLoadBalancer(t.Context(), ensureRequest(p, "r1", "s1", p.Nodes("n1", "fake://vm-1")))
	if err != nil {
		t.Fatal(err)
	}
	lb := ensured.GetLoadBalancer()
	if got := lb.GetIngress().GetItems()[0].GetIp(); got != "192.0.2.1" {
		t.Errorf("ingress is %q", got)
	}
	if lb.GetSpecFingerprint() != "s1" || lb.GetId() != "a1111111122223333444455555555555" {
		t.Errorf("load balancer is %v", lb)
	}
}

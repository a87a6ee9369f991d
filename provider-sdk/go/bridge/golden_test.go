package bridge

import (
	"encoding/json"
	"os"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
)

// The .json files without a second part in their names are objects as the API server stores them, and as upstream's
// cloud-controller-manager hands them to a provider. The others are what the controller makes of them for the contract:
// controller/src/provider/convert/go-bridge.test.ts writes them, and fails when they are not current.

func readObject(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile("testdata/fixtures/" + file)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func readMessage(t *testing.T, file string, into proto.Message) {
	t.Helper()
	text, err := os.ReadFile("testdata/fixtures/" + file)
	if err == nil {
		err = protojson.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// withoutMeta removes the metadata that the contract does not transmit.
func withoutMeta(meta *metav1.ObjectMeta) {
	meta.ResourceVersion, meta.Generation = "", 0
	delete(meta.Annotations, "example.com/not-declared")
	delete(meta.Labels, "example.com/not-declared")
}

// unknownOfService are the fields that a bridged provider cannot see.
func unknownOfService(service *v1.Service) {
	withoutMeta(&service.ObjectMeta)
	service.TypeMeta = metav1.TypeMeta{}
	service.CreationTimestamp = metav1.Time{}
	service.Labels = nil
	service.Spec.Selector, service.Spec.ClusterIP, service.Spec.ClusterIPs = nil, "", nil
	service.Spec.InternalTrafficPolicy = nil
	for i := range service.Spec.Ports {
		if service.Spec.Ports[i].TargetPort.Type == intstr.String {
			service.Spec.Ports[i].TargetPort = intstr.IntOrString{}
		}
	}
}

// unknownOfNode are the fields that a bridged provider cannot see.
func unknownOfNode(node *v1.Node) {
	withoutMeta(&node.ObjectMeta)
	node.TypeMeta = metav1.TypeMeta{}
	node.Spec.Taints, node.Spec.PodCIDR, node.Spec.PodCIDRs = nil, "", nil
	node.Status.Conditions = nil
	node.Status.NodeInfo = v1.NodeSystemInfo{SystemUUID: node.Status.NodeInfo.SystemUUID}
}

func TestServiceIsUpstreams(t *testing.T) {
	want, desired := &v1.Service{}, &cpv1.LoadBalancerSpec{}
	readObject(t, "service.json", want)
	readMessage(t, "service.spec.json", desired)
	unknownOfService(want)
	got := serviceOfSpec(&cpv1.ServiceRef{Namespace: want.Namespace, Name: want.Name, Uid: string(want.UID)}, desired)
	if !equality.Semantic.DeepEqual(got, want) {
		t.Errorf("service is\n%+v\nwant\n%+v", got, want)
	}
}

func TestNodeOfALookUpIsUpstreams(t *testing.T) {
	want, ref := &v1.Node{}, &cpv1.NodeRef{}
	readObject(t, "node.json", want)
	readMessage(t, "node.ref.json", ref)
	unknownOfNode(want)
	if got := nodeOfRef(ref); !equality.Semantic.DeepEqual(got, want) {
		t.Errorf("node is\n%+v\nwant\n%+v", got, want)
	}
}

func TestTargetNodeIsUpstreamsOnceItWasLookedUp(t *testing.T) {
	want, ref, target := &v1.Node{}, &cpv1.NodeRef{}, &cpv1.TargetNode{}
	readObject(t, "node.json", want)
	readMessage(t, "node.ref.json", ref)
	readMessage(t, "node.target.json", target)
	unknownOfNode(want)
	if got := nodeOfTarget(target, nodeOfRef(ref)); !equality.Semantic.DeepEqual(got, want) {
		t.Errorf("node is\n%+v\nwant\n%+v", got, want)
	}
}

func TestTargetNodeAloneHasWhatTheCallTells(t *testing.T) {
	want, target := &v1.Node{}, &cpv1.TargetNode{}
	readObject(t, "node.json", want)
	readMessage(t, "node.target.json", target)
	unknownOfNode(want)
	want.ObjectMeta = metav1.ObjectMeta{Name: want.Name, Labels: want.Labels}
	want.Status.NodeInfo = v1.NodeSystemInfo{}
	if got := nodeOfTarget(target, nil); !equality.Semantic.DeepEqual(got, want) {
		t.Errorf("node is\n%+v\nwant\n%+v", got, want)
	}
	stranger := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: want.Name, UID: "another"}, Spec: v1.NodeSpec{ProviderID: "fake://vm-0"}}
	if got := nodeOfTarget(target, stranger); !equality.Semantic.DeepEqual(got, want) {
		t.Errorf("with the memory of another machine of that name, node is\n%+v\nwant\n%+v", got, want)
	}
}

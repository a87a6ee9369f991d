package bridge_test

import (
	"context"
	"sync/atomic"
	"testing"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/fake"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
)

// informing is a cloud that looks Nodes up by itself, as those of AWS and Google do.
type informing struct {
	*fake.Cloud
	client kubernetes.Interface
	nodes  cache.SharedIndexInformer
	// found is what the informer had when the provider was asked.
	found atomic.Value
}

func (i *informing) Initialize(builder cloudprovider.ControllerClientBuilder, _ <-chan struct{}) {
	i.client = builder.ClientOrDie("informing")
}

func (i *informing) SetInformers(factory informers.SharedInformerFactory) {
	i.nodes = factory.Core().V1().Nodes().Informer()
}

func (i *informing) InstancesV2() (cloudprovider.InstancesV2, bool) { return i, true }

func (i *informing) InstanceMetadata(_ context.Context, node *v1.Node) (*cloudprovider.InstanceMetadata, error) {
	item, exists, err := i.nodes.GetStore().GetByKey(node.Name)
	if err == nil && exists {
		i.found.Store(item.(*v1.Node).Spec.ProviderID)
	}
	return &cloudprovider.InstanceMetadata{ProviderID: "fake://vm-1"}, nil
}

func TestInformersShowTheNodeThatACallIsAbout(t *testing.T) {
	cloud := &informing{Cloud: newFake()}
	p := serve(t, cloud, testOptions())
	if cloud.nodes.HasSynced() {
		t.Error("an informer has synced before a node was shown")
	}
	getInstance(t, p, &cpv1.NodeRef{Name: "node-1", ProviderId: "fake://vm-1"})
	if got := cloud.found.Load(); got != "fake://vm-1" {
		t.Errorf("the informer had %v", got)
	}
	getInstance(t, p, &cpv1.NodeRef{Name: "node-1", ProviderId: "fake://vm-2"})
	if got := cloud.found.Load(); got != "fake://vm-2" {
		t.Errorf("then the informer had %v", got)
	}
	cloud.ExistsByProviderID = false
	getInstance(t, p, &cpv1.NodeRef{Name: "node-1", ProviderId: "fake://vm-2"})
	eventually(t, func() bool { return len(cloud.nodes.GetStore().ListKeys()) == 0 })
}

func TestStandInClient(t *testing.T) {
	cloud := &informing{Cloud: newFake()}
	p := serve(t, cloud, testOptions())
	getInstance(t, p, &cpv1.NodeRef{Name: "node-1", ProviderId: "fake://vm-1"})
	ctx := t.Context()
	if node, err := cloud.client.CoreV1().Nodes().Get(ctx, "node-1", metav1.GetOptions{}); err != nil || node.Spec.ProviderID != "fake://vm-1" {
		t.Errorf("node is %v, %v", node, err)
	}
	if _, err := cloud.client.CoreV1().Nodes().Get(ctx, "node-2", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a node not shown is %v", err)
	}
	if _, err := cloud.client.Discovery().ServerVersion(); err != nil {
		t.Errorf("version is %v", err)
	}
	event := &v1.Event{ObjectMeta: metav1.ObjectMeta{Name: "e", Namespace: "default"}, Reason: "Said"}
	if _, err := cloud.client.CoreV1().Events("default").Create(ctx, event, metav1.CreateOptions{}); err != nil {
		t.Errorf("an event is %v", err)
	}
	if _, err := cloud.client.CoreV1().ConfigMaps("kube-system").Get(ctx, "ingress-uid", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("anything else is %v", err)
	}
	if err := cloud.client.CoreV1().Nodes().Delete(ctx, "node-1", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a deletion is %v", err)
	}
}

// factoryOnly is a cloud that takes informers, but none of Nodes.
type factoryOnly struct {
	*fake.Cloud
	factory informers.SharedInformerFactory
}

func (f *factoryOnly) SetInformers(factory informers.SharedInformerFactory) { f.factory = factory }

func TestNoCallWaitsForAnInformerThatNobodyStarted(t *testing.T) {
	cloud := &factoryOnly{Cloud: newFake()}
	p := serve(t, cloud, testOptions())
	getInstance(t, p, &cpv1.NodeRef{Name: "node-1", ProviderId: "fake://vm-1"})
	if got := cloud.factory.Core().V1().Nodes().Informer().GetStore().ListKeys(); len(got) != 1 {
		t.Errorf("after the call the informer has %v", got)
	}
}

package bridge

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	cloudprovider "k8s.io/cloud-provider"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
)

// kubeAccess is what a provider gets of Kubernetes: a client of the API server where the operator gave one, else of a stand-in
// within this process. It implements cloudprovider.ControllerClientBuilder.
type kubeAccess struct {
	config  *rest.Config
	client  kubernetes.Interface
	factory informers.SharedInformerFactory
	// nodes is nil where the provider reads Nodes from the API server.
	nodes *nodeStore
	// hasInformers is true once the provider has been given informers that show nodes.
	hasInformers atomic.Bool
}

func newKubeAccess(nodes *nodeStore, config *rest.Config, log *slog.Logger) (*kubeAccess, error) {
	access := &kubeAccess{config: config}
	if config == nil {
		access.nodes = nodes
		access.config = &rest.Config{
			Host:          "http://bridge.invalid",
			Transport:     newStandIn(nodes, log),
			ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
			QPS:           -1,
		}
	}
	own := rest.CopyConfig(access.config)
	// A call reads one Service at most, and the controller bounds calls: waiting here would only be counted as failing.
	own.QPS = -1
	client, err := kubernetes.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("bridge: make a client of the API server: %w", err)
	}
	// No resync: the bridge's own Nodes come again with each call anyway.
	access.client = client
	access.factory = informers.NewSharedInformerFactory(client, 0)
	return access, nil
}

// offer gives the provider informers; factory is to be started afterwards.
func (k *kubeAccess) offer(user cloudprovider.InformerUser) {
	user.SetInformers(k.factory)
	if k.nodes == nil {
		return
	}
	// informed looks at it also where the provider has not asked for it; only what is asked for before the start is started.
	k.factory.Core().V1().Nodes().Informer()
	k.hasInformers.Store(true)
}

// serviceReadTimeout bounds the reading of a Service within a call that has other things to do yet.
const serviceReadTimeout = 5 * time.Second

// service reads a Service from the API server; nil if there is none with that UID any more, or no client to read it with.
func (k *kubeAccess) service(ctx context.Context, ref *cpv1.ServiceRef) (*v1.Service, error) {
	if k.nodes != nil {
		return nil, nil //nolint:nilnil // says that nothing is known
	}
	ctx, cancel := context.WithTimeout(ctx, serviceReadTimeout)
	defer cancel()
	service, err := k.client.CoreV1().Services(ref.GetNamespace()).Get(ctx, ref.GetName(), metav1.GetOptions{})
	switch {
	// A proxy's page is no word of Kubernetes'.
	case apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return nil, nil //nolint:nilnil // says that it is gone
	case err != nil:
		return nil, err
	case string(service.UID) != ref.GetUid():
		return nil, nil //nolint:nilnil // says that it is gone: another has its name
	}
	return service, nil
}

// Config of a client, as in upstream named for its user.
func (k *kubeAccess) Config(name string) (*rest.Config, error) {
	return rest.AddUserAgent(rest.CopyConfig(k.config), name), nil
}

// ConfigOrDie never dies: the configuration is there.
func (k *kubeAccess) ConfigOrDie(name string) *rest.Config {
	return rest.AddUserAgent(rest.CopyConfig(k.config), name)
}

// Client of the API server, or of the stand-in.
func (k *kubeAccess) Client(name string) (kubernetes.Interface, error) {
	return kubernetes.NewForConfig(k.ConfigOrDie(name))
}

// ClientOrDie panics where a client cannot be made; newKubeAccess has made one of the same configuration before.
func (k *kubeAccess) ClientOrDie(name string) kubernetes.Interface {
	return kubernetes.NewForConfigOrDie(k.ConfigOrDie(name))
}

const (
	// maxInformerLag is how long a call waits for the provider's informer; then it goes on with what there is.
	maxInformerLag      = 2 * time.Second
	informerPollingTime = 2 * time.Millisecond
)

// informed waits until the provider's Node informer shows what the bridge knows, so that a lookup by name in the provider's
// code finds the Node that the call is about.
func (k *kubeAccess) informed(ctx context.Context) {
	if k.nodes == nil || !k.hasInformers.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, maxInformerLag)
	defer cancel()
	ticker := time.NewTicker(informerPollingTime)
	defer ticker.Stop()
	for !k.isUpToDate() {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// isUpToDate looks at the last Node that changed: events are handled in order.
func (k *kubeAccess) isUpToDate() bool {
	name, revision, exists := k.nodes.lastChange()
	if revision == 0 {
		return true
	}
	item, shown, err := k.factory.Core().V1().Nodes().Informer().GetStore().GetByKey(name)
	if err != nil || !shown {
		return !exists
	}
	node, _ := item.(*v1.Node)
	have, err := strconv.ParseUint(node.ResourceVersion, 10, 64)
	return err == nil && exists && have >= revision
}

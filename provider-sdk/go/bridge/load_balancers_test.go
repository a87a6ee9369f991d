package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	v1 "k8s.io/api/core/v1"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/api"
	"k8s.io/cloud-provider/fake"

	"cloudwire.dev/provider-sdk/go/bridge"
	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
	"cloudwire.dev/provider-sdk/go/providertest"
)

// balancing is a cloud that applies every change and records its calls.
type balancing struct {
	*fake.Cloud

	mu    sync.Mutex
	calls []string
	// last arguments.
	cluster string
	service *v1.Service
	nodes   []*v1.Node
	// answers.
	status *v1.LoadBalancerStatus
	exists bool
	err    error
	// hold makes Ensure wait.
	hold chan struct{}
	// running and most count Ensures at once.
	running, most int
}

func newBalancing() *balancing {
	return &balancing{
		Cloud:  newFake(),
		status: &v1.LoadBalancerStatus{Ingress: []v1.LoadBalancerIngress{{IP: "192.0.2.1"}}},
		exists: true,
	}
}

func (b *balancing) LoadBalancer() (cloudprovider.LoadBalancer, bool) { return b, true }

func (b *balancing) called(method, cluster string, service *v1.Service, nodes []*v1.Node) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, method)
	b.cluster, b.service, b.nodes = cluster, service, nodes
}

func (b *balancing) takeCalls() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	calls := fmt.Sprint(b.calls)
	b.calls = nil
	return calls
}

func (b *balancing) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
}

func (b *balancing) answer() (*v1.LoadBalancerStatus, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.status, b.err
}

func (b *balancing) GetLoadBalancer(_ context.Context, cluster string, service *v1.Service) (*v1.LoadBalancerStatus, bool, error) {
	b.called("get", cluster, service, nil)
	status, err := b.answer()
	return status, b.exists, err
}

func (b *balancing) EnsureLoadBalancer(ctx context.Context, cluster string, service *v1.Service, nodes []*v1.Node) (*v1.LoadBalancerStatus, error) {
	b.called("ensure", cluster, service, nodes)
	b.mu.Lock()
	b.running++
	b.most = max(b.most, b.running)
	b.mu.Unlock()
	if b.hold != nil {
		select {
		case <-b.hold:
		case <-ctx.Done():
		}
	}
	b.mu.Lock()
	b.running--
	b.mu.Unlock()
	return b.answer()
}

func (b *balancing) UpdateLoadBalancer(_ context.Context, cluster string, service *v1.Service, nodes []*v1.Node) error {
	b.called("update", cluster, service, nodes)
	_, err := b.answer()
	return err
}

func (b *balancing) EnsureLoadBalancerDeleted(_ context.Context, cluster string, service *v1.Service) error {
	b.called("delete", cluster, service, nil)
	_, err := b.answer()
	return err
}

func getBalancer(t *testing.T, p *providertest.Provider) (*cpv1.GetLoadBalancerResponse, error) {
	t.Helper()
	return p.Client.GetLoadBalancer(t.Context(), &cpv1.GetLoadBalancerRequest{Context: p.Context(), Service: p.Service("web", serviceUID)})
}

func mustGet(t *testing.T, p *providertest.Provider) *cpv1.GetLoadBalancerResponse {
	t.Helper()
	response, err := getBalancer(t, p)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

func mustEnsure(t *testing.T, p *providertest.Provider, requestID, spec, nodes string, ids ...string) *cpv1.LoadBalancer {
	t.Helper()
	response, err := p.Client.EnsureLoadBalancer(t.Context(), ensureRequest(p, requestID, spec, p.Nodes(nodes, ids...)))
	if err != nil {
		t.Fatal(err)
	}
	return response.GetLoadBalancer()
}

func ensureReason(t *testing.T, p *providertest.Provider, requestID, spec, nodes string) provider.Reason {
	t.Helper()
	_, err := p.Client.EnsureLoadBalancer(t.Context(), ensureRequest(p, requestID, spec, p.Nodes(nodes)))
	return providertest.Reason(err)
}

func removeBalancer(t *testing.T, p *providertest.Provider, requestID string) (*cpv1.DeleteLoadBalancerResponse, error) {
	t.Helper()
	return p.Client.DeleteLoadBalancer(t.Context(), &cpv1.DeleteLoadBalancerRequest{
		Context: p.Context(), Change: p.Change(requestID), Service: p.Service("web", serviceUID),
	})
}

func TestEnsureGivesTheProviderServiceAndNodes(t *testing.T) {
	cloud := newBalancing()
	p := serve(t, cloud, testOptions())
	mustEnsure(t, p, "r1", "s1", "n1", "fake://vm-1")
	if cloud.cluster != "test" || cloud.service.Spec.Ports[0].NodePort != 30080 || len(cloud.nodes) != 1 || cloud.nodes[0].Spec.ProviderID != "fake://vm-1" {
		t.Errorf("was given cluster %q, %+v, %+v", cloud.cluster, cloud.service, cloud.nodes)
	}
	options := testOptions()
	options.ClusterName = "kubernetes"
	mustEnsure(t, serve(t, cloud, options), "r1", "s1", "n1")
	if cloud.cluster != "kubernetes" {
		t.Errorf("cluster is %q", cloud.cluster)
	}
}

func TestChangedNodesAreAnUpdateAndAChangedSpecIsAnEnsure(t *testing.T) {
	cloud := newBalancing()
	p := serve(t, cloud, testOptions())
	mustEnsure(t, p, "r1", "s1", "n1", "fake://vm-1")
	lb := mustEnsure(t, p, "r2", "s1", "n2", "fake://vm-1", "fake://vm-2")
	if got := cloud.takeCalls(); got != "[ensure update]" {
		t.Errorf("calls are %s", got)
	}
	if lb.GetNodesFingerprint() != "n2" || lb.GetIngress().GetItems()[0].GetIp() != "192.0.2.1" {
		t.Errorf("load balancer is %v", lb)
	}
	if len(cloud.service.Spec.Ports) != 1 || len(cloud.service.Status.LoadBalancer.Ingress) != 1 {
		t.Errorf("the update was given %+v", cloud.service)
	}
	mustEnsure(t, p, "r3", "s2", "n3")
	mustEnsure(t, p, "r4", "s2", "n3")
	if got := cloud.takeCalls(); got != "[ensure ensure]" {
		t.Errorf("a new desired, and the same desired again, are %s", got)
	}
}

func TestAnUpdateThatFailedIsFollowedByAnEnsure(t *testing.T) {
	cloud := newBalancing()
	p := serve(t, cloud, testOptions())
	mustEnsure(t, p, "r1", "s1", "n1")
	cloud.fail(errors.New("broken"))
	if got := ensureReason(t, p, "r2", "s1", "n2"); got != "CLOUD_PROVIDER_ERROR" {
		t.Errorf("reason is %s", got)
	}
	cloud.fail(nil)
	mustEnsure(t, p, "r3", "s1", "n2")
	if got := cloud.takeCalls(); got != "[ensure update ensure]" {
		t.Errorf("calls are %s", got)
	}
}

func TestEnsureFails(t *testing.T) {
	cases := []struct {
		name   string
		change func(*balancing)
		want   provider.Reason
	}{
		{"with another's", func(b *balancing) { b.err = cloudprovider.ImplementedElsewhere }, provider.ReasonNotResponsible},
		{"when it is not ready", func(b *balancing) { b.err = api.NewRetryError("making it", time.Minute) }, provider.ReasonNotReady},
		{"without status", func(b *balancing) { b.status = nil }, provider.ReasonInvariantBroken},
		{"with the provider's error", func(b *balancing) { b.err = errors.New("broken") }, "CLOUD_PROVIDER_ERROR"},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			cloud := newBalancing()
			test.change(cloud)
			p := serve(t, cloud, testOptions())
			if got := ensureReason(t, p, "r1", "s1", "n1"); got != test.want {
				t.Errorf("reason is %s, want %s", got, test.want)
			}
		})
	}
}

func TestGetLoadBalancer(t *testing.T) {
	broken := errors.New("broken")
	cases := []struct {
		name   string
		exists bool
		err    error
		want   string
	}{
		{"that does not exist is absent", false, nil, "absent"},
		{"of another is absent", false, cloudprovider.ImplementedElsewhere, "absent"},
		{"that could not be read is an error", false, broken, "CLOUD_PROVIDER_ERROR"},
		{"that could not be read and exists is an error", true, broken, "CLOUD_PROVIDER_ERROR"},
		{"that this process has not ensured has an unknown fingerprint", true, nil, "not-known-to-this-process"},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			cloud := newBalancing()
			cloud.exists, cloud.err = test.exists, test.err
			response, err := getBalancer(t, serve(t, cloud, testOptions()))
			got := string(providertest.Reason(err))
			switch {
			case response.GetAbsent() != nil:
				got = "absent"
			case response.GetLoadBalancer() != nil:
				got = response.GetLoadBalancer().GetSpecFingerprint()
			}
			if got != test.want {
				t.Errorf("is %s, want %s", got, test.want)
			}
			if response.GetLoadBalancer().GetIngress() != nil {
				t.Errorf("publishes %v", response.GetLoadBalancer().GetIngress())
			}
		})
	}
}

func TestFingerprintsOutliveTheController(t *testing.T) {
	cloud := newBalancing()
	p := serve(t, cloud, testOptions())
	mustEnsure(t, p, "r1", "s1", "n1")
	lb := mustGet(t, p).GetLoadBalancer()
	if lb.GetSpecFingerprint() != "s1" || lb.GetNodesFingerprint() != "n1" || lb.GetIngress().GetItems()[0].GetIp() != "192.0.2.1" {
		t.Errorf("load balancer is %v", lb)
	}
	cloud.fail(errors.New("broken"))
	ensureReason(t, p, "r2", "s2", "n1")
	cloud.fail(nil)
	if got := mustGet(t, p).GetLoadBalancer().GetSpecFingerprint(); got != "not-known-to-this-process" {
		t.Errorf("after a change that failed the desired in force is %s", got)
	}
}

func TestDeleteIsAlwaysAskedForWithTheWholeService(t *testing.T) {
	cloud := newBalancing()
	cloud.exists = false
	p := serve(t, cloud, testOptions())
	mustEnsure(t, p, "r1", "s1", "n1")
	mustGet(t, p)
	response, err := removeBalancer(t, p, "r2")
	if err != nil || !response.GetDone() {
		t.Fatalf("is %v, %v", response, err)
	}
	if got := cloud.takeCalls(); got != "[ensure get delete]" {
		t.Errorf("calls are %s", got)
	}
	if len(cloud.service.Spec.Ports) != 1 {
		t.Errorf("was given %+v", cloud.service)
	}
}

func TestDeleteThatFailedIsNotDone(t *testing.T) {
	cloud := newBalancing()
	cloud.err = errors.New("in use")
	p := serve(t, cloud, testOptions())
	if _, err := removeBalancer(t, p, "r1"); providertest.Reason(err) != "CLOUD_PROVIDER_ERROR" {
		t.Errorf("is %v", err)
	}
	cloud.fail(nil)
	if response, err := removeBalancer(t, p, "r2"); err != nil || !response.GetDone() {
		t.Errorf("again it is %v, %v", response, err)
	}
}

// patient answers soon, so that changes outlive their calls.
func patient() bridge.Options {
	options := testOptions()
	options.Limits = &cpv1.Limits{SoftCallDuration: durationpb.New(50 * time.Millisecond)}
	return options
}

// eventually asks again until done, within generous bounds.
func eventually(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come about")
		}
	}
}

func TestAChangeOutlivesItsCall(t *testing.T) {
	cloud := newBalancing()
	cloud.hold = make(chan struct{})
	p := serve(t, cloud, patient())
	lb := mustEnsure(t, p, "r1", "s1", "n1")
	if lb.GetOperation() == nil || lb.GetPhase() != cpv1.LoadBalancerPhase_LOAD_BALANCER_PHASE_PROVISIONING {
		t.Fatalf("load balancer is %v", lb)
	}
	if got := mustGet(t, p).GetLoadBalancer(); got.GetOperation() == nil {
		t.Fatalf("a read meanwhile is %v", got)
	}
	if got := ensureReason(t, p, "r2", "s2", "n1"); got != provider.ReasonOperationInProgress {
		t.Errorf("another desired meanwhile is %s", got)
	}
	close(cloud.hold)
	eventually(t, func() bool { return mustGet(t, p).GetLoadBalancer().GetSpecFingerprint() == "s1" })
	if got := cloud.takeCalls(); got[:len("[ensure get")] != "[ensure get" {
		t.Errorf("calls are %s", got)
	}
}

func TestAFailureAfterTheCallIsReported(t *testing.T) {
	cloud := newBalancing()
	cloud.hold = make(chan struct{})
	cloud.err = errors.New("the cloud said no")
	p := serve(t, cloud, patient())
	mustEnsure(t, p, "r1", "s1", "n1")
	close(cloud.hold)
	eventually(t, func() bool { return ensureReason(t, p, "r2", "s1", "n1") == "CLOUD_PROVIDER_ERROR" })
	if got := cloud.takeCalls(); got != "[ensure]" {
		t.Errorf("calls are %s", got)
	}
}

func TestChangesKeepToTheirNumber(t *testing.T) {
	cloud := newBalancing()
	cloud.hold = make(chan struct{})
	p := serve(t, cloud, patient())
	for i := range 3 {
		request := ensureRequest(p, fmt.Sprint("r", i), "s1", p.Nodes("n1"))
		request.Service.Uid = fmt.Sprint("uid-", i)
		if _, err := p.Client.EnsureLoadBalancer(t.Context(), request); err != nil {
			t.Fatal(err)
		}
	}
	close(cloud.hold)
	eventually(t, func() bool {
		cloud.mu.Lock()
		defer cloud.mu.Unlock()
		return len(cloud.calls) == 3 && cloud.running == 0
	})
	if cloud.most != 1 {
		t.Errorf("%d ran at once", cloud.most)
	}
}

func TestTagsThatCannotBeSetAreReported(t *testing.T) {
	p := serve(t, newBalancing(), testOptions())
	request := ensureRequest(p, "r1", "s1", p.Nodes("n1"))
	request.Spec.Tags = map[string]string{"team": "a"}
	response, err := p.Client.EnsureLoadBalancer(t.Context(), request)
	if err != nil || len(response.GetDiagnostics()) != 1 || response.GetDiagnostics()[0].GetReason() != "TagsNotSet" {
		t.Errorf("is %v, %v", response, err)
	}
}

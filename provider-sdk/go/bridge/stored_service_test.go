package bridge_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	cloudprovider "k8s.io/cloud-provider"

	"cloudwire.dev/provider-sdk/go/provider"
	"cloudwire.dev/provider-sdk/go/providertest"
)

// kubeAnswering is an API server that answers everything alike, and counts.
func kubeAnswering(t *testing.T, code int, body any) (kube *rest.Config, requests *atomic.Int32) {
	t.Helper()
	requests = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.Method != http.MethodGet || r.URL.Path != "/api/v1/namespaces/default/services/web" {
			t.Errorf("was asked to %s %s", r.Method, r.URL.Path)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		if err := json.NewEncoder(w).Encode(body); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}, requests
}

func storedService(uid types.UID) *v1.Service {
	return &v1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: uid},
		Spec:       v1.ServiceSpec{Ports: []v1.ServicePort{{Port: 80}}},
		Status:     v1.ServiceStatus{LoadBalancer: v1.LoadBalancerStatus{Ingress: []v1.LoadBalancerIngress{{IP: "192.0.2.9"}}}},
	}
}

func failed(code int32, reason metav1.StatusReason) *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: code, Reason: reason,
	}
}

func TestAServiceNotSeenYetIsReadBeforeItsLoadBalancerIsDeleted(t *testing.T) {
	cases := []struct {
		name string
		code int
		body any
		// ports that the provider is given; none where it must not be asked.
		ports  int
		reason provider.Reason
		calls  string
	}{
		{"as it is stored", http.StatusOK, storedService(serviceUID), 1, "", "[get delete]"},
		{"which is gone", http.StatusNotFound, failed(http.StatusNotFound, metav1.StatusReasonNotFound), 0, "", "[get delete]"},
		{"whose name another has", http.StatusOK, storedService("another"), 0, "", "[get delete]"},
		{"without the right", http.StatusForbidden, failed(http.StatusForbidden, metav1.StatusReasonForbidden), 0, "SERVICE_UNREADABLE", "[]"},
		{"from something else", http.StatusNotFound, "no such page", 0, "SERVICE_UNREADABLE", "[]"},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			cloud, options := newBalancing(), testOptions()
			options.Kube, _ = kubeAnswering(t, test.code, test.body)
			p := serve(t, cloud, options)
			_, readErr := getBalancer(t, p)
			_, err := removeBalancer(t, p, "r1")
			if providertest.Reason(readErr) != test.reason || providertest.Reason(err) != test.reason {
				t.Errorf("the read is %v, the deletion %v", readErr, err)
			}
			if got := cloud.takeCalls(); got != test.calls {
				t.Errorf("calls are %s", got)
			}
			if cloud.service != nil && len(cloud.service.Spec.Ports) != test.ports {
				t.Errorf("was given %+v", cloud.service)
			}
		})
	}
}

func TestAServiceSeenBeforeIsNotReadAgain(t *testing.T) {
	cloud, options := newBalancing(), testOptions()
	kube, requests := kubeAnswering(t, http.StatusOK, storedService(serviceUID))
	options.Kube = kube
	p := serve(t, cloud, options)
	cloud.fail(cloudprovider.NotImplemented)
	ensureReason(t, p, "r1", "s1", "n1")
	cloud.fail(nil)
	mustEnsure(t, p, "r2", "s1", "n1")
	if got := cloud.service.Status.LoadBalancer.Ingress; len(got) != 1 || got[0].IP != "192.0.2.9" {
		t.Errorf("the desired came with the status %v", got)
	}
	mustGet(t, p)
	if _, err := removeBalancer(t, p, "r3"); err != nil || len(cloud.service.Spec.Ports) != 1 {
		t.Errorf("is %v, was given %+v", err, cloud.service)
	}
	if got := requests.Load(); got != 1 {
		t.Errorf("it was read %d times", got)
	}
}

func TestADeletionThatIsImplementedElsewhereIsDone(t *testing.T) {
	cloud := newBalancing()
	cloud.err = cloudprovider.ImplementedElsewhere
	if response, err := removeBalancer(t, serve(t, cloud, testOptions()), "r1"); err != nil || !response.GetDone() {
		t.Errorf("is %v, %v", response, err)
	}
}

package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"cloudwire.dev/provider-sdk/go/bridge"
	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
)

var scope = &cpv1.CallContext{Cluster: &cpv1.ClusterRef{Id: "cluster-1", Name: "test"}, ScopeId: "fake-account"}

// served is the bridged cloud behind a socket, and its control port.
func served(t *testing.T, settings config) (cpv1.CloudProviderClient, string) {
	t.Helper()
	cloud, err := newCloud(settings)
	if err != nil {
		t.Fatal(err)
	}
	// Paths of sockets are short: not t.TempDir.
	directory, err := os.MkdirTemp("", "bridge")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(directory) })
	endpoint := "unix://" + filepath.Join(directory, "p.sock")
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- bridge.Serve(ctx, cloud, bridge.Options{Name: "fake.example.com", Scope: provider.StaticScope("fake-account")},
			provider.Options{Endpoint: endpoint})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	connection, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	client := cpv1.NewCloudProviderClient(connection)
	waitUntilReady(t, client)
	control := httptest.NewServer(controlOf(cloud))
	t.Cleanup(control.Close)
	return client, control.URL
}

func waitUntilReady(t *testing.T, client cpv1.CloudProviderClient) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		status, err := client.GetProviderStatus(ctx, &cpv1.GetProviderStatusRequest{}, grpc.WaitForReady(true))
		if err != nil {
			t.Fatal(err)
		}
		if status.GetReady() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func send(t *testing.T, method, url, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		t.Fatalf("%s %s: %s", method, url, response.Status)
	}
}

func lookUp(t *testing.T, client cpv1.CloudProviderClient, name, providerID string) *cpv1.InstanceResult {
	t.Helper()
	response, err := client.BatchGetInstances(t.Context(), &cpv1.BatchGetInstancesRequest{
		Context: scope, Nodes: []*cpv1.NodeRef{{Name: name, ProviderId: providerID}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return response.GetResults()[0]
}

func TestMachinesComeAndGo(t *testing.T) {
	for _, legacy := range []bool{false, true} {
		client, control := served(t, config{Legacy: legacy})
		if lookUp(t, client, "node-1", "").GetAbsent() == nil {
			t.Error("a machine that was not made is not absent")
		}
		send(t, http.MethodPut, control+"/machines/node-1",
			`{"type":"small","zone":"zone-a","labels":{"example.com/rack":"r1"},"addresses":[{"type":"InternalIP","address":"10.0.0.1"}]}`)
		made := lookUp(t, client, "node-1", "").GetInstance()
		if made.GetProviderId() != "fake://node-1" || made.GetInstanceType() != "small" || made.GetZone() != "zone-a" {
			t.Errorf("legacy %v: machine is %v", legacy, made)
		}
		if got := made.GetLabels()["example.com/rack"]; !legacy && got != "r1" {
			t.Errorf("label is %q", got)
		}
		send(t, http.MethodPut, control+"/failures/InstanceExists", `"broken"`)
		if lookUp(t, client, "node-1", "fake://node-1").GetUnknown() == nil {
			t.Error("a failure is not unknown")
		}
		send(t, http.MethodDelete, control+"/failures/InstanceExists", "")
		send(t, http.MethodDelete, control+"/machines/node-1", "")
		if lookUp(t, client, "node-1", "fake://node-1").GetAbsent() == nil {
			t.Error("a machine that is gone is not absent")
		}
	}
}

func TestLoadBalancersOutliveTheProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	service := &cpv1.ServiceRef{Namespace: "default", Name: "web", Uid: "uid-1"}
	client, _ := served(t, config{StateFile: file})
	ensured, err := client.EnsureLoadBalancer(t.Context(), &cpv1.EnsureLoadBalancerRequest{
		Context: scope, Change: &cpv1.ChangeContext{RequestId: "r1"}, Service: service, SpecFingerprint: "s1",
		Spec:  &cpv1.LoadBalancerSpec{Ports: []*cpv1.ServicePort{{Protocol: cpv1.Protocol_PROTOCOL_TCP, Port: 80}}},
		Nodes: &cpv1.NodeSelection{Fingerprint: "n1", Source: &cpv1.NodeSelection_Inline{Inline: &cpv1.TargetNodeList{}}},
	})
	if err != nil || ensured.GetLoadBalancer().GetIngress().GetItems()[0].GetIp() != "192.0.2.1" ||
		ensured.GetLoadBalancer().GetIngress().GetItems()[0].GetIpMode() != cpv1.IpMode_IP_MODE_PROXY {
		t.Fatalf("is %v, %v", ensured, err)
	}
	again, _ := served(t, config{StateFile: file})
	found, err := again.GetLoadBalancer(t.Context(), &cpv1.GetLoadBalancerRequest{Context: scope, Service: service})
	if err != nil || found.GetLoadBalancer().GetId() != ensured.GetLoadBalancer().GetId() {
		t.Errorf("is %v, %v", found, err)
	}
}

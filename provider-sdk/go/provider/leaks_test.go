package provider_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
)

// sdkGoroutines are those of the SDK, by their stacks.
func sdkGoroutines() string {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	var own []string
	for each := range strings.SplitSeq(string(stacks), "\n\n") {
		if (strings.Contains(each, "provider-sdk/go/provider.") || strings.Contains(each, "provider-sdk/go/internal/")) && !strings.Contains(each, "testing.tRunner") {
			own = append(own, each)
		}
	}
	return strings.Join(own, "\n\n")
}

func TestAClosedProviderLeavesNoGoroutine(t *testing.T) {
	definition := listDefinition(10, nil)
	definition.Instances.Watch = provider.WatchInstancesFromList(definition.Instances.List, time.Hour)
	server, client := serveOnSocket(t, definition)
	scoped := &cpv1.CallContext{Cluster: &cpv1.ClusterRef{Id: "cluster-1", Name: "c"}, ScopeId: "account-42"}
	stream, err := client.WatchInstances(t.Context(), &cpv1.WatchInstancesRequest{Context: scoped, SendInitialEvents: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	// A list that the client does not read to its end.
	page, err := client.ListInstances(t.Context(), &cpv1.ListInstancesRequest{Context: scoped, PageSize: 2})
	if err != nil || page.GetNextPageToken() == "" {
		t.Fatalf("got %v, %v", page, err)
	}
	// A call whose caller goes.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = client.BatchGetInstances(ctx, &cpv1.BatchGetInstancesRequest{Context: scoped, Nodes: []*cpv1.NodeRef{{Name: "n"}}})
	server.Close()
	left := ""
	for range 2000 {
		if left = sdkGoroutines(); left == "" {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("left behind:\n%s", left)
}

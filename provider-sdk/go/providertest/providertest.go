// Package providertest serves a provider in memory, for vendors' tests.
package providertest

import (
	"context"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
)

// ClusterID is that of the cluster that [Provider.Context] names.
const ClusterID = "0d9ba6b1-5c43-4f4f-8f2f-1d6a6b7c8d9e"

const (
	bufferBytes  = 1 << 20
	readyTimeout = 10 * time.Second
	pollInterval = 2 * time.Millisecond
)

// Provider is a provider served in memory, and a client of it.
type Provider struct {
	// Client calls it over a connection in memory.
	Client cpv1.CloudProviderClient
	// Server is the provider as it is served.
	Server *provider.Server
	// Connection is that of Client, for other services such as health.
	Connection *grpc.ClientConn

	scopeID string
}

// Start serves a provider until the test ends, and waits until it is ready: its check has succeeded.
func Start(t testing.TB, definition *provider.Definition) *Provider {
	t.Helper()
	p := StartUnready(t, definition)
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	for {
		status, err := p.Client.GetProviderStatus(ctx, &cpv1.GetProviderStatusRequest{})
		if err != nil {
			t.Fatalf("the provider did not become ready: %v; last status %v", err, status)
		}
		if status.GetReady() {
			p.scopeID = status.GetScopeId()
			return p
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the provider did not become ready: %v", status.GetConditions())
		case <-time.After(pollInterval):
		}
	}
}

// StartUnready serves a provider until the test ends, without waiting for its check.
func StartUnready(t testing.TB, definition *provider.Definition) *Provider {
	t.Helper()
	listener := bufconn.Listen(bufferBytes)
	server, err := provider.Start(definition, provider.Options{
		Listener: listener, Log: slog.New(slog.NewTextHandler(logOf(t), nil)), DrainTimeout: time.Second,
	})
	if err != nil {
		t.Fatalf("the provider cannot be served:\n%v", err)
	}
	t.Cleanup(server.Close)
	connection, err := grpc.NewClient("passthrough:provider",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatalf("cannot connect to the provider: %v", err)
	}
	t.Cleanup(func() { connection.Close() })
	return &Provider{Client: cpv1.NewCloudProviderClient(connection), Server: server, Connection: connection}
}

// testLog is the log of a test, as long as the test runs.
type testLog struct {
	mu  sync.Mutex
	out io.Writer
}

func logOf(t testing.TB) *testLog {
	log := &testLog{out: t.Output()}
	t.Cleanup(func() {
		log.mu.Lock()
		defer log.mu.Unlock()
		log.out = io.Discard
	})
	return log
}

// Write takes a line.
func (l *testLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(line)
}

// Context is what calls carry: a cluster, and the scope that the provider answered.
func (p *Provider) Context() *cpv1.CallContext {
	return &cpv1.CallContext{Cluster: &cpv1.ClusterRef{Id: ClusterID, Name: "test"}, ScopeId: p.scopeID}
}

// Change is what changes carry. Calls with one requestID are one change.
func (p *Provider) Change(requestID string) *cpv1.ChangeContext {
	return &cpv1.ChangeContext{RequestId: requestID, Trigger: "test"}
}

// Service is a Service in namespace default.
func (p *Provider) Service(name, uid string) *cpv1.ServiceRef {
	return &cpv1.ServiceRef{Namespace: "default", Name: name, Uid: uid}
}

// Nodes is an inline selection of nodes with these provider IDs; each has an internal IP address.
func (p *Provider) Nodes(fingerprint string, providerIDs ...string) *cpv1.NodeSelection {
	list := &cpv1.TargetNodeList{}
	for i, id := range providerIDs {
		list.Nodes = append(list.Nodes, &cpv1.TargetNode{
			Name: "node-" + id, ProviderId: id,
			Addresses: []*cpv1.NodeAddress{{
				Type:    cpv1.NodeAddressType_NODE_ADDRESS_TYPE_INTERNAL_IP,
				Address: net.IPv4(10, 0, byte(i>>8), byte(i)).String(),
			}},
		})
	}
	return &cpv1.NodeSelection{
		Fingerprint: fingerprint, Count: uint32(len(providerIDs)), // a test's own list
		Source: &cpv1.NodeSelection_Inline{Inline: list},
	}
}

// Reason is the reason of an error, as the controller reads it; empty for nil and for an error of the transport.
func Reason(err error) provider.Reason {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return provider.Reason(info.GetReason())
		}
	}
	return ""
}

// FieldViolations are the field paths of an error's violations, in their order.
func FieldViolations(err error) []string {
	var fields []string
	for _, detail := range status.Convert(err).Details() {
		if bad, ok := detail.(*errdetails.BadRequest); ok {
			for _, violation := range bad.GetFieldViolations() {
				fields = append(fields, violation.GetField())
			}
		}
	}
	return fields
}

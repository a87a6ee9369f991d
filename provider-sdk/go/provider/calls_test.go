package provider_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
	"cloudwire.dev/provider-sdk/go/providertest"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// withGet serves instances by one function.
func withGet(get func(context.Context, *cpv1.NodeRef) (provider.InstanceResult, error)) *provider.Definition {
	definition := machines(nil)
	definition.Instances.Get = get
	return definition
}

func batch(p *providertest.Provider, refs ...*cpv1.NodeRef) *cpv1.BatchGetInstancesRequest {
	return &cpv1.BatchGetInstancesRequest{Context: p.Context(), Nodes: refs}
}

func TestAbsenceIsRefusedAfterAFailedCloudCall(t *testing.T) {
	tests := map[string]struct {
		call  provider.CloudCall
		basis cpv1.AbsenceBasis
		want  string
	}{
		"401":                      {provider.CloudCall{Status: 401}, provider.LookupMiss, "CLOUD_CREDENTIALS_INVALID"},
		"403":                      {provider.CloudCall{Status: 403}, provider.LookupMiss, "CLOUD_PERMISSION_DENIED"},
		"503":                      {provider.CloudCall{Status: 503}, provider.Terminated, "CLOUD_UNAVAILABLE"},
		"no answer":                {provider.CloudCall{Err: io.ErrUnexpectedEOF}, provider.LookupMiss, "CLOUD_UNAVAILABLE"},
		"a change without answer":  {provider.CloudCall{Err: context.DeadlineExceeded, Mutation: true}, provider.LookupMiss, "DEADLINE_PASSED"},
		"an unknown failure":       {provider.CloudCall{Err: errors.New("x")}, provider.LookupMiss, "INCOMPLETE_ANSWER"},
		"a failure that panics":    {provider.CloudCall{Err: (*provider.Error)(nil)}, provider.LookupMiss, "INCOMPLETE_ANSWER"},
		"407, which a proxy says":  {provider.CloudCall{Status: 407}, provider.LookupMiss, "INCOMPLETE_ANSWER"},
		"408":                      {provider.CloudCall{Status: 408}, provider.LookupMiss, "CLOUD_TIMEOUT"},
		"throttled and a list":     {provider.CloudCall{Status: 429}, provider.CompleteListMiss, "RATE_LIMITED"},
		"throttled and a look-up":  {provider.CloudCall{Status: 429}, provider.LookupMiss, "RATE_LIMITED"},
		"404 in an error":          {provider.CloudCall{Err: &provider.HTTPError{StatusCode: 404}}, provider.LookupMiss, ""},
		"NotFound of gRPC":         {provider.CloudCall{Err: status.Error(codes.NotFound, "x")}, provider.LookupMiss, ""},
		"404, which is an answer":  {provider.CloudCall{Status: 404}, provider.LookupMiss, ""},
		"a success, which is fine": {provider.CloudCall{Status: 200}, provider.LookupMiss, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := providertest.Start(t, withGet(func(ctx context.Context, _ *cpv1.NodeRef) (provider.InstanceResult, error) {
				provider.CallOf(ctx).Record(test.call)
				return provider.Absent(test.basis), nil
			}))
			response, err := p.Client.BatchGetInstances(t.Context(), batch(p, &cpv1.NodeRef{Name: "n", ProviderId: "acme://m-1"}))
			if err != nil {
				t.Fatal(err)
			}
			result := response.GetResults()[0]
			if got := result.GetUnknown().GetReason(); got != test.want || (result.GetAbsent() != nil) != (test.want == "") {
				t.Errorf("got %v", result)
			}
			if response.GetStats().GetCloudCalls() != 1 {
				t.Errorf("counted %v", response.GetStats())
			}
		})
	}
}

func TestAbsenceOfAYoungMachineIsUnknown(t *testing.T) {
	p := providertest.Start(t, machines(nil))
	young, old := timestamppb.Now(), timestamppb.New(time.Now().Add(-time.Hour))
	response, err := p.Client.BatchGetInstances(t.Context(), batch(p,
		&cpv1.NodeRef{Name: "young", ProviderId: "acme://m-1", CreateTime: young}, &cpv1.NodeRef{Name: "old", ProviderId: "acme://m-2", CreateTime: old}))
	if err != nil {
		t.Fatal(err)
	}
	if got := response.GetResults()[0].GetUnknown(); got.GetReason() != "NOT_YET_CONSISTENT" || got.GetRetryAfter() == nil {
		t.Errorf("young is %v", response.GetResults()[0])
	}
	if response.GetResults()[1].GetAbsent() == nil {
		t.Errorf("old is %v", response.GetResults()[1])
	}
}

func TestBatchGetInstancesAsksEqualQuestionsOnceAndKeepsErrorsApart(t *testing.T) {
	var asked atomic.Int32
	p := providertest.Start(t, withGet(func(_ context.Context, ref *cpv1.NodeRef) (provider.InstanceResult, error) {
		asked.Add(1)
		switch ref.GetProviderId() {
		case "acme://bad":
			return nil, errors.New("secret text")
		case "acme://panic":
			panic("secret text")
		case "acme://none":
			return nil, nil
		case "acme://other":
			return provider.Present(&cpv1.Instance{ProviderId: "acme://another", Name: "x"}), nil
		case "acme://nameless":
			return provider.Present(&cpv1.Instance{ProviderId: "acme://nameless"}), nil
		}
		return provider.Present(&cpv1.Instance{ProviderId: ref.GetProviderId(), Name: "x"}), nil
	}))
	ids := []string{"acme://good", "acme://bad", "acme://good", "acme://panic", "acme://none", "acme://other", "acme://nameless", "acme://"}
	want := []string{"", "UNMAPPED_ERROR", "", "UNMAPPED_ERROR", "INVARIANT_BROKEN", "INVARIANT_BROKEN", "INVARIANT_BROKEN", "PROVIDER_ID_MALFORMED"}
	refs := make([]*cpv1.NodeRef, len(ids))
	for i, id := range ids {
		refs[i] = &cpv1.NodeRef{Name: "n", ProviderId: id}
	}
	response, err := p.Client.BatchGetInstances(t.Context(), batch(p, refs...))
	if err != nil {
		t.Fatal(err)
	}
	for i, result := range response.GetResults() {
		if got := result.GetUnknown().GetReason(); got != want[i] || strings.Contains(result.GetUnknown().GetMessage(), "secret") {
			t.Errorf("%s: got %v, want %q", ids[i], result, want[i])
		}
	}
	if asked.Load() != 6 {
		t.Errorf("asked %d times", asked.Load())
	}
}

func TestCallsOutsideTheContractAreRefused(t *testing.T) {
	p := providertest.Start(t, machines(nil))
	otherScope := batch(p, &cpv1.NodeRef{Name: "n"})
	otherScope.Context.ScopeId = "account-7"
	big := batch(p)
	for range 201 {
		big.Nodes = append(big.Nodes, &cpv1.NodeRef{Name: "n"})
	}
	tests := map[string]struct {
		call   func(context.Context) error
		reason provider.Reason
	}{
		"another scope": {func(ctx context.Context) error { _, err := p.Client.BatchGetInstances(ctx, otherScope); return err }, provider.ReasonScopeMismatch},
		"no item":       {func(ctx context.Context) error { _, err := p.Client.BatchGetInstances(ctx, batch(p)); return err }, provider.ReasonBatchEmpty},
		"too many":      {func(ctx context.Context) error { _, err := p.Client.BatchGetInstances(ctx, big); return err }, provider.ReasonBatchTooLarge},
		"no context": {func(ctx context.Context) error {
			_, err := p.Client.BatchGetInstances(ctx, &cpv1.BatchGetInstancesRequest{Nodes: []*cpv1.NodeRef{{Name: "n"}}})
			return err
		}, provider.ReasonFieldMissing},
		"not claimed": {func(ctx context.Context) error {
			_, err := p.Client.ListRoutes(ctx, &cpv1.ListRoutesRequest{})
			return err
		}, provider.ReasonCapabilityAbsent},
		"no client": {func(ctx context.Context) error {
			_, err := p.Client.GetProviderInfo(ctx, &cpv1.GetProviderInfoRequest{})
			return err
		}, provider.ReasonFieldMissing},
		"no message": {func(ctx context.Context) error {
			return p.Connection.Invoke(ctx, "/cloudprovider.v1.CloudProvider/BatchGetInstances", []byte{0xff}, &[]byte{}, grpc.ForceCodecV2(rawCodec{}))
		}, provider.ReasonFieldInvalid},
		"a stream not claimed": {func(ctx context.Context) error {
			stream, err := p.Client.WatchInstances(ctx, &cpv1.WatchInstancesRequest{Context: p.Context()})
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		}, provider.ReasonCapabilityAbsent},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if err := test.call(t.Context()); providertest.Reason(err) != test.reason {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestEveryAnswerEchoesTheRequestID(t *testing.T) {
	p := providertest.Start(t, machines(nil))
	for name, refs := range map[string][]*cpv1.NodeRef{"success": {{Name: "n"}}, "failure": nil} {
		var trailer metadata.MD
		ctx := metadata.AppendToOutgoingContext(t.Context(), "x-request-id", "call-7", "traceparent", "malformed")
		_, err := p.Client.BatchGetInstances(ctx, batch(p, refs...), grpc.Trailer(&trailer))
		if got := trailer.Get("x-request-id"); len(got) != 1 || got[0] != "call-7" || (err != nil) != (name == "failure") {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestErrorsOfHandlersAreUnderstood(t *testing.T) {
	long := strings.Repeat("ü", 5000)
	tests := map[string]struct {
		err    error
		reason provider.Reason
		code   codes.Code
	}{
		"http 401":        {fmt.Errorf("list: %w", &provider.HTTPError{StatusCode: 401}), provider.ReasonCloudCredentialsInvalid, codes.Unauthenticated},
		"http 429":        {&provider.HTTPError{StatusCode: 429, Header: http.Header{"Retry-After": {"7"}}}, provider.ReasonRateLimited, codes.ResourceExhausted},
		"http 404":        {&provider.HTTPError{StatusCode: 404}, provider.ReasonUnmappedError, codes.Unknown},
		"time-out":        {context.DeadlineExceeded, provider.ReasonCloudTimeout, codes.Unavailable},
		"gRPC":            {status.Error(codes.Unavailable, "x"), provider.ReasonCloudUnavailable, codes.Unavailable},
		"bug":             {errors.New("password=x"), provider.ReasonUnmappedError, codes.Unknown},
		"not of this RPC": {provider.NewError(provider.ReasonDeletionProtected, "x"), provider.ReasonInvariantBroken, codes.Internal},
		"own":             {provider.NewVendorError("acme.example.com", "OUT_OF_COFFEE", codes.FailedPrecondition, long), "OUT_OF_COFFEE", codes.FailedPrecondition},
		"long":            {provider.NewError(provider.ReasonCloudUnavailable, long, provider.Help(long, long), provider.Resource(long, long, long), provider.Metadata("k", long)), provider.ReasonCloudUnavailable, codes.Unavailable},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			definition := machines(nil)
			definition.Instances.Get = nil
			definition.Instances.GetMany = func(context.Context, []*cpv1.NodeRef) ([]provider.InstanceResult, error) { return nil, test.err }
			p := providertest.Start(t, definition)
			_, err := p.Client.BatchGetInstances(t.Context(), batch(p, &cpv1.NodeRef{Name: "n"}))
			if providertest.Reason(err) != test.reason || status.Code(err) != test.code || strings.Contains(err.Error(), "password") {
				t.Errorf("got %v", err)
			}
			if size := len(status.Convert(err).Message()); size > 1024 {
				t.Errorf("the message has %d bytes", size)
			}
		})
	}
}

func TestCallsBeyondTheLimitAreRejected(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	definition := withGet(func(context.Context, *cpv1.NodeRef) (provider.InstanceResult, error) {
		close(entered)
		<-leave
		return provider.Absent(provider.LookupMiss), nil
	})
	definition.Limits = &cpv1.Limits{MaxConcurrentCalls: 1}
	p := providertest.Start(t, definition)
	first := make(chan error, 1)
	go func() {
		_, err := p.Client.BatchGetInstances(context.Background(), batch(p, &cpv1.NodeRef{Name: "a"}))
		first <- err
	}()
	<-entered
	_, err := p.Client.BatchGetInstances(t.Context(), batch(p, &cpv1.NodeRef{Name: "b"}))
	if providertest.Reason(err) != provider.ReasonTooManyCalls {
		t.Errorf("got %v", err)
	}
	if _, err := p.Client.GetProviderStatus(t.Context(), &cpv1.GetProviderStatusRequest{}); err != nil {
		t.Errorf("the status: %v", err)
	}
	close(leave)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

func TestAHandlerThatIgnoresItsContextDoesNotKeepTheCaller(t *testing.T) {
	leave := make(chan struct{})
	t.Cleanup(func() { close(leave) })
	p := providertest.Start(t, withBalancers(&provider.LoadBalancers{
		Ensure: func(context.Context, *provider.EnsureRequest) (provider.LoadBalancerResult, error) {
			<-leave
			return nil, nil
		},
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := p.Client.EnsureLoadBalancer(ctx, ensureRequest(p, "r-1")); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("got %v", err)
	}
}

func TestStatusFollowsTheCloud(t *testing.T) {
	definition := machines(nil)
	definition.Check = func(context.Context) (*provider.CheckResult, error) { return nil, &provider.HTTPError{StatusCode: 401} }
	p := providertest.StartUnready(t, definition)
	var got *cpv1.GetProviderStatusResponse
	for len(got.GetConditions()) == 0 || got.GetConditions()[1].GetStatus() == cpv1.ConditionStatus_CONDITION_STATUS_UNSPECIFIED {
		var err error
		if got, err = p.Client.GetProviderStatus(t.Context(), &cpv1.GetProviderStatusRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	if condition := got.GetConditions()[1]; got.GetReady() || condition.GetType() != "CredentialsValid" || condition.GetReason() != "CredentialsRefused" {
		t.Errorf("got %v", got)
	}
}

func TestHandshakeIsAnsweredWithoutScopeAndCallsAreNot(t *testing.T) {
	definition := machines(nil)
	definition.Scope = func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }
	p := providertest.StartUnready(t, definition)
	client := &cpv1.ClientInfo{Name: "test", Version: "1", ContractMajor: 1}
	info, err := p.Client.GetProviderInfo(t.Context(), &cpv1.GetProviderInfoRequest{Client: client})
	if err != nil || info.GetScopeId() != "" || info.GetBootId() != p.Server.BootID() || len(info.GetServices()) != 4 {
		t.Errorf("got %v, %v", info, err)
	}
	request := batch(p, &cpv1.NodeRef{Name: "n"})
	request.Context.ScopeId = "account-42"
	if _, err := p.Client.BatchGetInstances(t.Context(), request); providertest.Reason(err) != provider.ReasonProviderStarting {
		t.Errorf("got %v", err)
	}
}

func TestDrainEndsStreamsAndTurnsHealth(t *testing.T) {
	definition := machines(nil)
	definition.Instances.Watch = func(ctx context.Context, _ *cpv1.WatchInstancesRequest, _ func(*cpv1.WatchInstancesResponse) error) error {
		<-ctx.Done()
		return ctx.Err()
	}
	p := providertest.Start(t, definition)
	health, err := healthpb.NewHealthClient(p.Connection).Watch(t.Context(), &healthpb.HealthCheckRequest{Service: "cloudprovider.v1.CloudProvider"})
	if err != nil {
		t.Fatal(err)
	}
	if state, err := health.Recv(); err != nil || state.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Fatalf("health is %v, %v", state, err)
	}
	stream, err := p.Client.WatchInstances(t.Context(), &cpv1.WatchInstancesRequest{Context: p.Context()})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { p.Server.Close(); close(ended) }()
	if state, err := health.Recv(); err != nil || state.GetStatus() != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Errorf("health is %v, %v", state, err)
	}
	if _, err := stream.Recv(); providertest.Reason(err) != provider.ReasonProviderDraining {
		t.Errorf("the stream ended with %v", err)
	}
	<-ended
}

func TestTransportCountsAndRepeatsReads(t *testing.T) {
	var calls atomic.Int32
	cloud := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", fmt.Sprintf("cloud-%d", calls.Add(1)))
		if calls.Load() == 1 {
			http.Error(w, "", http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(cloud.Close)
	client := &http.Client{Transport: &provider.Transport{}}
	p := providertest.Start(t, withGet(func(ctx context.Context, _ *cpv1.NodeRef) (provider.InstanceResult, error) {
		request, _ := http.NewRequestWithContext(ctx, http.MethodGet, cloud.URL, nil)
		response, err := client.Do(request)
		if err != nil {
			return nil, err
		}
		response.Body.Close()
		return provider.Present(&cpv1.Instance{ProviderId: "m-1", Name: "x"}), provider.CheckResponse(response)
	}))
	response, err := p.Client.BatchGetInstances(t.Context(), batch(p, &cpv1.NodeRef{Name: "n"}))
	if err != nil {
		t.Fatal(err)
	}
	stats := response.GetStats()
	if stats.GetCloudCalls() != 2 || stats.GetCloudRetries() != 1 || len(stats.GetCloudRequestIds()) != 2 {
		t.Errorf("counted %v", stats)
	}
}

// rawCodec sends and takes bytes as they are.
type rawCodec struct{}

// Marshal sends bytes as they are.
func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	bytes, _ := v.([]byte)
	return mem.BufferSlice{mem.SliceBuffer(bytes)}, nil
}

// Unmarshal drops an answer.
func (rawCodec) Unmarshal(mem.BufferSlice, any) error { return nil }

// Name is that of the codec it takes the place of.
func (rawCodec) Name() string { return "proto" }

// (case N-7)
func TestAnInstanceIsAnsweredUnderTheIDAskedFor(t *testing.T) {
	definition := machines(nil)
	definition.Instances.Get = func(context.Context, *cpv1.NodeRef) (provider.InstanceResult, error) {
		return provider.Present(&cpv1.Instance{ProviderId: "acme:///zone/ab", Name: "n"}), nil
	}
	p := providertest.Start(t, definition)
	for asked, same := range map[string]bool{"acme:///AB": true, "ACME:///zone/AB": true, "acme:///zone/ab": true, "acme:///other/ab": false, "acme:///b": false} {
		response, err := p.Client.BatchGetInstances(t.Context(), &cpv1.BatchGetInstancesRequest{
			Context: p.Context(), Nodes: []*cpv1.NodeRef{{Name: "n", ProviderId: asked}},
		})
		if err != nil {
			t.Fatal(err)
		}
		result := response.GetResults()[0]
		if got := result.GetInstance().GetProviderId(); same && got != asked || !same && result.GetUnknown().GetReason() != "INVARIANT_BROKEN" {
			t.Errorf("%s is answered as %q, %v", asked, got, result.GetUnknown())
		}
	}
}

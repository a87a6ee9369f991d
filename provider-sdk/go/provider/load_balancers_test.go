package provider_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
	"cloudwire.dev/provider-sdk/go/providertest"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

// withBalancers is a definition that serves load balancers only; what is not given answers an active load balancer.
func withBalancers(handlers *provider.LoadBalancers) *provider.Definition {
	definition := machines(nil)
	definition.Instances, definition.LoadBalancers = nil, handlers
	if handlers.Ensure == nil {
		handlers.Ensure = func(context.Context, *provider.EnsureRequest) (provider.LoadBalancerResult, error) {
			return provider.Ready(&cpv1.LoadBalancer{Id: "lb-1"}), nil
		}
	}
	if handlers.Delete == nil {
		handlers.Delete = func(context.Context, *provider.LoadBalancerRef) (*provider.PendingResult, error) { return nil, nil }
	}
	if handlers.Get == nil && handlers.List == nil {
		handlers.Get = func(context.Context, *provider.LoadBalancerRef) (provider.LoadBalancerReadResult, error) {
			return provider.Absent(provider.LookupMiss), nil
		}
	}
	return definition
}

func ensureRequest(p *providertest.Provider, requestID string) *cpv1.EnsureLoadBalancerRequest {
	return &cpv1.EnsureLoadBalancerRequest{
		Context: p.Context(), Change: p.Change(requestID), Service: p.Service("web", "uid-1"),
		Spec:            &cpv1.LoadBalancerSpec{Ports: []*cpv1.ServicePort{{Protocol: cpv1.Protocol_PROTOCOL_TCP, Port: 80}}},
		SpecFingerprint: "spec-1", Nodes: p.Nodes("nodes-1", "acme://m-1", "acme://m-2"),
	}
}

func TestEnsureLoadBalancerReportsTheSpecAsApplied(t *testing.T) {
	var got *provider.EnsureRequest
	p := providertest.Start(t, withBalancers(&provider.LoadBalancers{
		Ensure: func(_ context.Context, request *provider.EnsureRequest) (provider.LoadBalancerResult, error) {
			got = request
			return provider.Ready(&cpv1.LoadBalancer{Id: "lb-1"}), nil
		},
	}))
	response, err := p.Client.EnsureLoadBalancer(t.Context(), ensureRequest(p, "r-1"))
	if err != nil {
		t.Fatal(err)
	}
	want := &cpv1.LoadBalancer{
		Id: "lb-1", Service: p.Service("web", "uid-1"), Phase: cpv1.LoadBalancerPhase_LOAD_BALANCER_PHASE_ACTIVE,
		SpecFingerprint: "spec-1", NodesFingerprint: "nodes-1",
	}
	if !proto.Equal(response.GetLoadBalancer(), want) {
		t.Errorf("got %v, want %v", response.GetLoadBalancer(), want)
	}
	if len(got.Nodes) != 2 || got.NodesDiff != nil || got.Key != "k8s-b12a33cef8120d13df5a12766346" {
		t.Errorf("the handler got %d nodes, diff %v, key %q", len(got.Nodes), got.NodesDiff, got.Key)
	}
}

// (case S-2)
func TestNodesThatAreNotAllTargetsAreNeverAcknowledged(t *testing.T) {
	partial := func() *cpv1.LoadBalancer {
		out := &cpv1.LoadBalancer{Id: "lb-1", NodesFingerprint: "stored"}
		for range 101 {
			out.UnregisteredNodes = append(out.UnregisteredNodes, &cpv1.UnregisteredNode{Name: "node", Reason: "InstanceStopped"})
		}
		return out
	}
	p := providertest.Start(t, withBalancers(&provider.LoadBalancers{
		Ensure: func(context.Context, *provider.EnsureRequest) (provider.LoadBalancerResult, error) {
			return provider.Ready(partial()), nil
		},
		Get: func(context.Context, *provider.LoadBalancerRef) (provider.LoadBalancerReadResult, error) {
			return provider.Ready(partial()), nil
		},
	}))
	ensured, err := p.Client.EnsureLoadBalancer(t.Context(), ensureRequest(p, "r-1"))
	if err != nil {
		t.Fatal(err)
	}
	read, err := p.Client.GetLoadBalancer(t.Context(), &cpv1.GetLoadBalancerRequest{Context: p.Context(), Service: p.Service("web", "uid-1")})
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range []*cpv1.LoadBalancer{ensured.GetLoadBalancer(), read.GetLoadBalancer()} {
		if got.GetNodesFingerprint() != "" || len(got.GetUnregisteredNodes()) != 100 {
			t.Errorf("got fingerprint %q and %d nodes, want none and 100", got.GetNodesFingerprint(), len(got.GetUnregisteredNodes()))
		}
	}
}

func TestEnsureLoadBalancerTellsHowNodesDiffer(t *testing.T) {
	var diffs []*provider.NodesDiff
	p := providertest.Start(t, withBalancers(&provider.LoadBalancers{
		Ensure: func(_ context.Context, request *provider.EnsureRequest) (provider.LoadBalancerResult, error) {
			diffs = append(diffs, request.NodesDiff)
			return provider.Ready(&cpv1.LoadBalancer{Id: "lb-1"}), nil
		},
	}))
	first := ensureRequest(p, "r-1")
	second := ensureRequest(p, "r-2")
	second.Nodes = p.Nodes("nodes-2", "acme://m-1", "acme://m-3")
	for _, request := range []*cpv1.EnsureLoadBalancerRequest{first, second} {
		if _, err := p.Client.EnsureLoadBalancer(t.Context(), request); err != nil {
			t.Fatal(err)
		}
	}
	diff := diffs[1]
	if diffs[0] != nil || len(diff.Added) != 1 || diff.Added[0].GetProviderId() != "acme://m-3" ||
		len(diff.Removed) != 1 || diff.Removed[0].GetProviderId() != "acme://m-2" || len(diff.Changed) != 0 {
		t.Errorf("got %+v", diffs)
	}
}

func TestEnsureLoadBalancerTakesNodesFromASet(t *testing.T) {
	var got []*cpv1.TargetNode
	p := providertest.Start(t, withBalancers(&provider.LoadBalancers{
		Ensure: func(_ context.Context, request *provider.EnsureRequest) (provider.LoadBalancerResult, error) {
			got = request.Nodes
			return provider.Ready(&cpv1.LoadBalancer{Id: "lb-1"}), nil
		},
	}))
	request := ensureRequest(p, "r-1")
	request.Nodes = &cpv1.NodeSelection{Fingerprint: "set-1", Count: 2, Source: &cpv1.NodeSelection_NodeSetId{NodeSetId: "all"}}
	if _, err := p.Client.EnsureLoadBalancer(t.Context(), request); providertest.Reason(err) != provider.ReasonNodeSetUnknown {
		t.Fatalf("before the upload: %v", err)
	}
	for index := range uint32(2) {
		chunk := &cpv1.ApplyNodeSetRequest{
			Context: p.Context(), NodeSetId: "all", TargetFingerprint: "set-1", ChunkIndex: 1 - index, ChunkCount: 2, TargetCount: 2,
			Upserts: []*cpv1.TargetNode{{Name: "n", ProviderId: []string{"acme://m-1", "acme://m-2"}[index]}},
		}
		response, err := p.Client.ApplyNodeSet(t.Context(), chunk)
		if err != nil || response.GetCommitted() != (index == 1) {
			t.Fatalf("chunk %d: %v %v", index, response, err)
		}
	}
	if _, err := p.Client.EnsureLoadBalancer(t.Context(), request); err != nil || len(got) != 2 {
		t.Errorf("after the upload: %v, %d nodes", err, len(got))
	}
	request.Change, request.Nodes = p.Change("r-2"), &cpv1.NodeSelection{Fingerprint: "set-1", Count: 2, Source: &cpv1.NodeSelection_Unchanged{Unchanged: &cpv1.UnchangedNodes{}}}
	if _, err := p.Client.EnsureLoadBalancer(t.Context(), request); err != nil || len(got) != 2 {
		t.Errorf("unchanged: %v, %d nodes", err, len(got))
	}
}

func TestEnsureLoadBalancerRefusesWhatWasNotDeclared(t *testing.T) {
	p := providertest.Start(t, withBalancers(&provider.LoadBalancers{}))
	class := "acme.example.com/other"
	tests := map[string]struct {
		change func(*cpv1.EnsureLoadBalancerRequest)
		reason provider.Reason
		field  string
	}{
		"protocol":     {func(r *cpv1.EnsureLoadBalancerRequest) { r.Spec.Ports[0].Protocol = cpv1.Protocol_PROTOCOL_UDP }, provider.ReasonPortProtocolUnsupported, "spec.ports[0].protocol"},
		"unknown word": {func(r *cpv1.EnsureLoadBalancerRequest) { r.Spec.Ports[0].Protocol = 99 }, provider.ReasonFieldInvalid, "spec.ports[0].protocol"},
		"class":        {func(r *cpv1.EnsureLoadBalancerRequest) { r.Spec.Class = &class }, provider.ReasonClassUnsupported, "spec.class"},
		"source ranges": {func(r *cpv1.EnsureLoadBalancerRequest) {
			r.Spec.SourceRanges = &cpv1.SourceRanges{Cidrs: []string{"10.0.0.0/8"}}
		}, provider.ReasonFeatureUnsupported, "spec.source_ranges"},
		"lost ranges":  {func(r *cpv1.EnsureLoadBalancerRequest) { r.Spec.SourceRanges = &cpv1.SourceRanges{} }, provider.ReasonFeatureUnsupported, "spec.source_ranges"},
		"adoption":     {func(r *cpv1.EnsureLoadBalancerRequest) { r.Adopt = &cpv1.AdoptLoadBalancer{LoadBalancerId: "lb-9"} }, provider.ReasonFeatureUnsupported, "adopt"},
		"two families": {func(r *cpv1.EnsureLoadBalancerRequest) { r.Spec.IpFamilies = []cpv1.IpFamily{1, 2} }, provider.ReasonFeatureUnsupported, "spec.ip_families[1]"},
		"dry run":      {func(r *cpv1.EnsureLoadBalancerRequest) { r.Change.ValidateOnly = true }, provider.ReasonValidateOnlyUnsupported, "change.validate_only"},
		"no source":    {func(r *cpv1.EnsureLoadBalancerRequest) { r.Nodes.Source = nil }, provider.ReasonFieldMissing, "nodes.source"},
		"node count":   {func(r *cpv1.EnsureLoadBalancerRequest) { r.Nodes.Count = 3 }, provider.ReasonNodeSetIntegrity, "nodes.count"},
		"same port":    {func(r *cpv1.EnsureLoadBalancerRequest) { r.Spec.Ports = append(r.Spec.Ports, r.Spec.Ports[0]) }, provider.ReasonFieldInvalid, "spec.ports[1]"},
		"no port":      {func(r *cpv1.EnsureLoadBalancerRequest) { r.Spec.Ports = nil }, provider.ReasonFieldMissing, "spec.ports"},
		"port 0":       {func(r *cpv1.EnsureLoadBalancerRequest) { r.Spec.Ports[0].Port = 0 }, provider.ReasonFieldMissing, "spec.ports[0].port"},
		"port 70000":   {func(r *cpv1.EnsureLoadBalancerRequest) { r.Spec.Ports[0].Port = 70000 }, provider.ReasonFieldInvalid, "spec.ports[0].port"},
		"long uid":     {func(r *cpv1.EnsureLoadBalancerRequest) { r.Service.Uid = string(make([]byte, 64)) }, provider.ReasonFieldTooLarge, "service.uid"},
		"no health":    {func(r *cpv1.EnsureLoadBalancerRequest) { r.Spec.HealthCheck = &cpv1.HealthCheck{Port: 1} }, provider.ReasonFieldMissing, "spec.health_check.kind"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			request := ensureRequest(p, "r-"+name)
			test.change(request)
			_, err := p.Client.EnsureLoadBalancer(t.Context(), request)
			fields := providertest.FieldViolations(err)
			if providertest.Reason(err) != test.reason || len(fields) == 0 || fields[0] != test.field {
				t.Errorf("got %v blaming %v", err, fields)
			}
		})
	}
}

func TestEnsureLoadBalancerTellsAllProblemsTogether(t *testing.T) {
	p := providertest.Start(t, withBalancers(&provider.LoadBalancers{}))
	request := ensureRequest(p, "r-1")
	request.SpecFingerprint, request.Service.Uid, request.Spec.Ports[0].Port = "", "", 0
	_, err := p.Client.EnsureLoadBalancer(t.Context(), request)
	if fields := providertest.FieldViolations(err); len(fields) != 3 {
		t.Errorf("field violations are %v", fields)
	}
}

func TestChangesOfOneLoadBalancerNeverOverlap(t *testing.T) {
	entered, leave := make(chan string, 8), make(chan struct{})
	var running atomic.Int32
	p := providertest.Start(t, withBalancers(&provider.LoadBalancers{
		Ensure: func(ctx context.Context, request *provider.EnsureRequest) (provider.LoadBalancerResult, error) {
			if running.Add(1) > 1 {
				return nil, errors.New("overlap")
			}
			defer running.Add(-1)
			entered <- request.Request.GetChange().GetRequestId()
			<-leave
			return provider.Ready(&cpv1.LoadBalancer{Id: "lb-1"}), nil
		},
	}))
	type answer struct {
		id  string
		err error
	}
	answers := make(chan answer, 8)
	call := func(id, fingerprint string) {
		request := ensureRequest(p, id)
		request.SpecFingerprint = fingerprint
		_, err := p.Client.EnsureLoadBalancer(context.Background(), request)
		answers <- answer{id, err}
	}
	go call("r-1", "a")
	if id := <-entered; id != "r-1" {
		t.Fatalf("first is %s", id)
	}
	go call("r-1", "a") // A repetition joins.
	go call("r-2", "b")
	go call("r-3", "c")
	busy := <-answers
	if providertest.Reason(busy.err) != provider.ReasonOperationInProgress {
		t.Fatalf("the third was answered %v", busy)
	}
	leave <- struct{}{}
	waiting := <-entered
	leave <- struct{}{}
	for range 3 {
		if each := <-answers; each.err != nil {
			t.Errorf("%s: %v", each.id, each.err)
		}
	}
	if waiting != "r-2" && waiting != "r-3" || waiting == busy.id {
		t.Errorf("then ran %s, refused was %s", waiting, busy.id)
	}
	if _, err := p.Client.EnsureLoadBalancer(t.Context(), func() *cpv1.EnsureLoadBalancerRequest {
		request := ensureRequest(p, "r-1")
		request.SpecFingerprint = "a"
		return request
	}()); err != nil || len(entered) > 0 {
		t.Errorf("a repetition of an ended change ran again, or failed: %v", err)
	}
}

func TestChangesThatWereSupersededAreRefused(t *testing.T) {
	p := providertest.Start(t, withBalancers(&provider.LoadBalancers{}))
	send := func(id string, sequence uint64) error {
		request := ensureRequest(p, id)
		request.Change.Sequence = sequence
		_, err := p.Client.EnsureLoadBalancer(t.Context(), request)
		return err
	}
	if err := send("r-1", 7); err != nil {
		t.Fatal(err)
	}
	if err := send("r-2", 6); providertest.Reason(err) != provider.ReasonStaleGeneration {
		t.Errorf("an older one was answered %v", err)
	}
	if err := send("r-3", 0); err != nil {
		t.Errorf("one without number was answered %v", err)
	}
}

func TestWorkThatOutlivesItsCallIsPendingAndThenReported(t *testing.T) {
	for name, ends := range map[string]error{"well": nil, "badly": provider.NewError(provider.ReasonQuotaExceeded, "no quota left")} {
		t.Run(name, func(t *testing.T) {
			leave := make(chan struct{})
			var runs atomic.Int32
			definition := withBalancers(&provider.LoadBalancers{
				Ensure: func(context.Context, *provider.EnsureRequest) (provider.LoadBalancerResult, error) {
					runs.Add(1)
					<-leave
					return provider.Ready(&cpv1.LoadBalancer{Id: "lb-1"}), ends
				},
			})
			definition.Limits = &cpv1.Limits{SoftCallDuration: durationpb.New(50 * time.Millisecond)}
			p := providertest.Start(t, definition)
			first, err := p.Client.EnsureLoadBalancer(t.Context(), ensureRequest(p, "r-1"))
			if err != nil || first.GetLoadBalancer().GetOperation() == nil || first.GetLoadBalancer().GetSpecFingerprint() != "" {
				t.Fatalf("got %v, %v", first, err)
			}
			reading, err := p.Client.GetLoadBalancer(t.Context(), &cpv1.GetLoadBalancerRequest{Context: p.Context(), Service: p.Service("web", "uid-1")})
			if err != nil || reading.GetLoadBalancer().GetOperation() == nil {
				t.Errorf("a read meanwhile: %v, %v", reading, err)
			}
			close(leave)
			for {
				next, err := p.Client.EnsureLoadBalancer(t.Context(), ensureRequest(p, "r-2"))
				if err == nil && next.GetLoadBalancer().GetOperation() != nil {
					continue
				}
				if ends == nil && (err != nil || next.GetLoadBalancer().GetId() != "lb-1") || ends != nil && providertest.Reason(err) != provider.ReasonQuotaExceeded {
					t.Errorf("the result is %v, %v", next, err)
				}
				break
			}
			if runs.Load() != 1 {
				t.Errorf("it ran %d times", runs.Load())
			}
		})
	}
}

func TestGetLoadBalancerFindsItInTheList(t *testing.T) {
	p := providertest.Start(t, withBalancers(&provider.LoadBalancers{
		List: func(_ context.Context, yield func(*cpv1.LoadBalancer) error) error {
			for _, uid := range []string{"uid-0", "uid-1", "uid-2"} {
				if err := yield(&cpv1.LoadBalancer{Id: "lb-" + uid, Service: &cpv1.ServiceRef{Namespace: "default", Name: "web", Uid: uid}}); err != nil {
					return err
				}
			}
			return nil
		},
	}))
	for uid, want := range map[string]string{"uid-1": "lb-uid-1", "uid-9": ""} {
		response, err := p.Client.GetLoadBalancer(t.Context(), &cpv1.GetLoadBalancerRequest{Context: p.Context(), Service: p.Service("web", uid)})
		if err != nil || response.GetLoadBalancer().GetId() != want || (response.GetAbsent() == nil) != (want != "") {
			t.Errorf("%s: %v, %v", uid, response, err)
		}
	}
}

// (case A-5)
func TestTextsForPeopleAreCutToTheLimitsOfTheContract(t *testing.T) {
	text := "\x1b[31m" + strings.Repeat("allow tcp|80|80|10.0.0.0/16, ", 400)
	p := providertest.Start(t, withBalancers(&provider.LoadBalancers{
		Delete: func(ctx context.Context, _ *provider.LoadBalancerRef) (*provider.PendingResult, error) {
			call := provider.CallOf(ctx)
			call.AddDiagnostic(&cpv1.Diagnostic{Reason: "Any", Summary: text, Detail: text})
			call.AddPlannedChange(&cpv1.PlannedChange{ResourceType: "rule", Summary: text})
			return provider.Pending("lb-1", provider.Stage(text), provider.WaitingFor(text), provider.Remaining(text)), nil
		},
	}))
	request := &cpv1.DeleteLoadBalancerRequest{Context: p.Context(), Change: p.Change("r-1"), Service: p.Service("web", "uid-1")}
	got, err := p.Client.DeleteLoadBalancer(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	said, planned := got.GetDiagnostics()[0], got.GetPlannedChanges()[0]
	for text, limit := range map[string]int{
		got.GetOperation().GetStage(): 253, got.GetRemaining()[0]: 253, got.GetOperation().GetMessage(): 1024,
		said.GetSummary(): 1024, said.GetDetail(): 1024, planned.GetSummary(): 1024,
	} {
		if len(text) > limit || !strings.HasPrefix(text, "\uFFFD[31mallow") {
			t.Errorf("got %d bytes of at most %d: %.20q", len(text), limit, text)
		}
	}
}

func TestDeleteLoadBalancerIsDoneWhenNothingIsLeft(t *testing.T) {
	answers := []*provider.PendingResult{provider.Pending("lb-1", provider.Remaining("security group sg-1")), nil}
	p := providertest.Start(t, withBalancers(&provider.LoadBalancers{
		Delete: func(context.Context, *provider.LoadBalancerRef) (*provider.PendingResult, error) {
			answer := answers[0]
			answers = answers[1:]
			return answer, nil
		},
	}))
	request := &cpv1.DeleteLoadBalancerRequest{
		Context: p.Context(), Change: p.Change("r-1"), Service: p.Service("web", "uid-1"),
		// A hint: a bad one never makes a deletion fail.
		Annotations: map[string]string{"k": string(make([]byte, 20_000))},
	}
	first, err := p.Client.DeleteLoadBalancer(t.Context(), request)
	if err != nil || first.GetDone() || first.GetOperation().GetPollAfter() == nil || first.GetRemaining()[0] != "security group sg-1" {
		t.Fatalf("got %v, %v", first, err)
	}
	second, err := p.Client.DeleteLoadBalancer(t.Context(), request)
	if err != nil || !second.GetDone() {
		t.Errorf("got %v, %v", second, err)
	}
}

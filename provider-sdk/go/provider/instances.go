package provider

import (
	"context"
	"fmt"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/rules"
	"cloudwire.dev/provider-sdk/go/internal/state"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// defaultConsistencyDelay is what the contract assumes when a provider declares no existence_consistency_delay.
const defaultConsistencyDelay = time.Minute

// instanceBatch serves BatchGetInstances from Get or GetMany.
type instanceBatch struct {
	s      *service
	lookUp *lookUp[*cpv1.NodeRef, InstanceResult, *cpv1.Instance]
}

func newInstanceBatch(s *service, handlers *Instances) *instanceBatch {
	b := &instanceBatch{s: s, lookUp: newLookUp[*cpv1.NodeRef, InstanceResult, *cpv1.Instance](s)}
	b.lookUp.get, b.lookUp.getMany, b.lookUp.refuse = handlers.Get, handlers.GetMany, b.tooYoung
	b.lookUp.found = func(answer InstanceResult) (*cpv1.Instance, time.Time, bool) {
		present, ok := answer.(*instanceFound)
		if !ok || present.instance == nil {
			return nil, time.Time{}, false
		}
		return present.instance, present.readTime, true
	}
	return b
}

// BatchGetInstances looks instances up.
func (s *service) BatchGetInstances(ctx context.Context, request *cpv1.BatchGetInstancesRequest) (*cpv1.BatchGetInstancesResponse, error) {
	special := rules.Batch("nodes", len(request.GetNodes()), s.capabilities.GetInstances().GetMaxBatchSize())
	return read(ctx, s, request, special, func(ctx context.Context) (*cpv1.BatchGetInstancesResponse, error) {
		return s.instances.answer(ctx, request)
	})
}

func (b *instanceBatch) answer(ctx context.Context, request *cpv1.BatchGetInstancesRequest) (*cpv1.BatchGetInstancesResponse, error) {
	call := CallOf(ctx)
	call.MaxDataAge = maxDataAge(request)
	results := make([]*cpv1.InstanceResult, len(request.GetNodes()))
	requests := state.NewRequestDedup[*cpv1.NodeRef](len(results))
	for i, node := range request.GetNodes() {
		if key, answered := b.plan(node); answered != nil {
			results[i] = answered
		} else {
			requests.Add(i, key, node)
		}
	}
	found, err := b.lookUp.ask(ctx, requests.Requests)
	if err != nil {
		return nil, err
	}
	for i, at := range requests.Of {
		results[i] = b.toResult(call, requests.Requests[at].Ref, found[at])
	}
	scope, err := b.s.knownScope()
	if err != nil {
		return nil, err
	}
	return &cpv1.BatchGetInstancesResponse{Results: results, ScopeId: scope, Stats: call.recorder.takeStats()}, nil
}

// plan decides what needs no question to the provider, and which Nodes are one question.
func (b *instanceBatch) plan(node *cpv1.NodeRef) (key string, answered *cpv1.InstanceResult) {
	providerID := node.GetProviderId()
	if providerID == "" {
		return b.planByName(node)
	}
	_, id, mine := b.s.ids.parse(providerID)
	if !mine {
		message := fmt.Sprintf("provider ID %s has none of the prefixes %v", providerID, b.s.ids.prefixes)
		return "", &cpv1.InstanceResult{Outcome: &cpv1.InstanceResult_NotOwned{
			NotOwned: &cpv1.NotOwned{Message: rules.CutToBytes(message, rules.MaxMessageBytes)},
		}}
	}
	if id == "" {
		return "", unknownInstance(NewError(ReasonProviderIDMalformed, "provider ID "+providerID+" has nothing after its prefix"))
	}
	return "id " + providerID, nil
}

func (b *instanceBatch) planByName(node *cpv1.NodeRef) (key string, answered *cpv1.InstanceResult) {
	if !b.s.capabilities.GetInstances().GetLookupByName() {
		return "", unknownInstance(NewError(ReasonFeatureUnsupported,
			"Node "+node.GetName()+" has no provider ID; machines are not looked up by name here"))
	}
	// Nodes without provider ID are one question only when every hint is the same.
	return "name " + string(state.Bytes(node)), nil
}

func unknownInstance(err *Error) *cpv1.InstanceResult {
	return &cpv1.InstanceResult{Outcome: &cpv1.InstanceResult_Unknown{Unknown: err.toItem()}}
}

func (b *instanceBatch) toResult(call *Call, ref *cpv1.NodeRef, result lookUpResult[*cpv1.Instance]) *cpv1.InstanceResult {
	out := &cpv1.InstanceResult{ReadTime: timestamppb.New(result.readTime)}
	switch {
	case result.isFound:
		instance := b.s.completeInstance(result.found, ref.GetProviderId())
		problem := answerProblem(instance)
		if problem == nil && ref.GetProviderId() != "" && !IsSameInstance(instance.GetProviderId(), ref.GetProviderId()) {
			// Answers that got out of step must not label another Node.
			problem = NewError(ReasonInvariantBroken,
				fmt.Sprintf("the provider was asked for %s and answered %s", ref.GetProviderId(), instance.GetProviderId()))
		}
		if problem == nil {
			out.Outcome = &cpv1.InstanceResult_Instance{Instance: withRequestedID(instance, ref.GetProviderId())}
			break
		}
		call.Log.Error("The provider answered an instance that breaks the contract", "error", problem.message)
		out.Outcome = &cpv1.InstanceResult_Unknown{Unknown: problem.toItem()}
	case result.absent != nil:
		out.Outcome = &cpv1.InstanceResult_Absent{Absent: result.absent}
	case result.notOwned != nil:
		out.Outcome = &cpv1.InstanceResult_NotOwned{NotOwned: result.notOwned}
	default:
		out.Outcome = &cpv1.InstanceResult_Unknown{Unknown: result.unknown.toItem()}
	}
	return out
}

// withRequestedID is the instance under the form of its provider ID that the Node has for its life.
func withRequestedID(instance *cpv1.Instance, asked string) *cpv1.Instance {
	if asked == "" || instance.GetProviderId() == asked {
		return instance
	}
	out := proto.CloneOf(instance)
	out.ProviderId = asked
	return out
}

// completeInstance puts the prefix before a bare id, the one under which the instance was asked for, which it keeps for life,
// and drops addresses that are there twice. The vendor's message is not touched: it may be a cache's.
func (s *service) completeInstance(instance *cpv1.Instance, asked string) *cpv1.Instance {
	prefix, _, _ := s.ids.parse(asked)
	completed := s.ids.complete(instance.GetProviderId(), prefix)
	addresses := withoutDuplicates(instance.GetAddresses())
	if completed == instance.GetProviderId() && len(addresses) == len(instance.GetAddresses()) {
		return instance
	}
	out := proto.CloneOf(instance)
	out.ProviderId, out.Addresses = completed, addresses
	return out
}

func withoutDuplicates(addresses []*cpv1.NodeAddress) []*cpv1.NodeAddress {
	type address struct {
		kind cpv1.NodeAddressType
		text string
	}
	seen := make(map[address]bool, len(addresses))
	out := make([]*cpv1.NodeAddress, 0, len(addresses))
	for _, each := range addresses {
		if key := (address{each.GetType(), each.GetAddress()}); !seen[key] {
			seen[key] = true
			out = append(out, each)
		}
	}
	return out
}

// tooYoung: absence of what is younger than the cloud's read consistency means nothing yet.
func (b *instanceBatch) tooYoung(ref *cpv1.NodeRef, answer *AbsentResult) *Error {
	if ref.GetCreateTime() == nil || answer.basis == Terminated || answer.stronglyConsistent {
		return nil
	}
	delay := defaultConsistencyDelay
	if declared := b.s.capabilities.GetInstances().GetExistenceConsistencyDelay(); declared != nil {
		delay = declared.AsDuration()
	}
	age := time.Since(ref.GetCreateTime().AsTime())
	if age >= delay {
		return nil
	}
	return NewError(ReasonNotYetConsistent,
		fmt.Sprintf("Node %s is %.0f s old; the cloud may not show a machine for %.0f s", ref.GetName(), age.Seconds(), delay.Seconds()),
		RetryAfter(delay-age))
}

func (s *service) listedInstance(instance *cpv1.Instance) *cpv1.Instance {
	return s.completeInstance(instance, "")
}

// ListInstances lists the instances of the scope.
func (s *service) ListInstances(ctx context.Context, request *cpv1.ListInstancesRequest) (*cpv1.ListInstancesResponse, error) {
	return read(ctx, s, request, rules.Page(request.GetPageSize()), func(ctx context.Context) (*cpv1.ListInstancesResponse, error) {
		page, err := s.instanceList.page(ctx, request)
		if err != nil {
			return nil, err
		}
		return &cpv1.ListInstancesResponse{
			Instances: page.items, NextPageToken: page.nextPageToken, Unreachable: page.unreachable,
			ResumeToken: page.resumeToken, Complete: page.complete, ScopeId: page.scopeID, Stats: page.stats,
		}, nil
	})
}

// WatchInstances streams hints about instances.
func (s *service) WatchInstances(request *cpv1.WatchInstancesRequest, stream cpv1.CloudProvider_WatchInstancesServer) error {
	return serveWatch(stream.Context(), s, request, watchOf[*cpv1.WatchInstancesResponse]{
		run: func(ctx context.Context, send func(*cpv1.WatchInstancesResponse) error) error {
			return s.definition.Instances.Watch(ctx, request, send)
		},
		send: stream.Send,
		heartbeat: func() *cpv1.WatchInstancesResponse {
			return &cpv1.WatchInstancesResponse{Event: &cpv1.WatchInstancesResponse_Bookmark{Bookmark: &cpv1.Bookmark{}}}
		},
		complete: s.completeInstanceEvent,
		token:    func(event *cpv1.WatchInstancesResponse) *string { return &event.ResumeToken },
	})
}

func (s *service) completeInstanceEvent(event *cpv1.WatchInstancesResponse) *cpv1.WatchInstancesResponse {
	switch typed := event.GetEvent().(type) {
	case *cpv1.WatchInstancesResponse_Upsert:
		typed.Upsert = s.completeInstance(typed.Upsert, "")
	case *cpv1.WatchInstancesResponse_Gone:
		typed.Gone.ProviderId = s.ids.complete(typed.Gone.GetProviderId(), "")
		if typed.Gone.GetAbsence().GetObserveTime() == nil && typed.Gone.GetAbsence() != nil {
			typed.Gone.Absence.ObserveTime = timestamppb.Now()
		}
	}
	return event
}

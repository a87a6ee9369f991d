package provider

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/rules"
	"cloudwire.dev/provider-sdk/go/internal/state"
	"cloudwire.dev/provider-sdk/go/internal/state/lru"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

// defaultSoftDuration is the contract's: Limits.soft_call_duration.
const defaultSoftDuration = 10 * time.Second

// defaultMaxInlineNodes is the contract's, where the provider declares nothing: Limits.max_inline_nodes.
const defaultMaxInlineNodes = 15_000

// loadBalancerService serves the RPCs about one load balancer.
type loadBalancerService struct {
	s          *service
	handlers   *LoadBalancers
	nodes      *state.NodeResolver
	serializer *state.ChangeSerializer[proto.Message]
	fence      *state.SequenceFence
	soft       time.Duration
	// ids are those of load balancers by their keys, for answers about work that goes on.
	ids *lru.Map[string, string]
}

func newLoadBalancerService(s *service, handlers *LoadBalancers) *loadBalancerService {
	soft := defaultSoftDuration
	if declared := s.limits.GetSoftCallDuration(); declared != nil {
		soft = declared.AsDuration()
	}
	// What remains is for the way back.
	soft -= soft / 20
	if s.capabilities.GetLoadBalancers().GetLockScope() != cpv1.LockScope_LOCK_SCOPE_SERVICE {
		// Work must not go on after its call: the provider's changes exclude each other, and the controller would begin the next.
		soft = 0
	}
	return &loadBalancerService{
		s: s, handlers: handlers, nodes: nodeResolverFor(s),
		serializer: state.NewChangeSerializer[proto.Message](s.forced, s.log), fence: state.NewSequenceFence(), soft: soft,
		ids: lru.New[string](lru.Options[string]{MaxEntries: state.MaxRememberedLoadBalancers}),
	}
}

// loadBalancerKey is the natural key of a load balancer: k8s- and 28 characters of a hash of cluster and Service UID. Part of
// what vendors name cloud objects after: it never changes, and is the same in every SDK.
func loadBalancerKey(clusterID, serviceUID string) string {
	const characters = 28
	hash := sha256.Sum256([]byte(clusterID + "\x00" + serviceUID))
	return "k8s-" + hex.EncodeToString(hash[:])[:characters]
}

// EnsureLoadBalancer reconciles a load balancer to its spec.
func (s *service) EnsureLoadBalancer(ctx context.Context, request *cpv1.EnsureLoadBalancerRequest) (*cpv1.EnsureLoadBalancerResponse, error) {
	claimed := s.capabilities.GetLoadBalancers()
	special := rules.Ensure(request, claimed, s.definition.Annotations)
	return change(ctx, s, request, claimed.GetValidateOnly(), special, func(ctx context.Context) (*cpv1.EnsureLoadBalancerResponse, error) {
		return s.balancers.ensure(ctx, request)
	})
}

func (b *loadBalancerService) ensure(ctx context.Context, request *cpv1.EnsureLoadBalancerRequest) (*cpv1.EnsureLoadBalancerResponse, error) {
	ref := refOf(request)
	ref.Class, ref.Annotations = request.GetSpec().GetClass(), request.GetSpec().GetAnnotations()
	ref.OperationID = request.GetOperationId()
	wanted := &EnsureRequest{
		LoadBalancerRef: *ref, Spec: canonicalSpec(request.GetSpec()), SpecFingerprint: request.GetSpecFingerprint(),
		AdoptID: request.GetAdopt().GetLoadBalancerId(), Request: request,
	}
	digest := "ensure " + quoteAll(wanted.SpecFingerprint, request.GetNodes().GetFingerprint(), wanted.AdoptID)
	answer, stillRunning, err := changeOne(ctx, b, ref, request.GetChange(), digest, func(ctx context.Context) (*cpv1.EnsureLoadBalancerResponse, error) {
		return b.runEnsure(ctx, wanted)
	})
	if stillRunning {
		return &cpv1.EnsureLoadBalancerResponse{LoadBalancer: b.underWay(ref), Stats: CallOf(ctx).recorder.takeStats()}, nil
	}
	return answer, err
}

func (b *loadBalancerService) runEnsure(ctx context.Context, wanted *EnsureRequest) (*cpv1.EnsureLoadBalancerResponse, error) {
	call := CallOf(ctx)
	// Here and not before: the change that this one waited for may have made other nodes the last ones.
	var err error
	if wanted.DesiredNodes, err = b.resolve(wanted.Key, wanted.Request.GetNodes()); err != nil {
		return nil, err
	}
	answer, err := b.handlers.Ensure(ctx, wanted)
	if err != nil {
		return nil, err
	}
	defaults := inForce{service: wanted.Service}
	if !call.ValidateOnly() {
		// With validate_only nothing was applied: only what the provider itself returns is reported.
		defaults.spec, defaults.nodes = wanted.SpecFingerprint, wanted.NodesFingerprint
	}
	balancer, err := b.answered(answer, defaults, call.ValidateOnly())
	if err != nil {
		return nil, err
	}
	if !call.ValidateOnly() {
		b.acknowledge(wanted.Key, balancer, wanted.DesiredNodes)
	}
	diagnostics, planned := call.recorder.reported()
	return &cpv1.EnsureLoadBalancerResponse{
		LoadBalancer: balancer, Diagnostics: diagnostics, PlannedChanges: planned, Stats: call.recorder.takeStats(),
	}, nil
}

func nodeResolverFor(s *service) *state.NodeResolver {
	return state.NewNodeResolver(
		orDefault(s.limits.GetMaxInlineNodes(), defaultMaxInlineNodes), s.capabilities.GetLoadBalancers().GetNodeSets().GetMaxSets())
}

// resolve answers the nodes of a selection, however they travel: the whole list.
func (b *loadBalancerService) resolve(key string, selection *cpv1.NodeSelection) (DesiredNodes, error) {
	nodes, diff, err := b.nodes.Resolve(key, selection)
	if err != nil {
		return DesiredNodes{}, stated(err)
	}
	return DesiredNodes{Nodes: nodes, NodesFingerprint: selection.GetFingerprint(), NodesDiff: (*NodesDiff)(diff)}, nil
}

// UpdateLoadBalancerNodes makes the targets of a load balancer be these nodes.
func (s *service) UpdateLoadBalancerNodes(ctx context.Context, request *cpv1.UpdateLoadBalancerNodesRequest) (*cpv1.UpdateLoadBalancerNodesResponse, error) {
	offersDryRun := s.capabilities.GetLoadBalancers().GetValidateOnly()
	return change(ctx, s, request, offersDryRun, rules.Nodes(request.GetNodes()), func(ctx context.Context) (*cpv1.UpdateLoadBalancerNodesResponse, error) {
		return s.balancers.updateNodes(ctx, request)
	})
}

func (b *loadBalancerService) updateNodes(ctx context.Context, request *cpv1.UpdateLoadBalancerNodesRequest) (*cpv1.UpdateLoadBalancerNodesResponse, error) {
	ref := hintedRef(request)
	ref.ID = request.GetLoadBalancerId()
	wanted := &UpdateNodesRequest{LoadBalancerRef: *ref, Request: request}
	digest := "updateNodes " + request.GetNodes().GetFingerprint()
	answer, stillRunning, err := changeOne(ctx, b, ref, request.GetChange(), digest, func(ctx context.Context) (*cpv1.UpdateLoadBalancerNodesResponse, error) {
		return b.runUpdateNodes(ctx, wanted)
	})
	if stillRunning {
		return &cpv1.UpdateLoadBalancerNodesResponse{LoadBalancer: b.underWay(ref), Stats: CallOf(ctx).recorder.takeStats()}, nil
	}
	return answer, err
}

func (b *loadBalancerService) runUpdateNodes(ctx context.Context, wanted *UpdateNodesRequest) (*cpv1.UpdateLoadBalancerNodesResponse, error) {
	call := CallOf(ctx)
	var err error
	if wanted.DesiredNodes, err = b.resolve(wanted.Key, wanted.Request.GetNodes()); err != nil {
		return nil, err
	}
	answer, err := b.handlers.UpdateNodes(ctx, wanted)
	if err != nil {
		return nil, err
	}
	defaults := inForce{service: wanted.Service}
	if !call.ValidateOnly() {
		defaults.nodes = wanted.NodesFingerprint
	}
	balancer, err := b.answered(answer, defaults, false)
	if err != nil {
		return nil, err
	}
	if !call.ValidateOnly() {
		b.acknowledge(wanted.Key, balancer, wanted.DesiredNodes)
	}
	diagnostics, planned := call.recorder.reported()
	return &cpv1.UpdateLoadBalancerNodesResponse{
		LoadBalancer: balancer, Diagnostics: diagnostics, PlannedChanges: planned, Stats: call.recorder.takeStats(),
	}, nil
}

// DeleteLoadBalancer makes a load balancer be gone.
func (s *service) DeleteLoadBalancer(ctx context.Context, request *cpv1.DeleteLoadBalancerRequest) (*cpv1.DeleteLoadBalancerResponse, error) {
	offersDryRun := s.capabilities.GetLoadBalancers().GetValidateOnly()
	return change(ctx, s, request, offersDryRun, nil, func(ctx context.Context) (*cpv1.DeleteLoadBalancerResponse, error) {
		return s.balancers.delete(ctx, request)
	})
}

func (b *loadBalancerService) delete(ctx context.Context, request *cpv1.DeleteLoadBalancerRequest) (*cpv1.DeleteLoadBalancerResponse, error) {
	ref := hintedRef(request)
	ref.ID, ref.OperationID = request.GetLoadBalancerId(), request.GetOperationId()
	answer, stillRunning, err := changeOne(ctx, b, ref, request.GetChange(), deleteDigest, func(ctx context.Context) (*cpv1.DeleteLoadBalancerResponse, error) {
		return b.runDelete(ctx, ref)
	})
	if stillRunning {
		return &cpv1.DeleteLoadBalancerResponse{Operation: operationUnderWay(), Stats: CallOf(ctx).recorder.takeStats()}, nil
	}
	return answer, err
}

// maxRemaining is the contract's: DeleteLoadBalancerResponse.remaining.
const maxRemaining = 64

func (b *loadBalancerService) runDelete(ctx context.Context, ref *LoadBalancerRef) (*cpv1.DeleteLoadBalancerResponse, error) {
	call := CallOf(ctx)
	if !call.ValidateOnly() {
		// Even a deletion that fails half-way may have taken targets away.
		b.nodes.Forget(ref.Key)
	}
	answer, err := b.handlers.Delete(ctx, ref)
	if err != nil {
		return nil, err
	}
	if answer == nil && !call.ValidateOnly() {
		b.ids.Delete(ref.Key)
	}
	diagnostics, planned := call.recorder.reported()
	out := &cpv1.DeleteLoadBalancerResponse{
		Done: answer == nil, Diagnostics: diagnostics, PlannedChanges: planned, Stats: call.recorder.takeStats(),
	}
	if answer != nil {
		out.Operation = answer.operation
		out.Remaining = answer.remaining[:min(len(answer.remaining), maxRemaining)]
	}
	return out, nil
}

// changeOne orders the changes of each load balancer: one at a time, repetitions answered, superseded ones refused.
func changeOne[Response proto.Message](ctx context.Context, b *loadBalancerService, ref *LoadBalancerRef, change *cpv1.ChangeContext, digest string,
	work func(context.Context) (Response, error),
) (answer Response, stillRunning bool, err error) {
	if change.GetValidateOnly() {
		answer, err = work(ctx)
		return answer, false, err
	}
	given, stillRunning, err := b.serializer.Run(ctx, state.Change[proto.Message]{
		Key: ref.Key, ChangeID: change.GetRequestId(), Digest: digest, Soft: b.soft, Final: isFinalChange,
		Work: func(ctx context.Context) (proto.Message, error) {
			// The work may outlive the call that began it.
			ctx = withCall(ctx, CallOf(ctx))
			// Here and not before: a newer change may have passed while this one waited for its turn.
			if superseded := fromRefusal(b.fence.Enter(ref.Key, change.GetSequence())); superseded != nil {
				return nil, superseded
			}
			return work(ctx)
		},
	})
	if err == nil && !stillRunning {
		// Digests begin with the kind of change: an answer of another kind cannot be met.
		answer, _ = given.(Response)
	}
	return answer, stillRunning, stated(err)
}

// isFinalChange: work that goes on, or that failed, is asked about again and must not be answered from memory.
func isFinalChange(answer proto.Message) bool {
	switch typed := answer.(type) {
	case *cpv1.DeleteLoadBalancerResponse:
		return typed.GetDone()
	case interface{ GetLoadBalancer() *cpv1.LoadBalancer }:
		balancer := typed.GetLoadBalancer()
		return balancer != nil && balancer.GetOperation() == nil && balancer.GetPhase() == cpv1.LoadBalancerPhase_LOAD_BALANCER_PHASE_ACTIVE
	}
	return false
}

// underWay is the answer about work that outlives the time in which an answer is due.
func (b *loadBalancerService) underWay(ref *LoadBalancerRef) *cpv1.LoadBalancer {
	id, known := b.ids.Get(ref.Key)
	phase := cpv1.LoadBalancerPhase_LOAD_BALANCER_PHASE_UPDATING
	if !known {
		id, phase = ref.Key, cpv1.LoadBalancerPhase_LOAD_BALANCER_PHASE_PROVISIONING
	}
	return &cpv1.LoadBalancer{Id: id, Service: ref.Service, Phase: phase, Operation: operationUnderWay()}
}

// whileWorking keeps a read from reporting the desired state as applied while a pending change is in progress.
func (b *loadBalancerService) whileWorking(ref *LoadBalancerRef, reading LoadBalancerReadResult, digest string) *cpv1.LoadBalancer {
	out := b.underWay(ref)
	if ready, ok := reading.(*ReadyResult); ok && ready.loadBalancer != nil {
		out = listedLoadBalancer(ready.loadBalancer)
		out.Service, out.Operation, out.Phase = ref.Service, operationUnderWay(), cpv1.LoadBalancerPhase_LOAD_BALANCER_PHASE_UPDATING
	}
	if digest == deleteDigest {
		out.Phase = cpv1.LoadBalancerPhase_LOAD_BALANCER_PHASE_DELETING
	}
	return out
}

// deleteDigest is the digest of a deletion.
const deleteDigest = "delete"

func operationUnderWay() *cpv1.Operation {
	return &cpv1.Operation{Stage: "the provider is still at work", PollAfter: durationpb.New(defaultPollAfter)}
}

// acknowledge remembers what a load balancer has, once it is in force.
func (b *loadBalancerService) acknowledge(key string, balancer *cpv1.LoadBalancer, nodes DesiredNodes) {
	b.ids.Set(key, balancer.GetId())
	if balancer.GetNodesFingerprint() == nodes.NodesFingerprint {
		b.nodes.Acknowledge(key, nodes.NodesFingerprint, nodes.Nodes)
	}
}

// GetLoadBalancer reads one load balancer.
func (s *service) GetLoadBalancer(ctx context.Context, request *cpv1.GetLoadBalancerRequest) (*cpv1.GetLoadBalancerResponse, error) {
	return read(ctx, s, request, nil, func(ctx context.Context) (*cpv1.GetLoadBalancerResponse, error) {
		return s.balancers.get(ctx, request)
	})
}

func (b *loadBalancerService) get(ctx context.Context, request *cpv1.GetLoadBalancerRequest) (*cpv1.GetLoadBalancerResponse, error) {
	call, started := CallOf(ctx), time.Now()
	ref := hintedRef(request)
	ref.OperationID = request.GetOperationId()
	reading, err := b.readOne(ctx, ref)
	if err != nil {
		return nil, err
	}
	out := &cpv1.GetLoadBalancerResponse{}
	if working := b.serializer.Working(ref.Key); working != "" {
		out.Outcome = &cpv1.GetLoadBalancerResponse_LoadBalancer{LoadBalancer: b.whileWorking(ref, reading, working)}
	} else if absence, ok := reading.(*AbsentResult); ok {
		if refused := call.recorder.refusesAbsence(absence.basis); refused != nil {
			return nil, refused
		}
		out.Outcome = &cpv1.GetLoadBalancerResponse_Absent{Absent: toAbsence(absence, started)}
	} else {
		answer, _ := reading.(LoadBalancerResult)
		balancer, err := b.answered(answer, inForce{service: ref.Service}, false)
		if err != nil {
			return nil, err
		}
		out.Outcome = &cpv1.GetLoadBalancerResponse_LoadBalancer{LoadBalancer: balancer}
	}
	out.Diagnostics, _ = call.recorder.reported()
	out.Stats = call.recorder.takeStats()
	return out, nil
}

// errFound ends a list early.
var errFound = NewError(ReasonInvariantBroken, "found")

// readOne asks Get, or looks for the load balancer in List.
func (b *loadBalancerService) readOne(ctx context.Context, ref *LoadBalancerRef) (LoadBalancerReadResult, error) {
	if b.handlers.Get != nil {
		return b.handlers.Get(ctx, ref)
	}
	var wanted *cpv1.LoadBalancer
	err := b.handlers.List(ctx, func(balancer *cpv1.LoadBalancer) error {
		if balancer.GetService().GetUid() != ref.Service.GetUid() {
			return nil
		}
		wanted = balancer
		return errFound
	})
	if wanted != nil {
		return Ready(wanted), nil
	}
	if err != nil {
		return nil, err
	}
	if places := CallOf(ctx).recorder.unread(); len(places) > 0 {
		return nil, NewError(ReasonZoneUnreachable,
			"the load balancer was not found, but "+strings.Join(places, ", ")+" could not be read", Metadata("zone", places[0]))
	}
	return Absent(CompleteListMiss), nil
}

// ApplyNodeSet takes one chunk of a node set.
func (s *service) ApplyNodeSet(ctx context.Context, request *cpv1.ApplyNodeSetRequest) (*cpv1.ApplyNodeSetResponse, error) {
	special := rules.NodeSetChunk(request, s.capabilities.GetLoadBalancers())
	return read(ctx, s, request, special, func(context.Context) (*cpv1.ApplyNodeSetResponse, error) {
		answer, err := s.balancers.nodes.Apply(request)
		return answer, stated(err)
	})
}

func quoteAll(texts ...string) string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = strconv.Quote(text)
	}
	return strings.Join(out, " ")
}

package provider

import (
	"context"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/rules"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// serviceRequest is what the requests about one load balancer have in common.
type serviceRequest interface {
	contextual
	GetService() *cpv1.ServiceRef
}

func refOf(request serviceRequest) *LoadBalancerRef {
	cluster, service := request.GetContext().GetCluster(), request.GetService()
	return &LoadBalancerRef{Key: loadBalancerKey(cluster.GetId(), service.GetUid()), Cluster: cluster, Service: service}
}

// hintedRequest carries class and annotations as hints.
type hintedRequest interface {
	serviceRequest
	GetClass() string
	GetAnnotations() map[string]string
}

func hintedRef(request hintedRequest) *LoadBalancerRef {
	ref := refOf(request)
	ref.Class, ref.Annotations = request.GetClass(), request.GetAnnotations()
	return ref
}

// inForce are the defaults of an answer: the requested Service and the spec that was just applied.
type inForce struct {
	service     *cpv1.ServiceRef
	spec, nodes string
}

// answered is a load balancer as it travels. mayBeNone allows no answer, for one that does not exist.
func (b *loadBalancerService) answered(answer LoadBalancerResult, defaults inForce, mayBeNone bool) (*cpv1.LoadBalancer, error) {
	var out *cpv1.LoadBalancer
	switch typed := answer.(type) {
	case *ReadyResult:
		out = proto.CloneOf(typed.loadBalancer)
	case *PendingResult:
		out = &cpv1.LoadBalancer{Id: typed.id, Phase: typed.phase, Operation: typed.operation, Ingress: typed.ingress}
	}
	if out == nil {
		if mayBeNone {
			return nil, nil
		}
		return nil, NewError(ReasonInvariantBroken, "the provider answered no load balancer")
	}
	completeLoadBalancer(out, defaults)
	if problem := answerProblem(out); problem != nil {
		return nil, problem
	}
	return out, nil
}

// maxUnregisteredNodes is max_items of LoadBalancer.unregistered_nodes.
const maxUnregisteredNodes = 100

func completeLoadBalancer(balancer *cpv1.LoadBalancer, defaults inForce) {
	const failed = cpv1.LoadBalancerPhase_LOAD_BALANCER_PHASE_FAILED
	working := balancer.GetOperation() != nil
	if balancer.Service == nil {
		balancer.Service = defaults.service
	}
	if len(balancer.GetUnregisteredNodes()) > 0 {
		// Nodes that are not all targets are not in force: no fingerprint acknowledges them.
		balancer.NodesFingerprint, defaults.nodes = "", ""
		balancer.UnregisteredNodes = balancer.UnregisteredNodes[:min(len(balancer.UnregisteredNodes), maxUnregisteredNodes)]
	}
	if working {
		balancer.Operation.PollAfter = boundedPoll(balancer.Operation.GetPollAfter())
	} else if balancer.GetPhase() != failed {
		// The applied fingerprints: those of the provider, else those of the finished change.
		balancer.SpecFingerprint = orText(balancer.GetSpecFingerprint(), defaults.spec)
		balancer.NodesFingerprint = orText(balancer.GetNodesFingerprint(), defaults.nodes)
	}
	if balancer.GetPhase() != cpv1.LoadBalancerPhase_LOAD_BALANCER_PHASE_UNSPECIFIED {
		return
	}
	balancer.Phase = cpv1.LoadBalancerPhase_LOAD_BALANCER_PHASE_ACTIVE
	if working {
		balancer.Phase = cpv1.LoadBalancerPhase_LOAD_BALANCER_PHASE_PROVISIONING
	}
}

func orText(text, fallback string) string {
	if text == "" {
		return fallback
	}
	return text
}

func listedLoadBalancer(balancer *cpv1.LoadBalancer) *cpv1.LoadBalancer {
	out := proto.CloneOf(balancer)
	completeLoadBalancer(out, inForce{})
	return out
}

// ListLoadBalancers lists this cluster's load balancers.
func (s *service) ListLoadBalancers(ctx context.Context, request *cpv1.ListLoadBalancersRequest) (*cpv1.ListLoadBalancersResponse, error) {
	return read(ctx, s, request, rules.Page(request.GetPageSize()), func(ctx context.Context) (*cpv1.ListLoadBalancersResponse, error) {
		page, err := s.balancerList.page(ctx, request)
		if err != nil {
			return nil, err
		}
		return &cpv1.ListLoadBalancersResponse{
			LoadBalancers: page.items, NextPageToken: page.nextPageToken, Unreachable: page.unreachable,
			ResumeToken: page.resumeToken, Complete: page.complete, ScopeId: page.scopeID, Stats: page.stats,
		}, nil
	})
}

// WatchLoadBalancers streams hints about load balancers.
func (s *service) WatchLoadBalancers(request *cpv1.WatchLoadBalancersRequest, stream cpv1.CloudProvider_WatchLoadBalancersServer) error {
	return serveWatch(stream.Context(), s, request, watchOf[*cpv1.WatchLoadBalancersResponse]{
		run: func(ctx context.Context, send func(*cpv1.WatchLoadBalancersResponse) error) error {
			return s.definition.LoadBalancers.Watch(ctx, request, send)
		},
		send: stream.Send,
		heartbeat: func() *cpv1.WatchLoadBalancersResponse {
			return &cpv1.WatchLoadBalancersResponse{Event: &cpv1.WatchLoadBalancersResponse_Bookmark{Bookmark: &cpv1.Bookmark{}}}
		},
		complete: completeLoadBalancerEvent,
		token:    func(event *cpv1.WatchLoadBalancersResponse) *string { return &event.ResumeToken },
	})
}

func completeLoadBalancerEvent(event *cpv1.WatchLoadBalancersResponse) *cpv1.WatchLoadBalancersResponse {
	switch typed := event.GetEvent().(type) {
	case *cpv1.WatchLoadBalancersResponse_Upsert:
		typed.Upsert = listedLoadBalancer(typed.Upsert)
	case *cpv1.WatchLoadBalancersResponse_Gone:
		if absence := typed.Gone.GetAbsence(); absence != nil && absence.GetObserveTime() == nil {
			absence.ObserveTime = timestamppb.Now()
		}
	}
	return event
}

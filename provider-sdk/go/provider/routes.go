package provider

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/rules"
	"cloudwire.dev/provider-sdk/go/internal/state"
	"google.golang.org/protobuf/proto"
)

// maxSingleRouteChanges run at once, over all calls.
const maxSingleRouteChanges = 16

// routeService serves the RPCs about routes.
type routeService struct {
	s          *service
	handlers   *Routes
	slots      chan struct{}
	serializer *state.ChangeSerializer[*routeOutcome]
	fence      *state.SequenceFence
}

// routeOutcome is the answer of either change.
type routeOutcome struct {
	results []*cpv1.RouteResult
	quota   *cpv1.RouteQuota
	planned []*cpv1.PlannedChange
	stats   *cpv1.CallStats
}

func newRouteService(s *service, handlers *Routes) *routeService {
	return &routeService{
		s: s, handlers: handlers, slots: make(chan struct{}, maxSingleRouteChanges),
		serializer: state.NewChangeSerializer[*routeOutcome](s.forced, s.log), fence: state.NewSequenceFence(),
	}
}

// ListRoutes lists this cluster's routes.
func (s *service) ListRoutes(ctx context.Context, request *cpv1.ListRoutesRequest) (*cpv1.ListRoutesResponse, error) {
	return read(ctx, s, request, rules.Page(request.GetPageSize()), func(ctx context.Context) (*cpv1.ListRoutesResponse, error) {
		page, err := s.routeList.page(ctx, request)
		if err != nil {
			return nil, err
		}
		return &cpv1.ListRoutesResponse{
			Routes: page.items, NextPageToken: page.nextPageToken, Complete: page.complete, ScopeId: page.scopeID,
			Quota: page.quota, Stats: page.stats,
		}, nil
	})
}

func (s *service) listedRoute(route *cpv1.Route) *cpv1.Route { return s.completeRoute(route, nil) }

// completeRoute fills in what the provider may leave out; asked has the provider ID that Kubernetes uses for the target.
func (s *service) completeRoute(route, asked *cpv1.Route) *cpv1.Route {
	out := proto.CloneOf(route)
	out.NameHint = orText(out.GetNameHint(), asked.GetNameHint())
	out.TargetNodeName = orText(out.GetTargetNodeName(), asked.GetTargetNodeName())
	out.TargetAddresses = withoutDuplicates(out.GetTargetAddresses())
	if out.GetTargetProviderId() == "" {
		out.TargetProviderId = asked.GetTargetProviderId()
	} else {
		prefix, _, _ := s.ids.parse(asked.GetTargetProviderId())
		out.TargetProviderId = s.ids.complete(out.GetTargetProviderId(), prefix)
	}
	return out
}

// BatchEnsureRoutes makes routes exist.
func (s *service) BatchEnsureRoutes(ctx context.Context, request *cpv1.BatchEnsureRoutesRequest) (*cpv1.BatchEnsureRoutesResponse, error) {
	claimed := s.capabilities.GetRoutes()
	return change(ctx, s, request, claimed.GetValidateOnly(), rules.Routes(request.GetRoutes(), claimed, rules.TargetRequired), func(ctx context.Context) (*cpv1.BatchEnsureRoutesResponse, error) {
		out, err := s.routes.change(ctx, request, "ensure", s.routes.ensure)
		if err != nil {
			return nil, err
		}
		return &cpv1.BatchEnsureRoutesResponse{Results: out.results, Quota: out.quota, PlannedChanges: out.planned, Stats: out.stats}, nil
	})
}

// BatchDeleteRoutes makes routes be gone.
func (s *service) BatchDeleteRoutes(ctx context.Context, request *cpv1.BatchDeleteRoutesRequest) (*cpv1.BatchDeleteRoutesResponse, error) {
	claimed := s.capabilities.GetRoutes()
	return change(ctx, s, request, claimed.GetValidateOnly(), rules.Routes(request.GetRoutes(), claimed, rules.TargetOptional), func(ctx context.Context) (*cpv1.BatchDeleteRoutesResponse, error) {
		out, err := s.routes.change(ctx, request, "delete", s.routes.delete)
		if err != nil {
			return nil, err
		}
		return &cpv1.BatchDeleteRoutesResponse{Results: out.results, Quota: out.quota, PlannedChanges: out.planned, Stats: out.stats}, nil
	})
}

type routesRequest interface {
	changing
	GetRoutes() []*cpv1.Route
}

// routeWork changes routes; results are in request order, nil for a route that matches the request.
type routeWork func(ctx context.Context, routes []*cpv1.Route) ([]RouteResult, error)

func (r *routeService) change(ctx context.Context, request routesRequest, kind string, work routeWork) (*routeOutcome, error) {
	run := func(ctx context.Context) (*routeOutcome, error) {
		call := CallOf(ctx)
		answers, err := r.inSequence(ctx, request, work)
		if err != nil {
			return nil, err
		}
		out := &routeOutcome{results: make([]*cpv1.RouteResult, len(answers))}
		for i, answer := range answers {
			out.results[i] = r.toResult(ctx, answer, request.GetRoutes()[i])
		}
		_, out.planned = call.recorder.reported()
		out.quota, out.stats = call.recorder.reportedQuota(), call.recorder.takeStats()
		return out, nil
	}
	if request.GetChange().GetValidateOnly() {
		return run(ctx)
	}
	changeID := request.GetChange().GetRequestId()
	// Different changes run side by side: which routes they touch is the controller's to keep apart.
	out, _, err := r.serializer.Run(ctx, state.Change[*routeOutcome]{
		Key: changeID, ChangeID: changeID, Digest: kind + digestOf(request), Final: allRoutes,
		// The work may outlive the call that began it.
		Work: func(ctx context.Context) (*routeOutcome, error) { return run(withCall(ctx, CallOf(ctx))) },
	})
	return out, stated(err)
}

// digestOf stands for a request that may be large.
func digestOf(request proto.Message) string {
	sum := sha256.Sum256(state.Bytes(request))
	return string(sum[:])
}

func allRoutes(out *routeOutcome) bool {
	return !slices.ContainsFunc(out.results, func(result *cpv1.RouteResult) bool { return result.GetRoute() == nil })
}

// inSequence: routes that a newer change has passed are refused one by one; the provider sees the rest.
func (r *routeService) inSequence(ctx context.Context, request routesRequest, work routeWork) ([]RouteResult, error) {
	sequence, cluster := request.GetChange().GetSequence(), request.GetContext().GetCluster().GetId()
	if request.GetChange().GetValidateOnly() {
		sequence = 0
	}
	return someOf(request.GetRoutes(), func(route *cpv1.Route) *Error {
		return fromRefusal(r.fence.Enter(cluster+" "+route.GetDestinationCidr(), sequence))
	}, func(routes []*cpv1.Route) ([]RouteResult, error) { return work(ctx, routes) })
}

// someOf refuses some routes and answers the rest by work, in the order of all.
func someOf(routes []*cpv1.Route, refuse func(*cpv1.Route) *Error, work func([]*cpv1.Route) ([]RouteResult, error)) ([]RouteResult, error) {
	answers := make([]RouteResult, len(routes))
	var left []*cpv1.Route
	var at []int
	for i, route := range routes {
		if err := refuse(route); err != nil {
			answers[i] = Failed(err)
			continue
		}
		left, at = append(left, route), append(at, i)
	}
	if len(left) == 0 {
		return answers, nil
	}
	given, err := work(left)
	if err != nil {
		return nil, err
	}
	if len(given) != len(left) {
		return nil, NewError(ReasonInvariantBroken, fmt.Sprintf("the provider answered %d items to %d routes", len(given), len(left)))
	}
	for i, answer := range given {
		answers[at[i]] = answer
	}
	return answers, nil
}

// ensure refuses routes to instances of other providers one by one; the provider sees the rest.
func (r *routeService) ensure(ctx context.Context, routes []*cpv1.Route) ([]RouteResult, error) {
	return someOf(routes, func(route *cpv1.Route) *Error {
		if _, _, mine := r.s.ids.parse(route.GetTargetProviderId()); mine {
			return nil
		}
		return NewError(ReasonRouteTargetNotFound, route.GetTargetProviderId()+" is not a machine of this provider")
	}, func(routes []*cpv1.Route) ([]RouteResult, error) {
		if r.handlers.EnsureMany != nil {
			return r.handlers.EnsureMany(ctx, routes)
		}
		return r.each(ctx, routes, func(ctx context.Context, route *cpv1.Route) (RouteResult, error) {
			answer, err := r.handlers.Ensure(ctx, route)
			if err == nil && answer == nil {
				err = NewError(ReasonInvariantBroken, "the provider answered no route")
			}
			return answer, err
		})
	})
}

func (r *routeService) delete(ctx context.Context, routes []*cpv1.Route) ([]RouteResult, error) {
	if r.handlers.DeleteMany != nil {
		return r.handlers.DeleteMany(ctx, routes)
	}
	return r.each(ctx, routes, func(ctx context.Context, route *cpv1.Route) (RouteResult, error) {
		pending, err := r.handlers.Delete(ctx, route)
		if pending == nil {
			return nil, err
		}
		return pending, err
	})
}

// each changes routes one by one, so that one's failure is not the others'.
func (r *routeService) each(ctx context.Context, routes []*cpv1.Route, work func(context.Context, *cpv1.Route) (RouteResult, error)) ([]RouteResult, error) {
	answers := make([]RouteResult, len(routes))
	var group sync.WaitGroup
	for i, route := range routes {
		group.Go(func() {
			answer, err := r.one(ctx, route, work)
			if err != nil {
				answer = Failed(err)
			}
			answers[i] = answer
		})
	}
	group.Wait()
	return answers, nil
}

func (r *routeService) one(ctx context.Context, route *cpv1.Route, work func(context.Context, *cpv1.Route) (RouteResult, error)) (RouteResult, error) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return state.Recovered(func() (RouteResult, error) { return work(ctx, route) })
}

func (r *routeService) toResult(ctx context.Context, answer RouteResult, asked *cpv1.Route) *cpv1.RouteResult {
	switch typed := answer.(type) {
	case nil:
		return &cpv1.RouteResult{Outcome: &cpv1.RouteResult_Route{Route: asked}}
	case *FailedResult:
		return failedRoute(noteItem(ctx, CallOf(ctx), typed.err))
	case *PendingResult:
		return &cpv1.RouteResult{Outcome: &cpv1.RouteResult_Operation{Operation: typed.operation}}
	case *routeFound:
		if typed.route == nil {
			break
		}
		route := r.s.completeRoute(typed.route, asked)
		if problem := answerProblem(route); problem != nil {
			return failedRoute(problem)
		}
		return &cpv1.RouteResult{Outcome: &cpv1.RouteResult_Route{Route: route}}
	}
	return failedRoute(NewError(ReasonInvariantBroken, "the provider answered no route"))
}

func failedRoute(err *Error) *cpv1.RouteResult {
	return &cpv1.RouteResult{Outcome: &cpv1.RouteResult_Error{Error: err.toItem()}}
}

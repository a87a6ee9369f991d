package provider

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/rules"
	"cloudwire.dev/provider-sdk/go/internal/server"
	"cloudwire.dev/provider-sdk/go/internal/telemetry"
	"google.golang.org/protobuf/proto"
)

const (
	contractMajor = 1
	contractMinor = 0
)

// service serves the contract over a provider's functions.
type service struct {
	cpv1.UnimplementedCloudProviderServer

	definition   *Definition
	bootID       string
	ids          providerIDs
	capabilities *cpv1.Capabilities
	limits       *cpv1.Limits
	// services are the full names of all services on the socket.
	services []string
	log      *slog.Logger
	metrics  *telemetry.Metrics
	monitor  *statusMonitor
	// draining is closed when the provider begins to shut down, forced ends when its time is over.
	draining chan struct{}
	forced   context.Context // it is the life of the server
	slots    chan struct{}

	instances *instanceBatch
	volumes   *volumeBatch
	balancers *loadBalancerService
	routes    *routeService

	instanceList *pagedList[*cpv1.Instance]
	balancerList *pagedList[*cpv1.LoadBalancer]
	routeList    *pagedList[*cpv1.Route]
}

func newService(definition *Definition, services []string, log *slog.Logger, forced context.Context) *service {
	s := &service{
		definition: definition, bootID: newID(), ids: providerIDs{definition.IDPrefixes},
		capabilities: capabilitiesOf(definition), limits: limitsOf(definition), services: services,
		log: log, metrics: telemetry.NewMetrics(), draining: make(chan struct{}), forced: forced,
	}
	s.slots = make(chan struct{}, s.limits.MaxConcurrentCalls)
	s.monitor = newStatusMonitor(definition, s.bootID, log, s.metrics)
	if handlers := definition.Instances; handlers != nil {
		s.instances = newInstanceBatch(s, handlers)
		s.instanceList = newPagedList(s, "ListInstances", s.capabilities.Instances.List.GetMaxPageSize(), handlers.List, s.listedInstance)
	}
	if handlers := definition.LoadBalancers; handlers != nil {
		s.balancers = newLoadBalancerService(s, handlers)
		s.balancerList = newPagedList(s, "ListLoadBalancers", s.capabilities.LoadBalancers.List.GetMaxPageSize(), handlers.List, listedLoadBalancer)
	}
	if handlers := definition.Routes; handlers != nil {
		s.routes = newRouteService(s, handlers)
		s.routeList = newPagedList(s, "ListRoutes", s.capabilities.Routes.MaxPageSize, handlers.List, s.listedRoute)
	}
	if handlers := definition.Volumes; handlers != nil {
		s.volumes = newVolumeBatch(s, handlers)
	}
	return s
}

// drain refuses new calls and ends streams and lists.
func (s *service) drain() {
	close(s.draining)
	for _, list := range []interface{ close() }{s.instanceList, s.balancerList, s.routeList} {
		list.close()
	}
}

// GetProviderInfo answers the handshake from memory.
func (s *service) GetProviderInfo(_ context.Context, request *cpv1.GetProviderInfoRequest) (*cpv1.GetProviderInfoResponse, error) {
	if err := checkRequest("GetProviderInfo", request, nil); err != nil {
		return nil, err
	}
	return s.info(), nil
}

func (s *service) info() *cpv1.GetProviderInfoResponse {
	definition := s.definition
	build := map[string]string{"sdk": "cloudwire.dev/provider-sdk/go " + server.SDKVersion, "runtime": runtime.Version()}
	maps.Copy(build, definition.Build)
	return &cpv1.GetProviderInfoResponse{
		Name: definition.Name, Version: definition.Version,
		ContractMajor: contractMajor, ContractMinor: contractMinor,
		Services: s.services, BootId: s.bootID, ProviderIdPrefixes: definition.IDPrefixes,
		// Empty until the cloud has been reached: the caller waits for the status to name it. Contract: INF-8.
		ScopeId:      s.monitor.scope(),
		Capabilities: s.capabilities, Limits: s.limits,
		AnnotationPrefixes: annotationPrefixes(definition), Annotations: definition.Annotations,
		NodeLabelKeys: definition.NodeLabelKeys, NodeAnnotationKeys: definition.NodeAnnotationKeys,
		Diagnostics: definition.Diagnostics, Build: build, HomeUrl: definition.HomeURL,
	}
}

// GetProviderStatus answers what checks and calls found.
func (s *service) GetProviderStatus(context.Context, *cpv1.GetProviderStatusRequest) (*cpv1.GetProviderStatusResponse, error) {
	return s.monitor.status(), nil
}

// readyz is ready while calls can be expected to work.
func (s *service) readyz(w http.ResponseWriter, _ *http.Request) {
	select {
	case <-s.draining:
		http.Error(w, "draining", http.StatusServiceUnavailable)
		return
	default:
	}
	if s.monitor.ready() {
		fmt.Fprintln(w, "ok")
		return
	}
	w.WriteHeader(http.StatusServiceUnavailable)
	for _, condition := range s.monitor.status().GetConditions() {
		fmt.Fprintf(w, "%s: %s: %s\n", condition.GetType(), condition.GetReason(), condition.GetMessage())
	}
}

// serveMetrics answers a scrape.
func (s *service) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	s.metrics.Serve(w, telemetry.Process{
		Ready: s.monitor.ready(), Name: s.definition.Name, Version: s.definition.Version, SDK: server.SDKVersion,
	})
}

// contextual is what every request but the handshake carries.
type contextual interface {
	proto.Message
	GetContext() *cpv1.CallContext
}

// changing is a request that may change the cloud.
type changing interface {
	contextual
	GetChange() *cpv1.ChangeContext
}

// read does what happens before a provider's code: validation, the scope, the limit of calls at once.
func read[Response any](ctx context.Context, s *service, request contextual, special []rules.Violation,
	handler func(context.Context) (Response, error),
) (Response, error) {
	var none Response
	if err := s.check(rpcCallOf(ctx).method, request, special); err != nil {
		return none, err
	}
	release, err := s.takeSlot()
	if err != nil {
		return none, err
	}
	defer release()
	call := s.callOf(ctx, request)
	response, err := handler(withCall(ctx, call))
	if err == nil {
		return response, nil
	}
	known, masked := classify(err, rpcCallOf(ctx).mutation, call.RequestID)
	// A caller that gave up says nothing about the cloud.
	if ctx.Err() == nil {
		s.monitor.observe(known)
	}
	if masked {
		return none, err
	}
	return none, known.withCloudRequests(call.recorder.takeStats().GetCloudRequestIds())
}

// change is read for a change; it is refused when it asks for a dry run that the provider does not offer.
func change[Response any](ctx context.Context, s *service, request changing, offersDryRun bool, special []rules.Violation,
	handler func(context.Context) (Response, error),
) (Response, error) {
	return read(ctx, s, request, special, func(ctx context.Context) (Response, error) {
		if request.GetChange().GetValidateOnly() && !offersDryRun {
			var none Response
			return none, NewError(ReasonValidateOnlyUnsupported,
				"This provider cannot check "+rpcCallOf(ctx).method+" without doing it; nothing was changed",
				Field("change.validate_only"))
		}
		return handler(ctx)
	})
}

// check refuses a request that breaks a rule, with all its problems, and one for another scope.
func (s *service) check(method string, request contextual, special []rules.Violation) error {
	if err := checkRequest(method, request, special); err != nil {
		return err
	}
	served, err := s.knownScope()
	if err != nil {
		return err
	}
	wanted := request.GetContext().GetScopeId()
	if wanted == served {
		return nil
	}
	return NewError(ReasonScopeMismatch,
		fmt.Sprintf("context.scope_id is %s, but the provider works in %s: another account, project or region", rules.Quote(wanted), rules.Quote(served)),
		Metadata("expected", rules.CutToBytes(wanted, maxDomainBytes)), Metadata("actual", served))
}

// knownScope is the scope, or a refusal that makes the caller come again.
func (s *service) knownScope() (string, error) {
	if scope := s.monitor.scope(); scope != "" {
		return scope, nil
	}
	return "", NewError(ReasonProviderStarting,
		"The provider does not know yet what its credentials reach; it keeps asking the cloud", RetryAfter(2*time.Second))
}

// busyRetry is the delay reported to callers beyond the limit.
const busyRetry = 200 * time.Millisecond

func (s *service) takeSlot() (release func(), err error) {
	select {
	case s.slots <- struct{}{}:
		return func() { <-s.slots }, nil
	default:
		most := cap(s.slots)
		return nil, NewError(ReasonTooManyCalls,
			fmt.Sprintf("%d calls are under way, which is the most served at once", most),
			RetryAfter(busyRetry), Metadata("limit", fmt.Sprint(most)))
	}
}

func (s *service) callOf(ctx context.Context, request contextual) *Call {
	rpc := rpcCallOf(ctx)
	call := &Call{
		Method: rpc.method, RequestID: rpc.requestID, Traceparent: rpc.traceparent,
		Cluster: request.GetContext().GetCluster(), Log: rpc.log,
		ids: s.ids, recorder: newRecorder(s.monitor.observe, s.metrics),
	}
	if changes, ok := request.(changing); ok {
		call.Change = changes.GetChange()
	}
	return call
}

// fork is the call for one item of many: it has its own errors and shares the call's costs.
func (c *Call) fork() *Call {
	forked := *c
	forked.recorder = c.recorder.fork()
	return &forked
}

// withCloudRequests says which requests to the cloud a failed call made. Contract: OBS-2.
func (e *Error) withCloudRequests(ids []string) *Error {
	if len(ids) == 0 {
		return e
	}
	withIDs := *e
	joined := ids[0]
	for _, id := range ids[1:] {
		joined += "," + id
	}
	withIDs.metadata = append(slices.Clone(e.metadata), metadatum{"cloud_request_ids", joined})
	return &withIDs
}

// newID is a random id, 128 bits or more.
func newID() string { return rand.Text() }

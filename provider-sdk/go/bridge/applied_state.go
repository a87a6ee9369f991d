package bridge

import (
	"maps"
	"sync"

	v1 "k8s.io/api/core/v1"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
)

// unknownFingerprint is reported for a load balancer that this process has not ensured. It matches no desired state, so the
// controller ensures the load balancer again, as upstream does after each restart. The controller would take an empty one for
// up to date.
const unknownFingerprint = "not-known-to-this-process"

// appliedState keeps what this process has applied: cloudprovider.LoadBalancer has no place for fingerprints, and reads and
// deletions do not carry the whole Service.
type appliedState struct {
	mu      sync.Mutex
	records map[string]*record
}

// record is of one Service.
type record struct {
	// service as it was last asked for.
	service *v1.Service
	// status last answered; nil: none yet.
	status *v1.LoadBalancerStatus
	// spec and nodes are the fingerprints in force; empty: not known.
	spec, nodes string
}

func newAppliedState() *appliedState { return &appliedState{records: map[string]*record{}} }

// service is the Service of a read or deletion, with the ports and all the rest it was last asked for with; nil if this process
// was not asked for it.
func (l *appliedState) service(ref *provider.LoadBalancerRef) *v1.Service {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.records[ref.Service.GetUid()]
	if !ok {
		return nil
	}
	service := known.service.DeepCopy()
	service.Annotations = maps.Clone(ref.Annotations)
	known.publish(service)
	return service
}

// publish gives the Service the status that upstream would have written to it; false if this process was not asked for it.
func (l *appliedState) publish(service *v1.Service) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.records[string(service.UID)]
	if ok {
		known.publish(service)
	}
	return ok
}

func (r *record) publish(service *v1.Service) {
	published := &r.service.Status.LoadBalancer
	if r.status != nil {
		published = r.status
	}
	service.Status.LoadBalancer = *published.DeepCopy()
}

// began marks the applied state as unknown until the change is done. nodesOnly is true if only the nodes differ from the
// applied state.
func (l *appliedState) began(request *provider.EnsureRequest, service *v1.Service) (nodesOnly bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := &record{service: service.DeepCopy()}
	if known, ok := l.records[request.Service.GetUid()]; ok {
		kept.status = known.status
		nodesOnly = known.status != nil && known.spec == request.SpecFingerprint && known.nodes != request.NodesFingerprint
	}
	l.records[request.Service.GetUid()] = kept
	return nodesOnly
}

func (l *appliedState) done(request *provider.EnsureRequest, status *v1.LoadBalancerStatus) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.records[request.Service.GetUid()]; ok {
		known.status = status.DeepCopy()
		known.spec, known.nodes = request.SpecFingerprint, request.NodesFingerprint
	}
}

// nodesDone gives back the status as it was before.
func (l *appliedState) nodesDone(request *provider.EnsureRequest) *v1.LoadBalancerStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.records[request.Service.GetUid()]
	if !ok {
		return &v1.LoadBalancerStatus{}
	}
	known.spec, known.nodes = request.SpecFingerprint, request.NodesFingerprint
	return known.status.DeepCopy()
}

// vanished says that no desired is in force any more.
func (l *appliedState) vanished(uid string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.records[uid]; ok {
		known.spec, known.nodes = "", ""
	}
}

func (l *appliedState) forget(uid string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.records, uid)
}

func (l *appliedState) status(uid string) *v1.LoadBalancerStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.records[uid]; ok {
		return known.status
	}
	return nil
}

// loadBalancer is one that exists, as far as this process knows it.
func (l *appliedState) loadBalancer(id string, ref *provider.LoadBalancerRef) *cpv1.LoadBalancer {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := &cpv1.LoadBalancer{
		Id:               id,
		Service:          ref.Service,
		Phase:            cpv1.LoadBalancerPhase_LOAD_BALANCER_PHASE_ACTIVE,
		SpecFingerprint:  unknownFingerprint,
		NodesFingerprint: unknownFingerprint,
	}
	known, ok := l.records[ref.Service.GetUid()]
	if !ok {
		return out
	}
	if known.spec != "" {
		out.SpecFingerprint, out.NodesFingerprint = known.spec, known.nodes
	}
	if known.status != nil {
		out.Ingress = ingressToContract(known.status)
	}
	return out
}

package provider

import (
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// InstanceResult is the answer about one Node: [Present], [Absent], [NotOwned], or in a batch [Failed].
type InstanceResult interface{ instanceResult() }

// VolumeResult is the answer about one volume: [PresentVolume], [Absent], [NotOwned], or in a batch [Failed].
type VolumeResult interface{ volumeResult() }

// LoadBalancerResult is what a change came to: [Ready] or [Pending]. It is also a [LoadBalancerReadResult].
type LoadBalancerResult interface {
	LoadBalancerReadResult
	loadBalancerResult()
}

// LoadBalancerReadResult is what a read found: [Ready], [Pending] or [Absent].
type LoadBalancerReadResult interface{ loadBalancerReadResult() }

// RouteResult is what came of one route: [RouteReady], [Pending], or in a batch [Failed].
type RouteResult interface{ routeResult() }

// PresentOption says more about an object that exists.
type PresentOption func(*found)

// ReadAt says when the cloud was read, for an answer from a cache. Default: when the call began.
func ReadAt(t time.Time) PresentOption { return func(f *found) { f.readTime = t } }

// found is an object that exists, of any kind.
type found struct{ readTime time.Time }

type instanceFound struct {
	found
	instance *cpv1.Instance
}

type volumeFound struct {
	found
	volume *cpv1.Volume
}

// Present states that a machine exists. Its ProviderId may be the cloud's bare id: the SDK puts the prefix before it.
func Present(instance *cpv1.Instance, options ...PresentOption) InstanceResult {
	answer := &instanceFound{instance: instance}
	for _, option := range options {
		option(&answer.found)
	}
	return answer
}

// PresentVolume states that a volume exists.
func PresentVolume(volume *cpv1.Volume, options ...PresentOption) VolumeResult {
	answer := &volumeFound{volume: volume}
	for _, option := range options {
		option(&answer.found)
	}
	return answer
}

// On what an absence rests.
const (
	// Terminated: the cloud still knows the object and says that it is gone.
	Terminated = cpv1.AbsenceBasis_ABSENCE_BASIS_TERMINATED
	// LookupMiss: a look-up answered, with success, that there is no such object.
	LookupMiss = cpv1.AbsenceBasis_ABSENCE_BASIS_LOOKUP_MISS
	// CompleteListMiss: a complete list, no zone missing and no page lost, does not contain it.
	CompleteListMiss = cpv1.AbsenceBasis_ABSENCE_BASIS_COMPLETE_LIST_MISS
)

// AbsentResult is the authoritative statement that an object does not exist. Made by [Absent].
type AbsentResult struct {
	basis              cpv1.AbsenceBasis
	observeTime        time.Time
	stronglyConsistent bool
}

// AbsentOption says more about an absence.
type AbsentOption func(*AbsentResult)

// ObservedAt says when the cloud was read. Default: when the call began.
func ObservedAt(t time.Time) AbsentOption { return func(a *AbsentResult) { a.observeTime = t } }

// StronglyConsistent says that the read was strongly consistent, so that a second one would say the same.
func StronglyConsistent() AbsentOption { return func(a *AbsentResult) { a.stronglyConsistent = true } }

// Absent states that an object does not exist. This is the only way to say so: an HTTP 404 that is returned as an error is
// an error, because a wrong URL, a missing right or another account answer 404 too. A Node is deleted on the strength of
// this statement.
func Absent(basis cpv1.AbsenceBasis, options ...AbsentOption) *AbsentResult {
	answer := &AbsentResult{basis: basis}
	for _, option := range options {
		option(answer)
	}
	return answer
}

// NotOwnedResult is the statement that an object belongs to another provider. Made by [NotOwned].
type NotOwnedResult struct{ message string }

// NotOwned states that the object belongs to another provider: no absence, and no error either.
func NotOwned(message string) *NotOwnedResult { return &NotOwnedResult{message: message} }

// FailedResult is the error of one item of many. Made by [Failed].
type FailedResult struct{ err error }

// Failed says that this item of a batch could not be done or found out; the others are not touched by it.
func Failed(err error) *FailedResult { return &FailedResult{err: err} }

// ReadyResult is a load balancer on which nothing is being done. Made by [Ready].
type ReadyResult struct{ loadBalancer *cpv1.LoadBalancer }

// Ready answers a load balancer as the cloud has it. Service, phase and, after a finished change, the fingerprints may be
// left out: they are then what was asked for.
func Ready(loadBalancer *cpv1.LoadBalancer) *ReadyResult {
	return &ReadyResult{loadBalancer: loadBalancer}
}

type routeFound struct{ route *cpv1.Route }

// RouteReady answers a route as the cloud has it. Name hint, target and node may be left out: they are then those asked for.
func RouteReady(route *cpv1.Route) RouteResult { return &routeFound{route: route} }

// PendingResult is work that goes on at the cloud after the answer. Made by [Pending].
type PendingResult struct {
	id        string
	operation *cpv1.Operation
	phase     cpv1.LoadBalancerPhase
	remaining []string
	ingress   *cpv1.LoadBalancerIngressList
}

// PendingOption says more about work that goes on.
type PendingOption func(*PendingResult)

// PollAfter says when to ask again, at most 60 s from now. Default: 5 s.
func PollAfter(d time.Duration) PendingOption {
	return func(p *PendingResult) { p.operation.PollAfter = durationpb.New(d) }
}

// Stage says what is being done, for people: waiting for health checks.
func Stage(stage string) PendingOption {
	return func(p *PendingResult) { p.operation.Stage = stage }
}

// OperationID is the cloud's id of the work; it comes back as a hint with the next call.
func OperationID(id string) PendingOption {
	return func(p *PendingResult) { p.operation.Id = id }
}

// Progress says how far the work is, 0 to 100.
func Progress(percent uint32) PendingOption {
	return func(p *PendingResult) { p.operation.ProgressPercent = &percent }
}

// StartedAt says when the work began.
func StartedAt(t time.Time) PendingOption {
	return func(p *PendingResult) { p.operation.StartTime = timestamppb.New(t) }
}

// ExpectedEnd says when the work should be done.
func ExpectedEnd(t time.Time) PendingOption {
	return func(p *PendingResult) { p.operation.ExpectedEndTime = timestamppb.New(t) }
}

// WaitingFor says what the work waits for, for people.
func WaitingFor(message string) PendingOption {
	return func(p *PendingResult) { p.operation.Message = message }
}

// Updating says that the load balancer already serves and is being changed. Default: it does not serve yet.
func Updating() PendingOption {
	return func(p *PendingResult) { p.phase = cpv1.LoadBalancerPhase_LOAD_BALANCER_PHASE_UPDATING }
}

// WithIngress says where traffic will enter a load balancer that is not ready yet.
func WithIngress(items ...*cpv1.LoadBalancerIngress) PendingOption {
	return func(p *PendingResult) { p.ingress = &cpv1.LoadBalancerIngressList{Items: items} }
}

// Remaining says what a delete has left so far, for people: security group sg-1.
func Remaining(objects ...string) PendingOption {
	return func(p *PendingResult) { p.remaining = objects }
}

// Pending states that the cloud accepted the change and is still working on it; the caller asks again. id is that of the
// object worked on: the load balancer, the route.
func Pending(id string, options ...PendingOption) *PendingResult {
	answer := &PendingResult{
		id:        id,
		operation: &cpv1.Operation{},
		phase:     cpv1.LoadBalancerPhase_LOAD_BALANCER_PHASE_PROVISIONING,
	}
	for _, option := range options {
		option(answer)
	}
	answer.operation.PollAfter = boundedPoll(answer.operation.PollAfter)
	return answer
}

const (
	defaultPollAfter = 5 * time.Second
	minPollAfter     = time.Millisecond
	// maxPollAfter is the contract's, Operation.poll_after.
	maxPollAfter = time.Minute
)

func boundedPoll(d *durationpb.Duration) *durationpb.Duration {
	if d == nil {
		return durationpb.New(defaultPollAfter)
	}
	return durationpb.New(min(max(d.AsDuration(), minPollAfter), maxPollAfter))
}

func (*instanceFound) instanceResult()  {}
func (*AbsentResult) instanceResult()   {}
func (*NotOwnedResult) instanceResult() {}
func (*FailedResult) instanceResult()   {}

func (*volumeFound) volumeResult()    {}
func (*AbsentResult) volumeResult()   {}
func (*NotOwnedResult) volumeResult() {}
func (*FailedResult) volumeResult()   {}

func (*ReadyResult) loadBalancerResult()       {}
func (*PendingResult) loadBalancerResult()     {}
func (*ReadyResult) loadBalancerReadResult()   {}
func (*PendingResult) loadBalancerReadResult() {}
func (*AbsentResult) loadBalancerReadResult()  {}

func (*routeFound) routeResult()    {}
func (*PendingResult) routeResult() {}
func (*FailedResult) routeResult()  {}

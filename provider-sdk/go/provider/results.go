package provider

import (
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/rules"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// InstanceResult is the result for one Node: [Present], [Absent], [NotOwned], or in a batch [Failed].
type InstanceResult interface{ instanceResult() }

// VolumeResult is the result for one volume: [PresentVolume], [Absent], [NotOwned], or in a batch [Failed].
type VolumeResult interface{ volumeResult() }

// LoadBalancerResult is the result of a change: [Ready] or [Pending]. It is also a [LoadBalancerReadResult].
type LoadBalancerResult interface {
	LoadBalancerReadResult
	loadBalancerResult()
}

// LoadBalancerReadResult is the result of a read: [Ready], [Pending] or [Absent].
type LoadBalancerReadResult interface{ loadBalancerReadResult() }

// RouteResult is the result for one route: [RouteReady], [Pending], or in a batch [Failed].
type RouteResult interface{ routeResult() }

// PresentOption is an option of [Present] and [PresentVolume].
type PresentOption func(*found)

// ReadAt sets when the cloud was read, for a cached result. Default: when the call began.
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

// Present states that an instance exists. Its ProviderId may be the cloud's ID: the SDK adds the prefix.
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

// Evidence for an absence.
const (
	// Terminated: the cloud still lists the object, as terminated.
	Terminated = cpv1.AbsenceBasis_ABSENCE_BASIS_TERMINATED
	// LookupMiss: a successful lookup returned that there is no such object.
	LookupMiss = cpv1.AbsenceBasis_ABSENCE_BASIS_LOOKUP_MISS
	// CompleteListMiss: a complete list, with no zone and no page missing, does not contain it.
	CompleteListMiss = cpv1.AbsenceBasis_ABSENCE_BASIS_COMPLETE_LIST_MISS
)

// AbsentResult is the authoritative statement that an object does not exist. Made by [Absent].
type AbsentResult struct {
	basis              cpv1.AbsenceBasis
	observeTime        time.Time
	stronglyConsistent bool
}

// AbsentOption is an option of [Absent].
type AbsentOption func(*AbsentResult)

// ObservedAt sets when the cloud was read. Default: when the call began.
func ObservedAt(t time.Time) AbsentOption { return func(a *AbsentResult) { a.observeTime = t } }

// StronglyConsistent marks the read as strongly consistent, so that a second read would return the same.
func StronglyConsistent() AbsentOption { return func(a *AbsentResult) { a.stronglyConsistent = true } }

// Absent states that an object does not exist. This is the only way: an HTTP 404 returned as an error is an error,
// because a wrong URL, a missing permission or another account return 404 too. The controller deletes Nodes because of
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

// NotOwned states that the object belongs to another provider: neither an absence nor an error.
func NotOwned(message string) *NotOwnedResult { return &NotOwnedResult{message: message} }

// FailedResult is the error of one item of a batch. Made by [Failed].
type FailedResult struct{ err error }

// Failed states that this item of a batch failed; the other items are not affected.
func Failed(err error) *FailedResult { return &FailedResult{err: err} }

// ReadyResult is a load balancer without a change in progress. Made by [Ready].
type ReadyResult struct{ loadBalancer *cpv1.LoadBalancer }

// Ready returns the observed state of a load balancer. Service, phase and, after a finished change, the fingerprints
// may be omitted; they default to those of the request.
func Ready(loadBalancer *cpv1.LoadBalancer) *ReadyResult {
	return &ReadyResult{loadBalancer: loadBalancer}
}

type routeFound struct{ route *cpv1.Route }

// RouteReady returns the observed state of a route. Name hint, target and node may be omitted; they default to those of
// the request.
func RouteReady(route *cpv1.Route) RouteResult { return &routeFound{route: route} }

// PendingResult is work that continues in the cloud after the response. Made by [Pending].
type PendingResult struct {
	id        string
	operation *cpv1.Operation
	phase     cpv1.LoadBalancerPhase
	remaining []string
	ingress   *cpv1.LoadBalancerIngressList
}

// PendingOption is an option of [Pending].
type PendingOption func(*PendingResult)

// PollAfter sets when to poll again, at most 60 s from now. Default: 5 s.
func PollAfter(d time.Duration) PendingOption {
	return func(p *PendingResult) { p.operation.PollAfter = durationpb.New(d) }
}

// Stage sets the human-readable stage of the work: waiting for health checks.
func Stage(stage string) PendingOption {
	return func(p *PendingResult) { p.operation.Stage = rules.ResponseText(stage, rules.MaxShortTextBytes) }
}

// OperationID sets the cloud's ID of the operation; the next call contains it as a hint.
func OperationID(id string) PendingOption {
	return func(p *PendingResult) { p.operation.Id = id }
}

// Progress sets the progress in percent, 0 to 100.
func Progress(percent uint32) PendingOption {
	return func(p *PendingResult) { p.operation.ProgressPercent = &percent }
}

// StartedAt sets when the work started.
func StartedAt(t time.Time) PendingOption {
	return func(p *PendingResult) { p.operation.StartTime = timestamppb.New(t) }
}

// ExpectedEnd sets when the work is expected to end.
func ExpectedEnd(t time.Time) PendingOption {
	return func(p *PendingResult) { p.operation.ExpectedEndTime = timestamppb.New(t) }
}

// WaitingFor sets the human-readable description of what the work waits for.
func WaitingFor(message string) PendingOption {
	return func(p *PendingResult) { p.operation.Message = rules.ResponseText(message, rules.MaxMessageBytes) }
}

// Updating states that the load balancer already serves traffic and is being changed. Default: it does not serve yet.
func Updating() PendingOption {
	return func(p *PendingResult) { p.phase = cpv1.LoadBalancerPhase_LOAD_BALANCER_PHASE_UPDATING }
}

// WithIngress sets the ingress points of a load balancer that is not ready yet.
func WithIngress(items ...*cpv1.LoadBalancerIngress) PendingOption {
	return func(p *PendingResult) { p.ingress = &cpv1.LoadBalancerIngressList{Items: items} }
}

// Remaining sets the human-readable objects that a delete has left so far: security group sg-1.
func Remaining(objects ...string) PendingOption {
	return func(p *PendingResult) {
		p.remaining = make([]string, len(objects))
		for i, object := range objects {
			p.remaining[i] = rules.ResponseText(object, rules.MaxShortTextBytes)
		}
	}
}

// Pending states that the cloud accepted the change and still works on it; the caller polls again. id is that of the
// object: the load balancer, the route.
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

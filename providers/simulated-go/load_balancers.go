package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
)

type balancer struct {
	ID, Name, Class, Address, State, StateReason, SessionAffinity string
	Listeners                                                     []listener
	SourceRanges                                                  []string
	IdleTimeoutMs                                                 int
	HealthCheck                                                   *healthCheck
	Protected                                                     bool
	Tags, Metadata                                                map[string]string
	TargetCount                                                   uint32
	TargetsDigest, OperationID                                    string
	Revision                                                      int64
}

type listener struct {
	Port       uint32 `json:"port"`
	Protocol   string `json:"protocol"`
	TargetPort uint32 `json:"targetPort"`
	BoundPort  uint32 `json:"boundPort,omitempty"`
	Status     string `json:"status,omitempty"`
	Reason     string `json:"reason,omitempty"`
}

type healthCheck struct {
	Protocol string `json:"protocol"`
	Port     uint32 `json:"port"`
	Path     string `json:"path,omitempty"`
}

type balancerPage struct {
	evidence
	Items []balancer
}

// balancerChange is the answer to every change.
type balancerChange struct {
	LoadBalancer   balancer
	Operation      *operation
	IgnoredTargets []string
}

type operation struct {
	ID, State       string
	ProgressPercent uint32
	CreatedAt       time.Time
	ExpectedEndAt   time.Time
}

func loadBalancers(api *cloud) *provider.LoadBalancers {
	b := &balancers{api: api}
	return &provider.LoadBalancers{
		Features: &cpv1.LoadBalancerCapabilities{
			SourceRanges: true, RequestedIp: true, SessionAffinity: true, ExternalTrafficPolicyLocal: true,
			DeletionProtection: true, IpModes: []cpv1.IpMode{cpv1.IpMode_IP_MODE_PROXY}, Classes: classes,
			MaxPorts: 100, MaxNodes: 20_000, NeedsNodePorts: true, MaxConcurrentChanges: 50,
			LockScope: cpv1.LockScope_LOCK_SCOPE_SERVICE, Adopt: true, ValidateOnly: true,
			List: &cpv1.ListCapability{ConsistentSnapshot: true},
		},
		Get: b.get, Ensure: b.ensure, UpdateNodes: b.updateNodes, Delete: b.delete, List: b.list,
	}
}

type balancers struct{ api *cloud }

const balancersPath = "/v1/load-balancers"

func (b *balancers) list(ctx context.Context, yield func(*cpv1.LoadBalancer) error) error {
	filter := url.Values{"tag": {clusterIDTag + "=" + provider.CallOf(ctx).Cluster.GetId()}}
	return b.find(ctx, filter, func(each balancer) error { return yield(each.message()) })
}

// find reads load balancers that pass a filter.
func (b *balancers) find(ctx context.Context, filter url.Values, each func(balancer) error) error {
	return readAll(ctx, b.api, balancersPath, filter, func(page balancerPage) error {
		for _, item := range page.Items {
			if err := each(item); err != nil {
				return err
			}
		}
		return nil
	})
}

// all reads load balancers, and fails when some could not be read.
func (b *balancers) all(ctx context.Context, filter url.Values) ([]balancer, error) {
	var found []balancer
	err := readAll(ctx, b.api, balancersPath, filter, func(page balancerPage) error {
		found = append(found, page.Items...)
		return page.outage()
	})
	return found, err
}

// tagged reads all load balancers with the ownership tags of a Service. There is more than one only if a user copied the tags.
func (b *balancers) tagged(ctx context.Context, ref *provider.LoadBalancerRef) ([]balancer, error) {
	return b.all(ctx, url.Values{"tag": {clusterIDTag + "=" + ref.Cluster.GetId(), serviceUIDTag + "=" + ref.Service.GetUid()}})
}

// own is the load balancer of a Service; nil if there is none, and the cloud is sure of it.
func (b *balancers) own(ctx context.Context, ref *provider.LoadBalancerRef) (*balancer, error) {
	found, err := b.tagged(ctx, ref)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	// An adopted one has another name.
	at := max(0, slices.IndexFunc(found, func(each balancer) bool { return each.Name == ref.Key }))
	return &found[at], nil
}

func (b *balancers) get(ctx context.Context, ref *provider.LoadBalancerRef) (provider.LoadBalancerReadResult, error) {
	observed := time.Now()
	found, err := b.own(ctx, ref)
	if err != nil {
		return nil, err
	}
	if found == nil {
		return provider.Absent(provider.CompleteListMiss, provider.ObservedAt(observed), provider.StronglyConsistent()), nil
	}
	return provider.Ready(found.messageWith(b.operation(ctx, found))), nil
}

// operation is the work under way; nil if there is none. It is a hint: its loss costs nothing.
func (b *balancers) operation(ctx context.Context, of *balancer) *operation {
	if of.OperationID == "" {
		return nil
	}
	var found operation
	if b.api.call(ctx, http.MethodGet, "/v1/operations/"+url.PathEscape(of.OperationID), nil, &found) != nil {
		return nil
	}
	return &found
}

// maxAttempts: attempts when another client changes the load balancer between reading and writing.
const maxAttempts = 3

func (b *balancers) ensure(ctx context.Context, request *provider.EnsureRequest) (provider.LoadBalancerResult, error) {
	desired, err := desiredSpecOf(request)
	if err != nil {
		return nil, err
	}
	targets := targetsOf(ctx, &request.DesiredNodes)
	for attempt := 1; ; attempt++ {
		changed, err := b.ensureOnce(ctx, request, desired, targets)
		if err == nil {
			if changed == nil {
				return nil, nil
			}
			diagnose(ctx, changed)
			return provider.Ready(changed.messageWith(b.operation(ctx, changed))), nil
		}
		if hasCode(err, "NameInUse") {
			if problem := b.nameProblem(ctx, request); problem != nil {
				return nil, problem
			}
		} else if !hasCode(err, "RevisionMismatch", "LoadBalancerNotFound") {
			return nil, err
		}
		if attempt == maxAttempts {
			return nil, err
		}
	}
}

// nameProblem is why the name is taken; nil when it is by this Service itself, or not any more.
func (b *balancers) nameProblem(ctx context.Context, request *provider.EnsureRequest) error {
	found, err := b.all(ctx, url.Values{"name": {request.Key}})
	if err != nil || len(found) == 0 || found[0].Tags[serviceUIDTag] == request.Service.GetUid() {
		return err
	}
	if problem := ownership("load balancer", found[0].ID, found[0].Name, found[0].Tags, request.Cluster); problem != nil {
		return problem
	}
	return provider.NewError(provider.ReasonNameTaken, "load balancer "+found[0].ID+" is tagged for another Service",
		provider.Metadata("name", found[0].Name), provider.Metadata("id", found[0].ID))
}

func (b *balancers) ensureOnce(ctx context.Context, request *provider.EnsureRequest, desired *desiredSpec, targets targets) (*balancer, error) {
	existing, err := b.own(ctx, &request.LoadBalancerRef)
	if err == nil && request.AdoptID != "" {
		existing, err = b.adopted(ctx, request, existing)
	}
	if err != nil {
		return nil, err
	}
	if existing == nil {
		return b.create(ctx, desired, targets)
	}
	if existing.State == "deleting" {
		return nil, provider.NewError(provider.ReasonNotReady, "load balancer "+existing.ID+" is still being deleted", provider.RetryAfter(time.Second))
	}
	warnAboutFixed(ctx, existing, desired)
	if existing, err = b.patch(ctx, existing, desired); err != nil {
		return nil, err
	}
	return b.replaceTargets(ctx, existing, targets)
}

func (b *balancers) adopted(ctx context.Context, request *provider.EnsureRequest, own *balancer) (*balancer, error) {
	const field = "adopt.load_balancer_id"
	if own != nil && own.ID == request.AdoptID {
		return own, nil
	}
	if own != nil {
		return nil, provider.NewError(provider.ReasonFieldInvalid,
			fmt.Sprintf("the Service has load balancer %s already and cannot adopt %s", own.ID, request.AdoptID), provider.Field(field))
	}
	found, err := b.all(ctx, url.Values{"id": {request.AdoptID}})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, provider.NewError(provider.ReasonFieldInvalid, "there is no load balancer "+request.AdoptID+" to adopt", provider.Field(field))
	}
	return &found[0], nil
}

// warnAboutFixed: what a load balancer keeps for life, so that this part of the spec has no effect.
func warnAboutFixed(ctx context.Context, existing *balancer, desired *desiredSpec) {
	if desired.RequestedAddress != "" && desired.RequestedAddress != existing.Address {
		warn(ctx, "AddressKept", fmt.Sprintf("Load balancer %s keeps its address %s: recreate the Service to change it", existing.ID, existing.Address))
	}
	if desired.Class != existing.Class {
		warn(ctx, "FlavorKept", fmt.Sprintf("Load balancer %s stays %s: recreate the Service to get %s", existing.ID, existing.Class, desired.Class))
	}
}

func (b *balancers) create(ctx context.Context, desired *desiredSpec, targets targets) (*balancer, error) {
	call := provider.CallOf(ctx)
	if call.ValidateOnly() {
		call.AddPlannedChange(&cpv1.PlannedChange{
			Action: cpv1.ChangeAction_CHANGE_ACTION_CREATE, ResourceType: "load balancer", ResourceId: desired.Name,
			Summary: fmt.Sprintf("%s, %d ports, %d targets", desired.Class, len(desired.Listeners), len(targets.ids)),
		})
		return nil, nil
	}
	made := *desired
	made.Targets = targets.ids
	made.Metadata = map[string]string{specFingerprintKey: desired.Metadata[specFingerprintKey], nodesFingerprintKey: targets.fingerprint}
	var changed balancerChange
	if err := b.api.call(ctx, http.MethodPost, balancersPath, made, &changed); err != nil {
		return nil, err
	}
	warnAboutIgnored(ctx, changed)
	return &changed.LoadBalancer, nil
}

// patch changes what differs from the spec, in one call or none.
func (b *balancers) patch(ctx context.Context, existing *balancer, desired *desiredSpec) (*balancer, error) {
	patch := desired.patchFor(existing)
	if patch == nil {
		return existing, nil
	}
	if call := provider.CallOf(ctx); call.ValidateOnly() {
		call.AddPlannedChange(&cpv1.PlannedChange{Action: cpv1.ChangeAction_CHANGE_ACTION_UPDATE, ResourceType: "load balancer", ResourceId: existing.ID})
		return existing, nil
	}
	var changed balancerChange
	path := fmt.Sprintf("%s/%s?ifRevision=%d", balancersPath, url.PathEscape(existing.ID), existing.Revision)
	if err := b.api.call(ctx, http.MethodPatch, path, patch, &changed); err != nil {
		return nil, err
	}
	return &changed.LoadBalancer, nil
}

func (b *balancers) updateNodes(ctx context.Context, request *provider.UpdateNodesRequest) (provider.LoadBalancerResult, error) {
	existing, err := b.own(ctx, &request.LoadBalancerRef)
	if err != nil {
		return nil, err
	}
	if existing == nil || existing.State == "deleting" {
		return nil, provider.NewError(provider.ReasonLoadBalancerNotFound, "Service "+request.Service.GetName()+" has no load balancer")
	}
	changed, err := b.replaceTargets(ctx, existing, targetsOf(ctx, &request.DesiredNodes))
	if err != nil {
		return nil, err
	}
	return provider.Ready(changed.messageWith(b.operation(ctx, changed))), nil
}

// replaceTargets is one call, or none if the cloud has these targets.
func (b *balancers) replaceTargets(ctx context.Context, existing *balancer, targets targets) (*balancer, error) {
	if existing.TargetsDigest == targets.digest && existing.Metadata[nodesFingerprintKey] == targets.fingerprint {
		return existing, nil
	}
	if call := provider.CallOf(ctx); call.ValidateOnly() {
		call.AddPlannedChange(&cpv1.PlannedChange{
			Action: cpv1.ChangeAction_CHANGE_ACTION_UPDATE, ResourceType: "targets", ResourceId: existing.ID,
			Summary: fmt.Sprintf("%d targets become %d", existing.TargetCount, len(targets.ids)),
		})
		return existing, nil
	}
	var changed balancerChange
	body := map[string]any{"targets": targets.ids, "metadata": map[string]string{nodesFingerprintKey: targets.fingerprint}}
	if err := b.api.call(ctx, http.MethodPut, balancersPath+"/"+url.PathEscape(existing.ID)+"/targets", body, &changed); err != nil {
		return nil, err
	}
	warnAboutIgnored(ctx, changed)
	return &changed.LoadBalancer, nil
}

// delete deletes everything with the ownership tags of this cluster and Service, under any name.
func (b *balancers) delete(ctx context.Context, ref *provider.LoadBalancerRef) (*provider.PendingResult, error) {
	found, err := b.tagged(ctx, ref)
	if err != nil {
		return nil, err
	}
	call := provider.CallOf(ctx)
	var remaining []string
	var last *balancer
	for i := range found {
		each := &found[i]
		if call.ValidateOnly() {
			call.AddPlannedChange(&cpv1.PlannedChange{Action: cpv1.ChangeAction_CHANGE_ACTION_DELETE, ResourceType: "load balancer", ResourceId: each.ID})
			continue
		}
		changed := balancerChange{LoadBalancer: *each}
		if each.State != "deleting" {
			err := b.api.call(ctx, http.MethodDelete, balancersPath+"/"+url.PathEscape(each.ID), nil, &changed)
			if hasCode(err, "LoadBalancerNotFound") {
				continue
			}
			if err != nil {
				return nil, err
			}
			if changed.Operation == nil || changed.Operation.State != "running" {
				continue
			}
		}
		remaining = append(remaining, "load balancer "+each.ID)
		last = &changed.LoadBalancer
	}
	if last == nil {
		return nil, nil
	}
	return provider.Pending(last.ID, provider.Stage("deleting in the cloud"), provider.PollAfter(pollAfter(b.operation(ctx, last))),
		provider.OperationID(last.OperationID), provider.Remaining(remaining...)), nil
}

func warnAboutIgnored(ctx context.Context, changed balancerChange) {
	if ignored := changed.IgnoredTargets; len(ignored) > 0 {
		warn(ctx, "TargetsNotFound", fmt.Sprintf("%d targets are not instances any longer and were left out: %s",
			len(ignored), strings.Join(ignored[:min(len(ignored), maxShownItems)], ", ")))
	}
}

// maxShownItems limits the items of a list in a message.
const maxShownItems = 5

func warn(ctx context.Context, reason, summary string) {
	provider.CallOf(ctx).AddDiagnostic(&cpv1.Diagnostic{Severity: cpv1.Severity_SEVERITY_WARNING, Reason: reason, Summary: summary})
}

// diagnose says what is wrong with a load balancer that failed, and where to reach one whose ports are shifted.
func diagnose(ctx context.Context, of *balancer) {
	call := provider.CallOf(ctx)
	if of.State == "failed" {
		call.AddDiagnostic(&cpv1.Diagnostic{Severity: cpv1.Severity_SEVERITY_ERROR, Reason: "LoadBalancerFailed", Summary: of.StateReason})
	}
	var shifted []string
	for _, each := range of.Listeners {
		if each.Port != each.BoundPort {
			shifted = append(shifted, fmt.Sprintf("%d at %s:%d", each.Port, of.Address, each.BoundPort))
		}
	}
	if len(shifted) > 0 {
		call.AddDiagnostic(&cpv1.Diagnostic{
			Severity: cpv1.Severity_SEVERITY_INFO, Reason: "PortsShifted",
			Summary: "The simulated cloud listens on other ports: " + strings.Join(shifted, ", "),
		})
	}
}

package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// domain is that of the provider's name, annotations and load balancer classes.
const domain = "simulated.cloudwire.dev"

const (
	flavorKey           = domain + "/flavor"
	idleTimeoutKey      = domain + "/idle-timeout-seconds"
	specFingerprintKey  = ownershipPrefix + "spec-fingerprint"
	nodesFingerprintKey = ownershipPrefix + "nodes-fingerprint"

	defaultIdleSeconds = 60
	maxIdleSeconds     = 3600
)

var (
	flavors = []string{"standard", "internal"}
	// classes are values of spec.loadBalancerClass, one a flavor.
	classes = []string{domain + "/standard", domain + "/internal"}

	standard, sixty = "standard", strconv.Itoa(defaultIdleSeconds)
	annotations     = []*cpv1.AnnotationSchema{
		{
			Key: flavorKey, Type: cpv1.AnnotationType_ANNOTATION_TYPE_ENUM, AllowedValues: flavors, DefaultValue: &standard,
			Description: "Flavor of the load balancer of a Service without a class.",
		},
		{
			Key: idleTimeoutKey, Type: cpv1.AnnotationType_ANNOTATION_TYPE_INTEGER, DefaultValue: &sixty, Mutable: true,
			Description: "Idle timeout of connections in seconds, 1 to 3600.",
		},
	}
)

// desiredSpec is a load balancer in the cloud's terms.
type desiredSpec struct {
	Name             string            `json:"name"`
	Class            string            `json:"class"`
	RequestedAddress string            `json:"requestedAddress,omitempty"`
	Listeners        []listener        `json:"listeners"`
	SourceRanges     []string          `json:"sourceRanges"`
	SessionAffinity  string            `json:"sessionAffinity"`
	IdleTimeoutMs    int               `json:"idleTimeoutMs"`
	HealthCheck      *healthCheck      `json:"healthCheck,omitempty"`
	Protected        *bool             `json:"protected,omitempty"`
	Tags             map[string]string `json:"tags"`
	Metadata         map[string]string `json:"metadata"`
	Targets          []string          `json:"targets"`
}

func desiredSpecOf(request *provider.EnsureRequest) (*desiredSpec, error) {
	spec := request.Spec
	idleSeconds, err := strconv.Atoi(cmp.Or(request.Annotations[idleTimeoutKey], sixty))
	if err != nil || idleSeconds < 1 || idleSeconds > maxIdleSeconds {
		return nil, provider.NewError(provider.ReasonAnnotationInvalid,
			"annotation "+idleTimeoutKey+" must be a whole number of seconds, 1 to 3600", provider.Field(`spec.annotations["`+idleTimeoutKey+`"]`))
	}
	out := &desiredSpec{
		Name: request.Key, Class: cmp.Or(strings.TrimPrefix(request.Class, domain+"/"), request.Annotations[flavorKey], standard),
		SessionAffinity: "none", IdleTimeoutMs: idleSeconds * int(time.Second/time.Millisecond),
		SourceRanges: slices.Sorted(slices.Values(spec.GetSourceRanges().GetCidrs())), Protected: spec.DeletionProtection,
		HealthCheck: healthCheckOf(spec), Tags: tagsOf(request), Metadata: map[string]string{specFingerprintKey: request.SpecFingerprint},
	}
	if out.SourceRanges == nil {
		out.SourceRanges = []string{}
	}
	if spec.GetSessionAffinity() != nil {
		out.SessionAffinity = "clientIp"
	}
	if ips := spec.GetRequestedIps(); len(ips) > 0 {
		out.RequestedAddress = ips[0]
	}
	for _, port := range spec.GetPorts() {
		out.Listeners = append(out.Listeners, listener{Port: port.GetPort(), Protocol: "tcp", TargetPort: cmp.Or(port.GetNodePort(), port.GetPort())})
	}
	slices.SortFunc(out.Listeners, func(a, b listener) int { return cmp.Compare(a.Port, b.Port) })
	return out, nil
}

func tagsOf(request *provider.EnsureRequest) map[string]string {
	tags := clusterTags(request.Cluster)
	tags[serviceUIDTag], tags[serviceNamespaceTag], tags[serviceNameTag] = request.Service.GetUid(), request.Service.GetNamespace(), request.Service.GetName()
	for key, value := range request.Spec.GetTags() {
		// Users cannot set ownership tags.
		if !strings.HasPrefix(key, ownershipPrefix) {
			tags[key] = value
		}
	}
	return tags
}

// healthCheckOf: nodes say themselves whether they want traffic; with the policy Cluster every node does, and none is asked.
func healthCheckOf(spec *cpv1.LoadBalancerSpec) *healthCheck {
	check := spec.GetHealthCheck()
	if check == nil || spec.GetExternalTrafficPolicy() != cpv1.ExternalTrafficPolicy_EXTERNAL_TRAFFIC_POLICY_LOCAL {
		return nil
	}
	if http := check.GetHttp(); http != nil {
		return &healthCheck{Protocol: "http", Port: check.GetPort(), Path: http.GetPath()}
	}
	return &healthCheck{Protocol: "tcp", Port: check.GetPort()}
}

// patchFor is what has to be changed on an existing load balancer; nil: nothing.
func (d *desiredSpec) patchFor(existing *balancer) map[string]any {
	patch := map[string]any{}
	have := make([]listener, len(existing.Listeners))
	for i, each := range existing.Listeners {
		have[i] = listener{Port: each.Port, Protocol: each.Protocol, TargetPort: each.TargetPort}
	}
	if !slices.Equal(have, d.Listeners) {
		patch["listeners"] = d.Listeners
	}
	if !slices.Equal(existing.SourceRanges, d.SourceRanges) {
		patch["sourceRanges"] = d.SourceRanges
	}
	if existing.SessionAffinity != d.SessionAffinity {
		patch["sessionAffinity"] = d.SessionAffinity
	}
	if existing.IdleTimeoutMs != d.IdleTimeoutMs {
		patch["idleTimeoutMs"] = d.IdleTimeoutMs
	}
	if (existing.HealthCheck == nil) != (d.HealthCheck == nil) || d.HealthCheck != nil && *existing.HealthCheck != *d.HealthCheck {
		patch["healthCheck"] = d.HealthCheck
	}
	if d.Protected != nil && existing.Protected != *d.Protected {
		patch["protected"] = *d.Protected
	}
	if !maps.Equal(existing.Tags, d.Tags) {
		patch["tags"] = d.Tags
	}
	if len(patch) == 0 && existing.Metadata[specFingerprintKey] == d.Metadata[specFingerprintKey] {
		return nil
	}
	metadata := maps.Clone(existing.Metadata)
	if metadata == nil {
		metadata = map[string]string{}
	}
	maps.Copy(metadata, d.Metadata)
	patch["metadata"] = metadata
	return patch
}

// targets are the nodes wanted, in the cloud's terms.
type targets struct {
	ids []string
	// digest is as the cloud computes it.
	digest, fingerprint string
}

// targetsOf reports nodes whose instances are not in this cloud, and leaves them out.
func targetsOf(ctx context.Context, wanted *provider.DesiredNodes) targets {
	out := targets{ids: []string{}, fingerprint: wanted.NodesFingerprint}
	var foreign []string
	for _, node := range wanted.Nodes {
		if place := providerID.FindStringSubmatch(provider.CallOf(ctx).ID(node.GetProviderId())); place != nil {
			out.ids = append(out.ids, place[2])
		} else {
			foreign = append(foreign, node.GetName())
		}
	}
	if len(foreign) > 0 {
		warn(ctx, "NodesOfOtherProviders", fmt.Sprintf("%d nodes are not targets, because their instances are not in this cloud: %s",
			len(foreign), strings.Join(foreign[:min(len(foreign), maxShownItems)], ", ")))
	}
	slices.Sort(out.ids)
	out.ids = slices.Compact(out.ids)
	digest := sha256.New()
	for _, id := range out.ids {
		digest.Write([]byte(id + "\n"))
	}
	out.digest = hex.EncodeToString(digest.Sum(nil))
	return out
}

var phases = map[string]cpv1.LoadBalancerPhase{
	"provisioning": cpv1.LoadBalancerPhase_LOAD_BALANCER_PHASE_PROVISIONING,
	"active":       cpv1.LoadBalancerPhase_LOAD_BALANCER_PHASE_ACTIVE,
	"updating":     cpv1.LoadBalancerPhase_LOAD_BALANCER_PHASE_UPDATING,
	"failed":       cpv1.LoadBalancerPhase_LOAD_BALANCER_PHASE_FAILED,
	"deleting":     cpv1.LoadBalancerPhase_LOAD_BALANCER_PHASE_DELETING,
}

func (b *balancer) message() *cpv1.LoadBalancer { return b.messageWith(nil) }

// messageWith is a load balancer in the form of the contract. Fingerprints are set only for the configuration in effect.
func (b *balancer) messageWith(work *operation) *cpv1.LoadBalancer {
	out := &cpv1.LoadBalancer{
		Id: b.ID, Phase: phases[b.State], RegisteredNodes: &b.TargetCount, Tags: b.Tags, ObservedFingerprint: b.observed(),
		Service: &cpv1.ServiceRef{Namespace: b.Tags[serviceNamespaceTag], Name: b.Tags[serviceNameTag], Uid: b.Tags[serviceUIDTag]},
		Ingress: &cpv1.LoadBalancerIngressList{Items: []*cpv1.LoadBalancerIngress{{Ip: &b.Address, IpMode: cpv1.IpMode_IP_MODE_PROXY, Ports: b.ingressPorts()}}},
	}
	forwarding := &cpv1.Condition{Type: "Forwarding", Status: cpv1.ConditionStatus_CONDITION_STATUS_FALSE, Reason: strings.ToUpper(b.State[:1]) + b.State[1:], Message: b.StateReason}
	switch b.State {
	case "active":
		forwarding = &cpv1.Condition{Type: "Forwarding", Status: cpv1.ConditionStatus_CONDITION_STATUS_TRUE, Reason: "Listening"}
		out.SpecFingerprint, out.NodesFingerprint = b.Metadata[specFingerprintKey], b.Metadata[nodesFingerprintKey]
	case "updating":
		out.NodesFingerprint = b.Metadata[nodesFingerprintKey]
	}
	out.Conditions = []*cpv1.Condition{forwarding}
	if b.State != "active" && b.State != "failed" {
		out.Operation = &cpv1.Operation{Id: b.OperationID, Stage: b.State + " in the cloud", PollAfter: durationpb.New(pollAfter(work))}
		if work != nil {
			out.Operation.ProgressPercent = &work.ProgressPercent
			out.Operation.StartTime, out.Operation.ExpectedEndTime = timestamppb.New(work.CreatedAt), timestamppb.New(work.ExpectedEndAt)
		}
	}
	return out
}

func (b *balancer) ingressPorts() []*cpv1.IngressPort {
	out := make([]*cpv1.IngressPort, len(b.Listeners))
	for i, each := range b.Listeners {
		out[i] = &cpv1.IngressPort{Port: each.Port, Protocol: cpv1.Protocol_PROTOCOL_TCP}
		if each.Status == "failed" {
			reason, _, _ := strings.Cut(cmp.Or(each.Reason, "ListenerFailed"), ":")
			out[i].Error = &reason
		}
	}
	return out
}

const (
	minPoll = 500 * time.Millisecond
	maxPoll = 10 * time.Second
)

// pollAfter is about as long as the work takes.
func pollAfter(work *operation) time.Duration {
	if work == nil || work.State != "running" {
		return minPoll
	}
	return min(max(time.Until(work.ExpectedEndAt), minPoll), maxPoll)
}

// observed is a fingerprint of all that someone could change without the provider, and of nothing that changes by itself.
func (b *balancer) observed() string {
	ports := make([][2]uint32, len(b.Listeners))
	for i, each := range b.Listeners {
		ports[i] = [2]uint32{each.Port, each.TargetPort}
	}
	facts, err := json.Marshal([]any{
		b.Name, b.Class, b.Address, ports, b.SourceRanges, b.SessionAffinity, b.IdleTimeoutMs, b.Protected, b.Tags, b.HealthCheck, b.TargetsDigest,
	})
	if err != nil {
		return ""
	}
	hash := sha256.Sum256(facts)
	return hex.EncodeToString(hash[:])
}

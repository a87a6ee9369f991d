package provider

import (
	"context"
	"log/slog"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
)

// Call describes the call that a handler runs for, and takes its reports. [CallOf] returns it.
type Call struct {
	// Method is the RPC, EnsureLoadBalancer; in [Definition.Check] and [Definition.Scope] it is Check.
	Method string
	// RequestID is the ID of the call in the logs of controller and provider.
	RequestID string
	// Traceparent is the W3C trace context of the caller; empty if missing or invalid.
	Traceparent string
	// Cluster of the caller; never nil.
	Cluster *cpv1.ClusterRef
	// MaxDataAge is the maximum age of the data of a read; 0 forces a read of the cloud.
	MaxDataAge time.Duration
	// Change contains ID and trigger of the change; nil in reads.
	Change *cpv1.ChangeContext
	// Log adds method and request ID to every line.
	Log *slog.Logger

	ids      providerIDs
	recorder *recorder
}

type callKey struct{}

// CallOf returns the call of ctx; outside of a call an empty one, which drops reports.
func CallOf(ctx context.Context) *Call {
	if call, ok := ctx.Value(callKey{}).(*Call); ok {
		return call
	}
	return &Call{Cluster: &cpv1.ClusterRef{}, Log: slog.Default(), recorder: newRecorder(nil, nil)}
}

func withCall(ctx context.Context, call *Call) context.Context {
	call.recorder.mu.Lock()
	defer call.recorder.mu.Unlock()
	call.recorder.over = func() bool { return ctx.Err() != nil }
	return context.WithValue(ctx, callKey{}, call)
}

// ID returns the part of a provider ID after the provider's prefix: the cloud's ID. Empty for one of another provider.
func (c *Call) ID(providerID string) string {
	_, id, mine := c.ids.parse(providerID)
	if !mine {
		return ""
	}
	return id
}

// ValidateOnly is true when the handler must check everything, report what would change with [Call.AddPlannedChange], and
// change nothing.
func (c *Call) ValidateOnly() bool { return c.Change.GetValidateOnly() }

// AddPlannedChange reports one change that the call would have made without ValidateOnly.
func (c *Call) AddPlannedChange(change *cpv1.PlannedChange) { c.recorder.plan(change) }

// AddDiagnostic reports something to the user of the object although the call succeeds. At most 32 per call are kept.
func (c *Call) AddDiagnostic(diagnostic *cpv1.Diagnostic) { c.recorder.diagnose(diagnostic) }

// Record reports one request to the cloud that was not made through [Transport].
func (c *Call) Record(request CloudCall) { c.recorder.record(request) }

// Unreachable reports, in a list, a zone or region that could not be read. The list continues, but is not complete, so
// missing objects are not absent.
func (c *Call) Unreachable(place string) { c.recorder.unreachable(place) }

// ResumeFrom reports, in a list, the token from which a watch continues the list without a gap.
func (c *Call) ResumeFrom(token string) { c.recorder.resumeFrom(token) }

// ReportRouteQuota reports, in a list or a change of routes, the usage of the route table.
func (c *Call) ReportRouteQuota(quota *cpv1.RouteQuota) { c.recorder.reportQuota(quota) }

// providerIDs is how the cloud's ids and Kubernetes' provider IDs belong together.
type providerIDs struct{ prefixes []string }

// parse takes a provider ID apart. The longest prefix wins: acme://eu/ over acme://.
func (p providerIDs) parse(providerID string) (prefix, id string, mine bool) {
	for _, candidate := range p.prefixes {
		if len(candidate) > len(prefix) && hasPrefix(providerID, candidate) {
			prefix = candidate
		}
	}
	return prefix, providerID[len(prefix):], prefix != ""
}

// complete puts a prefix before the cloud's id, unless it has a declared one already. An empty prefix means the first.
func (p providerIDs) complete(id, prefix string) string {
	if _, _, mine := p.parse(id); mine {
		return id
	}
	if prefix == "" && len(p.prefixes) > 0 {
		prefix = p.prefixes[0]
	}
	return prefix + id
}

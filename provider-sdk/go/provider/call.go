package provider

import (
	"context"
	"log/slog"
	"strings"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
)

// Call is what a handler may know of the call it works for, and where it reports what it met. [CallOf] gives it.
type Call struct {
	// Method is the RPC, EnsureLoadBalancer; in [Definition.Check] and [Definition.Scope] it is Check.
	Method string
	// RequestID names the call in the logs of both sides.
	RequestID string
	// Traceparent is the W3C trace context of the caller; empty if it sent no well-formed one.
	Traceparent string
	// Cluster on whose behalf the call is made; never nil.
	Cluster *cpv1.ClusterRef
	// MaxDataAge is how old data may be in a read; 0 asks for a read of the cloud now.
	MaxDataAge time.Duration
	// Change identifies the intended change and says why it is wanted; nil in reads.
	Change *cpv1.ChangeContext
	// Log writes lines that carry method and request id.
	Log *slog.Logger

	ids      providerIDs
	recorder *recorder
}

type callKey struct{}

// CallOf is the call that ctx belongs to; outside of a call it is an empty one, to which reports are lost.
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

// ID is the part of a provider ID after the provider's prefix: the cloud's id. Empty for one of another provider.
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

// Unreachable says, in a list, that a zone or region could not be read: the list goes on, but says that it is not complete,
// so that nothing is concluded from what it lacks.
func (c *Call) Unreachable(place string) { c.recorder.unreachable(place) }

// ResumeFrom says, in a list, that a watch which begins at token continues the list without a gap.
func (c *Call) ResumeFrom(token string) { c.recorder.resumeFrom(token) }

// ReportRouteQuota says, in a list or a change of routes, how full the table is.
func (c *Call) ReportRouteQuota(quota *cpv1.RouteQuota) { c.recorder.reportQuota(quota) }

// providerIDs is how the cloud's ids and Kubernetes' provider IDs belong together.
type providerIDs struct{ prefixes []string }

// parse takes a provider ID apart. The longest prefix wins: acme://eu/ over acme://.
func (p providerIDs) parse(providerID string) (prefix, id string, mine bool) {
	for _, candidate := range p.prefixes {
		if len(candidate) > len(prefix) && strings.HasPrefix(providerID, candidate) {
			prefix = candidate
		}
	}
	return prefix, strings.TrimPrefix(providerID, prefix), prefix != ""
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

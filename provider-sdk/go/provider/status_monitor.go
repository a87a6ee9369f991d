package provider

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
	"unicode/utf8"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/rules"
	"cloudwire.dev/provider-sdk/go/internal/state"
	"cloudwire.dev/provider-sdk/go/internal/telemetry"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Intervals of the check of the cloud. Contract: STA-1, STA-2.
const (
	goodCheckInterval = time.Minute
	badCheckInterval  = 10 * time.Second
	checkTimeout      = 10 * time.Second
)

const (
	cloudReachable   = "CloudReachable"
	credentialsValid = "CredentialsValid"
)

// statusMonitor runs Check and Scope in the background and answers status from what they and real calls found.
type statusMonitor struct {
	definition *Definition
	bootID     string
	log        *slog.Logger
	metrics    *telemetry.Metrics
	now        func() time.Time
	// sooner brings the next check forward.
	sooner chan struct{}

	mu          sync.Mutex
	scopeID     string
	checked     bool
	logged      string
	last        *CheckResult
	lastSuccess time.Time
	conditions  []*cpv1.Condition
}

func newStatusMonitor(definition *Definition, bootID string, log *slog.Logger, metrics *telemetry.Metrics) *statusMonitor {
	m := &statusMonitor{
		definition: definition, bootID: bootID, log: log, metrics: metrics, now: time.Now,
		sooner: make(chan struct{}, 1), last: &CheckResult{},
	}
	const unknown = cpv1.ConditionStatus_CONDITION_STATUS_UNSPECIFIED
	m.set(cloudReachable, unknown, "NotChecked", "The cloud has not been asked yet")
	m.set(credentialsValid, unknown, "NotChecked", "The cloud has not been asked yet")
	return m
}

// run checks the cloud until ctx ends.
func (m *statusMonitor) run(ctx context.Context) {
	for ctx.Err() == nil {
		m.check(ctx)
		m.logReadiness()
		m.wait(ctx)
	}
}

// logReadiness logs each change of the provider's readiness.
func (m *statusMonitor) logReadiness() {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := "The provider is not ready"
	if m.readyLocked() {
		text = "The provider is ready"
	}
	if text != m.logged {
		m.logged = text
		m.log.Info(text, "scope", m.scopeID)
	}
}

func (m *statusMonitor) wait(ctx context.Context) {
	interval := badCheckInterval
	if m.ready() {
		interval = goodCheckInterval
	}
	timer := time.NewTimer(interval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		case <-m.sooner:
			timer.Reset(badCheckInterval)
		}
	}
}

func (m *statusMonitor) check(parent context.Context) {
	ctx, cancel := context.WithTimeout(parent, checkTimeout)
	defer cancel()
	call := &Call{
		Method: "Check", Cluster: &cpv1.ClusterRef{}, Log: m.log, RequestID: newID(),
		ids: providerIDs{m.definition.IDPrefixes}, recorder: newRecorder(nil, m.metrics),
	}
	err := m.ask(withCall(ctx, call))
	if err == nil || parent.Err() != nil {
		return
	}
	known, _ := classify(err, false, "this entry")
	m.log.Warn("The check of the cloud failed", "reason", known.reason, "error", errorText(err))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.checked = true
	if !m.failed(known) {
		m.set(cloudReachable, cpv1.ConditionStatus_CONDITION_STATUS_FALSE, "CheckFailed", known.message)
	}
}

// ask runs the vendor's functions; one that ignores its context is left behind.
func (m *statusMonitor) ask(ctx context.Context) error {
	type found struct {
		scopeID string
		result  *CheckResult
	}
	done := make(chan outcome[found], 1)
	go func() {
		defer func() {
			if caught := recover(); caught != nil {
				done <- outcome[found]{err: &state.PanicError{Caught: caught}}
			}
		}()
		var out found
		var err error
		if out.scopeID, err = m.definition.Scope(ctx); err == nil {
			err = scopeProblem(out.scopeID)
		}
		// An answer that comes too late may be older than what is known.
		if err == nil && ctx.Err() == nil {
			m.setScope(out.scopeID)
			out.result, err = m.definition.Check(ctx)
		}
		done <- outcome[found]{out, err}
	}()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case out := <-done:
		if out.err != nil {
			return out.err
		}
		m.accept(out.value.result)
		return nil
	}
}

func (m *statusMonitor) accept(result *CheckResult) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.checked = true
	m.succeeded()
	if result == nil {
		result = &CheckResult{}
	}
	m.last = result
	for _, condition := range result.Conditions {
		m.set(condition.GetType(), condition.GetStatus(), condition.GetReason(), condition.GetMessage())
	}
}

// maxScopeBytes is the contract's: GetProviderInfoResponse.scope_id.
const maxScopeBytes = 253

// scopeProblem: an answer that names nothing must not pass for another account, for the controller would stop all that it does.
func scopeProblem(scopeID string) error {
	if scopeID != "" && len(scopeID) <= maxScopeBytes && utf8.ValidString(scopeID) {
		return nil
	}
	return NewError(ReasonInvariantBroken,
		fmt.Sprintf("Scope must name what the credentials reach, in 1 to %d bytes of UTF-8; it answered %d", maxScopeBytes, len(scopeID)))
}

func (m *statusMonitor) setScope(scopeID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.scopeID != "" && m.scopeID != scopeID {
		m.log.Error("The scope has changed: the controller stops every destructive act", "from", m.scopeID, "to", scopeID)
	}
	m.scopeID = scopeID
}

// scope is what the credentials reach; empty until Scope has answered once.
func (m *statusMonitor) scope() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.scopeID
}

// observe takes what a real call found: nil for a success. A failure brings the next check forward.
func (m *statusMonitor) observe(err *Error) {
	m.mu.Lock()
	wasReady := m.readyLocked()
	if err == nil {
		m.succeeded()
	} else {
		m.failed(err)
	}
	fell := wasReady && !m.readyLocked()
	m.mu.Unlock()
	if fell {
		select {
		case m.sooner <- struct{}{}:
		default:
		}
	}
}

func (m *statusMonitor) ready() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.readyLocked()
}

func (m *statusMonitor) readyLocked() bool {
	return m.checked && m.scopeID != "" && m.holds(cloudReachable) && m.holds(credentialsValid)
}

func (m *statusMonitor) holds(kind string) bool {
	condition := m.condition(kind)
	return condition.GetStatus() == cpv1.ConditionStatus_CONDITION_STATUS_TRUE
}

func (m *statusMonitor) condition(kind string) *cpv1.Condition {
	for _, condition := range m.conditions {
		if condition.GetType() == kind {
			return condition
		}
	}
	return nil
}

func (m *statusMonitor) succeeded() {
	m.lastSuccess = m.now()
	m.set(cloudReachable, cpv1.ConditionStatus_CONDITION_STATUS_TRUE, "CloudAnswered", "The cloud answers")
	m.set(credentialsValid, cpv1.ConditionStatus_CONDITION_STATUS_TRUE, "CloudAnswered", "The cloud accepts the credentials")
}

// failed is true for an error that says something about the cloud as a whole.
func (m *statusMonitor) failed(err *Error) bool {
	const holdsNot = cpv1.ConditionStatus_CONDITION_STATUS_FALSE
	switch err.Reason() {
	case ReasonCloudCredentialsInvalid:
		m.set(credentialsValid, holdsNot, "CredentialsRefused", err.message)
	case ReasonCloudUnavailable, ReasonCloudTimeout:
		m.set(cloudReachable, holdsNot, "CloudUnavailable", err.message)
	default:
		return false
	}
	return true
}

// set replaces a condition: answers that were made before keep theirs.
func (m *statusMonitor) set(kind string, status cpv1.ConditionStatus, reason, message string) {
	fresh := &cpv1.Condition{
		Type: kind, Status: status, Reason: rules.CutToBytes(reason, maxReasonBytes), Message: rules.CutToBytes(message, rules.MaxMessageBytes),
		LastTransitionTime: timestamppb.New(m.now()),
	}
	for i, before := range m.conditions {
		if before.GetType() != kind {
			continue
		}
		if before.GetStatus() == status {
			fresh.LastTransitionTime = before.GetLastTransitionTime()
		}
		m.conditions[i] = fresh
		return
	}
	m.conditions = append(m.conditions, fresh)
}

func (m *statusMonitor) status() *cpv1.GetProviderStatusResponse {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := &cpv1.GetProviderStatusResponse{
		Ready: m.readyLocked(), BootId: m.bootID, ScopeId: m.scopeID, ConfigRevision: m.last.ConfigRevision,
		Conditions: append([]*cpv1.Condition(nil), m.conditions...), RateLimits: m.last.RateLimits,
	}
	if !m.lastSuccess.IsZero() {
		out.LastCloudSuccessTime = timestamppb.New(m.lastSuccess)
	}
	if !m.last.CredentialsExpireTime.IsZero() {
		out.CredentialsExpireTime = timestamppb.New(m.last.CredentialsExpireTime)
	}
	return out
}

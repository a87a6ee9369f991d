package provider

import (
	"net/http"
	"slices"
	"sync"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/rules"
	"cloudwire.dev/provider-sdk/go/internal/telemetry"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

// CloudCall is one request to the cloud, reported for cost metrics, provider status and the absence guard.
type CloudCall struct {
	// Status is the HTTP status of the answer; 0 if there was none. 401, 403, 407, 408, 429 and 5xx are no answers and forbid
	// absences in this call; other statuses of 4xx, 404 above all, are answers.
	Status int
	// Err is what went wrong, if the request was not answered. It forbids absences, unless it carries what is an answer: an
	// HTTP status as above, or a gRPC code such as NotFound.
	Err error
	// Mutation says that it may have changed something in the cloud.
	Mutation bool
	// Retry says that it repeats an earlier one.
	Retry bool
	// RequestID is the cloud's own id of the request.
	RequestID string
	// DataAge is the age of the data in the answer, if it came from a cache.
	DataAge time.Duration
}

const (
	maxErrors          = 32
	maxDiagnostics     = 32
	maxPlannedChanges  = 1000
	maxCloudRequestIDs = 5
	maxRequestIDBytes  = 128
)

// recorder keeps what the handler of one call reports. A fork serves one item of many: it has its own errors and shares the
// call's costs.
type recorder struct {
	observe func(*Error)
	metrics *telemetry.Metrics
	parent  *recorder

	mu sync.Mutex
	// over says that the caller has gone: a request that its impatience ended says nothing about the cloud.
	over        func() bool
	stats       callCosts
	errors      []*Error
	diagnostics []*cpv1.Diagnostic
	planned     []*cpv1.PlannedChange
	places      []string
	resume      string
	quota       *cpv1.RouteQuota
}

type callCosts struct {
	calls, mutations, retries uint32
	throttled                 bool
	dataAge                   time.Duration
	requestIDs                []string
}

// newRecorder makes a recorder; observe gets the error of each request, nil for one that succeeded.
func newRecorder(observe func(*Error), metrics *telemetry.Metrics) *recorder {
	if observe == nil {
		observe = func(*Error) {}
	}
	return &recorder{observe: observe, metrics: metrics}
}

func (r *recorder) fork() *recorder {
	return &recorder{observe: r.observe, metrics: r.metrics, parent: r}
}

func (r *recorder) record(request CloudCall) {
	r.count(request)
	r.evaluate(request)
}

// evaluate draws conclusions from how a request ended.
func (r *recorder) evaluate(request CloudCall) {
	r.mu.Lock()
	over := r.over
	r.mu.Unlock()
	if over != nil && over() {
		return
	}
	err := request.Err
	if err == nil && isFailureStatus(request.Status) {
		err = &HTTPError{StatusCode: request.Status}
	}
	if err == nil {
		r.observe(nil)
		return
	}
	known, masked := classify(err, request.Mutation, "")
	if masked && isAnswer(err) {
		r.observe(nil)
		return
	}
	if masked {
		// Whatever it was: the question was not answered.
		known = NewError(ReasonIncompleteAnswer, "A request to the cloud met an error that is not known", Cause(err))
	}
	r.remember(known)
	if request.Status < http.StatusInternalServerError {
		// The handler decides what a 5xx means: a full pool is no outage. The provider status follows the handler's result.
		r.observe(known)
	}
}

// evaluateTries draws conclusions from all tries of one request. A failure does not count if a retry of the same request
// succeeds. Other results do not clear it: a 404 after a 503 may come from a proxy.
func (r *recorder) evaluateTries(tries []CloudCall) {
	if len(tries) == 0 {
		return
	}
	if last := tries[len(tries)-1]; last.Err == nil && last.Status < http.StatusBadRequest {
		if slices.ContainsFunc(tries, func(try CloudCall) bool { return try.Status == http.StatusTooManyRequests }) {
			r.throttle()
		}
		tries = tries[len(tries)-1:]
	}
	for _, try := range tries {
		r.evaluate(try)
	}
}

// note draws conclusions from an error that the handler met or answered.
func (r *recorder) note(err *Error) {
	r.remember(err)
	r.observe(err)
}

func (r *recorder) remember(err *Error) {
	if err.Reason() == ReasonRateLimited {
		r.throttle()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case len(r.errors) < maxErrors:
		r.errors = append(r.errors, err)
	case err.forbidsAbsence():
		// One that forbids absences must not be lost behind many that do not.
		r.errors[0] = err
	}
}

// refusesAbsence is the error that takes the place of an absence, if one was met on the way to it after which nothing may
// be called absent: a Node would be deleted because a firewall rule or a right was missing.
func (r *recorder) refusesAbsence(basis cpv1.AbsenceBasis) *Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, err := range r.errors {
		if err.forbidsAbsence() {
			return err
		}
	}
	if basis != CompleteListMiss || len(r.errors) == 0 {
		return nil
	}
	gap := r.errors[0]
	return NewError(ReasonIncompleteAnswer, "a list with an error in it is not complete: "+gap.message, Cause(gap))
}

func (r *recorder) throttle() {
	for ; r != nil; r = r.parent {
		r.mu.Lock()
		r.stats.throttled = true
		r.mu.Unlock()
	}
}

func (r *recorder) count(request CloudCall) {
	r.metrics.CloudCall(request.Status, request.Err, request.Retry)
	for ; r != nil; r = r.parent {
		r.countHere(request)
	}
}

func (r *recorder) countHere(request CloudCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.calls++
	if request.Mutation {
		r.stats.mutations++
	}
	if request.Retry {
		r.stats.retries++
	}
	r.stats.dataAge = max(r.stats.dataAge, request.DataAge)
	if request.RequestID == "" {
		return
	}
	ids := append(r.stats.requestIDs, rules.CutToBytes(request.RequestID, maxRequestIDBytes))
	r.stats.requestIDs = ids[max(0, len(ids)-maxCloudRequestIDs):]
}

// takeStats is what the call has cost since the last time.
func (r *recorder) takeStats() *cpv1.CallStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	stats := &cpv1.CallStats{
		CloudCalls:      r.stats.calls,
		CloudMutations:  r.stats.mutations,
		CloudRetries:    r.stats.retries,
		Throttled:       r.stats.throttled,
		CloudRequestIds: r.stats.requestIDs,
	}
	if r.stats.dataAge > 0 {
		stats.DataAge = durationpb.New(r.stats.dataAge)
	}
	r.stats = callCosts{}
	return stats
}

func (r *recorder) plan(change *cpv1.PlannedChange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.planned) < maxPlannedChanges {
		shown := proto.CloneOf(change)
		shown.Summary = rules.ResponseText(shown.GetSummary(), rules.MaxMessageBytes)
		r.planned = append(r.planned, shown)
	}
}

func (r *recorder) diagnose(diagnostic *cpv1.Diagnostic) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.diagnostics) < maxDiagnostics {
		shown := proto.CloneOf(diagnostic)
		shown.Summary = rules.ResponseText(shown.GetSummary(), rules.MaxMessageBytes)
		shown.Detail = rules.ResponseText(shown.GetDetail(), rules.MaxMessageBytes)
		r.diagnostics = append(r.diagnostics, shown)
	}
}

func (r *recorder) unreachable(place string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.places = append(r.places, place)
}

func (r *recorder) resumeFrom(token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resume = token
}

func (r *recorder) reportQuota(quota *cpv1.RouteQuota) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.quota = quota
}

// reported are the diagnostics and planned changes so far.
func (r *recorder) reported() ([]*cpv1.Diagnostic, []*cpv1.PlannedChange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.diagnostics, r.planned
}

func (r *recorder) reportedQuota() *cpv1.RouteQuota {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.quota
}

// unread are the places that a list could not read, each once.
func (r *recorder) unread() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.Sort(r.places)
	r.places = slices.Compact(r.places)
	return slices.Clone(r.places)
}

func (r *recorder) resumeToken() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.resume
}

package telemetry

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// latencyBuckets are upper bounds in seconds, those of csi-lib-utils v0.22, metrics.go, and two below: answers from memory
// take milliseconds. Names and buckets are those of every SDK.
var latencyBuckets = []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600}

// Metrics are the metrics of one server, in Prometheus' text format. They are few and their label values are closed sets, so
// they need no library.
type Metrics struct {
	mu       sync.Mutex
	calls    map[callLabels]*histogram
	inFlight map[string]int
	cloud    map[string]uint64
	retries  uint64
	started  time.Time
}

type callLabels struct{ method, code, reason string }

type histogram struct {
	counts []uint64
	sum    float64
	total  uint64
}

// NewMetrics makes them.
func NewMetrics() *Metrics {
	return &Metrics{calls: map[callLabels]*histogram{}, inFlight: map[string]int{}, cloud: map[string]uint64{}, started: time.Now()}
}

// Begun counts a call that is in progress.
func (m *Metrics) Begun(method string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inFlight[method]++
}

// Ended counts a call and how long it took. reason is empty for one that went well.
func (m *Metrics) Ended(method, code, reason string, elapsed time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inFlight[method]--
	labels := callLabels{method, code, reason}
	counted := m.calls[labels]
	if counted == nil {
		counted = &histogram{counts: make([]uint64, len(latencyBuckets))}
		m.calls[labels] = counted
	}
	seconds := elapsed.Seconds()
	counted.sum += seconds
	counted.total++
	for i, bound := range latencyBuckets {
		if seconds <= bound {
			counted.counts[i]++
		}
	}
}

// CloudCall counts a request to the cloud, by the HTTP status of its answer and its error; nothing outside of a server.
func (m *Metrics) CloudCall(status int, err error, retry bool) {
	if m == nil {
		return
	}
	outcome := outcomeOf(status, err)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cloud[outcome]++
	if retry {
		m.retries++
	}
}

func outcomeOf(status int, err error) string {
	switch {
	case status == 0 && err != nil:
		return "no_answer"
	case status == http.StatusTooManyRequests:
		return "throttled"
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return "denied"
	case status >= http.StatusInternalServerError:
		return "server_error"
	case status >= http.StatusBadRequest:
		return "client_error"
	case err != nil:
		return "bad_answer"
	}
	return "success"
}

// Process are the facts of the process beside its calls.
type Process struct {
	// Ready is true while calls can be expected to work.
	Ready              bool
	Name, Version, SDK string
}

// Serve answers a scrape.
func (m *Metrics) Serve(w http.ResponseWriter, process Process) {
	var out strings.Builder
	m.write(&out)
	ready := 0
	if process.Ready {
		ready = 1
	}
	head(&out, "ready", "gauge", "1: calls can be expected to work. 0: not.")
	fmt.Fprintf(&out, "%sready %d\n", metricPrefix, ready)
	head(&out, "build_info", "gauge", "Always 1; the labels identify the build.")
	fmt.Fprintf(&out, "%sbuild_info{name=%q,version=%q,sdk=%q,runtime=%q} 1\n",
		metricPrefix, process.Name, process.Version, process.SDK, runtime.Version())
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = io.WriteString(w, out.String())
}

const metricPrefix = "cloudwire_provider_"

func head(out *strings.Builder, name, kind, help string) {
	fmt.Fprintf(out, "# HELP %s%s %s\n# TYPE %s%s %s\n", metricPrefix, name, help, metricPrefix, name, kind)
}

func (m *Metrics) write(out *strings.Builder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	head(out, "call_duration_seconds", "histogram", "How long calls of the contract took, streams included.")
	for _, labels := range sortedKeys(m.calls, func(l callLabels) string { return l.method + "\x00" + l.code + "\x00" + l.reason }) {
		m.calls[labels].write(out, fmt.Sprintf("method=%q,code=%q,reason=%q", labels.method, labels.code, labels.reason))
	}
	head(out, "calls_in_flight", "gauge", "Calls of the contract under way, streams included.")
	for _, method := range sortedKeys(m.inFlight, func(method string) string { return method }) {
		fmt.Fprintf(out, "%scalls_in_flight{method=%q} %d\n", metricPrefix, method, m.inFlight[method])
	}
	head(out, "cloud_calls_total", "counter", "Requests to the cloud, repetitions included.")
	for _, outcome := range sortedKeys(m.cloud, func(outcome string) string { return outcome }) {
		fmt.Fprintf(out, "%scloud_calls_total{outcome=%q} %d\n", metricPrefix, outcome, m.cloud[outcome])
	}
	head(out, "cloud_retries_total", "counter", "Requests to the cloud that repeated an earlier one.")
	fmt.Fprintf(out, "%scloud_retries_total %d\n", metricPrefix, m.retries)
	fmt.Fprintf(out, "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds %d\n", m.started.Unix())
}

func (h *histogram) write(out *strings.Builder, labels string) {
	const name = metricPrefix + "call_duration_seconds"
	for i, bound := range latencyBuckets {
		fmt.Fprintf(out, "%s_bucket{%s,le=%q} %d\n", name, labels, strconv.FormatFloat(bound, 'g', -1, 64), h.counts[i])
	}
	fmt.Fprintf(out, "%s_bucket{%s,le=\"+Inf\"} %d\n", name, labels, h.total)
	fmt.Fprintf(out, "%s_sum{%s} %g\n%s_count{%s} %d\n", name, labels, h.sum, name, labels, h.total)
}

func sortedKeys[Key comparable, Value any](entries map[Key]Value, text func(Key) string) []Key {
	keys := make([]Key, 0, len(entries))
	for key := range entries {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b Key) int { return strings.Compare(text(a), text(b)) })
	return keys
}

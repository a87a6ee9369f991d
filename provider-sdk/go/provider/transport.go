package provider

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// Transport is an http.RoundTripper for requests to the cloud. It counts them for the call of their context, records their results
// for the status and the check of absences, and retries reads that were throttled or failed, within a budget. The zero value is
// ready for use.
//
// The handler that sent a request decides what a status of 5xx means: the error that it returns goes to the status.
//
//	client := &http.Client{Transport: &provider.Transport{}}
type Transport struct {
	// Base sends the requests. Nil: http.DefaultTransport.
	Base http.RoundTripper
	// RequestIDHeader is the header with the cloud's ID of a request. Empty: X-Request-Id.
	RequestIDHeader string
	// NoRetries turns off retries.
	NoRetries bool
	// IsRead reports whether a request changes nothing: such requests are retried and never counted as mutations. Nil:
	// GET, HEAD and OPTIONS. A cloud that reads by POST needs its own function.
	IsRead func(*http.Request) bool

	mu     sync.Mutex
	budget float64
	primed bool
}

const (
	// maxTries of one request, the first included.
	maxTries = 3
	// budgetPerRequest is how much of a repetition each request pays for; maxBudget are those saved up at most.
	budgetPerRequest = 0.1
	maxBudget        = 10
	firstRetryDelay  = 100 * time.Millisecond
	maxRetryDelay    = 2 * time.Second
)

// RoundTrip sends a request.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	recorder := CallOf(request.Context()).recorder
	t.earn()
	var tries []CloudCall
	defer func() { recorder.evaluateTries(tries) }()
	for try := 1; ; try++ {
		response, err := t.base().RoundTrip(request)
		tries = append(tries, t.describe(request, response, err, try > 1))
		recorder.count(tries[try-1])
		delay, again := t.retryDelay(request, response, err, try)
		if !again || !t.spend() {
			return response, err
		}
		next, rewindErr := rewound(request)
		if rewindErr != nil {
			return response, err
		}
		request = next
		if response != nil {
			// Read to its end, so that the connection is used again.
			_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxDiscardedBytes))
			response.Body.Close()
		}
		if err := sleep(request.Context(), delay); err != nil {
			return nil, err
		}
	}
}

const maxDiscardedBytes = 64 << 10

func (t *Transport) base() http.RoundTripper {
	if t.Base != nil {
		return t.Base
	}
	return http.DefaultTransport
}

func (t *Transport) isRead(request *http.Request) bool {
	if t.IsRead != nil {
		return t.IsRead(request)
	}
	switch request.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, "":
		return true
	}
	return false
}

// rewound is the request as it is sent again: its body was read.
func rewound(request *http.Request) (*http.Request, error) {
	if request.Body == nil || request.Body == http.NoBody { // words-ok: a name of net/http
		return request, nil
	}
	if request.GetBody == nil {
		return nil, errors.New("the body of the request cannot be read twice")
	}
	body, err := request.GetBody()
	if err != nil {
		return nil, err
	}
	again := request.Clone(request.Context())
	again.Body = body
	return again, nil
}

func (t *Transport) describe(request *http.Request, response *http.Response, err error, retry bool) CloudCall {
	report := CloudCall{Err: err, Mutation: !t.isRead(request), Retry: retry}
	if response != nil {
		header := t.RequestIDHeader
		if header == "" {
			header = "X-Request-Id"
		}
		report.Status, report.RequestID = response.StatusCode, response.Header.Get(header)
	}
	return report
}

// retryDelay says whether and when a request is sent again: a read that the cloud throttled, or that it failed to answer.
func (t *Transport) retryDelay(request *http.Request, response *http.Response, err error, try int) (time.Duration, bool) {
	if t.NoRetries || try >= maxTries || !t.isRead(request) || request.Context().Err() != nil {
		return 0, false
	}
	delay := min(firstRetryDelay<<(try-1), maxRetryDelay)
	delay += rand.N(delay) // no secret
	if err == nil {
		switch response.StatusCode {
		case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			delay = max(delay, parseRetryAfter(response.Header.Get("Retry-After"), time.Now()))
		default:
			return 0, false
		}
	} else if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return 0, false
	}
	// A wait that is too long is the controller's to keep.
	deadline, limited := request.Context().Deadline()
	return delay, delay <= maxRetryDelay && (!limited || time.Until(deadline) > delay)
}

func (t *Transport) earn() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.primed {
		t.primed, t.budget = true, maxBudget
	}
	t.budget = min(t.budget+budgetPerRequest, maxBudget)
}

func (t *Transport) spend() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.budget < 1 {
		return false
	}
	t.budget--
	return true
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

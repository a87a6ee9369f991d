package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"syscall"
	"time"

	"cloudwire.dev/provider-sdk/go/internal/state"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// HTTPError is an HTTP answer that is no success. Returned as it is, its status becomes a reason of the contract.
type HTTPError struct {
	// StatusCode is the HTTP status.
	StatusCode int
	// Header of the answer; Retry-After is read from it.
	Header http.Header
	// Message says what was asked for; it is logged and not sent.
	Message string
}

// Error names the status.
func (e *HTTPError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("HTTP %d", e.StatusCode)
	}
	return fmt.Sprintf("%s: HTTP %d", e.Message, e.StatusCode)
}

// CheckResponse is nil for a status below 400 and an [HTTPError] else.
func CheckResponse(response *http.Response) error {
	if response.StatusCode < http.StatusBadRequest {
		return nil
	}
	failed := &HTTPError{StatusCode: response.StatusCode, Header: response.Header}
	if request := response.Request; request != nil {
		failed.Message = request.Method + " " + request.URL.Path
	}
	return failed
}

func isFailureStatus(statusCode int) bool {
	switch statusCode {
	// What a proxy refused (407) is no answer of the cloud either. Other statuses of 4xx are answers.
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	}
	return statusCode >= http.StatusInternalServerError
}

// classify turns whatever a handler returned into an error of the contract. Known are: [Error], contexts that ended, errors
// of the network, gRPC statuses, and anything with an HTTP status. All else is masked, because nothing is known about it that
// the peer may see.
func classify(err error, mutation bool, correlationID string) (known *Error, masked bool) {
	// The methods of a vendor's error may panic, those of a nil pointer in an error above all.
	known, failed := state.Recovered(func() (*Error, error) { return findKnown(err, mutation, 0), nil })
	if failed == nil && known != nil {
		return known, false
	}
	message := "The provider failed in a way it did not expect; its log has the details under " + correlationID
	return NewError(ReasonUnmappedError, message, Cause(err)), true
}

// isAnswer is true for an error by which the cloud answered a question, with a no.
func isAnswer(err error) bool {
	answer, failed := state.Recovered(func() (bool, error) {
		return firstOf(err, 0, func(each error) bool {
			if coded, ok := each.(interface{ GRPCStatus() *status.Status }); ok { // the chain is walked by hand
				return slices.Contains(answerCodes, coded.GRPCStatus().Code())
			}
			statusCode := httpStatus(each)
			return statusCode != 0 && !isFailureStatus(statusCode)
		}), nil
	})
	return failed == nil && answer
}

// answerCodes are the gRPC codes with which a cloud answers a question.
var answerCodes = []codes.Code{codes.InvalidArgument, codes.NotFound, codes.AlreadyExists, codes.FailedPrecondition, codes.OutOfRange}

// maxCauses is how deep causes are looked at.
const maxCauses = 16

func findKnown(err error, mutation bool, depth int) *Error {
	return firstOf(err, depth, func(each error) *Error { return mapOne(each, mutation) })
}

// firstOf is what find makes of the first error, of err and those behind it, for which it is not zero.
func firstOf[Found comparable](err error, depth int, find func(error) Found) Found {
	var none Found
	if err == nil || depth > maxCauses {
		return none
	}
	if found := find(err); found != none {
		return found
	}
	switch wrapped := err.(type) { // the chain is walked by hand
	case interface{ Unwrap() error }:
		return firstOf(wrapped.Unwrap(), depth+1, find)
	case interface{ Unwrap() []error }:
		for _, each := range wrapped.Unwrap() {
			if found := firstOf(each, depth+1, find); found != none {
				return found
			}
		}
	}
	return none
}

func mapOne(err error, mutation bool) *Error {
	switch typed := err.(type) { // the chain is walked by hand
	case *Error:
		return typed
	case *net.DNSError:
		return unreachableCloud(err)
	case syscall.Errno:
		return fromErrno(typed, err, mutation)
	case interface{ GRPCStatus() *status.Status }:
		return fromStatus(typed.GRPCStatus(), err, mutation)
	}
	if statusCode := httpStatus(err); statusCode != 0 {
		return fromHTTPStatus(statusCode, err, mutation)
	}
	// the chain is walked by hand
	switch err {
	case context.Canceled, context.DeadlineExceeded, os.ErrDeadlineExceeded:
		return timedOut(err, mutation)
	case io.EOF, io.ErrUnexpectedEOF, net.ErrClosed:
		return unreachableCloud(err)
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return timedOut(err, mutation)
	}
	return nil
}

func timedOut(cause error, mutation bool) *Error {
	if mutation {
		return NewError(ReasonDeadlinePassed, "The cloud did not answer in time; the change may still be under way", Cause(cause))
	}
	return NewError(ReasonCloudTimeout, "The cloud did not answer in time", Cause(cause))
}

func unreachableCloud(cause error) *Error {
	return NewError(ReasonCloudUnavailable, "The cloud cannot be reached", Cause(cause))
}

func fromErrno(errno syscall.Errno, cause error, mutation bool) *Error {
	switch errno {
	case syscall.ETIMEDOUT:
		return timedOut(cause, mutation)
	case syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE,
		syscall.EHOSTUNREACH, syscall.EHOSTDOWN, syscall.ENETUNREACH, syscall.ENETDOWN:
		return unreachableCloud(cause)
	}
	return nil
}

// HTTPStatus is the first HTTP status of 400 to 599 in an error and those behind it, 0 if there is none. It is looked for where
// the clients of clouds keep it: in a method HTTPStatusCode (AWS), or in a field StatusCode (Azure, this package) or Code (Google).
func HTTPStatus(err error) int {
	found, failed := state.Recovered(func() (int, error) { return firstOf(err, 0, httpStatus), nil })
	if failed != nil {
		return 0
	}
	return found
}

// httpStatus finds a status of 400 to 599 where the clients of clouds keep it: in a method HTTPStatusCode (AWS), or in a
// field StatusCode (Azure, this package) or Code (Google).
func httpStatus(err error) int {
	if coded, ok := err.(interface{ HTTPStatusCode() int }); ok { // the chain is walked by hand
		return errorStatus(coded.HTTPStatusCode())
	}
	value := reflect.Indirect(reflect.ValueOf(err))
	if value.Kind() != reflect.Struct {
		return 0
	}
	for _, name := range []string{"StatusCode", "Code"} {
		found, ok := value.Type().FieldByName(name)
		if !ok {
			continue
		}
		// A field of an embedded pointer that is nil is no field.
		if field, err := value.FieldByIndexErr(found.Index); err == nil && field.Kind() == reflect.Int {
			if statusCode := errorStatus(int(field.Int())); statusCode != 0 {
				return statusCode
			}
		}
	}
	return 0
}

func errorStatus(statusCode int) int {
	if statusCode < http.StatusBadRequest || statusCode > 599 {
		return 0
	}
	return statusCode
}

// FromHTTPStatus is what an HTTP status means in the contract, for clients of clouds whose errors the SDK does not know; nil
// for one that says nothing about permissions or health, 404 above all. mutation says that the request may have changed something.
func FromHTTPStatus(statusCode int, mutation bool, message string, cause error) *Error {
	known := fromHTTPStatus(statusCode, cause, mutation)
	if known != nil && message != "" {
		known.message = message
	}
	return known
}

func fromHTTPStatus(statusCode int, cause error, mutation bool) *Error {
	said := fmt.Sprintf("The cloud answered HTTP %d", statusCode)
	options := []ErrorOption{Cause(cause)}
	if wait := retryAfter(cause); wait > 0 {
		options = append(options, RetryAfter(wait))
	}
	switch {
	case statusCode == http.StatusUnauthorized:
		return NewError(ReasonCloudCredentialsInvalid, said+": it refuses the provider's credentials", Cause(cause))
	case statusCode == http.StatusForbidden:
		return NewError(ReasonCloudPermissionDenied, said+": the provider's identity lacks a right", Cause(cause))
	case statusCode == http.StatusRequestTimeout, statusCode == http.StatusGatewayTimeout:
		return timedOut(cause, mutation)
	case statusCode == http.StatusConflict && mutation:
		return NewError(ReasonNotReady, said+": the object takes no change now", Cause(cause))
	case statusCode == http.StatusTooManyRequests:
		return NewError(ReasonRateLimited, said+": it throttles", options...)
	case statusCode >= http.StatusInternalServerError:
		return NewError(ReasonCloudUnavailable, said, options...)
	}
	// 404 and the rest say nothing about the object: a wrong URL or a missing permission answer the same.
	return nil
}

// maxRetryAfter is the longest wait accepted; a header in another unit must not stop an object for a day.
const maxRetryAfter = 15 * time.Minute

func retryAfter(err error) time.Duration {
	failed, ok := err.(*HTTPError) // the chain is walked by hand
	if !ok {
		return 0
	}
	return parseRetryAfter(failed.Header.Get("Retry-After"), time.Now())
}

// parseRetryAfter reads seconds or an HTTP date; 0 for what is neither.
func parseRetryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, maxRetryAfter.Seconds()) * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

// fromStatus reads the errors of clouds that speak gRPC themselves.
func fromStatus(answered *status.Status, cause error, mutation bool) *Error {
	said := "The cloud answered " + answered.Code().String()
	switch answered.Code() {
	case codes.Unauthenticated:
		return NewError(ReasonCloudCredentialsInvalid, said+": it refuses the provider's credentials", Cause(cause))
	case codes.PermissionDenied:
		return NewError(ReasonCloudPermissionDenied, said+": the provider's identity lacks a right", Cause(cause))
	case codes.DeadlineExceeded, codes.Canceled:
		return timedOut(cause, mutation)
	case codes.ResourceExhausted:
		return NewError(ReasonRateLimited, said+": it throttles", Cause(cause))
	case codes.Unavailable:
		return NewError(ReasonCloudUnavailable, said, Cause(cause))
	}
	return nil
}

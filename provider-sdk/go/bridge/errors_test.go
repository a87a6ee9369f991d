package bridge

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/api"

	"cloudwire.dev/provider-sdk/go/provider"
)

// httpError is shaped as those of Google's client: the status in a field.
type httpError struct{ Code int }

func (e *httpError) Error() string { return fmt.Sprintf("HTTP %d", e.Code) }

// awsError is shaped as those of AWS: the status in a method.
type awsError struct{ status int }

func (e *awsError) Error() string       { return "api error" }
func (e *awsError) HTTPStatusCode() int { return e.status }

// embeddingError has its status in a part that is not there.
type embeddingError struct{ *httpError }

func (e embeddingError) Error() string { return "embedding" }

func TestErrorsBecomeReasons(t *testing.T) {
	retry := fmt.Errorf("wrapped: %w", api.NewRetryError("not yet", time.Minute))
	cases := []struct {
		name string
		err  error
		kind rpcKind
		want provider.Reason
		code codes.Code
	}{
		{"RetryError of a change", retry, balancerChange, provider.ReasonNotReady, codes.FailedPrecondition},
		{"RetryError of a deletion", retry, deletion, provider.ReasonNotReady, codes.FailedPrecondition},
		{"RetryError of a route", retry, routeChange, provider.ReasonNotReady, codes.FailedPrecondition},
		{"RetryError of a read", retry, readRPC, provider.ReasonCloudUnavailable, codes.Unavailable},
		{"ImplementedElsewhere of a change", cloudprovider.ImplementedElsewhere, balancerChange, provider.ReasonNotResponsible, codes.FailedPrecondition},
		{"NotImplemented of a change", cloudprovider.NotImplemented, balancerChange, provider.ReasonFeatureUnsupported, codes.InvalidArgument},
		{"NotImplemented of a machine", cloudprovider.NotImplemented, machineItem, provider.ReasonFeatureUnsupported, codes.InvalidArgument},
		{"NotImplemented of a read", cloudprovider.NotImplemented, readRPC, reasonNotImplemented, codes.FailedPrecondition},
		{"NotImplemented of a deletion", cloudprovider.NotImplemented, deletion, reasonNotImplemented, codes.FailedPrecondition},
		{"InstanceNotFound of a route", fmt.Errorf("x: %w", cloudprovider.InstanceNotFound), routeChange, provider.ReasonRouteTargetNotFound, codes.NotFound},
		{"InstanceNotFound of a route to delete", cloudprovider.InstanceNotFound, routeDeletion, reasonCloudError, codes.Unknown},
		{"NotImplemented of a route to delete", cloudprovider.NotImplemented, routeDeletion, reasonNotImplemented, codes.FailedPrecondition},
		{"InstanceNotFound of a load balancer", cloudprovider.InstanceNotFound, balancerChange, reasonCloudError, codes.Unknown},
		{"HTTP 401", &httpError{http.StatusUnauthorized}, readRPC, provider.ReasonCloudCredentialsInvalid, codes.Unauthenticated},
		{"HTTP 403 within another", fmt.Errorf("x: %w", &awsError{http.StatusForbidden}), readRPC, provider.ReasonCloudPermissionDenied, codes.PermissionDenied},
		{"HTTP 403 beside another", errors.Join(errors.New("x"), &httpError{http.StatusForbidden}), readRPC, provider.ReasonCloudPermissionDenied, codes.PermissionDenied},
		{"a status in a part that is nil", embeddingError{}, readRPC, reasonCloudError, codes.Unknown},
		{"a number of the cloud's own", &httpError{10_503}, readRPC, reasonCloudError, codes.Unknown},
		{"HTTP 404", &httpError{http.StatusNotFound}, readRPC, reasonCloudError, codes.Unknown},
		{"HTTP 429", &awsError{http.StatusTooManyRequests}, readRPC, provider.ReasonRateLimited, codes.ResourceExhausted},
		{"HTTP 503", &httpError{http.StatusServiceUnavailable}, readRPC, provider.ReasonCloudUnavailable, codes.Unavailable},
		{"an error of the contract", provider.NewError(provider.ReasonQuotaExceeded, "full"), balancerChange, provider.ReasonQuotaExceeded, codes.ResourceExhausted},
		{"anything else", errors.New("broken"), balancerChange, reasonCloudError, codes.Unknown},
	}
	mapper := errorMapper{domain: "acme.example.com"}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			var got *provider.Error
			if !errors.As(mapper.toContract(test.err, test.kind, "try it"), &got) {
				t.Fatal("is no error of the contract")
			}
			if got.Reason() != test.want || got.Code() != test.code {
				t.Errorf("is %s with %s, want %s with %s", got.Reason(), got.Code(), test.want, test.code)
			}
		})
	}
}

func TestRetryErrorKeepsItsDelay(t *testing.T) {
	err := errorMapper{}.toContract(api.NewRetryError("not yet", 7*time.Minute), balancerChange, "ensure")
	var known *provider.Error
	if !errors.As(err, &known) {
		t.Fatal(err)
	}
	var delay time.Duration
	for _, detail := range known.GRPCStatus().Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			delay = info.GetRetryDelay().AsDuration()
		}
	}
	if delay != 7*time.Minute {
		t.Errorf("delay is %v", delay)
	}
}

func TestErrorsOfTheNetworkAreLeftToTheSDK(t *testing.T) {
	for _, err := range []error{
		context.DeadlineExceeded, context.Canceled, &net.DNSError{Err: "no such host", IsNotFound: true}, &net.OpError{Op: "dial", Err: errors.New("refused")},
	} {
		got := errorMapper{}.toContract(err, readRPC, "read")
		var known *provider.Error
		if errors.As(got, &known) || !errors.Is(got, err) {
			t.Errorf("%v became %v", err, got)
		}
	}
}

func TestErrorsOfTheVendorComeFirst(t *testing.T) {
	mapper := errorMapper{custom: func(err error) *provider.Error {
		if errors.Is(err, cloudprovider.NotImplemented) {
			return provider.NewError(provider.ReasonQuotaExceeded, "by the vendor")
		}
		return nil
	}}
	var got *provider.Error
	if !errors.As(mapper.toContract(cloudprovider.NotImplemented, readRPC, "read"), &got) || got.Reason() != provider.ReasonQuotaExceeded {
		t.Errorf("is %v", got)
	}
	if !errors.As(mapper.toContract(errors.New("x"), readRPC, "read"), &got) || got.Reason() != reasonCloudError {
		t.Errorf("what the vendor does not know is %v", got)
	}
}

package bridge

import (
	"context"
	"errors"
	"fmt"
	"net"

	"google.golang.org/grpc/codes"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/api"

	"cloudwire.dev/provider-sdk/go/provider"
)

// What upstream's cloud-controller-manager prints of an error the contract's peer may see too, so errors travel with their
// text. Those that the contract has no word for carry these reasons of the vendor's.
const (
	reasonCloudError     = "CLOUD_PROVIDER_ERROR"
	reasonNotImplemented = "NOT_IMPLEMENTED"
	// reasonServiceUnreadable is the bridge's own: Kubernetes, not the cloud, has not answered.
	reasonServiceUnreadable = "SERVICE_UNREADABLE"
)

// errorMapper turns what the vendor's code returned into an error of the contract.
type errorMapper struct {
	// domain of the vendor's own reasons.
	domain string
	// custom comes first; nil, or nil from it: the table below.
	custom func(error) *provider.Error
}

// rpcKind decides which reasons may be answered.
type rpcKind int

const (
	// readRPC changes nothing: GetLoadBalancer, ListRoutes.
	readRPC rpcKind = iota
	// machineItem is one item of BatchGetInstances.
	machineItem
	// balancerChange is EnsureLoadBalancer.
	balancerChange
	// deletion is DeleteLoadBalancer.
	deletion
	// routeChange is one item of BatchEnsureRoutes.
	routeChange
	// routeDeletion is one item of BatchDeleteRoutes.
	routeDeletion
)

func (k rpcKind) isChange() bool {
	return k == balancerChange || k == deletion || k == routeChange || k == routeDeletion
}

// toContract keeps what is an error of the contract already. doing says what was tried, on what.
func (m errorMapper) toContract(err error, kind rpcKind, doing string) error {
	var known *provider.Error
	if errors.As(err, &known) {
		return known
	}
	if m.custom != nil {
		if mapped := m.custom(err); mapped != nil {
			return mapped
		}
	}
	message := fmt.Sprintf("%s: %v", doing, err)
	if mapped := m.sentinel(err, kind, message); mapped != nil {
		return mapped
	}
	if isTransport(err) {
		// The SDK knows these.
		return fmt.Errorf("%s: %w", doing, err)
	}
	if mapped := provider.FromHTTPStatus(provider.HTTPStatus(err), kind.isChange(), message, err); mapped != nil {
		return mapped
	}
	return provider.NewVendorError(m.domain, reasonCloudError, codes.Unknown, message, provider.Cause(err))
}

// sentinel maps the errors that k8s.io/cloud-provider gives a meaning; nil for all others.
func (m errorMapper) sentinel(err error, kind rpcKind, message string) error {
	cause := provider.Cause(err)
	var retry *api.RetryError
	switch {
	case errors.As(err, &retry):
		wait := provider.RetryAfter(retry.RetryAfter())
		if kind.isChange() {
			return provider.NewError(provider.ReasonNotReady, message, wait, cause)
		}
		return provider.NewError(provider.ReasonCloudUnavailable, message, wait, cause)
	case errors.Is(err, cloudprovider.ImplementedElsewhere) && kind == balancerChange:
		return provider.NewError(provider.ReasonNotResponsible, message, cause)
	case errors.Is(err, cloudprovider.InstanceNotFound) && kind == routeChange:
		return provider.NewError(provider.ReasonRouteTargetNotFound, message, cause)
	case errors.Is(err, cloudprovider.NotImplemented):
		if kind == readRPC || kind == deletion || kind == routeDeletion {
			return provider.NewVendorError(m.domain, reasonNotImplemented, codes.FailedPrecondition, message, cause)
		}
		return provider.NewError(provider.ReasonFeatureUnsupported, message, cause)
	}
	return nil
}

// isTransport is true for errors of contexts and of the network.
func isTransport(err error) bool {
	var network net.Error
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network)
}

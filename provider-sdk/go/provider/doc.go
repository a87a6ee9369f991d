// Package provider turns plain Go functions about a cloud into a provider sidecar of Cloudwire: a process that serves the
// contract cloudprovider.v1.CloudProvider on a Unix socket.
//
// A vendor fills a [Definition] with functions and calls [Main]. Functions speak the contract's own messages, package
// cloudwire.dev/provider-sdk/go/cloudprovider/v1. A function that is left nil is a capability that is not claimed. What
// the contract demands of a provider beside the cloud's own work, such as validation, paging, the order of changes, node
// sets, the error scheme and the drain, is done here.
package provider

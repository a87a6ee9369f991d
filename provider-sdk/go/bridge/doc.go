// Package bridge serves an existing implementation of k8s.io/cloud-provider over the contract cloudprovider.v1, so that a
// vendor's cloud-controller-manager in Go becomes a provider sidecar by changing its main:
//
//	func main() {
//		bridge.Main(bridge.Options{Name: "acme.example.com"})
//	}
//
// It calls the vendor's code with the objects that upstream's cloud-controller-manager would have called it with, as far as
// the contract transmits them, and never reports an error as an absence.
package bridge

// Command provider-aws is Kubernetes' own provider for AWS, unchanged, as a sidecar: what a vendor does to its main.
package main

import (
	_ "k8s.io/cloud-provider-aws/pkg/providers/v1"

	"cloudwire.dev/provider-sdk/go/bridge"
)

func main() {
	bridge.Main(bridge.Options{CloudProvider: "aws"})
}

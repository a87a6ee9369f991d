// Command provider-gcp is Kubernetes' own provider for Google Cloud, unchanged, as a sidecar over the fake that it brings.
package main

import (
	"fmt"
	"io"
	"os"
	"strconv"

	cloudprovider "k8s.io/cloud-provider"

	"cloudwire.dev/provider-sdk/go/bridge"
	"cloudwire.dev/test/programs/bridged/gcp/internal/fakegce"
)

func main() {
	// In the place of the factory that Google's package registers: that one asks Google for tokens.
	const name = "fake-gce"
	cloudprovider.RegisterCloudProvider(name, func(io.Reader) (cloudprovider.Interface, error) {
		cloud, err := fakegce.New()
		if err != nil {
			return nil, err
		}
		url, err := cloud.Control()
		if err != nil {
			return nil, err
		}
		fmt.Fprintln(os.Stderr, "fake cloud at", url)
		// For tests that start the provider more than once: each of its clouds is as empty as the first.
		machines, _ := strconv.Atoi(os.Getenv("FAKE_GCE_MACHINES"))
		for range machines {
			if _, err := cloud.Run(); err != nil {
				return nil, err
			}
		}
		return withoutInformers{cloud.Provider}, nil
	})
	bridge.Main(bridge.Options{CloudProvider: name})
}

// withoutInformers hides SetInformers: the vendor's fake lacks the map that the informer's handler writes to, and panics.
type withoutInformers struct{ cloudprovider.Interface }

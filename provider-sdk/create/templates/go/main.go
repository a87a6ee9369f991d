// Command acme-provider is the provider sidecar of acme.example.com for the cloud-controller-manager of Cloudwire.
package main

import (
	"fmt"
	"os"

	"cloudwire.dev/provider-sdk/go/provider"

	"acme.example.com/acme-provider/internal/cloud"
)

// version is set by the linker: -ldflags "-X main.version=1.2.3".
var version = "0.1.0"

func main() {
	settings, problems := readSettings(os.Getenv)
	if len(problems) > 0 {
		for _, problem := range problems {
			fmt.Fprintf(os.Stderr, "acme-provider: %s\n", problem)
		}
		os.Exit(78)
	}
	provider.Main(define(cloud.New(settings.url, settings.token)))
}

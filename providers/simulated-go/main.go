// Command provider-simulated-go is a provider in Go for the simulated cloud: the reference of what a vendor writes with the
// Go SDK. It does what providers/simulated does, but for watches and volumes.
package main

import (
	"context"
	"fmt"
	"os"

	"cloudwire.dev/provider-sdk/go/provider"
)

// exitConfig is sysexits' EX_CONFIG, as [provider.Main] ends with for the rest of the environment.
const exitConfig = 78

func main() {
	settings, problems := readSettings(os.Getenv)
	for _, problem := range problems {
		fmt.Fprintln(os.Stderr, "provider-simulated-go: "+problem)
	}
	if len(problems) > 0 {
		os.Exit(exitConfig)
	}
	api := newCloud(settings)
	provider.Main(&provider.Definition{
		Name: domain, Version: "0.1.0", IDPrefixes: []string{"sim://"},
		Scope: func(ctx context.Context) (string, error) {
			account, err := api.account(ctx)
			return "simcloud/" + account, err
		},
		Check: func(ctx context.Context) (*provider.CheckResult, error) {
			_, err := api.account(ctx)
			return nil, err
		},
		Instances:     instances(api),
		LoadBalancers: loadBalancers(api),
		Routes:        routes(api),
		Annotations:   annotations,
	})
}

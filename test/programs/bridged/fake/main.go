// Command fake is upstream's fake cloud, bridged: a provider sidecar for tests, whose machines, load balancers and routes are
// read and changed through a control port.
//
//	--cloud-config   JSON file, see config; optional
//
// It prints one line on standard output, `control http://127.0.0.1:PORT`.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	cloudprovider "k8s.io/cloud-provider"

	"cloudwire.dev/provider-sdk/go/bridge"
	"cloudwire.dev/provider-sdk/go/provider"
)

const providerName = "fake"

// config is the file of --cloud-config.
type config struct {
	// ControlAddress of the control port. Default: 127.0.0.1:0.
	ControlAddress string `json:"controlAddress"`
	// StateFile keeps the cloud across restarts. Empty: it is lost.
	StateFile string `json:"stateFile"`
	// Legacy offers Instances and Zones in place of InstancesV2.
	Legacy bool `json:"legacy"`
	// Machines to begin with.
	Machines []machine `json:"machines"`
}

func main() {
	cloudprovider.RegisterCloudProvider(providerName, func(file io.Reader) (cloudprovider.Interface, error) { return open(file) })
	bridge.Main(bridge.Options{
		Name:                   "fake.example.com",
		Version:                "0.0.0",
		CloudProvider:          providerName,
		Scope:                  provider.StaticScope("fake-account"),
		AnnotationPrefixes:     []string{"fake.example.com/"},
		ConcurrentServiceSyncs: 10,
	})
}

func open(file io.Reader) (cloudprovider.Interface, error) {
	settings := config{ControlAddress: "127.0.0.1:0"}
	if file != nil {
		if err := json.NewDecoder(file).Decode(&settings); err != nil {
			return nil, fmt.Errorf("read the configuration: %w", err)
		}
	}
	cloud, err := newCloud(settings)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", settings.ControlAddress)
	if err != nil {
		return nil, fmt.Errorf("open the control port: %w", err)
	}
	fmt.Printf("control http://%s\n", listener.Addr())
	server := &http.Server{Handler: controlOf(cloud), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			fmt.Println("control ended:", err)
		}
	}()
	return cloud, nil
}

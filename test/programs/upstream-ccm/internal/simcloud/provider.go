// Package simcloud is a provider for the simulated cloud as a vendor writes one for upstream's controllers: each call is
// carried out with the cloud's API, and errors go back as they are.
package simcloud

import (
	"fmt"
	"io"
	"os"

	cloudprovider "k8s.io/cloud-provider"
)

// ProviderName is the value of --cloud-provider.
const ProviderName = "simulated"

// Environment variables, the same that the sidecar of this cloud reads.
const (
	urlVariable = "SIMCLOUD_URL"
	keyVariable = "SIMCLOUD_API_KEY"
)

// clusterIDVariable holds the cluster's UID, for the ownership tags of what is created: upstream gives providers a name only.
const clusterIDVariable = "SIMCLOUD_CLUSTER_ID"

func init() {
	cloudprovider.RegisterCloudProvider(ProviderName, func(io.Reader) (cloudprovider.Interface, error) { return newProvider() })
}

type provider struct {
	client    *client
	clusterID string
}

func newProvider() (*provider, error) {
	url := os.Getenv(urlVariable)
	if url == "" {
		return nil, fmt.Errorf("set %s to the URL of the simulated cloud", urlVariable)
	}
	return &provider{client: newClient(url, os.Getenv(keyVariable)), clusterID: os.Getenv(clusterIDVariable)}, nil
}

func (p *provider) Initialize(cloudprovider.ControllerClientBuilder, <-chan struct{}) {}

func (p *provider) LoadBalancer() (cloudprovider.LoadBalancer, bool) {
	return &loadBalancers{client: p.client, clusterID: p.clusterID}, true
}

func (p *provider) Instances() (cloudprovider.Instances, bool) { return nil, false }

func (p *provider) InstancesV2() (cloudprovider.InstancesV2, bool) {
	return &instances{client: p.client}, true
}

func (p *provider) Zones() (cloudprovider.Zones, bool) { return nil, false }

func (p *provider) Clusters() (cloudprovider.Clusters, bool) { return nil, false }

func (p *provider) Routes() (cloudprovider.Routes, bool) {
	return &routes{client: p.client, clusterID: p.clusterID}, true
}

func (p *provider) ProviderName() string { return ProviderName }

func (p *provider) HasClusterID() bool { return true }

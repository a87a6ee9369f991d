package main

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/fake"
)

// machine is one that the cloud has.
type machine struct {
	// Name of the machine and of its Node.
	Name       string           `json:"name"`
	ProviderID string           `json:"providerID"`
	Type       string           `json:"type,omitempty"`
	Zone       string           `json:"zone,omitempty"`
	Region     string           `json:"region,omitempty"`
	Addresses  []v1.NodeAddress `json:"addresses,omitempty"`
	// Labels for the Node.
	Labels   map[string]string `json:"labels,omitempty"`
	Shutdown bool              `json:"shutdown,omitempty"`
}

// cloud is upstream's fake with machines of their own where upstream's are all alike, load balancers that are found again, and
// routes that may be asked for twice.
type cloud struct {
	*fake.Cloud
	legacy bool

	mu    sync.Mutex
	state state
	// failures are errors to answer, by method.
	failures map[string]string
	// calls count those of each method, failures too.
	calls map[string]int
	// given is what EnsureLoadBalancer was given last.
	given struct {
		Service *v1.Service `json:"service"`
		Nodes   []*v1.Node  `json:"nodes"`
	}
}

// state is all that the cloud has.
type state struct {
	Machines  map[string]machine  `json:"machines"`
	Balancers map[string]balancer `json:"loadBalancers"`
	Routes    map[string]route    `json:"routes"`
	// NextAddress is the last byte of the next load balancer's address.
	NextAddress int `json:"nextAddress"`

	file string
}

func newCloud(settings config) (*cloud, error) {
	kept, err := loadState(settings.StateFile)
	if err != nil {
		return nil, err
	}
	c := &cloud{
		Cloud:    &fake.Cloud{Provider: providerName, EnableInstancesV2: !settings.Legacy, ExternalIP: net.IPv4zero},
		legacy:   settings.Legacy,
		state:    kept,
		failures: map[string]string{},
		calls:    map[string]int{},
	}
	for _, each := range settings.Machines {
		c.putMachine(each)
	}
	return c, c.state.save()
}

func (c *cloud) putMachine(each machine) {
	if each.ProviderID == "" {
		each.ProviderID = providerName + "://" + each.Name
	}
	c.state.Machines[each.Name] = each
}

// InstancesV2 is offered unless the configuration says legacy.
func (c *cloud) InstancesV2() (cloudprovider.InstancesV2, bool) { return c, !c.legacy }

// Instances is offered always, as by most providers.
func (c *cloud) Instances() (cloudprovider.Instances, bool) { return c, true }

// Zones goes with Instances.
func (c *cloud) Zones() (cloudprovider.Zones, bool) { return c, true }

// LoadBalancer is offered always.
func (c *cloud) LoadBalancer() (cloudprovider.LoadBalancer, bool) { return c, true }

// Routes is offered always.
func (c *cloud) Routes() (cloudprovider.Routes, bool) { return c, true }

// fails counts the call and is the error that a test wants of this method.
func (c *cloud) fails(method string) error {
	c.calls[method]++
	if message := c.failures[method]; message != "" {
		return errors.New(message)
	}
	return nil
}

func (c *cloud) find(method, name, providerID string) (machine, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.fails(method); err != nil {
		return machine{}, err
	}
	if providerID == "" {
		if found, ok := c.state.Machines[name]; ok {
			return found, nil
		}
		return machine{}, cloudprovider.InstanceNotFound
	}
	for _, each := range slices.Collect(maps.Values(c.state.Machines)) {
		if each.ProviderID == providerID {
			return each, nil
		}
	}
	return machine{}, cloudprovider.InstanceNotFound
}

// InstanceExists finds a machine by the Node's provider ID, else by its name.
func (c *cloud) InstanceExists(_ context.Context, node *v1.Node) (bool, error) {
	_, err := c.find("InstanceExists", node.Name, node.Spec.ProviderID)
	if errors.Is(err, cloudprovider.InstanceNotFound) {
		return false, nil
	}
	return err == nil, err
}

// InstanceShutdown says whether the machine is off.
func (c *cloud) InstanceShutdown(_ context.Context, node *v1.Node) (bool, error) {
	found, err := c.find("InstanceShutdown", node.Name, node.Spec.ProviderID)
	return found.Shutdown, err
}

// InstanceMetadata says what the machine is.
func (c *cloud) InstanceMetadata(_ context.Context, node *v1.Node) (*cloudprovider.InstanceMetadata, error) {
	found, err := c.find("InstanceMetadata", node.Name, node.Spec.ProviderID)
	if err != nil {
		return nil, err
	}
	return &cloudprovider.InstanceMetadata{
		ProviderID: found.ProviderID, InstanceType: found.Type, NodeAddresses: found.Addresses,
		Zone: found.Zone, Region: found.Region, AdditionalLabels: found.Labels,
	}, nil
}

// InstanceID is the part of the provider ID behind the scheme.
func (c *cloud) InstanceID(_ context.Context, name types.NodeName) (string, error) {
	found, err := c.find("InstanceID", string(name), "")
	return strings.TrimPrefix(found.ProviderID, providerName+"://"), err
}

// InstanceExistsByProviderID is the older InstanceExists.
func (c *cloud) InstanceExistsByProviderID(ctx context.Context, providerID string) (bool, error) {
	return c.InstanceExists(ctx, &v1.Node{Spec: v1.NodeSpec{ProviderID: providerID}})
}

// InstanceShutdownByProviderID is the older InstanceShutdown.
func (c *cloud) InstanceShutdownByProviderID(_ context.Context, providerID string) (bool, error) {
	found, err := c.find("InstanceShutdown", "", providerID)
	return found.Shutdown, err
}

// InstanceTypeByProviderID is a part of the older InstanceMetadata.
func (c *cloud) InstanceTypeByProviderID(_ context.Context, providerID string) (string, error) {
	found, err := c.find("InstanceMetadata", "", providerID)
	return found.Type, err
}

// NodeAddressesByProviderID is a part of the older InstanceMetadata.
func (c *cloud) NodeAddressesByProviderID(_ context.Context, providerID string) ([]v1.NodeAddress, error) {
	found, err := c.find("InstanceMetadata", "", providerID)
	return found.Addresses, err
}

// GetZoneByProviderID is a part of the older InstanceMetadata.
func (c *cloud) GetZoneByProviderID(_ context.Context, providerID string) (cloudprovider.Zone, error) {
	found, err := c.find("InstanceMetadata", "", providerID)
	return cloudprovider.Zone{FailureDomain: found.Zone, Region: found.Region}, err
}

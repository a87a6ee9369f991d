package fakegce

import (
	"fmt"
	"path"
	"slices"
	"strings"

	cloudfilter "github.com/GoogleCloudPlatform/k8s-cloud-provider/pkg/cloud/filter"
	"github.com/GoogleCloudPlatform/k8s-cloud-provider/pkg/cloud/meta"
	compute "google.golang.org/api/compute/v1"
)

type filter = cloudfilter.F

// Machine is an instance as the tests see it.
type Machine struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Zone    string `json:"zone"`
	Region  string `json:"region"`
	Type    string `json:"type"`
	Address string `json:"address"`
}

// Route leads to a machine.
type Route struct {
	Destination string `json:"destination"`
	Instance    string `json:"instance"`
}

// LoadBalancer is a forwarding rule with its target pool.
type LoadBalancer struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Ports   string `json:"ports"`
	// Targets are names of machines.
	Targets []string `json:"targets"`
}

// State is what the provider has to do with.
type State struct {
	Instances     []Machine      `json:"instances"`
	Routes        []Route        `json:"routes"`
	LoadBalancers []LoadBalancer `json:"loadBalancers"`
	// Orphans are names of what belongs to no load balancer and no machine: firewalls, target pools, addresses.
	Orphans []string `json:"orphans"`
}

const machineType = "n1-standard-1"

// Run starts a machine.
func (c *Cloud) Run() (Machine, error) {
	c.mu.Lock()
	c.machines++
	number := c.machines
	c.mu.Unlock()
	name := fmt.Sprintf("machine-%d", number)
	instance := &compute.Instance{
		Id:          uint64(number),
		Name:        name,
		Zone:        c.zone,
		MachineType: "zones/" + c.zone + "/machineTypes/" + machineType,
		// The provider opens the firewall for the tag that all its machines have.
		Tags:              &compute.Tags{Items: []string{name}},
		NetworkInterfaces: []*compute.NetworkInterface{{NetworkIP: fmt.Sprintf("10.128.0.%d", number)}},
	}
	if err := c.Provider.InsertInstance(c.Provider.ProjectID(), c.zone, instance); err != nil {
		return Machine{}, fmt.Errorf("start %s: %w", name, err)
	}
	return c.machine(instance), nil
}

// Terminate takes a machine away for good.
func (c *Cloud) Terminate(name string) error {
	c.compute.MockInstances.Lock.Lock()
	defer c.compute.MockInstances.Lock.Unlock()
	key := *meta.ZonalKey(name, c.zone)
	if _, known := c.compute.MockInstances.Objects[key]; !known {
		return fmt.Errorf("terminate %s: there is no such machine", name)
	}
	delete(c.compute.MockInstances.Objects, key)
	return nil
}

// Fail answers every call with 503 from now on, or none.
func (c *Cloud) Fail(failing bool) {
	c.failing.Store(failing)
}

// State reads the mock past its hooks.
func (c *Cloud) State() State {
	balancers, pools := c.loadBalancers()
	return State{
		Instances:     c.instances(),
		Routes:        c.routes(),
		LoadBalancers: balancers,
		Orphans:       c.orphans(balancers, pools),
	}
}

func (c *Cloud) instances() []Machine {
	mocked := c.compute.MockInstances
	mocked.Lock.Lock()
	defer mocked.Lock.Unlock()
	machines := []Machine{}
	for _, object := range mocked.Objects {
		machines = append(machines, c.machine(object.ToGA()))
	}
	slices.SortFunc(machines, func(a, b Machine) int { return strings.Compare(a.Name, b.Name) })
	return machines
}

func (c *Cloud) machine(instance *compute.Instance) Machine {
	return Machine{
		ID:      fmt.Sprintf("%s/%s/%s", c.Provider.ProjectID(), c.zone, instance.Name),
		Name:    instance.Name,
		Zone:    c.zone,
		Region:  c.region,
		Type:    path.Base(instance.MachineType),
		Address: instance.NetworkInterfaces[0].NetworkIP,
	}
}

func (c *Cloud) routes() []Route {
	mocked := c.compute.MockRoutes
	mocked.Lock.Lock()
	defer mocked.Lock.Unlock()
	routes := []Route{}
	for _, object := range mocked.Objects {
		route := object.ToGA()
		routes = append(routes, Route{Destination: route.DestRange, Instance: path.Base(route.NextHopInstance)})
	}
	slices.SortFunc(routes, func(a, b Route) int { return strings.Compare(a.Destination, b.Destination) })
	return routes
}

// loadBalancers also gives the names of all target pools.
func (c *Cloud) loadBalancers() (balancers []LoadBalancer, pools []string) {
	targets := map[string][]string{}
	mockedPools := c.compute.MockTargetPools
	mockedPools.Lock.Lock()
	for key, object := range mockedPools.Objects {
		names := []string{}
		for _, link := range object.ToGA().Instances {
			names = append(names, path.Base(link))
		}
		slices.Sort(names)
		targets[key.Name] = names
		pools = append(pools, key.Name)
	}
	mockedPools.Lock.Unlock()

	rules := c.compute.MockForwardingRules
	rules.Lock.Lock()
	defer rules.Lock.Unlock()
	balancers = []LoadBalancer{}
	for key, object := range rules.Objects {
		rule := object.ToGA()
		balancers = append(balancers, LoadBalancer{
			Name:    key.Name,
			Address: rule.IPAddress,
			Ports:   rule.PortRange,
			Targets: targets[path.Base(rule.Target)],
		})
	}
	slices.SortFunc(balancers, func(a, b LoadBalancer) int { return strings.Compare(a.Name, b.Name) })
	return balancers, pools
}

func (c *Cloud) orphans(balancers []LoadBalancer, pools []string) []string {
	names := slices.Clone(pools)
	firewalls := c.compute.MockFirewalls
	firewalls.Lock.Lock()
	for key := range firewalls.Objects {
		names = append(names, key.Name)
	}
	firewalls.Lock.Unlock()
	addresses := c.compute.MockAddresses
	addresses.Lock.Lock()
	for key := range addresses.Objects {
		names = append(names, key.Name)
	}
	addresses.Lock.Unlock()
	left := []string{}
	for _, name := range names {
		isUsed := slices.ContainsFunc(balancers, func(balancer LoadBalancer) bool { return strings.HasSuffix(name, balancer.Name) })
		if !isUsed && (len(balancers) == 0 || !strings.HasSuffix(name, "-http-hc")) {
			left = append(left, name)
		}
	}
	slices.Sort(left)
	return left
}

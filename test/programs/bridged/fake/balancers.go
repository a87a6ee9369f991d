package main

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	cloudprovider "k8s.io/cloud-provider"
)

// balancer is a load balancer as it was asked for.
type balancer struct {
	Name    string   `json:"name"`
	Service string   `json:"service"`
	Cluster string   `json:"cluster"`
	IP      string   `json:"ip"`
	Ports   []int32  `json:"ports"`
	Nodes   []string `json:"nodes"`
	// Ensured and Updated count the calls that made it so.
	Ensured int `json:"ensured"`
	Updated int `json:"updated"`
}

// maxAddresses is how many load balancers 192.0.2.0/24 has addresses for.
const maxAddresses = 254

// GetLoadBalancer finds it by its name.
func (c *cloud) GetLoadBalancer(ctx context.Context, cluster string, service *v1.Service) (*v1.LoadBalancerStatus, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.fails("GetLoadBalancer"); err != nil {
		return nil, false, err
	}
	found, exists := c.state.Balancers[c.GetLoadBalancerName(ctx, cluster, service)]
	if !exists {
		return nil, false, nil
	}
	return found.status(), true, nil
}

// EnsureLoadBalancer makes it, with an address of its own, or changes it.
func (c *cloud) EnsureLoadBalancer(ctx context.Context, cluster string, service *v1.Service, nodes []*v1.Node) (*v1.LoadBalancerStatus, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.fails("EnsureLoadBalancer"); err != nil {
		return nil, err
	}
	name := c.GetLoadBalancerName(ctx, cluster, service)
	made, exists := c.state.Balancers[name]
	if !exists {
		if c.state.NextAddress >= maxAddresses {
			return nil, fmt.Errorf("there are no more than %d addresses", maxAddresses)
		}
		c.state.NextAddress++
		made = balancer{Name: name, IP: fmt.Sprintf("192.0.2.%d", c.state.NextAddress)}
	}
	c.given.Service, c.given.Nodes = service, nodes
	made.Service, made.Cluster = service.Namespace+"/"+service.Name, cluster
	made.Ports, made.Nodes = portsOf(service), namesOf(nodes)
	made.Ensured++
	c.state.Balancers[name] = made
	return made.status(), c.state.save()
}

// UpdateLoadBalancer gives it other nodes.
func (c *cloud) UpdateLoadBalancer(ctx context.Context, cluster string, service *v1.Service, nodes []*v1.Node) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.fails("UpdateLoadBalancer"); err != nil {
		return err
	}
	name := c.GetLoadBalancerName(ctx, cluster, service)
	made, exists := c.state.Balancers[name]
	if !exists {
		return fmt.Errorf("there is no load balancer %s", name)
	}
	made.Nodes = namesOf(nodes)
	made.Updated++
	c.state.Balancers[name] = made
	return c.state.save()
}

// EnsureLoadBalancerDeleted removes it, if it is there.
func (c *cloud) EnsureLoadBalancerDeleted(ctx context.Context, cluster string, service *v1.Service) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.fails("EnsureLoadBalancerDeleted"); err != nil {
		return err
	}
	delete(c.state.Balancers, c.GetLoadBalancerName(ctx, cluster, service))
	return c.state.save()
}

func (b balancer) status() *v1.LoadBalancerStatus {
	// Nothing forwards there, so nodes must not take a short cut either.
	mode := v1.LoadBalancerIPModeProxy
	return &v1.LoadBalancerStatus{Ingress: []v1.LoadBalancerIngress{{IP: b.IP, IPMode: &mode}}}
}

func portsOf(service *v1.Service) []int32 {
	var ports []int32
	for _, port := range service.Spec.Ports {
		ports = append(ports, port.Port)
	}
	return ports
}

func namesOf(nodes []*v1.Node) []string {
	names := []string{}
	for _, node := range nodes {
		names = append(names, node.Name)
	}
	return names
}

var _ cloudprovider.LoadBalancer = (*cloud)(nil)

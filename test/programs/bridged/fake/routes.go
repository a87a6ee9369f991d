package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	cloudprovider "k8s.io/cloud-provider"
)

// route is one of the table.
type route struct {
	Name    string `json:"name"`
	Cluster string `json:"cluster"`
	Node    string `json:"node"`
	CIDR    string `json:"cidr"`
}

// ListRoutes shows those of a cluster; one whose machine is gone is a blackhole.
func (c *cloud) ListRoutes(_ context.Context, cluster string) ([]*cloudprovider.Route, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.fails("ListRoutes"); err != nil {
		return nil, err
	}
	var out []*cloudprovider.Route
	for _, each := range c.state.Routes {
		if each.Cluster != cluster {
			continue
		}
		_, exists := c.state.Machines[each.Node]
		out = append(out, &cloudprovider.Route{
			Name: each.Name, TargetNode: types.NodeName(each.Node), DestinationCIDR: each.CIDR, Blackhole: !exists,
		})
	}
	return out, nil
}

// CreateRoute fails for a range that has one, as most clouds do.
func (c *cloud) CreateRoute(_ context.Context, cluster, nameHint string, wanted *cloudprovider.Route) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.fails("CreateRoute"); err != nil {
		return err
	}
	if _, exists := c.state.Machines[string(wanted.TargetNode)]; !exists {
		return cloudprovider.InstanceNotFound
	}
	if existing, exists := c.state.Routes[wanted.DestinationCIDR]; exists {
		return fmt.Errorf("route %s to %s exists", existing.Name, existing.CIDR)
	}
	c.state.Routes[wanted.DestinationCIDR] = route{
		Name: cluster + "-" + nameHint, Cluster: cluster, Node: string(wanted.TargetNode), CIDR: wanted.DestinationCIDR,
	}
	return c.state.save()
}

// DeleteRoute fails for one that does not exist, as upstream's fake does.
func (c *cloud) DeleteRoute(_ context.Context, cluster string, unwanted *cloudprovider.Route) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.fails("DeleteRoute"); err != nil {
		return err
	}
	existing, exists := c.state.Routes[unwanted.DestinationCIDR]
	if !exists || existing.Cluster != cluster {
		return fmt.Errorf("there is no route to %s", unwanted.DestinationCIDR)
	}
	delete(c.state.Routes, unwanted.DestinationCIDR)
	return c.state.save()
}

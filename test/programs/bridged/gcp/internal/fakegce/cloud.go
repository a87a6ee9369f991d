// Package fakegce arranges the in-process fake that Google's provider brings for its own tests, so that a whole controller can
// run over it: machines come and go, every call can be made to fail, and what is there can be asked for over HTTP.
package fakegce

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/GoogleCloudPlatform/k8s-cloud-provider/pkg/cloud"
	"github.com/GoogleCloudPlatform/k8s-cloud-provider/pkg/cloud/meta"
	"github.com/GoogleCloudPlatform/k8s-cloud-provider/pkg/cloud/mock"
	compute "google.golang.org/api/compute/v1"
	"google.golang.org/api/googleapi"
	"k8s.io/cloud-provider-gcp/providers/gce"
)

// Cloud is Google's provider over its fake of the compute API.
type Cloud struct {
	// Provider is the vendor's own code.
	Provider *gce.Cloud

	compute *cloud.MockGCE
	zone    string
	region  string

	failing atomic.Bool
	calls   atomic.Int64
	changes atomic.Int64

	mu        sync.Mutex
	machines  int
	addresses int
}

// New has no machines yet.
func New() (*Cloud, error) {
	values := gce.DefaultTestClusterValues()
	provider := gce.NewFakeGCECloud(values)
	provider.AlphaFeatureGate = gce.NewAlphaFeatureGate(nil) // words-ok: a field of Google's provider
	compute, ok := provider.Compute().(*cloud.MockGCE)
	if !ok {
		return nil, fmt.Errorf("the fake of Google's provider uses %T instead of its mock", provider.Compute())
	}
	c := &Cloud{Provider: provider, compute: compute, zone: values.ZoneName, region: values.Region}
	c.behave()
	c.obstruct()
	return c, nil
}

// behave gives the mock what it does not do by itself and the provider relies on; the vendor's own tests do the same.
func (c *Cloud) behave() {
	c.compute.MockTargetPools.AddInstanceHook = func(ctx context.Context, key *meta.Key, request *compute.TargetPoolsAddInstanceRequest, m *cloud.MockTargetPools, options ...cloud.Option) error {
		if err := c.change(); err != nil {
			return err
		}
		return mock.AddInstanceHook(ctx, key, request, m, options...)
	}
	c.compute.MockTargetPools.RemoveInstanceHook = func(ctx context.Context, key *meta.Key, request *compute.TargetPoolsRemoveInstanceRequest, m *cloud.MockTargetPools, options ...cloud.Option) error {
		if err := c.change(); err != nil {
			return err
		}
		return mock.RemoveInstanceHook(ctx, key, request, m, options...)
	}
	c.compute.MockFirewalls.PatchHook = c.updateFirewall
	c.compute.MockFirewalls.UpdateHook = c.updateFirewall
	c.compute.MockForwardingRules.InsertHook = func(ctx context.Context, key *meta.Key, rule *compute.ForwardingRule, m *cloud.MockForwardingRules, options ...cloud.Option) (bool, error) {
		if err := c.change(); err != nil {
			return true, err
		}
		if rule.LoadBalancingScheme == "" {
			// As at Google; for another scheme the provider would make the rule again.
			rule.LoadBalancingScheme = string(cloud.SchemeExternal)
		}
		return mock.InsertFwdRuleHook(ctx, key, rule, m, options...)
	}
	c.compute.MockAddresses.X = mock.AddressAttributes{}
	c.compute.MockAddresses.InsertHook = func(ctx context.Context, key *meta.Key, address *compute.Address, m *cloud.MockAddresses, options ...cloud.Option) (bool, error) {
		if err := c.change(); err != nil {
			return true, err
		}
		if address.Address == "" {
			// The mock would give everybody the same one.
			address.Address = c.freeAddress()
		}
		return mock.InsertAddressHook(ctx, key, address, m, options...)
	}
	zone := &compute.Zone{Name: c.zone, Region: c.region}
	c.compute.MockZones.Objects[*meta.GlobalKey(c.zone)] = &cloud.MockZonesObj{Obj: zone}
}

func (c *Cloud) updateFirewall(ctx context.Context, key *meta.Key, firewall *compute.Firewall, m *cloud.MockFirewalls, options ...cloud.Option) error {
	if err := c.change(); err != nil {
		return err
	}
	return mock.UpdateFirewallHook(ctx, key, firewall, m, options...)
}

// obstruct makes the calls that matter fail while the cloud is set to fail.
func (c *Cloud) obstruct() {
	c.compute.MockInstances.GetHook = func(context.Context, *meta.Key, *cloud.MockInstances, ...cloud.Option) (bool, *compute.Instance, error) {
		return c.read(), nil, errUnavailable
	}
	c.compute.MockInstances.ListHook = func(context.Context, string, *filter, *cloud.MockInstances, ...cloud.Option) (bool, []*compute.Instance, error) {
		return c.read(), nil, errUnavailable
	}
	c.compute.MockForwardingRules.GetHook = func(context.Context, *meta.Key, *cloud.MockForwardingRules, ...cloud.Option) (bool, *compute.ForwardingRule, error) {
		return c.read(), nil, errUnavailable
	}
	c.compute.MockForwardingRules.DeleteHook = func(context.Context, *meta.Key, *cloud.MockForwardingRules, ...cloud.Option) (bool, error) {
		err := c.change()
		return err != nil, err
	}
	c.compute.MockRoutes.ListHook = func(context.Context, *filter, *cloud.MockRoutes, ...cloud.Option) (bool, []*compute.Route, error) {
		return c.read(), nil, errUnavailable
	}
	c.compute.MockRoutes.InsertHook = func(context.Context, *meta.Key, *compute.Route, *cloud.MockRoutes, ...cloud.Option) (bool, error) {
		err := c.change()
		return err != nil, err
	}
	c.compute.MockRoutes.DeleteHook = func(context.Context, *meta.Key, *cloud.MockRoutes, ...cloud.Option) (bool, error) {
		err := c.change()
		return err != nil, err
	}
}

// errUnavailable is what Google answers on a bad day.
var errUnavailable = &googleapi.Error{Code: http.StatusServiceUnavailable, Message: "the fake cloud is set to fail"}

// read counts a call that looks, and says whether it fails.
func (c *Cloud) read() bool {
	c.calls.Add(1)
	return c.failing.Load()
}

// change counts a call that changes something, or says why it does not take place.
func (c *Cloud) change() error {
	c.calls.Add(1)
	if c.failing.Load() {
		return errUnavailable
	}
	c.changes.Add(1)
	return nil
}

func (c *Cloud) freeAddress() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.addresses++
	return fmt.Sprintf("198.51.100.%d", c.addresses)
}

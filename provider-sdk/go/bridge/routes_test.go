package bridge_test

import (
	"context"
	"errors"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/fake"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
	"cloudwire.dev/provider-sdk/go/providertest"
)

// routing is a cloud whose route table is given, and fails for what is there or not there already.
type routing struct {
	*fake.Cloud
	table   []*cloudprovider.Route
	listErr error
	// hint and created are what was asked for last.
	hint    string
	created *cloudprovider.Route
	lookErr error
}

func (r *routing) Routes() (cloudprovider.Routes, bool)           { return r, true }
func (r *routing) InstancesV2() (cloudprovider.InstancesV2, bool) { return r, true }

func (r *routing) InstanceMetadata(_ context.Context, node *v1.Node) (*cloudprovider.InstanceMetadata, error) {
	return &cloudprovider.InstanceMetadata{ProviderID: "fake://" + node.Name}, r.lookErr
}

func (r *routing) ListRoutes(context.Context, string) ([]*cloudprovider.Route, error) {
	return r.table, r.listErr
}

func (r *routing) CreateRoute(_ context.Context, _ string, hint string, route *cloudprovider.Route) error {
	r.hint, r.created = hint, route
	if route.TargetNode == "gone" {
		return cloudprovider.InstanceNotFound
	}
	for _, each := range r.table {
		if each.DestinationCIDR == route.DestinationCIDR {
			return errors.New("exists")
		}
	}
	return nil
}

func (r *routing) DeleteRoute(_ context.Context, _ string, route *cloudprovider.Route) error {
	if route.DestinationCIDR == "10.244.1.0/24" {
		return nil
	}
	return errors.New("cannot be deleted")
}

func existing() *routing {
	return &routing{Cloud: newFake(), table: []*cloudprovider.Route{
		{Name: "r-1", TargetNode: "node-1", DestinationCIDR: "10.244.1.0/24"},
		{Name: "r-2", DestinationCIDR: "10.244.2.0/24", Blackhole: true},
	}}
}

func listRoutes(t *testing.T, p *providertest.Provider) ([]*cpv1.Route, error) {
	t.Helper()
	response, err := p.Client.ListRoutes(t.Context(), &cpv1.ListRoutesRequest{Context: p.Context()})
	return response.GetRoutes(), err
}

func TestListRoutesNamesMachines(t *testing.T) {
	routes, err := listRoutes(t, serve(t, existing(), testOptions()))
	if err != nil || len(routes) != 2 {
		t.Fatalf("is %v, %v", routes, err)
	}
	if routes[0].GetTargetProviderId() != "fake://node-1" || routes[0].GetTargetNodeName() != "node-1" || routes[0].GetId() != "r-1" {
		t.Errorf("first is %v", routes[0])
	}
	if !routes[1].GetBlackhole() || routes[1].GetTargetProviderId() != "" {
		t.Errorf("second is %v", routes[1])
	}
}

func TestListRoutesFailsRatherThanLosesATarget(t *testing.T) {
	cases := []struct {
		name   string
		change func(*routing)
		want   provider.Reason
	}{
		{"when the list fails", func(r *routing) { r.listErr = errors.New("broken") }, "CLOUD_PROVIDER_ERROR"},
		{"when a machine cannot be looked up", func(r *routing) { r.lookErr = errors.New("broken") }, "CLOUD_PROVIDER_ERROR"},
		{"when a route is nil", func(r *routing) { r.table = append(r.table, nil) }, provider.ReasonInvariantBroken},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			cloud := existing()
			test.change(cloud)
			if _, err := listRoutes(t, serve(t, cloud, testOptions())); providertest.Reason(err) != test.want {
				t.Errorf("is %v, want %s", err, test.want)
			}
		})
	}
}

func TestListRoutesOfAMachineThatIsGoneHasNoTarget(t *testing.T) {
	cloud := existing()
	cloud.lookErr = cloudprovider.InstanceNotFound
	routes, err := listRoutes(t, serve(t, cloud, testOptions()))
	if err != nil || routes[0].GetTargetProviderId() != "" {
		t.Errorf("is %v, %v", routes, err)
	}
}

func routeOutcome(result *cpv1.RouteResult) string {
	switch {
	case result.GetRoute() != nil:
		return "done"
	case result.GetError() != nil:
		return result.GetError().GetReason()
	default:
		return "pending"
	}
}

func TestEnsureRoute(t *testing.T) {
	cases := []struct{ name, node, cidr, want string }{
		{"makes one", "node-3", "10.244.3.0/24", "done"},
		{"finds one that matches the request", "node-1", "10.244.1.0/24", "done"},
		{"leaves one to another machine", "node-3", "10.244.1.0/24", "CIDR_CONFLICT"},
		{"fails for a blackhole with the same CIDR", "node-2", "10.244.2.0/24", "CLOUD_PROVIDER_ERROR"},
		{"fails without machine", "gone", "10.244.3.0/24", "ROUTE_TARGET_NOT_FOUND"},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			cloud := existing()
			p := serve(t, cloud, testOptions())
			response, err := p.Client.BatchEnsureRoutes(t.Context(), &cpv1.BatchEnsureRoutesRequest{
				Context: p.Context(), Change: p.Change("r1"), Routes: []*cpv1.Route{{
					NameHint: "hint", TargetNodeName: test.node, TargetProviderId: "fake://" + test.node, DestinationCidr: test.cidr,
				}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := routeOutcome(response.GetResults()[0]); got != test.want {
				t.Errorf("is %s, want %s", got, test.want)
			}
			if cloud.hint != "hint" || cloud.created.TargetNode != types.NodeName(test.node) || cloud.created.EnableNodeAddresses {
				t.Errorf("asked for %+v", cloud.created)
			}
		})
	}
}

func TestDeleteRoute(t *testing.T) {
	cases := []struct{ name, cidr, want string }{
		{"removes one", "10.244.1.0/24", "done"},
		{"is content without one", "10.244.9.0/24", "done"},
		{"fails where one stays", "10.244.2.0/24", "CLOUD_PROVIDER_ERROR"},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			p := serve(t, existing(), testOptions())
			response, err := p.Client.BatchDeleteRoutes(t.Context(), &cpv1.BatchDeleteRoutesRequest{
				Context: p.Context(), Change: p.Change("r1"), Routes: []*cpv1.Route{{
					Id: "r", DestinationCidr: test.cidr, TargetNodeName: "node-1", TargetProviderId: "fake://node-1",
				}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := routeOutcome(response.GetResults()[0]); got != test.want {
				t.Errorf("is %s, want %s", got, test.want)
			}
		})
	}
}

// labeling is a cloud with volumes.
type labeling struct {
	*fake.Cloud
	err  error
	seen *v1.PersistentVolume
}

func (l *labeling) GetLabelsForVolume(_ context.Context, volume *v1.PersistentVolume) (map[string]string, error) {
	l.seen = volume
	return map[string]string{v1.LabelTopologyZone: "zone-a__zone-b", v1.LabelTopologyRegion: "region-1", "tier": "fast"}, l.err
}

func TestVolumes(t *testing.T) {
	cases := []struct {
		name string
		err  error
		want string
	}{
		{"has zones and labels", nil, "zone-a zone-b region-1 fast"},
		{"that is not found is absent", cloudprovider.DiskNotFound, "absent"},
		{"that failed is unknown", errors.New("broken"), "CLOUD_PROVIDER_ERROR"},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			cloud := &labeling{Cloud: newFake(), err: test.err}
			cloud.Provider = "gce"
			p := serve(t, cloud, testOptions())
			response, err := p.Client.BatchGetVolumes(t.Context(), &cpv1.BatchGetVolumesRequest{
				Context: p.Context(), Volumes: []*cpv1.VolumeRef{{Name: "pv-1", Source: &cpv1.VolumeRef_InTree{
					InTree: &cpv1.InTreeVolumeSource{Plugin: "kubernetes.io/gce-pd", VolumeId: "disk-1"},
				}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := volumeOutcome(response.GetResults()[0]); got != test.want {
				t.Errorf("is %s, want %s", got, test.want)
			}
			if cloud.seen.Name != "pv-1" || cloud.seen.Spec.GCEPersistentDisk.PDName != "disk-1" {
				t.Errorf("was given %+v", cloud.seen)
			}
		})
	}
}

func volumeOutcome(result *cpv1.VolumeResult) string {
	volume := result.GetVolume()
	switch {
	case result.GetAbsent() != nil:
		return "absent"
	case volume != nil:
		return volume.GetZones()[0] + " " + volume.GetZones()[1] + " " + volume.GetRegion() + " " + volume.GetLabels()["tier"]
	default:
		return result.GetUnknown().GetReason()
	}
}

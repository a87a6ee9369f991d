package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/fake"

	"cloudwire.dev/provider-sdk/go/bridge"
	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
)

// saying is a cloud whose answers about instances are given.
type saying struct {
	*fake.Cloud
	exists, shutdown       bool
	existsErr, shutdownErr error
	metadata               *cloudprovider.InstanceMetadata
	metadataErr            error
	asked                  []string
	panicsAt               string
}

func (s *saying) InstancesV2() (cloudprovider.InstancesV2, bool) { return s, true }

func (s *saying) note(method string) {
	s.asked = append(s.asked, method)
	if s.panicsAt == method {
		panic("a bug of the vendor's")
	}
}

func (s *saying) InstanceExists(context.Context, *v1.Node) (bool, error) {
	s.note("exists")
	return s.exists, s.existsErr
}

func (s *saying) InstanceShutdown(context.Context, *v1.Node) (bool, error) {
	s.note("shutdown")
	return s.shutdown, s.shutdownErr
}

func (s *saying) InstanceMetadata(context.Context, *v1.Node) (*cloudprovider.InstanceMetadata, error) {
	s.note("metadata")
	return s.metadata, s.metadataErr
}

// outcome is an answer in one word: absent, running, stopped, unspecified, or the reason why it is not known.
func outcome(result *cpv1.InstanceResult) string {
	switch {
	case result.GetAbsent() != nil:
		return "absent by " + result.GetAbsent().GetBasis().String()
	case result.GetInstance() != nil:
		return result.GetInstance().GetState().String()
	case result.GetUnknown() != nil:
		return result.GetUnknown().GetReason()
	default:
		return "nothing"
	}
}

const (
	lookupMiss  = "absent by ABSENCE_BASIS_LOOKUP_MISS"
	running     = "INSTANCE_STATE_RUNNING"
	stopped     = "INSTANCE_STATE_STOPPED"
	unspecified = "INSTANCE_STATE_UNSPECIFIED"
)

func TestAbsenceIsNeverMadeOfAnError(t *testing.T) {
	broken := errors.New("broken")
	notFound := fmt.Errorf("wrapped: %w", cloudprovider.InstanceNotFound)
	machine := &cloudprovider.InstanceMetadata{ProviderID: "fake://vm-1"}
	cases := []struct {
		name  string
		cloud saying
		// without: the Node has no provider ID.
		without bool
		want    string
	}{
		{name: "false without error is absent", want: lookupMiss},
		{name: "false with an error is not", cloud: saying{existsErr: broken, metadata: machine}, want: "CLOUD_PROVIDER_ERROR"},
		{name: "false with a time-out is not", cloud: saying{existsErr: context.DeadlineExceeded}, want: "CLOUD_TIMEOUT"},
		{name: "false with InstanceNotFound is absent", cloud: saying{existsErr: notFound}, want: lookupMiss},
		{name: "true is running", cloud: saying{exists: true, metadata: machine}, want: running},
		{name: "true and shut down is stopped", cloud: saying{exists: true, shutdown: true, metadata: machine}, want: stopped},
		{name: "a shutdown state that is not implemented is unspecified", cloud: saying{exists: true, shutdownErr: cloudprovider.NotImplemented, metadata: machine}, want: unspecified},
		{name: "a shutdown state that could not be read is unknown", cloud: saying{exists: true, shutdownErr: broken, metadata: machine}, want: "CLOUD_PROVIDER_ERROR"},
		{name: "no addresses are no absence", cloud: saying{exists: true, metadata: machine}, want: running},
		{name: "metadata that failed are unknown", cloud: saying{exists: true, metadataErr: broken}, want: "CLOUD_PROVIDER_ERROR"},
		{name: "nil metadata are unknown", cloud: saying{exists: true}, want: "INVARIANT_BROKEN"},
		{name: "metadata not found of a machine that exists are unknown", cloud: saying{exists: true, metadataErr: notFound}, want: "INCOMPLETE_ANSWER"},
		{name: "a panic is unknown", cloud: saying{exists: true, panicsAt: "metadata"}, want: "INVARIANT_BROKEN"},
		{name: "by name, metadata not found is absent", cloud: saying{metadataErr: notFound}, without: true, want: lookupMiss},
		{name: "by name, metadata that failed are unknown", cloud: saying{metadataErr: broken}, without: true, want: "CLOUD_PROVIDER_ERROR"},
		{name: "by name, metadata without provider ID are unknown", cloud: saying{metadata: &cloudprovider.InstanceMetadata{}}, without: true, want: "INVARIANT_BROKEN"},
		{name: "by name, metadata are running", cloud: saying{metadata: machine}, without: true, want: running},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			cloud := test.cloud
			cloud.Cloud = newFake()
			p := serve(t, &cloud, testOptions())
			ref := &cpv1.NodeRef{Name: "node-1", ProviderId: "fake://vm-1"}
			if test.without {
				ref.ProviderId = ""
			}
			if got := outcome(getInstance(t, p, ref)); got != test.want {
				t.Errorf("is %s, want %s", got, test.want)
			}
		})
	}
}

func TestQuestionsAboutAMachine(t *testing.T) {
	cases := []struct {
		name    string
		options bridge.InstanceOptions
		want    string
	}{
		{"are three", bridge.InstanceOptions{}, "[exists metadata shutdown]"},
		{"are two where metadata prove existence", bridge.InstanceOptions{MetadataProvesExistence: true}, "[metadata shutdown]"},
		{"are one where the shutdown state is not needed", bridge.InstanceOptions{MetadataProvesExistence: true, NoShutdownState: true}, "[metadata]"},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			cloud := &saying{Cloud: newFake(), exists: true, metadata: &cloudprovider.InstanceMetadata{ProviderID: "fake://vm-1"}}
			options := testOptions()
			options.Instances = test.options
			getInstance(t, serve(t, cloud, options), &cpv1.NodeRef{Name: "node-1", ProviderId: "fake://vm-1"})
			if got := fmt.Sprint(cloud.asked); got != test.want {
				t.Errorf("are %s, want %s", got, test.want)
			}
		})
	}
}

func TestMetadataNotFoundAsksForExistence(t *testing.T) {
	cloud := &saying{Cloud: newFake(), metadataErr: cloudprovider.InstanceNotFound}
	options := testOptions()
	options.Instances.MetadataProvesExistence = true
	result := getInstance(t, serve(t, cloud, options), &cpv1.NodeRef{Name: "node-1", ProviderId: "fake://vm-1"})
	if got := outcome(result); got != lookupMiss {
		t.Errorf("is %s", got)
	}
	if got := fmt.Sprint(cloud.asked); got != "[metadata exists]" {
		t.Errorf("asked %s", got)
	}
}

// legacy offers Instances and Zones only.
func legacy() *fake.Cloud {
	cloud := newFake()
	cloud.EnableInstancesV2 = false
	cloud.ExtID = map[types.NodeName]string{"node-1": "vm-1"}
	return cloud
}

func TestLegacyInstancesAndZones(t *testing.T) {
	for _, ref := range []*cpv1.NodeRef{{Name: "node-1", ProviderId: "fake://vm-1"}, {Name: "node-1"}} {
		got := getInstance(t, serve(t, legacy(), testOptions()), ref).GetInstance()
		if got.GetProviderId() != "fake://vm-1" || got.GetInstanceType() != "small" || got.GetZone() != "zone-a" ||
			got.GetRegion() != "region-1" || len(got.GetAddresses()) != 2 || got.GetState().String() != running {
			t.Errorf("%v is %v", ref, got)
		}
	}
}

func TestLegacyAbsence(t *testing.T) {
	broken := errors.New("broken")
	cases := []struct {
		name   string
		change func(*fake.Cloud)
		id     string
		want   string
	}{
		{"by ID, false is absent", func(c *fake.Cloud) { c.ExistsByProviderID = false }, "fake://vm-1", lookupMiss},
		{"by ID, false with an error is not", func(c *fake.Cloud) { c.ExistsByProviderID, c.ErrByProviderID = false, broken }, "fake://vm-1", "CLOUD_PROVIDER_ERROR"},
		{"by name, InstanceNotFound is absent", func(c *fake.Cloud) {
			c.ExtIDErr = map[types.NodeName]error{"node-1": cloudprovider.InstanceNotFound}
		}, "", lookupMiss},
		{"by name, an error is not", func(c *fake.Cloud) { c.ExtIDErr = map[types.NodeName]error{"node-1": broken} }, "", "CLOUD_PROVIDER_ERROR"},
		{"by name, an empty ID is not", func(c *fake.Cloud) { c.ExtID = nil }, "", "CLOUD_PROVIDER_ERROR"},
		{"a zone that is not found says nothing of the machine", func(c *fake.Cloud) { c.Err = cloudprovider.InstanceNotFound }, "fake://vm-1", "CLOUD_PROVIDER_ERROR"},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			cloud := legacy()
			test.change(cloud)
			p := serve(t, cloud, testOptions())
			if got := outcome(getInstance(t, p, &cpv1.NodeRef{Name: "node-1", ProviderId: test.id})); got != test.want {
				t.Errorf("is %s, want %s", got, test.want)
			}
		})
	}
}

func TestHandshakeSaysWhatTheCloudOffers(t *testing.T) {
	nothing := &fake.Cloud{DisableInstances: true, DisableLoadBalancers: true}
	options := testOptions()
	options.Scope = nil
	p := serve(t, nothing, options)
	info, err := p.Client.GetProviderInfo(t.Context(), &cpv1.GetProviderInfoRequest{
		Client: &cpv1.ClientInfo{Name: "test", Version: "1", ContractMajor: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	capabilities := info.GetCapabilities()
	if capabilities.GetInstances() != nil || capabilities.GetLoadBalancers() != nil || capabilities.GetVolumes() != nil || capabilities.GetRoutes() == nil {
		t.Errorf("capabilities are %v", capabilities)
	}
	if info.GetProviderIdPrefixes()[0] != "fake://" || info.GetScopeId() != "fake" || info.GetDiagnostics()[0].GetReason() != "ScopeNotReported" {
		t.Errorf("handshake is %v", info)
	}
}

func TestDefineRefusesMistakes(t *testing.T) {
	if _, err := bridge.Define(t.Context(), nil, testOptions()); err == nil {
		t.Error("no cloud is taken")
	}
	options := testOptions()
	options.ConcurrentServiceSyncs = -1
	if _, err := bridge.Define(t.Context(), newFake(), options); err == nil {
		t.Error("a negative number is taken")
	}
}

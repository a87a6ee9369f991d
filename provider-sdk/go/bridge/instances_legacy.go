package bridge

import (
	"context"
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	cloudprovider "k8s.io/cloud-provider"
)

// machinesV1 asks cloudprovider.Instances and, where the provider has it, Zones, in the order in which upstream's node
// controller asks them. k8s.io/cloud-provider/controllers/node/node_controller.go v0.28.2.
type machinesV1 struct {
	providerName string
	instances    cloudprovider.Instances
	// zones is nil where the provider has none.
	zones cloudprovider.Zones
}

func (m machinesV1) exists(ctx context.Context, node *v1.Node) (bool, error) {
	return guarded(ctx, "InstanceExistsByProviderID", func(ctx context.Context) (bool, error) {
		return m.instances.InstanceExistsByProviderID(ctx, node.Spec.ProviderID)
	})
}

func (m machinesV1) shutdown(ctx context.Context, node *v1.Node) (bool, error) {
	return guarded(ctx, "InstanceShutdownByProviderID", func(ctx context.Context) (bool, error) {
		return m.instances.InstanceShutdownByProviderID(ctx, node.Spec.ProviderID)
	})
}

func (m machinesV1) metadata(ctx context.Context, node *v1.Node) (*cloudprovider.InstanceMetadata, error) {
	return guarded(ctx, "Instances", func(ctx context.Context) (*cloudprovider.InstanceMetadata, error) {
		return m.collect(ctx, node)
	})
}

func (m machinesV1) collect(ctx context.Context, node *v1.Node) (*cloudprovider.InstanceMetadata, error) {
	name, providerID := types.NodeName(node.Name), node.Spec.ProviderID
	if providerID == "" {
		id, err := m.instances.InstanceID(ctx, name)
		if err != nil {
			return nil, err
		}
		if id == "" {
			return nil, errors.New("the provider answered an empty instance ID")
		}
		providerID = m.providerName + "://" + id
	}
	instanceType, err := eitherWay(
		func() (string, error) { return m.instances.InstanceTypeByProviderID(ctx, providerID) },
		func() (string, error) { return m.instances.InstanceType(ctx, name) })
	if err != nil {
		return nil, notAbsent("instance type", err)
	}
	addresses, err := eitherWay(
		func() ([]v1.NodeAddress, error) { return m.instances.NodeAddressesByProviderID(ctx, providerID) },
		func() ([]v1.NodeAddress, error) { return m.instances.NodeAddresses(ctx, name) })
	if err != nil {
		return nil, notAbsent("addresses", err)
	}
	metadata := &cloudprovider.InstanceMetadata{ProviderID: providerID, InstanceType: instanceType, NodeAddresses: addresses}
	if m.zones == nil {
		return metadata, nil
	}
	zone, err := eitherWay(
		func() (cloudprovider.Zone, error) { return m.zones.GetZoneByProviderID(ctx, providerID) },
		func() (cloudprovider.Zone, error) { return m.zones.GetZoneByNodeName(ctx, name) })
	if err != nil {
		return nil, notAbsent("zone", err)
	}
	metadata.Zone, metadata.Region = zone.FailureDomain, zone.Region
	return metadata, nil
}

// eitherWay asks by provider ID, and by name where that fails, as upstream does.
func eitherWay[T any](byProviderID, byName func() (T, error)) (T, error) {
	value, err := byProviderID()
	if err == nil {
		return value, nil
	}
	value, errByName := byName()
	if errByName == nil {
		return value, nil
	}
	return value, errors.Join(err, errByName)
}

// notAbsent hides the sentinel of a part that was not found: that an instance has no zone says nothing about the instance.
func notAbsent(part string, err error) error {
	if errors.Is(err, cloudprovider.InstanceNotFound) {
		return fmt.Errorf("read the %s: %s", part, err.Error()) //nolint:errorlint // the sentinel must not be found
	}
	return fmt.Errorf("read the %s: %w", part, err)
}

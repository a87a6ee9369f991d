package bridge

import (
	"context"

	v1 "k8s.io/api/core/v1"
	cloudprovider "k8s.io/cloud-provider"
)

// machinesV2 asks cloudprovider.InstancesV2.
type machinesV2 struct {
	instances cloudprovider.InstancesV2
}

func (m machinesV2) exists(ctx context.Context, node *v1.Node) (bool, error) {
	return guarded(ctx, "InstanceExists", func(ctx context.Context) (bool, error) {
		return m.instances.InstanceExists(ctx, node)
	})
}

func (m machinesV2) shutdown(ctx context.Context, node *v1.Node) (bool, error) {
	return guarded(ctx, "InstanceShutdown", func(ctx context.Context) (bool, error) {
		return m.instances.InstanceShutdown(ctx, node)
	})
}

func (m machinesV2) metadata(ctx context.Context, node *v1.Node) (*cloudprovider.InstanceMetadata, error) {
	return guarded(ctx, "InstanceMetadata", func(ctx context.Context) (*cloudprovider.InstanceMetadata, error) {
		return m.instances.InstanceMetadata(ctx, node)
	})
}

package bridge

import (
	"context"
	"errors"

	v1 "k8s.io/api/core/v1"
	cloudprovider "k8s.io/cloud-provider"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
)

// machines answers for instances, by InstancesV2 or by Instances and Zones.
type machines struct {
	nodes    *nodeStore
	informed func(context.Context)
	errors   errorMapper
	options  InstanceOptions
	source   machineSource
}

// machineSource is what both generations of interfaces can say of an instance.
type machineSource interface {
	// exists is asked for Nodes with a provider ID.
	exists(ctx context.Context, node *v1.Node) (bool, error)
	// shutdown fails with NotImplemented where the cloud does not report it.
	shutdown(ctx context.Context, node *v1.Node) (bool, error)
	// metadata has a provider ID.
	metadata(ctx context.Context, node *v1.Node) (*cloudprovider.InstanceMetadata, error)
}

func (m *machines) definition(features *cpv1.InstanceCapabilities) *provider.Instances {
	return &provider.Instances{Features: features, Get: m.get}
}

// get asks for existence first, as upstream does before it deletes a Node: some clouds give metadata of instances that they
// have terminated.
func (m *machines) get(ctx context.Context, ref *cpv1.NodeRef) (provider.InstanceResult, error) {
	node := m.nodes.lookedUp(ref)
	m.informed(ctx)
	answer, err := m.look(ctx, node)
	if err != nil {
		return nil, m.errors.toContract(err, machineItem, "look up node "+node.Name)
	}
	return answer, nil
}

func (m *machines) look(ctx context.Context, node *v1.Node) (provider.InstanceResult, error) {
	// Without a provider ID the name is looked up: metadata is what upstream asks for then.
	if node.Spec.ProviderID != "" && !m.options.MetadataProvesExistence {
		exists, err := m.source.exists(ctx, node)
		if isAbsence(exists, err) {
			return m.absent(node), nil
		}
		if err != nil {
			return nil, err
		}
	}
	metadata, err := m.source.metadata(ctx, node)
	if errors.Is(err, cloudprovider.InstanceNotFound) {
		return m.absentAfterMetadata(ctx, node, err)
	}
	if err != nil {
		return nil, err
	}
	instance, err := instanceOf(metadata, node)
	if err != nil {
		return nil, err
	}
	if node.Spec.ProviderID == "" {
		m.nodes.learned(node.Name, instance.GetProviderId())
		node.Spec.ProviderID = instance.GetProviderId()
	}
	instance.State, err = m.state(ctx, node)
	if err != nil {
		return nil, err
	}
	return provider.Present(instance), nil
}

// isAbsence is true for the two ways in which a provider states that an instance does not exist: false without error, and the
// error made for it. Every other error says nothing.
func isAbsence(exists bool, err error) bool {
	return (err == nil && !exists) || errors.Is(err, cloudprovider.InstanceNotFound)
}

// absentAfterMetadata accepts a lookup by name. A provider ID that has just been said to exist, or was not asked for
// existence, is asked for it: metadata alone never deletes a Node upstream.
func (m *machines) absentAfterMetadata(ctx context.Context, node *v1.Node, cause error) (provider.InstanceResult, error) {
	if node.Spec.ProviderID == "" {
		return m.absent(node), nil
	}
	exists, err := m.source.exists(ctx, node)
	if isAbsence(exists, err) {
		return m.absent(node), nil
	}
	return nil, provider.NewError(provider.ReasonIncompleteAnswer,
		"the cloud says that the machine exists, and then that it does not: "+cause.Error(), provider.Cause(errors.Join(cause, err)))
}

func (m *machines) absent(node *v1.Node) provider.InstanceResult {
	m.nodes.gone(node.Name, node.Spec.ProviderID)
	return provider.Absent(provider.LookupMiss)
}

func (m *machines) state(ctx context.Context, node *v1.Node) (cpv1.InstanceState, error) {
	if m.options.NoShutdownState {
		return cpv1.InstanceState_INSTANCE_STATE_UNSPECIFIED, nil
	}
	stopped, err := m.source.shutdown(ctx, node)
	switch {
	case errors.Is(err, cloudprovider.NotImplemented):
		return cpv1.InstanceState_INSTANCE_STATE_UNSPECIFIED, nil
	case err != nil:
		return cpv1.InstanceState_INSTANCE_STATE_UNSPECIFIED, err
	case stopped:
		return cpv1.InstanceState_INSTANCE_STATE_STOPPED, nil
	default:
		return cpv1.InstanceState_INSTANCE_STATE_RUNNING, nil
	}
}

func instanceOf(metadata *cloudprovider.InstanceMetadata, node *v1.Node) (*cpv1.Instance, error) {
	if metadata == nil {
		return nil, provider.NewError(provider.ReasonInvariantBroken, "the provider answered neither metadata nor an error")
	}
	providerID := metadata.ProviderID
	if providerID == "" {
		// Upstream leaves the Node's as it is then.
		providerID = node.Spec.ProviderID
	}
	if providerID == "" {
		return nil, provider.NewError(provider.ReasonInvariantBroken,
			"the provider answered metadata without a provider ID for a node that has none")
	}
	return &cpv1.Instance{
		ProviderId:   providerID,
		Name:         machineName(metadata.NodeAddresses, providerID),
		InstanceType: optional(metadata.InstanceType),
		Zone:         optional(metadata.Zone),
		Region:       optional(metadata.Region),
		Addresses:    addressesToContract(metadata.NodeAddresses),
		Labels:       additionalLabels(metadata),
	}, nil
}

// optional is nil for a text that is empty: a label with an empty value is none upstream.
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

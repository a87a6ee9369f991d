package main

import (
	"context"
	"fmt"
	"strings"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"

	"acme.example.com/acme-provider/internal/cloud"
)

// idPrefix is what the provider IDs of this cloud's machines begin with.
const idPrefix = "acme://"

// define says what this provider is and can do. A function that is not here is a capability that it does not claim.
func define(client *cloud.Client) *provider.Definition {
	return &provider.Definition{
		Name:       "acme.example.com",
		Version:    version,
		IDPrefixes: []string{idPrefix},
		// When this changes, the controller stops everything that destroys: other credentials see other machines.
		Scope: client.AccountID,
		Check: func(ctx context.Context) (*provider.CheckResult, error) {
			_, err := client.AccountID(ctx)
			return nil, err
		},
		Instances:     instances{client}.handlers(),
		LoadBalancers: loadBalancers{client}.handlers(),
	}
}

// instances serves machines.
type instances struct{ client *cloud.Client }

func (i instances) handlers() *provider.Instances {
	return &provider.Instances{GetMany: i.getMany, List: i.list}
}

func (i instances) getMany(ctx context.Context, refs []*cpv1.NodeRef) ([]provider.InstanceResult, error) {
	var ids, names []string
	for _, ref := range refs {
		if id := provider.CallOf(ctx).ID(ref.GetProviderId()); id != "" {
			ids = append(ids, id)
		} else {
			names = append(names, ref.GetName())
		}
	}
	machines, err := i.client.Machines(ctx, ids, names)
	if err != nil {
		return nil, err
	}
	answers := make([]provider.InstanceResult, len(refs))
	for index, ref := range refs {
		answers[index] = answer(ref, provider.CallOf(ctx).ID(ref.GetProviderId()), machines)
	}
	return answers, nil
}

func (i instances) list(ctx context.Context, yield func(*cpv1.Instance) error) error {
	return i.client.EachMachine(ctx, func(machine cloud.Machine) error {
		if machine.Power == "terminated" {
			return nil
		}
		return yield(toInstance(machine))
	})
}

func answer(ref *cpv1.NodeRef, id string, machines []cloud.Machine) provider.InstanceResult {
	var found []cloud.Machine
	for _, machine := range machines {
		if machine.ID == id || (id == "" && machine.Name == ref.GetName()) {
			found = append(found, machine)
		}
	}
	switch {
	case len(found) == 0:
		return provider.Absent(provider.LookupMiss)
	case len(found) > 1:
		return provider.Failed(ambiguous(ref.GetName(), found))
	case found[0].Power == "terminated":
		return provider.Absent(provider.Terminated)
	default:
		return provider.Present(toInstance(found[0]))
	}
}

func ambiguous(name string, machines []cloud.Machine) error {
	ids := make([]string, len(machines))
	for index, machine := range machines {
		ids[index] = machine.ID
	}
	matches := strings.Join(ids, ", ")
	message := fmt.Sprintf("machines %s are all named %s; give each its own name", matches, name)
	return provider.NewError(provider.ReasonAmbiguousName, message, provider.Metadata("matches", matches))
}

func toInstance(machine cloud.Machine) *cpv1.Instance {
	state := cpv1.InstanceState_INSTANCE_STATE_STOPPED
	if machine.Power == "on" {
		state = cpv1.InstanceState_INSTANCE_STATE_RUNNING
	}
	addresses := addressesOf(cpv1.NodeAddressType_NODE_ADDRESS_TYPE_INTERNAL_IP, machine.PrivateIPs...)
	addresses = append(addresses, addressesOf(cpv1.NodeAddressType_NODE_ADDRESS_TYPE_EXTERNAL_IP, machine.PublicIPs...)...)
	addresses = append(addresses, addressesOf(cpv1.NodeAddressType_NODE_ADDRESS_TYPE_HOSTNAME, machine.Name)...)
	return &cpv1.Instance{
		ProviderId:   machine.ID,
		Name:         machine.Name,
		InstanceType: &machine.Type,
		Zone:         &machine.Zone,
		Region:       &machine.Region,
		Addresses:    addresses,
		State:        state,
	}
}

func addressesOf(kind cpv1.NodeAddressType, values ...string) []*cpv1.NodeAddress {
	addresses := make([]*cpv1.NodeAddress, len(values))
	for index, value := range values {
		addresses[index] = &cpv1.NodeAddress{Type: kind, Address: value}
	}
	return addresses
}

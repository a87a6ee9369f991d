package simcloud

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	v1 "k8s.io/api/core/v1"
	cloudprovider "k8s.io/cloud-provider"
)

type instance struct {
	ID                string            `json:"id"`
	Name              string            `json:"name"`
	Type              string            `json:"type"`
	Zone              string            `json:"zone"`
	Region            string            `json:"region"`
	Hostname          string            `json:"hostname"`
	State             string            `json:"state"`
	InternalAddresses []string          `json:"internalAddresses"`
	ExternalAddresses []string          `json:"externalAddresses"`
	Tags              map[string]string `json:"tags"`
}

func (i *instance) providerID() string { return "sim://" + i.Zone + "/" + i.ID }

func (i *instance) addresses() []v1.NodeAddress {
	var all []v1.NodeAddress
	for _, address := range i.InternalAddresses {
		all = append(all, v1.NodeAddress{Type: v1.NodeInternalIP, Address: address})
	}
	for _, address := range i.ExternalAddresses {
		all = append(all, v1.NodeAddress{Type: v1.NodeExternalIP, Address: address})
	}
	return append(all, v1.NodeAddress{Type: v1.NodeInternalDNS, Address: i.Hostname}, v1.NodeAddress{Type: v1.NodeHostName, Address: i.Hostname})
}

// labelTagPrefix is where tags begin that become labels of the Node.
const labelTagPrefix = "node-label/"

func (i *instance) labels() map[string]string {
	labels := map[string]string{}
	for key, value := range i.Tags {
		if name, found := strings.CutPrefix(key, labelTagPrefix); found {
			labels[name] = value
		}
	}
	return labels
}

type instances struct{ client *client }

func (s *instances) InstanceExists(ctx context.Context, node *v1.Node) (bool, error) {
	found, err := find(ctx, s.client, node.Spec.ProviderID, node.Name)
	return found != nil, err
}

func (s *instances) InstanceShutdown(ctx context.Context, node *v1.Node) (bool, error) {
	found, err := find(ctx, s.client, node.Spec.ProviderID, node.Name)
	if err != nil || found == nil {
		return false, err
	}
	return found.State == "stopped", nil
}

func (s *instances) InstanceMetadata(ctx context.Context, node *v1.Node) (*cloudprovider.InstanceMetadata, error) {
	found, err := find(ctx, s.client, node.Spec.ProviderID, node.Name)
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, cloudprovider.InstanceNotFound
	}
	return &cloudprovider.InstanceMetadata{
		ProviderID:       found.providerID(),
		InstanceType:     found.Type,
		NodeAddresses:    found.addresses(),
		Zone:             found.Zone,
		Region:           found.Region,
		AdditionalLabels: found.labels(),
	}, nil
}

var providerIDForm = regexp.MustCompile(`^sim://([a-z0-9-]{1,63})/(i-[0-9a-f]{12})$`)

// find answers nil for a machine that is not there, or not any more.
func find(ctx context.Context, client *client, providerID, name string) (*instance, error) {
	if providerID == "" {
		return findByName(ctx, client, name)
	}
	parts := providerIDForm.FindStringSubmatch(providerID)
	if parts == nil {
		return nil, fmt.Errorf("provider ID %s is not of the form sim://<zone>/i-<12 hex digits>", providerID)
	}
	var found instance
	err := client.call(ctx, http.MethodGet, "/v1/instances/"+parts[2], url.Values{"consistent": {"true"}}, nil, &found)
	if isRefusal(err, "InstanceNotFound") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if found.Zone != parts[1] {
		return nil, fmt.Errorf("instance %s is in zone %s, the provider ID says %s", found.ID, found.Zone, parts[1])
	}
	return alive(&found), nil
}

func findByName(ctx context.Context, client *client, name string) (*instance, error) {
	all, err := list[instance](ctx, client, "/v1/instances", url.Values{"name": {name}})
	if err != nil {
		return nil, err
	}
	var found *instance
	for index := range all {
		one := alive(&all[index])
		if one != nil && found != nil {
			return nil, fmt.Errorf("several instances have the name %s", name)
		}
		if one != nil {
			found = one
		}
	}
	return found, nil
}

func alive(found *instance) *instance {
	if found.State == "terminated" {
		return nil
	}
	return found
}

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

type instance struct {
	ID, Name, Type, Zone, Region, Hostname, State, StateReason string
	InternalAddresses, ExternalAddresses, PodCidrs             []string
	Tags                                                       map[string]string
	CreatedAt                                                  time.Time
	Revision                                                   int64
}

type instancePage struct {
	evidence
	Items []instance
}

type lookup struct {
	evidence
	Items []instance
	// Missing is what the cloud is sure not to have; nil when it decides nothing.
	Missing *struct{ IDs, Names []string }
}

func instances(api *cloud) *provider.Instances {
	return &provider.Instances{
		Features: &cpv1.InstanceCapabilities{
			MaxBatchSize: pageSize, LookupByName: true, ShutdownState: true, PodCidrs: true,
			// Look-ups are strongly consistent: an instance can be seen as soon as it is made.
			ExistenceConsistencyDelay: durationpb.New(0),
			List:                      &cpv1.ListCapability{MaxPageSize: pageSize, ConsistentSnapshot: true},
		},
		GetMany: func(ctx context.Context, refs []*cpv1.NodeRef) ([]provider.InstanceResult, error) {
			return getInstances(ctx, api, refs)
		},
		List: func(ctx context.Context, yield func(*cpv1.Instance) error) error {
			return readAll(ctx, api, "/v1/instances", url.Values{}, func(page instancePage) error {
				for _, each := range page.Items {
					if each.State == "terminated" {
						continue
					}
					if err := yield(each.message()); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

// providerID is <zone>/<instance id>, after the prefix.
var providerID = regexp.MustCompile(`^([a-z0-9-]{1,63})/(i-[0-9a-f]{12})$`)

// getInstances asks the cloud once for all nodes, by id and by name.
func getInstances(ctx context.Context, api *cloud, refs []*cpv1.NodeRef) ([]provider.InstanceResult, error) {
	question := struct {
		IDs        []string `json:"ids"`
		Names      []string `json:"names"`
		Consistent bool     `json:"consistent"`
	}{[]string{}, []string{}, true}
	for _, ref := range refs {
		if place := providerID.FindStringSubmatch(provider.CallOf(ctx).ID(ref.GetProviderId())); place != nil {
			question.IDs = append(question.IDs, place[2])
		} else if ref.GetProviderId() == "" {
			question.Names = append(question.Names, ref.GetName())
		}
	}
	var found lookup
	if len(question.IDs)+len(question.Names) > 0 {
		if err := api.call(ctx, http.MethodPost, "/v1/instances/lookup", question, &found); err != nil {
			return nil, err
		}
		if err := api.require(found.evidence); err != nil {
			return nil, err
		}
	}
	answers := make([]provider.InstanceResult, len(refs))
	for i, ref := range refs {
		answers[i] = found.answer(ref, provider.CallOf(ctx).ID(ref.GetProviderId()))
	}
	return answers, nil
}

func (l *lookup) answer(ref *cpv1.NodeRef, id string) provider.InstanceResult {
	if ref.GetProviderId() == "" {
		return l.answerByName(ref.GetName())
	}
	place := providerID.FindStringSubmatch(id)
	if place == nil {
		return provider.Failed(provider.NewError(provider.ReasonProviderIDMalformed,
			"provider ID "+ref.GetProviderId()+" is not of the form sim://<zone>/i-<12 hex digits>"))
	}
	at := slices.IndexFunc(l.Items, func(each instance) bool { return each.ID == place[2] })
	if at < 0 {
		return l.miss(l.Missing != nil && slices.Contains(l.Missing.IDs, place[2]))
	}
	if zone := l.Items[at].Zone; zone != place[1] {
		return provider.Failed(provider.NewError(provider.ReasonProviderIDMalformed,
			fmt.Sprintf("instance %s is in zone %s, the provider ID says %s", place[2], zone, place[1])))
	}
	return l.present(l.Items[at])
}

func (l *lookup) answerByName(name string) provider.InstanceResult {
	var alive, dead []instance
	for _, each := range l.Items {
		switch {
		case each.Name == name && each.State == "terminated":
			dead = append(dead, each)
		case each.Name == name:
			alive = append(alive, each)
		}
	}
	switch {
	case len(alive) > 1:
		return provider.Failed(provider.NewError(provider.ReasonAmbiguousName,
			fmt.Sprintf("%d instances have the name %s", len(alive), name), provider.Metadata("matches", alive[0].ID+","+alive[1].ID)))
	case len(alive) == 1:
		return l.present(alive[0])
	case len(dead) > 0:
		return l.present(dead[0])
	}
	return l.miss(l.Missing != nil && slices.Contains(l.Missing.Names, name))
}

func (l *lookup) present(found instance) provider.InstanceResult {
	if found.State == "terminated" {
		return provider.Absent(provider.Terminated, provider.ObservedAt(l.ObservedAt), provider.StronglyConsistent())
	}
	return provider.Present(found.message(), provider.ReadAt(l.ObservedAt))
}

// miss is an absence only on evidence: the cloud itself has to name what is missing.
func (l *lookup) miss(named bool) provider.InstanceResult {
	if outage := l.outage(); outage != nil {
		return provider.Failed(outage)
	}
	if !named {
		return provider.Failed(provider.NewError(provider.ReasonIncompleteAnswer, "the cloud's response does not contain the instance"))
	}
	return provider.Absent(provider.LookupMiss, provider.ObservedAt(l.ObservedAt), provider.StronglyConsistent())
}

var instanceStates = map[string]cpv1.InstanceState{
	"pending":     cpv1.InstanceState_INSTANCE_STATE_PENDING,
	"running":     cpv1.InstanceState_INSTANCE_STATE_RUNNING,
	"stopping":    cpv1.InstanceState_INSTANCE_STATE_STOPPING,
	"stopped":     cpv1.InstanceState_INSTANCE_STATE_STOPPED,
	"terminating": cpv1.InstanceState_INSTANCE_STATE_TERMINATING,
}

// labelTagPrefix: tags under it become labels of the Node.
const labelTagPrefix = "node-label/"

func (i instance) message() *cpv1.Instance {
	labels := map[string]string{}
	for key, value := range i.Tags {
		if label, ok := strings.CutPrefix(key, labelTagPrefix); ok {
			labels[label] = value
		}
	}
	return &cpv1.Instance{
		ProviderId: i.Zone + "/" + i.ID, Name: i.Name, InstanceType: &i.Type, Zone: &i.Zone, Region: &i.Region,
		Addresses: i.addresses(), State: instanceStates[i.State], StateReason: i.StateReason, Labels: labels,
		PodCidrs: &cpv1.PodCidrs{Cidrs: i.PodCidrs}, CreateTime: timestamppb.New(i.CreatedAt),
		Revision: strconv.FormatInt(i.Revision, 10),
	}
}

func (i instance) addresses() []*cpv1.NodeAddress {
	var out []*cpv1.NodeAddress
	add := func(kind cpv1.NodeAddressType, addresses ...string) {
		for _, address := range addresses {
			out = append(out, &cpv1.NodeAddress{Type: kind, Address: address})
		}
	}
	add(cpv1.NodeAddressType_NODE_ADDRESS_TYPE_INTERNAL_IP, i.InternalAddresses...)
	add(cpv1.NodeAddressType_NODE_ADDRESS_TYPE_EXTERNAL_IP, i.ExternalAddresses...)
	add(cpv1.NodeAddressType_NODE_ADDRESS_TYPE_INTERNAL_DNS, i.Hostname)
	add(cpv1.NodeAddressType_NODE_ADDRESS_TYPE_HOSTNAME, i.Hostname)
	return out
}

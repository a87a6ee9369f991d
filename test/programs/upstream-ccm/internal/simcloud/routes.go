package simcloud

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"k8s.io/apimachinery/pkg/types"
	cloudprovider "k8s.io/cloud-provider"
)

type route struct {
	ID          string            `json:"id,omitempty"`
	Label       string            `json:"label,omitempty"`
	Destination string            `json:"destination"`
	InstanceID  string            `json:"instanceId"`
	State       string            `json:"state,omitempty"`
	Tags        map[string]string `json:"tags"`
}

type routeResults struct {
	Results []struct {
		Error *refusal `json:"error"`
	} `json:"results"`
}

type routes struct {
	client    *client
	clusterID string
}

func (r *routes) ListRoutes(ctx context.Context, clusterName string) ([]*cloudprovider.Route, error) {
	found, err := list[route](ctx, r.client, "/v1/routes", url.Values{"tag": {clusterTag + "=" + r.clusterID}})
	if err != nil {
		return nil, err
	}
	all := make([]*cloudprovider.Route, 0, len(found))
	for _, one := range found {
		all = append(all, &cloudprovider.Route{
			Name:            one.ID,
			TargetNode:      types.NodeName(one.Tags[nodeNameTag]),
			DestinationCIDR: one.Destination,
			Blackhole:       one.State == "blackhole",
		})
	}
	return all, nil
}

func (r *routes) CreateRoute(ctx context.Context, clusterName string, nameHint string, wanted *cloudprovider.Route) error {
	target, err := findByName(ctx, r.client, string(wanted.TargetNode))
	if err != nil {
		return err
	}
	if target == nil {
		return cloudprovider.InstanceNotFound
	}
	tags := clusterTags(r.clusterID, clusterName)
	tags[nodeNameTag] = string(wanted.TargetNode)
	items := []route{{Label: nameHint, Destination: wanted.DestinationCIDR, InstanceID: target.ID, Tags: tags}}
	return r.change(ctx, "/v1/routes", map[string]any{"items": items})
}

func (r *routes) DeleteRoute(ctx context.Context, clusterName string, listed *cloudprovider.Route) error {
	err := r.change(ctx, "/v1/routes/delete", map[string]any{"ids": []string{listed.Name}})
	if isRefusal(err, "RouteNotFound") {
		return nil
	}
	return err
}

// change sends a batch of one; the cloud answers for each item.
func (r *routes) change(ctx context.Context, path string, batch any) error {
	var answer routeResults
	if err := r.client.call(ctx, http.MethodPost, path, nil, batch, &answer); err != nil {
		return err
	}
	if len(answer.Results) != 1 {
		return fmt.Errorf("%s: %d results for one route", path, len(answer.Results))
	}
	if refused := answer.Results[0].Error; refused != nil {
		return refused
	}
	return nil
}

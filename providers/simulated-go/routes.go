package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
)

type route struct {
	ID, Name, Destination, InstanceID, InstanceZone, Label, State string
	Tags                                                          map[string]string
}

type routeSpec struct {
	Label       string            `json:"label,omitempty"`
	Destination string            `json:"destination"`
	InstanceID  string            `json:"instanceId"`
	Tags        map[string]string `json:"tags"`
}

type routePage struct {
	evidence
	Items []route
	Quota routeQuota
}

type routeQuota struct{ Limit, Used uint32 }

// routeResults has one result an item, in the order asked: part of a batch may fail.
type routeResults struct {
	Quota   routeQuota
	Results []struct {
		Route *route
		Error *refusal
	}
}

// routeBatch: destinations travel in the query, and 200 of them stay below the limits of a URL.
const routeBatch = 200

const routesPath = "/v1/routes"

func routes(api *cloud) *provider.Routes {
	r := &routeTable{api: api}
	return &provider.Routes{
		Features: &cpv1.RouteCapabilities{
			MaxBatchSize: routeBatch, MaxPageSize: pageSize, Blackhole: true, ValidateOnly: true,
			IpFamilies: []cpv1.IpFamily{cpv1.IpFamily_IP_FAMILY_IPV4, cpv1.IpFamily_IP_FAMILY_IPV6},
		},
		List: r.list, EnsureMany: r.ensure, DeleteMany: r.delete,
	}
}

type routeTable struct{ api *cloud }

func (r *routeTable) list(ctx context.Context, yield func(*cpv1.Route) error) error {
	filter := url.Values{"tag": {clusterIDTag + "=" + provider.CallOf(ctx).Cluster.GetId()}}
	return readAll(ctx, r.api, routesPath, filter, func(page routePage) error {
		report(ctx, page.Quota)
		for _, each := range page.Items {
			if err := yield(each.message()); err != nil {
				return err
			}
		}
		return nil
	})
}

func report(ctx context.Context, quota routeQuota) {
	provider.CallOf(ctx).ReportRouteQuota(&cpv1.RouteQuota{Limit: quota.Limit, Used: quota.Used})
}

// there are the routes to these destinations, of any owner.
func (r *routeTable) there(ctx context.Context, wanted []*cpv1.Route) (map[string]*route, error) {
	query := url.Values{}
	for _, each := range wanted {
		query.Add("destination", each.GetDestinationCidr())
	}
	found := map[string]*route{}
	err := readAll(ctx, r.api, routesPath, query, func(page routePage) error {
		report(ctx, page.Quota)
		for i := range page.Items {
			found[page.Items[i].Destination] = &page.Items[i]
		}
		return page.outage()
	})
	return found, err
}

// ensure makes at most three calls a batch: list, delete, create. One if all routes are up to date.
func (r *routeTable) ensure(ctx context.Context, wanted []*cpv1.Route) ([]provider.RouteResult, error) {
	existing, err := r.there(ctx, wanted)
	if err != nil {
		return nil, err
	}
	call := provider.CallOf(ctx)
	answers := make([]provider.RouteResult, len(wanted))
	var specs []routeSpec
	var at []int
	var replaced []string
	for i, each := range wanted {
		spec, answer := plan(call, each, existing[each.GetDestinationCidr()])
		if answers[i] = answer; answer != nil {
			continue
		}
		if old := existing[spec.Destination]; old != nil {
			replaced = append(replaced, old.ID)
		}
		specs, at = append(specs, spec), append(at, i)
	}
	if len(specs) == 0 {
		return answers, nil
	}
	if call.ValidateOnly() {
		planned, err := r.planned(ctx, specs)
		for k, answer := range planned {
			answers[at[k]] = answer
		}
		return answers, err
	}
	if len(replaced) > 0 {
		if _, err := r.change(ctx, routesPath+"/delete", map[string]any{"ids": replaced}); err != nil {
			return nil, err
		}
	}
	made, err := r.change(ctx, routesPath, map[string]any{"items": specs})
	if err != nil {
		return nil, err
	}
	for k, i := range at {
		answers[i] = provider.Failed(errNotAnswered)
		if k < len(made.Results) {
			answers[i] = toAnswer(made.Results[k].Route, made.Results[k].Error)
		}
	}
	return answers, nil
}

// planned is what would be made. The cloud refuses routes to machines that are gone only when they are made, so these are looked up.
func (r *routeTable) planned(ctx context.Context, specs []routeSpec) ([]provider.RouteResult, error) {
	var ids []string
	for _, spec := range specs {
		ids = append(ids, spec.InstanceID)
	}
	question := map[string]any{"ids": ids, "names": []string{}, "consistent": true}
	var found lookup
	if err := r.api.call(ctx, http.MethodPost, "/v1/instances/lookup", question, &found); err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, each := range found.Items {
		there[each.ID] = each.State != "terminated"
	}
	var answers []provider.RouteResult
	for _, spec := range specs {
		if !there[spec.InstanceID] {
			answers = append(answers, provider.Failed(provider.NewError(provider.ReasonRouteTargetNotFound, "there is no instance "+spec.InstanceID)))
			continue
		}
		provider.CallOf(ctx).AddPlannedChange(&cpv1.PlannedChange{Action: cpv1.ChangeAction_CHANGE_ACTION_CREATE, ResourceType: "route", Summary: spec.Destination + " to " + spec.InstanceID})
		answers = append(answers, provider.RouteReady(&cpv1.Route{Id: spec.Destination, DestinationCidr: spec.Destination}))
	}
	return answers, nil
}

var errNotAnswered = provider.NewError(provider.ReasonIncompleteAnswer, "the cloud returned no result for the route")

func toAnswer(made *route, failed *refusal) provider.RouteResult {
	switch {
	case made != nil:
		return provider.RouteReady(made.message())
	case failed != nil:
		return provider.Failed(&refused{refusal: *failed, cause: errNotAnswered})
	}
	return provider.Failed(errNotAnswered)
}

// plan is what to create, or the answer that needs no creation.
func plan(call *provider.Call, wanted *cpv1.Route, existing *route) (routeSpec, provider.RouteResult) {
	place := providerID.FindStringSubmatch(call.ID(wanted.GetTargetProviderId()))
	if place == nil {
		return routeSpec{}, provider.Failed(provider.NewError(provider.ReasonRouteTargetNotFound, wanted.GetTargetProviderId()+" is not an instance of this cloud"))
	}
	if existing != nil && existing.Tags[clusterIDTag] != call.Cluster.GetId() {
		return routeSpec{}, provider.Failed(provider.NewError(provider.ReasonCIDRConflict,
			"route "+existing.ID+" to "+existing.Destination+" was not created by this cluster", provider.Metadata("cidr", existing.Destination)))
	}
	if existing != nil && existing.InstanceID == place[2] && existing.State == "active" {
		return routeSpec{}, provider.RouteReady(existing.message())
	}
	tags := clusterTags(call.Cluster)
	if wanted.GetTargetNodeName() != "" {
		tags[nodeNameTag] = wanted.GetTargetNodeName()
	}
	return routeSpec{Label: wanted.GetNameHint(), Destination: wanted.GetDestinationCidr(), InstanceID: place[2], Tags: tags}, nil
}

// delete finds what is there in one call, and removes it in a second one.
func (r *routeTable) delete(ctx context.Context, wanted []*cpv1.Route) ([]provider.RouteResult, error) {
	existing, err := r.there(ctx, wanted)
	if err != nil {
		return nil, err
	}
	call := provider.CallOf(ctx)
	answers := make([]provider.RouteResult, len(wanted))
	var ids []string
	of := map[string]int{}
	for i, each := range wanted {
		found := existing[each.GetDestinationCidr()]
		// Another route took the place of the one that was listed: that one is gone.
		if found == nil || each.GetId() != "" && each.GetId() != found.ID {
			continue
		}
		if found.Tags[clusterIDTag] != call.Cluster.GetId() {
			answers[i] = provider.Failed(provider.NewError(provider.ReasonOwnedByAnotherCluster,
				"route "+found.ID+" to "+found.Destination+" was not created by this cluster", provider.Metadata("id", found.ID)))
			continue
		}
		if _, twice := of[found.ID]; !twice {
			ids, of[found.ID] = append(ids, found.ID), i
		}
	}
	if call.ValidateOnly() {
		for _, id := range ids {
			call.AddPlannedChange(&cpv1.PlannedChange{Action: cpv1.ChangeAction_CHANGE_ACTION_DELETE, ResourceType: "route", ResourceId: id})
		}
		return answers, nil
	}
	if len(ids) == 0 {
		return answers, nil
	}
	gone, err := r.change(ctx, routesPath+"/delete", map[string]any{"ids": ids})
	if err != nil {
		return nil, err
	}
	for k, id := range ids {
		if k < len(gone.Results) && gone.Results[k].Error != nil {
			if failed := (&refused{refusal: *gone.Results[k].Error, cause: errNotAnswered}); failed.Code != "RouteNotFound" {
				answers[of[id]] = provider.Failed(failed)
			}
		}
	}
	return answers, nil
}

func (r *routeTable) change(ctx context.Context, path string, body any) (routeResults, error) {
	var out routeResults
	err := r.api.call(ctx, http.MethodPost, path, body, &out)
	if err == nil && out.Results == nil {
		err = errors.Join(errNotAnswered)
	}
	report(ctx, out.Quota)
	return out, err
}

func (r *route) message() *cpv1.Route {
	return &cpv1.Route{
		Id: r.ID, NameHint: r.Label, TargetProviderId: r.InstanceZone + "/" + r.InstanceID, TargetNodeName: r.Tags[nodeNameTag],
		DestinationCidr: r.Destination, Blackhole: r.State == "blackhole",
	}
}

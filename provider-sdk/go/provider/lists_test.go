package provider_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
	"cloudwire.dev/provider-sdk/go/providertest"
	"google.golang.org/protobuf/types/known/durationpb"
)

func listDefinition(count int, fail error) *provider.Definition {
	definition := machines(nil)
	definition.Instances.List = func(ctx context.Context, yield func(*cpv1.Instance) error) error {
		for i := range count {
			if err := yield(&cpv1.Instance{ProviderId: fmt.Sprintf("m-%d", i), Name: "x"}); err != nil {
				return err
			}
		}
		provider.CallOf(ctx).ResumeFrom("here")
		return fail
	}
	return definition
}

func TestListInstancesPages(t *testing.T) {
	for count, pages := range map[int]int{0: 1, 1: 1, 3: 1, 4: 2, 7: 3} {
		p := providertest.Start(t, listDefinition(count, nil))
		request := &cpv1.ListInstancesRequest{Context: p.Context(), PageSize: 3}
		seen, asked := 0, 0
		for {
			page, err := p.Client.ListInstances(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			asked++
			seen += len(page.GetInstances())
			if page.GetNextPageToken() == "" {
				if !page.GetComplete() || page.GetResumeToken() != "here" {
					t.Errorf("%d: the last page is %v", count, page)
				}
				break
			}
			again, err := p.Client.ListInstances(t.Context(), request)
			if err != nil || page.GetComplete() || request.GetPageToken() != "" && len(again.GetInstances()) != len(page.GetInstances()) {
				t.Errorf("%d: a page asked for again is %v, %v", count, again, err)
			}
			request.PageToken = page.GetNextPageToken()
		}
		if seen != count || asked != pages {
			t.Errorf("%d came as %d in %d pages", count, seen, asked)
		}
	}
}

func TestListInstancesRefusesForeignTokens(t *testing.T) {
	p := providertest.Start(t, listDefinition(5, nil))
	first, err := p.Client.ListInstances(t.Context(), &cpv1.ListInstancesRequest{Context: p.Context(), PageSize: 2})
	if err != nil {
		t.Fatal(err)
	}
	other := p.Context()
	other.Cluster.Id = "another"
	for name, request := range map[string]*cpv1.ListInstancesRequest{
		"garbage":         {Context: p.Context(), PageToken: "x"},
		"another request": {Context: other, PageToken: first.GetNextPageToken()},
		"forged":          {Context: p.Context(), PageToken: strings.Replace(first.GetNextPageToken(), ".2.", ".4.", 1)},
	} {
		if _, err := p.Client.ListInstances(t.Context(), request); providertest.Reason(err) != provider.ReasonPageTokenInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := p.Client.ListInstances(t.Context(), &cpv1.ListInstancesRequest{Context: p.Context(), PageSize: -1}); providertest.Reason(err) != provider.ReasonPageSizeInvalid {
		t.Errorf("a negative size: %v", err)
	}
}

func TestListInstancesThatFailsIsNeverComplete(t *testing.T) {
	p := providertest.Start(t, listDefinition(3, &provider.HTTPError{StatusCode: 500}))
	if page, err := p.Client.ListInstances(t.Context(), &cpv1.ListInstancesRequest{Context: p.Context()}); providertest.Reason(err) != provider.ReasonCloudUnavailable {
		t.Errorf("got %v, %v", page, err)
	}
	definition := machines(nil)
	definition.Instances.List = func(ctx context.Context, yield func(*cpv1.Instance) error) error {
		provider.CallOf(ctx).Unreachable("zone-b")
		return yield(&cpv1.Instance{Name: "no id is no instance"})
	}
	p = providertest.Start(t, definition)
	page, err := p.Client.ListInstances(t.Context(), &cpv1.ListInstancesRequest{Context: p.Context()})
	if err != nil || page.GetComplete() || len(page.GetUnreachable()) != 2 {
		t.Errorf("got %v, %v", page, err)
	}
}

func TestListInstancesIsNotCompleteAfterAFailureThatItSwallowed(t *testing.T) {
	tests := map[string]struct {
		call     provider.CloudCall
		complete bool
	}{
		"403": {provider.CloudCall{Status: 403}, false}, "429": {provider.CloudCall{Status: 429}, false},
		"503": {provider.CloudCall{Status: 503}, false}, "no answer": {provider.CloudCall{Err: io.EOF}, false},
		"404": {provider.CloudCall{Status: 404}, true}, "200": {provider.CloudCall{Status: 200}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			definition := machines(nil)
			definition.Instances.List = func(ctx context.Context, yield func(*cpv1.Instance) error) error {
				for i := range 5 {
					if i == 4 {
						// On its second page, when the call that began the list has long been answered.
						provider.CallOf(ctx).Record(test.call)
					}
					if err := yield(&cpv1.Instance{ProviderId: fmt.Sprintf("m-%d", i), Name: "x"}); err != nil {
						return err
					}
				}
				return nil
			}
			p := providertest.Start(t, definition)
			request := &cpv1.ListInstancesRequest{Context: p.Context(), PageSize: 2}
			for range 3 {
				page, err := p.Client.ListInstances(t.Context(), request)
				if err != nil {
					t.Fatal(err)
				}
				request.PageToken = page.GetNextPageToken()
				if last := request.PageToken == ""; page.GetComplete() != (last && test.complete) {
					t.Errorf("the page is %v", page)
				}
			}
			if request.PageToken != "" {
				t.Error("there are more than three pages")
			}
		})
	}
}

func TestWatchInstancesFromListTellsThatItHasNotSeenAll(t *testing.T) {
	definition := machines(nil)
	definition.Instances.List = func(ctx context.Context, yield func(*cpv1.Instance) error) error {
		provider.CallOf(ctx).Record(provider.CloudCall{Status: 403})
		return yield(&cpv1.Instance{ProviderId: "m-1", Name: "x"})
	}
	definition.Instances.Watch = provider.WatchInstancesFromList(definition.Instances.List, time.Hour)
	p := providertest.Start(t, definition)
	stream, err := p.Client.WatchInstances(t.Context(), &cpv1.WatchInstancesRequest{Context: p.Context(), SendInitialEvents: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []func(*cpv1.WatchInstancesResponse) bool{
		func(event *cpv1.WatchInstancesResponse) bool {
			return event.GetUpsert().GetProviderId() == "acme://m-1"
		},
		func(event *cpv1.WatchInstancesResponse) bool { return event.GetBookmark().GetInitialEventsEnd() },
		func(event *cpv1.WatchInstancesResponse) bool { return event.GetResync() != nil },
	} {
		if event, err := stream.Recv(); err != nil || !want(event) {
			t.Fatalf("event %d is %v, %v", i, event, err)
		}
	}
}

func TestWatchInstancesFromListSendsWhatDiffers(t *testing.T) {
	var round atomic.Int32
	definition := machines(nil)
	definition.Instances.List = func(_ context.Context, yield func(*cpv1.Instance) error) error {
		names := [][]string{{"a", "b"}, {"a2", "c"}}[min(round.Add(1)-1, 1)]
		for _, name := range names {
			if err := yield(&cpv1.Instance{ProviderId: "acme://" + name[:1], Name: name}); err != nil {
				return err
			}
		}
		return nil
	}
	definition.Instances.Watch = provider.WatchInstancesFromList(definition.Instances.List, time.Millisecond)
	p := providertest.Start(t, definition)
	stream, err := p.Client.WatchInstances(t.Context(), &cpv1.WatchInstancesRequest{Context: p.Context(), SendInitialEvents: true})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for range 6 {
		event, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		got[event.GetUpsert().GetName()+event.GetGone().GetProviderId()+fmt.Sprint(event.GetBookmark().GetInitialEventsEnd())] = true
	}
	for _, want := range []string{"afalse", "bfalse", "true", "a2false", "cfalse", "acme://bfalse"} {
		if !got[want] {
			t.Errorf("%s is missing in %v", want, got)
		}
	}
}

func TestRoutesAreAnsweredOneByOne(t *testing.T) {
	definition := machines(nil)
	definition.Routes = &provider.Routes{
		List: func(context.Context, func(*cpv1.Route) error) error { return nil },
		Ensure: func(ctx context.Context, route *cpv1.Route) (provider.RouteResult, error) {
			switch provider.CallOf(ctx).ID(route.GetTargetProviderId()) {
			case "gone":
				return nil, provider.NewError(provider.ReasonRouteTargetNotFound, "x")
			case "slow":
				return provider.Pending("r"), nil
			}
			return provider.RouteReady(&cpv1.Route{Id: "r-1", DestinationCidr: route.GetDestinationCidr()}), nil
		},
		Delete: func(context.Context, *cpv1.Route) (*provider.PendingResult, error) { return nil, nil },
	}
	p := providertest.Start(t, definition)
	routes := []*cpv1.Route{
		{TargetProviderId: "acme://m-1", DestinationCidr: "10.1.0.0/24"}, {TargetProviderId: "acme://gone", DestinationCidr: "10.2.0.0/24"},
		{TargetProviderId: "acme://slow", DestinationCidr: "10.3.0.0/24"}, {TargetProviderId: "gce://x", DestinationCidr: "10.4.0.0/24"},
	}
	response, err := p.Client.BatchEnsureRoutes(t.Context(), &cpv1.BatchEnsureRoutesRequest{Context: p.Context(), Change: p.Change("r-1"), Routes: routes})
	if err != nil {
		t.Fatal(err)
	}
	results := response.GetResults()
	if results[0].GetRoute().GetTargetProviderId() != "acme://m-1" || results[1].GetError().GetReason() != "ROUTE_TARGET_NOT_FOUND" ||
		results[2].GetOperation() == nil || results[3].GetError().GetReason() != "ROUTE_TARGET_NOT_FOUND" {
		t.Errorf("got %v", results)
	}
	gone, err := p.Client.BatchDeleteRoutes(t.Context(), &cpv1.BatchDeleteRoutesRequest{Context: p.Context(), Change: p.Change("r-2"), Routes: routes[:1]})
	if err != nil || gone.GetResults()[0].GetRoute() == nil {
		t.Errorf("got %v, %v", gone, err)
	}
	routes[1].TargetProviderId = ""
	gone, err = p.Client.BatchDeleteRoutes(t.Context(), &cpv1.BatchDeleteRoutesRequest{Context: p.Context(), Change: p.Change("r-4"), Routes: routes[1:2]})
	if err != nil || gone.GetResults()[0].GetRoute() == nil {
		t.Errorf("a blackhole: %v, %v", gone, err)
	}
	_, err = p.Client.BatchEnsureRoutes(t.Context(), &cpv1.BatchEnsureRoutesRequest{Context: p.Context(), Change: p.Change("r-5"), Routes: routes[1:2]})
	if fields := providertest.FieldViolations(err); len(fields) != 1 || fields[0] != "routes[0].target_provider_id" {
		t.Errorf("a route to nowhere: %v", err)
	}
	routes[0].DestinationCidr = "10.1.0.1/24"
	_, err = p.Client.BatchEnsureRoutes(t.Context(), &cpv1.BatchEnsureRoutesRequest{Context: p.Context(), Change: p.Change("r-3"), Routes: routes[:1]})
	if fields := providertest.FieldViolations(err); len(fields) != 1 || fields[0] != "routes[0].destination_cidr" {
		t.Errorf("host bits: %v", err)
	}
}

func TestVolumesOfOtherDriversAreNotOwned(t *testing.T) {
	definition := machines(nil)
	definition.Volumes = &provider.Volumes{
		Features: &cpv1.VolumeCapabilities{CsiDrivers: []string{"csi.acme.example.com"}},
		Get: func(_ context.Context, ref *cpv1.VolumeRef) (provider.VolumeResult, error) {
			return provider.PresentVolume(&cpv1.Volume{Id: ref.GetCsi().GetVolumeHandle(), Zones: []string{"a"}}), nil
		},
	}
	p := providertest.Start(t, definition)
	volume := func(driver string) *cpv1.VolumeRef {
		return &cpv1.VolumeRef{Name: "pv", Source: &cpv1.VolumeRef_Csi{Csi: &cpv1.CsiVolumeSource{Driver: driver, VolumeHandle: "v-1"}}}
	}
	response, err := p.Client.BatchGetVolumes(t.Context(), &cpv1.BatchGetVolumesRequest{
		Context: p.Context(), Volumes: []*cpv1.VolumeRef{volume("csi.acme.example.com"), volume("csi.other"), {Name: "pv"}}, MaxDataAge: durationpb.New(0),
	})
	if err != nil {
		t.Fatal(err)
	}
	results := response.GetResults()
	if results[0].GetVolume().GetId() != "v-1" || results[1].GetNotOwned() == nil || results[2].GetUnknown() == nil {
		t.Errorf("got %v", results)
	}
}

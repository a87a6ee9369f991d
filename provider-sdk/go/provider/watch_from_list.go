package provider

import (
	"context"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// WatchInstancesFromList makes an [Instances.Watch] from a list, for clouds without a change feed: it lists repeatedly
// with this interval, and sends the differences.
func WatchInstancesFromList(list func(context.Context, func(*cpv1.Instance) error) error, every time.Duration,
) func(context.Context, *cpv1.WatchInstancesRequest, func(*cpv1.WatchInstancesResponse) error) error {
	return func(ctx context.Context, request *cpv1.WatchInstancesRequest, send func(*cpv1.WatchInstancesResponse) error) error {
		return watchList(ctx, request, listed[*cpv1.Instance]{
			every: every, list: list, keyOf: (*cpv1.Instance).GetProviderId,
			upsert: func(instance *cpv1.Instance) error {
				return send(&cpv1.WatchInstancesResponse{Event: &cpv1.WatchInstancesResponse_Upsert{Upsert: instance}})
			},
			gone: func(instance *cpv1.Instance, absence *cpv1.Absence) error {
				gone := &cpv1.InstanceGone{ProviderId: instance.GetProviderId(), Absence: absence}
				return send(&cpv1.WatchInstancesResponse{Event: &cpv1.WatchInstancesResponse_Gone{Gone: gone}})
			},
			bookmark: func(bookmark *cpv1.Bookmark) error {
				return send(&cpv1.WatchInstancesResponse{Event: &cpv1.WatchInstancesResponse_Bookmark{Bookmark: bookmark}})
			},
			resync: func(resync *cpv1.ResyncRequired) error {
				return send(&cpv1.WatchInstancesResponse{Event: &cpv1.WatchInstancesResponse_Resync{Resync: resync}})
			},
		})
	}
}

// WatchLoadBalancersFromList makes a [LoadBalancers.Watch] from a list, as [WatchInstancesFromList] does for instances.
func WatchLoadBalancersFromList(list func(context.Context, func(*cpv1.LoadBalancer) error) error, every time.Duration,
) func(context.Context, *cpv1.WatchLoadBalancersRequest, func(*cpv1.WatchLoadBalancersResponse) error) error {
	return func(ctx context.Context, request *cpv1.WatchLoadBalancersRequest, send func(*cpv1.WatchLoadBalancersResponse) error) error {
		return watchList(ctx, request, listed[*cpv1.LoadBalancer]{
			every: every, list: list, keyOf: func(balancer *cpv1.LoadBalancer) string { return balancer.GetService().GetUid() },
			upsert: func(balancer *cpv1.LoadBalancer) error {
				return send(&cpv1.WatchLoadBalancersResponse{Event: &cpv1.WatchLoadBalancersResponse_Upsert{Upsert: balancer}})
			},
			gone: func(balancer *cpv1.LoadBalancer, absence *cpv1.Absence) error {
				gone := &cpv1.LoadBalancerGone{Service: balancer.GetService(), LoadBalancerId: balancer.GetId(), Absence: absence}
				return send(&cpv1.WatchLoadBalancersResponse{Event: &cpv1.WatchLoadBalancersResponse_Gone{Gone: gone}})
			},
			bookmark: func(bookmark *cpv1.Bookmark) error {
				return send(&cpv1.WatchLoadBalancersResponse{Event: &cpv1.WatchLoadBalancersResponse_Bookmark{Bookmark: bookmark}})
			},
			resync: func(resync *cpv1.ResyncRequired) error {
				return send(&cpv1.WatchLoadBalancersResponse{Event: &cpv1.WatchLoadBalancersResponse_Resync{Resync: resync}})
			},
		})
	}
}

// defaultListInterval is for watches made of lists whose vendor gave none: a list must not follow a list at once.
const defaultListInterval = time.Minute

// listed is a kind of objects that can be listed.
type listed[Item proto.Message] struct {
	every    time.Duration
	list     func(context.Context, func(Item) error) error
	keyOf    func(Item) string
	upsert   func(Item) error
	gone     func(Item, *cpv1.Absence) error
	bookmark func(*cpv1.Bookmark) error
	resync   func(*cpv1.ResyncRequired) error
}

func watchList[Item proto.Message](ctx context.Context, request watchRequest, l listed[Item]) error {
	if request.GetResumeToken() != "" {
		return NewError(ReasonResumeTokenExpired, "this provider compares lists and cannot continue after a token; list, then watch with initial events")
	}
	known, complete, err := l.read(ctx)
	if err != nil {
		return err
	}
	every := l.every
	if every <= 0 {
		every = defaultListInterval
	}
	if request.GetSendInitialEvents() {
		for _, item := range known {
			if err := l.upsert(item); err != nil {
				return err
			}
		}
		if err := l.bookmark(&cpv1.Bookmark{InitialEventsEnd: true}); err != nil {
			return err
		}
	}
	if !complete {
		// Objects that become visible later are sent as new; until then the receiver must know that the list is incomplete.
		if err := l.resync(&cpv1.ResyncRequired{Message: "the list could not show everything"}); err != nil {
			return err
		}
	}
	for {
		if err := sleep(ctx, every); err != nil {
			return err
		}
		observed := time.Now()
		found, complete, err := l.read(ctx)
		if err != nil {
			// Nothing is learned from it: the next list sees what this one would have.
			call := CallOf(ctx)
			call.Log.Warn("A list for a watch failed; it is tried again", "error", errorText(err))
			known, _ := classify(err, false, call.RequestID)
			call.recorder.observe(known)
			continue
		}
		if err := l.sendChanges(known, found, complete, observed); err != nil {
			return err
		}
		known = found
	}
}

// read lists everything. What a list that is not complete lacks is not known to be gone.
func (l listed[Item]) read(ctx context.Context) (found map[string]Item, complete bool, err error) {
	call := CallOf(ctx).fork()
	found = map[string]Item{}
	err = l.list(withCall(ctx, call), func(item Item) error {
		found[l.keyOf(item)] = item
		return nil
	})
	return found, len(call.recorder.unread()) == 0 && call.recorder.refusesAbsence(CompleteListMiss) == nil, err
}

// sendChanges sends the differences, and keeps in found what the list could not show.
func (l listed[Item]) sendChanges(known, found map[string]Item, complete bool, observed time.Time) error {
	for key, item := range found {
		if before, ok := known[key]; !ok || !proto.Equal(before, item) {
			if err := l.upsert(item); err != nil {
				return err
			}
		}
	}
	for key, item := range known {
		if _, still := found[key]; still {
			continue
		}
		if !complete {
			found[key] = item
			continue
		}
		if err := l.gone(item, &cpv1.Absence{Basis: CompleteListMiss, ObserveTime: timestamppb.New(observed)}); err != nil {
			return err
		}
	}
	return nil
}

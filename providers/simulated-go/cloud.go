package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
)

// cloud is the way to the simulated cloud's HTTP API.
type cloud struct {
	settings
	client *http.Client
	// known is the account that the key belonged to when it was last checked.
	known atomic.Pointer[string]
}

func newCloud(settings settings) *cloud {
	return &cloud{settings: settings, client: &http.Client{Transport: &provider.Transport{IsRead: isRead}}}
}

// refusal is the body of every answer that is not 2xx.
type refusal struct{ Code, Message, RequestID string }

// evidence is what every answer to a read says of itself.
type evidence struct {
	Account     string
	Consistency string
	ObservedAt  time.Time
	Snapshot    string
	Unreachable struct{ Zones []string }
	// NextPageToken is empty on the last page, and only there is Complete true.
	NextPageToken string
	Complete      bool
}

// reasons is by the cloud's own word first: 403 is a quota as well as a right.
var reasons = map[string]provider.Reason{
	"InvalidRequest":       provider.ReasonFieldInvalid,
	"InvalidId":            provider.ReasonProviderIDMalformed,
	"PortNotPermitted":     provider.ReasonFieldInvalid,
	"NameInUse":            provider.ReasonOperationInProgress,
	"AddressInUse":         provider.ReasonAddressInUse,
	"RouteExists":          provider.ReasonCIDRConflict,
	"InstanceNotFound":     provider.ReasonRouteTargetNotFound,
	"LoadBalancerNotFound": provider.ReasonLoadBalancerNotFound,
	"InvalidState":         provider.ReasonNotReady,
	"ResourceProtected":    provider.ReasonDeletionProtected,
	"RevisionMismatch":     provider.ReasonOperationInProgress,
	"QuotaExceeded":        provider.ReasonQuotaExceeded,
	"AddressPoolExhausted": provider.ReasonQuotaExceeded,
}

// refused is the error of a call or an item that the cloud refused.
type refused struct {
	refusal
	cause error
}

func (r *refused) Error() string { return r.Code + ": " + r.Message }

// Unwrap is what the refusal means in the contract.
func (r *refused) Unwrap() error {
	if reason, ok := reasons[r.Code]; ok {
		options := []provider.ErrorOption{provider.Cause(r.cause)}
		if r.Code == "QuotaExceeded" {
			options = append(options, provider.Quota("account", r.Message))
		}
		return provider.NewError(reason, r.Error(), options...)
	}
	return r.cause
}

func hasCode(err error, codes ...string) bool {
	var refused *refused
	if !errors.As(err, &refused) {
		return false
	}
	for _, code := range codes {
		if refused.Code == code {
			return true
		}
	}
	return false
}

// isRead knows the questions that are too long for a URL.
func isRead(request *http.Request) bool {
	return request.Method == http.MethodGet || strings.HasSuffix(request.URL.Path, "/lookup")
}

// call sends one request and reads its answer.
func (c *cloud) call(ctx context.Context, method, path string, body, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, c.callTimeout)
	defer cancel()
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, content)
	if err != nil {
		return err
	}
	key, err := c.apiKey()
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if failed := provider.CheckResponse(response); failed != nil {
		said := refusal{}
		if json.NewDecoder(response.Body).Decode(&said) != nil || said.Code == "" {
			return failed
		}
		return &refused{refusal: said, cause: failed}
	}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		return provider.NewError(provider.ReasonIncompleteAnswer, method+" "+path+" returned an unreadable response", provider.Cause(err))
	}
	return nil
}

func (c *cloud) account(ctx context.Context) (string, error) {
	var answer struct{ ID string }
	if err := c.call(ctx, http.MethodGet, "/v1/account", nil, &answer); err != nil {
		return "", err
	}
	if answer.ID == "" {
		// Must not pass for another account: the controller would stop all that it does.
		return "", provider.NewError(provider.ReasonIncompleteAnswer, "the cloud did not return the account of the API key")
	}
	c.known.Store(&answer.ID)
	return answer.ID, nil
}

// require refuses an answer about another account than the one that calls are for, and one from a replica that may lag:
// nothing that such an answer lacks is absent from ours.
func (c *cloud) require(answer evidence) error {
	if known := c.known.Load(); known != nil && *known != answer.Account {
		return provider.NewError(provider.ReasonScopeMismatch,
			fmt.Sprintf("the API key now belongs to account %s, this provider works in %s", answer.Account, *known))
	}
	if answer.Consistency != "strong" {
		return provider.NewError(provider.ReasonIncompleteAnswer, "the response came from a replica that may lag: missing objects may exist")
	}
	return nil
}

// outage is why nothing may be concluded from what an answer lacks; nil if all zones could be read.
func (e evidence) outage() error {
	if len(e.Unreachable.Zones) == 0 {
		return nil
	}
	zone := e.Unreachable.Zones[0]
	return provider.NewError(provider.ReasonZoneUnreachable, "the cloud cannot reach zone "+zone, provider.Metadata("zone", zone))
}

const pageSize = 1000

// readAll reads a list page by page. A page that was cut on the way has neither a next page nor the word that it is complete.
func readAll[Page interface{ said() evidence }](ctx context.Context, c *cloud, path string, query url.Values, each func(Page) error) error {
	query.Set("consistent", "true")
	query.Set("pageSize", strconv.Itoa(pageSize))
	for {
		var page Page
		if err := c.call(ctx, http.MethodGet, path+"?"+query.Encode(), nil, &page); err != nil {
			return err
		}
		said := page.said()
		if err := c.require(said); err != nil {
			return err
		}
		for _, zone := range said.Unreachable.Zones {
			provider.CallOf(ctx).Unreachable(zone)
		}
		if said.NextPageToken == "" && !said.Complete && said.outage() == nil {
			return provider.NewError(provider.ReasonIncompleteAnswer, "the cloud's list is not marked as complete")
		}
		if err := each(page); err != nil {
			return err
		}
		if said.NextPageToken == "" {
			provider.CallOf(ctx).ResumeFrom(said.Snapshot)
			return nil
		}
		query.Set("pageToken", said.NextPageToken)
	}
}

func (e evidence) said() evidence { return e }

// Prefix of the provider's ownership tags, which tags of users must not have.
const (
	ownershipPrefix     = "cloudwire.dev/"
	clusterIDTag        = ownershipPrefix + "cluster-id"
	clusterNameTag      = ownershipPrefix + "cluster-name"
	serviceUIDTag       = ownershipPrefix + "service-uid"
	serviceNamespaceTag = ownershipPrefix + "service-namespace"
	serviceNameTag      = ownershipPrefix + "service-name"
	nodeNameTag         = ownershipPrefix + "node-name"
)

func clusterTags(cluster *cpv1.ClusterRef) map[string]string {
	out := map[string]string{clusterIDTag: cluster.GetId()}
	if cluster.GetName() != "" {
		out[clusterNameTag] = cluster.GetName()
	}
	return out
}

// ownership is why an object may not be touched for this cluster; nil if it is this cluster's.
func ownership(kind, id, name string, tags map[string]string, cluster *cpv1.ClusterRef) error {
	owner, isOwned := tags[clusterIDTag]
	switch {
	case owner == cluster.GetId():
		return nil
	case !isOwned:
		return provider.NewError(provider.ReasonNameTaken, fmt.Sprintf("%s %s has the name %s but no ownership tags", kind, id, name),
			provider.Metadata("name", name), provider.Metadata("id", id))
	}
	return provider.NewError(provider.ReasonOwnedByAnotherCluster, fmt.Sprintf("%s %s belongs to cluster %s", kind, id, owner),
		provider.Metadata("owner_cluster_id", owner), provider.Metadata("owner_cluster_name", tags[clusterNameTag]), provider.Metadata("id", id))
}

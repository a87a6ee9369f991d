// Package cloud is the client of your cloud. The API here is made up: put your cloud's in its place, or its own SDK, and keep
// what the rest of the provider calls. Nothing but this package knows how the cloud is spoken to.
package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"cloudwire.dev/provider-sdk/go/provider"
)

// Machine is a machine as the cloud describes it.
type Machine struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Type       string   `json:"type"`
	Zone       string   `json:"zone"`
	Region     string   `json:"region"`
	PrivateIPs []string `json:"privateIps"`
	PublicIPs  []string `json:"publicIps"`
	// Power is on, off or terminated.
	Power string `json:"power"`
}

// Port is one port of a load balancer and where it leads on the nodes.
type Port struct {
	Port     uint32 `json:"port"`
	NodePort uint32 `json:"nodePort"`
}

// BalancerSpec is what is asked of a load balancer.
type BalancerSpec struct {
	Ports     []Port            `json:"ports"`
	TargetIDs []string          `json:"targetIds"`
	Tags      map[string]string `json:"tags"`
}

// Balancer is a load balancer as the cloud describes it. It is ready once it has an address.
type Balancer struct {
	BalancerSpec
	ID   string `json:"id"`
	Name string `json:"name"`
	IP   string `json:"ip,omitempty"`
}

// Client speaks to the cloud of one account.
type Client struct {
	url   string
	token func() (string, error)
	http  *http.Client
}

// New makes a client. The token is asked for at each request, so that a new one is used as soon as it is there.
func New(url string, token func() (string, error)) *Client {
	// The SDK's transport counts requests, retries what is safe to retry, and notices when the cloud is down.
	return &Client{url: url, token: token, http: &http.Client{Transport: &provider.Transport{}}}
}

// AccountID says which account the credentials belong to.
func (c *Client) AccountID(ctx context.Context) (string, error) {
	var account struct {
		ID string `json:"id"`
	}
	err := c.send(ctx, http.MethodGet, "/account", nil, &account)
	return account.ID, err
}

// Machines are those of the machines asked for that there are.
func (c *Client) Machines(ctx context.Context, ids, names []string) ([]Machine, error) {
	query := url.Values{"ids": {strings.Join(ids, ",")}, "names": {strings.Join(names, ",")}}
	page, err := c.machines(ctx, query)
	return page.Machines, err
}

// EachMachine yields all machines of the account, page by page.
func (c *Client) EachMachine(ctx context.Context, yield func(Machine) error) error {
	for token := ""; ; {
		page, err := c.machines(ctx, url.Values{"page": {token}})
		if err != nil {
			return err
		}
		for _, machine := range page.Machines {
			if err := yield(machine); err != nil {
				return err
			}
		}
		if token = page.NextPage; token == "" {
			return nil
		}
	}
}

type machinePage struct {
	Machines []Machine `json:"machines"`
	NextPage string    `json:"nextPage"`
}

func (c *Client) machines(ctx context.Context, query url.Values) (machinePage, error) {
	var page machinePage
	err := c.send(ctx, http.MethodGet, "/machines?"+query.Encode(), nil, &page)
	return page, err
}

// Balancer is the load balancer of that name, nil if it does not exist.
func (c *Client) Balancer(ctx context.Context, name string) (*Balancer, error) {
	// A list with one entry at most: a 404 could as well come from a wrong URL, and would be no proof.
	balancers, err := c.balancers(ctx, url.Values{"name": {name}})
	if err != nil || len(balancers) == 0 {
		return nil, err
	}
	return &balancers[0], nil
}

// BalancersWithTag are all load balancers that have the tag.
func (c *Client) BalancersWithTag(ctx context.Context, key, value string) ([]Balancer, error) {
	return c.balancers(ctx, url.Values{"tag": {key + "=" + value}})
}

func (c *Client) balancers(ctx context.Context, query url.Values) ([]Balancer, error) {
	var list struct {
		LoadBalancers []Balancer `json:"loadBalancers"`
	}
	err := c.send(ctx, http.MethodGet, "/load-balancers?"+query.Encode(), nil, &list)
	return list.LoadBalancers, err
}

// PutBalancer makes the load balancer of that name, or changes it.
func (c *Client) PutBalancer(ctx context.Context, name string, spec BalancerSpec) (*Balancer, error) {
	var balancer Balancer
	err := c.send(ctx, http.MethodPut, "/load-balancers/"+url.PathEscape(name), spec, &balancer)
	return &balancer, err
}

// DeleteBalancer removes the load balancer of that name.
func (c *Client) DeleteBalancer(ctx context.Context, name string) error {
	return c.send(ctx, http.MethodDelete, "/load-balancers/"+url.PathEscape(name), nil, nil)
}

// send makes one request; body and answer may be nil.
func (c *Client) send(ctx context.Context, method, path string, body, answer any) error {
	content, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(content))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	token, err := c.token()
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer func() { _ = response.Body.Close() }()
	// The SDK knows what HTTP's status and Retry-After mean.
	if err := provider.CheckResponse(response); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if answer == nil {
		return nil
	}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

// Package fakecloud is your cloud, as far as the provider calls it, in memory. It speaks HTTP, so that the real client is
// tested.
package fakecloud

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"acme.example.com/acme-provider/internal/cloud"
)

// Token is the token that the fake cloud takes.
const Token = "test-token"

// Cloud is a fake cloud with machines and load balancers.
type Cloud struct {
	server *httptest.Server

	mu        sync.Mutex
	machines  []cloud.Machine
	balancers map[string]cloud.Balancer
	requests  int
	status    int
	address   string
}

// Start makes a fake cloud with these machines.
func Start(machines ...cloud.Machine) *Cloud {
	c := &Cloud{machines: machines, balancers: map[string]cloud.Balancer{}, address: "192.0.2.1"}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /account", c.getAccount)
	mux.HandleFunc("GET /machines", c.getMachines)
	mux.HandleFunc("GET /load-balancers", c.getBalancers)
	mux.HandleFunc("PUT /load-balancers/{name}", c.putBalancer)
	mux.HandleFunc("DELETE /load-balancers/{name}", c.deleteBalancer)
	c.server = httptest.NewServer(c.guard(mux))
	return c
}

// Machine is a machine with everything in its place.
func Machine(id, name string) cloud.Machine {
	return cloud.Machine{
		ID: id, Name: name, Type: "small", Zone: "north-a", Region: "north",
		PrivateIPs: []string{"10.0.0.1"}, PublicIPs: []string{}, Power: "on",
	}
}

// URL is where it is.
func (c *Cloud) URL() string { return c.server.URL }

// Close ends it.
func (c *Cloud) Close() { c.server.Close() }

// Fail makes requests for machines and load balancers be answered with this status; 0 heals it.
func (c *Cloud) Fail(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = status
}

// GiveAddress says which address load balancers get from now on; "" makes them wait for one.
func (c *Cloud) GiveAddress(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.address = address
}

// Requests is how many requests there have been for machines and load balancers.
func (c *Cloud) Requests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests
}

// Balancers are the load balancers that there are, in the order of their names.
func (c *Cloud) Balancers() []cloud.Balancer {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []cloud.Balancer
	for _, balancer := range c.balancers {
		all = append(all, balancer)
	}
	slices.SortFunc(all, func(a, b cloud.Balancer) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// PutBalancer makes or replaces a load balancer behind the provider's back.
func (c *Cloud) PutBalancer(balancer cloud.Balancer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.balancers[balancer.Name] = balancer
}

// guard rejects requests without the token, handles one at a time, and fails those that a test wants to fail.
func (c *Cloud) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer "+Token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if r.URL.Path != "/account" {
			c.requests++
			if c.status != 0 {
				w.WriteHeader(c.status)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func (c *Cloud) getAccount(w http.ResponseWriter, _ *http.Request) {
	write(w, map[string]string{"id": "account-42"})
}

func (c *Cloud) getMachines(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	found := []cloud.Machine{}
	for _, machine := range c.machines {
		if !query.Has("ids") || contains(query.Get("ids"), machine.ID) || contains(query.Get("names"), machine.Name) {
			found = append(found, machine)
		}
	}
	write(w, map[string]any{"machines": found})
}

func contains(list, word string) bool { return slices.Contains(strings.Split(list, ","), word) }

func (c *Cloud) getBalancers(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	key, value, _ := strings.Cut(query.Get("tag"), "=")
	found := []cloud.Balancer{}
	for _, balancer := range c.balancers {
		if balancer.Name == query.Get("name") || (!query.Has("name") && balancer.Tags[key] == value) {
			found = append(found, balancer)
		}
	}
	write(w, map[string]any{"loadBalancers": found})
}

func (c *Cloud) putBalancer(w http.ResponseWriter, r *http.Request) {
	balancer := cloud.Balancer{ID: "lb-" + r.PathValue("name"), Name: r.PathValue("name"), IP: c.address}
	if err := json.NewDecoder(r.Body).Decode(&balancer.BalancerSpec); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	// As targets it takes those machines that there are.
	balancer.TargetIDs = slices.DeleteFunc(balancer.TargetIDs, func(id string) bool {
		return !slices.ContainsFunc(c.machines, func(machine cloud.Machine) bool { return machine.ID == id })
	})
	c.balancers[balancer.Name] = balancer
	write(w, balancer)
}

func (c *Cloud) deleteBalancer(w http.ResponseWriter, r *http.Request) {
	if _, exists := c.balancers[r.PathValue("name")]; !exists {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	delete(c.balancers, r.PathValue("name"))
	w.WriteHeader(http.StatusNoContent)
}

func write(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

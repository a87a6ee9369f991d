package main

import (
	"encoding/json"
	"net/http"
)

// controlOf serves what tests do to the cloud:
//
//	GET    /state            everything
//	GET    /calls            how often each method was called
//	GET    /given            the Service and Nodes that EnsureLoadBalancer was given last
//	PUT    /machines/{name}  a machine; provider ID fake://{name} unless it says otherwise
//	DELETE /machines/{name}
//	DELETE /load-balancers/{name}
//	PUT    /failures/{method}  the body is the message of the error that the method of cloudprovider answers
//	DELETE /failures/{method}
func controlOf(c *cloud) http.Handler {
	mux := http.NewServeMux()
	change := func(pattern string, apply func(*http.Request) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			c.mu.Lock()
			defer c.mu.Unlock()
			if err := apply(r); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			if err := c.state.save(); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			w.WriteHeader(http.StatusNoContent)
		})
	}
	show := func(pattern string, what any) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			c.mu.Lock()
			defer c.mu.Unlock()
			w.Header().Set("Content-Type", "application/json")
			if err := json.NewEncoder(w).Encode(what); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		})
	}
	show("GET /state", &c.state)
	show("GET /calls", c.calls)
	show("GET /given", &c.given)
	change("PUT /machines/{name}", func(r *http.Request) error {
		var put machine
		if err := json.NewDecoder(r.Body).Decode(&put); err != nil {
			return err
		}
		put.Name = r.PathValue("name")
		c.putMachine(put)
		return nil
	})
	change("DELETE /machines/{name}", func(r *http.Request) error {
		delete(c.state.Machines, r.PathValue("name"))
		return nil
	})
	change("DELETE /load-balancers/{name}", func(r *http.Request) error {
		delete(c.state.Balancers, r.PathValue("name"))
		return nil
	})
	change("PUT /failures/{method}", func(r *http.Request) error {
		var message string
		if err := json.NewDecoder(r.Body).Decode(&message); err != nil {
			return err
		}
		c.failures[r.PathValue("method")] = message
		return nil
	})
	change("DELETE /failures/{method}", func(r *http.Request) error {
		delete(c.failures, r.PathValue("method"))
		return nil
	})
	return mux
}

package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// HTTPPort serves what kubelets and Prometheus ask.
type HTTPPort struct {
	listener net.Listener
	server   *http.Server
}

const httpHeaderTimeout = 5 * time.Second

// ListenHTTP serves /livez itself, /readyz and /metrics by these functions.
func ListenHTTP(address string, ready, metrics http.HandlerFunc) (*HTTPPort, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot serve /metrics on %s: %w", address, err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", ready)
	mux.HandleFunc("GET /metrics", metrics)
	out := &HTTPPort{listener: listener, server: &http.Server{Handler: mux, ReadHeaderTimeout: httpHeaderTimeout}}
	go func() {
		// It ends with ErrServerClosed, at Close.
		_ = out.server.Serve(listener)
	}()
	return out, nil
}

// Address is host:port.
func (h *HTTPPort) Address() string { return h.listener.Addr().String() }

// Close waits up to grace for requests in progress.
func (h *HTTPPort) Close(grace time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if h.server.Shutdown(ctx) != nil {
		h.server.Close()
	}
}

package provider

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// httpServer serves what kubelets and Prometheus ask.
type httpServer struct {
	listener net.Listener
	server   *http.Server
}

const httpHeaderTimeout = 5 * time.Second

func serveHTTP(address string, s *service) (*httpServer, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot serve /metrics on %s: %w", address, err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.HandleFunc("GET /metrics", s.serveMetrics)
	out := &httpServer{listener: listener, server: &http.Server{Handler: mux, ReadHeaderTimeout: httpHeaderTimeout}}
	go func() {
		// It ends with ErrServerClosed, at close.
		_ = out.server.Serve(listener)
	}()
	return out, nil
}

// readyz is ready while calls can be expected to work.
func (s *service) readyz(w http.ResponseWriter, _ *http.Request) {
	select {
	case <-s.draining:
		http.Error(w, "draining", http.StatusServiceUnavailable)
		return
	default:
	}
	if s.monitor.ready() {
		fmt.Fprintln(w, "ok")
		return
	}
	w.WriteHeader(http.StatusServiceUnavailable)
	for _, condition := range s.monitor.status().GetConditions() {
		fmt.Fprintf(w, "%s: %s: %s\n", condition.GetType(), condition.GetReason(), condition.GetMessage())
	}
}

func (h *httpServer) close() {
	ctx, cancel := context.WithTimeout(context.Background(), forceGrace)
	defer cancel()
	if h.server.Shutdown(ctx) != nil {
		h.server.Close()
	}
}

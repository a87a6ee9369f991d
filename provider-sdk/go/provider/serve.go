package provider

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"cloudwire.dev/provider-sdk/go/internal/server"
	"cloudwire.dev/provider-sdk/go/internal/server/tlsfiles"
	"cloudwire.dev/provider-sdk/go/internal/server/unixsocket"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
)

// StartError is why a provider cannot be served. Its message contains every problem and its fix.
type StartError struct {
	// Config is true for errors in the definition, the environment or the files, false if the endpoint is unavailable.
	Config bool
	// Problems are one sentence each.
	Problems []string
}

// Error returns all problems, one per line.
func (e *StartError) Error() string { return strings.Join(e.Problems, "\n") }

// ErrSocketLost means that the socket was removed or replaced, so that no client can connect any longer.
var ErrSocketLost = errors.New("the socket was removed or replaced: no client can reach this provider any longer")

const (
	cloudProviderService = "cloudprovider.v1.CloudProvider"
	healthService        = "grpc.health.v1.Health"

	// maxStreamsPerConnection: contract TRN-6 asks for 100; callers have at most 256 calls outstanding (CON-3).
	maxStreamsPerConnection = 256
	defaultDrainTimeout     = 10 * time.Second
	// forceGrace is how long aborted calls have to send their answer before the connections are cut.
	forceGrace        = 250 * time.Millisecond
	socketCheck       = 10 * time.Second
	tlsReloadInterval = 10 * time.Second
	// minClientPing: pings of clients at 330 s or more must be tolerated (contract, TRN-5); here any sensible ones are.
	minClientPing = 10 * time.Second
)

// Server is a running provider.
type Server struct {
	service  *service
	grpc     *grpc.Server
	health   *health.Server
	listener net.Listener
	http     *server.HTTPPort
	log      *slog.Logger

	drainTimeout time.Duration
	force        context.CancelFunc
	stop         context.CancelFunc
	background   sync.WaitGroup
	closeOnce    sync.Once
	ended        chan struct{}
	err          error
}

// Serve serves a provider until ctx ends, and then shuts down gracefully: it sets health to NOT_SERVING, ends watches,
// rejects new calls, waits for calls in progress, and removes the socket.
func Serve(ctx context.Context, definition *Definition, options Options) error {
	server, err := Start(definition, options)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		server.Close()
	case <-server.ended:
	}
	return server.Wait()
}

// Start serves a provider in the background. The error is a [StartError] with every error in the definition, or reports
// that the endpoint is unavailable.
func Start(definition *Definition, options Options) (*Server, error) {
	if options.Log == nil {
		options.Log = slog.Default()
	}
	if options.DrainTimeout == 0 {
		options.DrainTimeout = defaultDrainTimeout
	}
	if problems := shapeProblems(definition); len(problems) > 0 {
		return nil, &StartError{Config: true, Problems: problems}
	}
	place, err := placeOf(options)
	if err != nil {
		return nil, err
	}
	forced, force := context.WithCancel(context.Background())
	served := newService(definition, servicesOn(place), options.Log, forced)
	if problems := factProblems(served.info()); len(problems) > 0 {
		force()
		return nil, &StartError{Config: true, Problems: problems}
	}
	running, stop := context.WithCancel(context.Background())
	s := &Server{
		service: served, log: options.Log, drainTimeout: options.DrainTimeout, force: force, stop: stop, ended: make(chan struct{}),
	}
	if err := s.listen(running, place, options); err != nil {
		stop()
		force()
		return nil, err
	}
	s.run(running)
	return s, nil
}

// placeOf is where to listen; a listener that was given counts as a socket.
func placeOf(options Options) (server.Endpoint, error) {
	if options.Listener != nil {
		return server.Endpoint{Socket: options.Listener.Addr().String()}, nil
	}
	place, err := server.ParseEndpoint(options.Endpoint)
	if err != nil {
		return server.Endpoint{}, &StartError{Config: true, Problems: []string{err.Error()}}
	}
	return place, nil
}

// servicesOn lists the services; TCP has no reflection.
func servicesOn(place server.Endpoint) []string {
	services := []string{cloudProviderService, healthService}
	if place.Socket != "" {
		services = append(services, "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection")
	}
	return services
}

func (s *Server) listen(running context.Context, place server.Endpoint, options Options) error {
	transport, err := s.transport(running, place, options)
	if err != nil {
		return err
	}
	s.buildServer(place, transport)
	switch {
	case options.Listener != nil:
		s.listener = options.Listener
	case place.Socket != "":
		s.listener, err = unixsocket.Listen(place.Socket, options.SocketGroup)
	default:
		s.listener, err = net.Listen("tcp", place.Address())
	}
	var socketError *unixsocket.Error
	if errors.As(err, &socketError) {
		return &StartError{Config: socketError.Config, Problems: []string{socketError.Problem}}
	}
	if err != nil {
		return &StartError{Problems: []string{fmt.Sprintf("cannot listen on tcp://%s: %v", place.Address(), err)}}
	}
	if options.HTTPAddress == "" {
		return nil
	}
	if s.http, err = server.ListenHTTP(options.HTTPAddress, s.service.readyz, s.service.serveMetrics); err != nil {
		s.listener.Close()
		return &StartError{Problems: []string{err.Error()}}
	}
	return nil
}

// transport is how callers prove who they are; nil on a Unix socket, where the directory and the mode say who may connect.
func (s *Server) transport(running context.Context, place server.Endpoint, options Options) (credentials.TransportCredentials, error) {
	named := "tcp://" + place.Address()
	switch {
	case place.Socket != "":
		return nil, nil
	case options.TLS != nil:
		files := tlsfiles.Files{Cert: options.TLS.CertFile, Key: options.TLS.KeyFile, ClientCA: options.TLS.ClientCAFile}
		reloader, err := tlsfiles.New(files, s.log)
		if err != nil {
			return nil, &StartError{Config: true, Problems: strings.Split(err.Error(), "\n")}
		}
		s.background.Go(func() { reloader.Follow(running, tlsReloadInterval) })
		return credentials.NewTLS(reloader.Config()), nil
	case options.InsecureLoopback && place.IsLoopback():
		return nil, nil
	case options.InsecureLoopback:
		return nil, &StartError{Config: true, Problems: []string{named + " is not a loopback address: plaintext is served on loopback only"}}
	}
	return nil, &StartError{Config: true, Problems: []string{named + " needs TLS with client certificates: set CLOUD_PROVIDER_TLS_CERT_FILE, " +
		"CLOUD_PROVIDER_TLS_KEY_FILE and CLOUD_PROVIDER_TLS_CLIENT_CA_FILE, or use a Unix socket"}}
}

func (s *Server) buildServer(place server.Endpoint, transport credentials.TransportCredentials) {
	options := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(int(s.service.limits.GetMaxReceiveBytes())), // checked to fit when the definition was
		grpc.ForceServerCodecV2(server.NewCodec()),
		grpc.MaxConcurrentStreams(maxStreamsPerConnection),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minClientPing, PermitWithoutStream: true}),
	}
	if transport != nil {
		options = append(options, grpc.Creds(transport))
	}
	s.grpc = grpc.NewServer(options...)
	s.grpc.RegisterService(s.service.serviceDesc(), s.service)
	s.health = health.NewServer()
	s.health.SetServingStatus(cloudProviderService, healthpb.HealthCheckResponse_SERVING)
	healthpb.RegisterHealthServer(s.grpc, s.health)
	if place.Socket != "" {
		reflection.Register(s.grpc)
	}
}

// run begins the work in the background. The handshake is served while the cloud is being checked; a cloud that is down must
// not keep the controller from hearing so.
func (s *Server) run(running context.Context) {
	s.background.Go(func() { s.service.monitor.run(running) })
	if socket, ok := s.listener.(*unixsocket.Listener); ok {
		s.background.Go(func() { s.watchSocket(running, socket) })
	}
	go func() {
		if err := s.grpc.Serve(s.listener); err != nil {
			s.log.Error("The server ended", "error", err.Error())
			s.end(err)
		}
	}()
}

// watchSocket looks again and again whether callers can still come.
func (s *Server) watchSocket(running context.Context, socket *unixsocket.Listener) {
	ticker := time.NewTicker(socketCheck)
	defer ticker.Stop()
	for {
		select {
		case <-running.Done():
			return
		case <-ticker.C:
			if !socket.IsOwn() {
				s.log.Error(ErrSocketLost.Error(), "address", s.Address())
				go s.end(ErrSocketLost)
				return
			}
		}
	}
}

// Address is the address of the provider: unix:///run/cloud-provider/provider.sock, 127.0.0.1:9443.
func (s *Server) Address() string {
	if s.listener.Addr().Network() == "unix" {
		return "unix://" + s.listener.Addr().String()
	}
	return s.listener.Addr().String()
}

// HTTPAddress is the address of /livez, /readyz and /metrics, host:port; empty if they are not served.
func (s *Server) HTTPAddress() string {
	if s.http == nil {
		return ""
	}
	return s.http.Address()
}

// BootID is the random ID of this process, as in the handshake.
func (s *Server) BootID() string { return s.service.bootID }

// Wait returns when the provider has closed: nil after [Server.Close], [ErrSocketLost] if it lost its socket.
func (s *Server) Wait() error {
	<-s.ended
	return s.err
}

// Close shuts down the provider gracefully and returns when it has closed. It may be called more than once.
func (s *Server) Close() {
	s.end(nil)
	<-s.ended
}

func (s *Server) end(reason error) {
	s.closeOnce.Do(func() {
		s.err = reason
		s.health.Shutdown()
		s.service.drain()
		s.shutDown()
		s.stop()
		s.force()
		s.background.Wait()
		if s.http != nil {
			s.http.Close(forceGrace)
		}
		close(s.ended)
	})
}

// shutDown gives calls in progress their time, then a moment to say that they were aborted.
func (s *Server) shutDown() {
	stopped := make(chan struct{})
	go func() {
		s.grpc.GracefulStop()
		close(stopped)
	}()
	if within(stopped, s.drainTimeout) {
		return
	}
	s.force()
	if !within(stopped, forceGrace) {
		s.grpc.Stop()
		<-stopped
	}
}

func within(done <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

package provider

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"cloudwire.dev/provider-sdk/go/internal/server"
	"cloudwire.dev/provider-sdk/go/internal/telemetry"
)

// Options of [Serve] and [Start]; nothing is read from the environment.
type Options struct {
	// Endpoint is unix:///absolute/path.sock or tcp://host:port.
	Endpoint string
	// Listener replaces Endpoint, as in tests; it counts as a Unix socket.
	Listener net.Listener
	// SocketGroup is the group of the socket, name or number. Empty: the group of the process.
	SocketGroup string
	// TLS are the files of a TCP endpoint.
	TLS *TLSFiles
	// InsecureLoopback serves plaintext on a loopback TCP address, for development.
	InsecureLoopback bool
	// HTTPAddress, host:port, serves /livez, /readyz and /metrics. Empty: not served.
	HTTPAddress string
	// Log is the logger. Nil: slog.Default.
	Log *slog.Logger
	// DrainTimeout is the maximum time for calls in progress to complete. 0: 10 s.
	DrainTimeout time.Duration
}

// TLSFiles are PEM files: the provider's certificate, its key, and the CA certificates of clients. They are reloaded
// when they change.
type TLSFiles struct {
	// CertFile holds the certificate, leaf first.
	CertFile string
	// KeyFile holds its key.
	KeyFile string
	// ClientCAFile holds the CA certificates of the clients that may call.
	ClientCAFile string
}

// optionsFromEnvironment reads the variables with prefix CLOUD_PROVIDER_ and collects all errors. It ignores others
// with that prefix: Kubernetes sets some.
func optionsFromEnvironment() (Options, *slog.LevelVar, []string) {
	var problems []string
	options := Options{
		Endpoint:    os.Getenv("CLOUD_PROVIDER_ENDPOINT"),
		SocketGroup: os.Getenv("CLOUD_PROVIDER_SOCKET_GROUP"),
		HTTPAddress: os.Getenv("CLOUD_PROVIDER_HTTP_ADDRESS"),
	}
	if _, err := server.ParseEndpoint(options.Endpoint); err != nil {
		problems = append(problems, err.Error())
	}
	level := &slog.LevelVar{}
	if text := os.Getenv("CLOUD_PROVIDER_LOG_LEVEL"); text != "" {
		known, ok := logLevels[text]
		if !ok {
			problems = append(problems, fmt.Sprintf("CLOUD_PROVIDER_LOG_LEVEL is %q; use debug, info, warn or error", text))
		}
		level.Set(known)
	}
	options.Log = telemetry.NewLogger(os.Stderr, level, errorText)
	options.TLS, problems = tlsFromEnvironment(problems)
	switch text := os.Getenv("CLOUD_PROVIDER_INSECURE_LOOPBACK"); text {
	case "", "false":
	case "true":
		options.InsecureLoopback = true
	default:
		problems = append(problems, fmt.Sprintf("CLOUD_PROVIDER_INSECURE_LOOPBACK is %q; use true or false", text))
	}
	return options, level, problems
}

var logLevels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

func tlsFromEnvironment(problems []string) (*TLSFiles, []string) {
	names := []string{"CLOUD_PROVIDER_TLS_CERT_FILE", "CLOUD_PROVIDER_TLS_KEY_FILE", "CLOUD_PROVIDER_TLS_CLIENT_CA_FILE"}
	var missing []string
	for _, name := range names {
		if os.Getenv(name) == "" {
			missing = append(missing, name)
		}
	}
	switch len(missing) {
	case 0:
		return &TLSFiles{CertFile: os.Getenv(names[0]), KeyFile: os.Getenv(names[1]), ClientCAFile: os.Getenv(names[2])}, problems
	case len(names):
		return nil, problems
	}
	return nil, append(problems, "TLS needs "+strings.Join(missing, " and ")+" too")
}

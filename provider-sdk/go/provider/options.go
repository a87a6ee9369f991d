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

// Options say how a provider is served; nothing is read from the environment.
type Options struct {
	// Endpoint is unix:///absolute/path.sock or tcp://host:port.
	Endpoint string
	// Listener takes the place of Endpoint, as in tests; it counts as a Unix socket.
	Listener net.Listener
	// SocketGroup gets the socket, by name or number. Empty: the process's.
	SocketGroup string
	// TLS are the files of a TCP endpoint.
	TLS *TLSFiles
	// InsecureLoopback serves plaintext on a loopback TCP address, for development.
	InsecureLoopback bool
	// HTTPAddress, host:port, serves /livez, /readyz and /metrics. Empty: not at all.
	HTTPAddress string
	// Log gets what there is to say. Nil: slog.Default.
	Log *slog.Logger
	// DrainTimeout is how long calls under way have to end. 0: 10 s.
	DrainTimeout time.Duration
}

// TLSFiles are PEM files: the provider's certificate, its key, and the authorities whose clients may call. They may change at
// any time.
type TLSFiles struct {
	// CertFile holds the certificate, leaf first.
	CertFile string
	// KeyFile holds its key.
	KeyFile string
	// ClientCAFile holds the authorities whose clients may call.
	ClientCAFile string
}

// optionsFromEnvironment reads the variables with prefix CLOUD_PROVIDER_, and everything that is wrong with them. Others of
// that prefix are left alone: Kubernetes makes some.
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

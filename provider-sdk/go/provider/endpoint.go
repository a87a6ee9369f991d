package provider

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path"
	"strconv"
	"strings"
)

// maxSocketPathBytes is the longest path of a Unix socket, sun_path less its final zero.
const maxSocketPathBytes = 107

const endpointExample = "for example unix:///run/cloud-provider/provider.sock"

// endpoint is where a provider listens: a socket, or else a TCP address.
type endpoint struct {
	socket string
	host   string
	port   uint16
}

func (e endpoint) address() string { return net.JoinHostPort(e.host, strconv.Itoa(int(e.port))) }

// isLoopback is true for addresses that never leave the machine.
func (e endpoint) isLoopback() bool {
	if e.host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(e.host)
	return err == nil && address.IsLoopback()
}

// parseEndpoint reads unix:///absolute/path.sock or tcp://host:port, or says what is wrong with it.
func parseEndpoint(text string) (endpoint, error) {
	named := "endpoint " + strconv.Quote(text)
	switch {
	case text == "":
		return endpoint{}, fmt.Errorf("CLOUD_PROVIDER_ENDPOINT is not set: give it a socket, %s", endpointExample)
	case strings.HasPrefix(text, "unix-abstract:"), strings.Contains(text, "\x00"),
		strings.HasPrefix(text, "unix:@"), strings.HasPrefix(text, "unix://@"):
		return endpoint{}, fmt.Errorf("%s: abstract sockets have no permissions; use a file, %s", named, endpointExample)
	case strings.HasPrefix(text, "unix:"):
		return parseUnix(strings.TrimPrefix(strings.TrimPrefix(text, "unix:"), "//"), named)
	case strings.HasPrefix(text, "tcp://"):
		return parseTCP(strings.TrimPrefix(text, "tcp://"), named)
	}
	return endpoint{}, fmt.Errorf("%s is neither unix:///path.sock nor tcp://host:port; %s", named, endpointExample)
}

func parseUnix(socket, named string) (endpoint, error) {
	switch {
	case !path.IsAbs(socket):
		return endpoint{}, fmt.Errorf("%s: the path must be absolute, %s", named, endpointExample)
	case !strings.HasSuffix(socket, ".sock") || path.Base(socket) == ".sock":
		return endpoint{}, fmt.Errorf("%s: the path must end in a name.sock, %s", named, endpointExample)
	case len(socket) > maxSocketPathBytes:
		return endpoint{}, fmt.Errorf("%s: the path has %d bytes, the system takes %d; use a shorter folder",
			named, len(socket), maxSocketPathBytes)
	}
	return endpoint{socket: socket}, nil
}

func parseTCP(address, named string) (endpoint, error) {
	host, portText, err := net.SplitHostPort(address)
	port, portErr := strconv.ParseUint(portText, 10, 16)
	if err != nil || portErr != nil || host == "" {
		return endpoint{}, fmt.Errorf("%s is not tcp://host:port, for example tcp://127.0.0.1:9443", named)
	}
	return endpoint{host: host, port: uint16(port)}, nil
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
	if _, err := parseEndpoint(options.Endpoint); err != nil {
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
	options.Log = newLogger(os.Stderr, level)
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

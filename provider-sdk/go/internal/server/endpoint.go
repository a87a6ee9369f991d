package server

import (
	"fmt"
	"net"
	"net/netip"
	"path"
	"strconv"
	"strings"
)

// maxSocketPathBytes is the longest path of a Unix socket, sun_path less its final zero.
const maxSocketPathBytes = 107

const endpointExample = "for example unix:///run/cloud-provider/provider.sock"

// Endpoint is where a provider listens: a socket, or else a TCP address.
type Endpoint struct {
	Socket string
	Host   string
	Port   uint16
}

// Address is host:port.
func (e Endpoint) Address() string { return net.JoinHostPort(e.Host, strconv.Itoa(int(e.Port))) }

// IsLoopback is true for addresses that never leave the machine.
func (e Endpoint) IsLoopback() bool {
	if e.Host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(e.Host)
	return err == nil && address.IsLoopback()
}

// ParseEndpoint reads unix:///absolute/path.sock or tcp://host:port, or describes its problem.
func ParseEndpoint(text string) (Endpoint, error) {
	named := "endpoint " + strconv.Quote(text)
	switch {
	case text == "":
		return Endpoint{}, fmt.Errorf("CLOUD_PROVIDER_ENDPOINT is not set: give it a socket, %s", endpointExample)
	case strings.HasPrefix(text, "unix-abstract:"), strings.Contains(text, "\x00"),
		strings.HasPrefix(text, "unix:@"), strings.HasPrefix(text, "unix://@"):
		return Endpoint{}, fmt.Errorf("%s: abstract sockets have no permissions; use a file, %s", named, endpointExample)
	case strings.HasPrefix(text, "unix:"):
		return parseUnix(strings.TrimPrefix(strings.TrimPrefix(text, "unix:"), "//"), named)
	case strings.HasPrefix(text, "tcp://"):
		return parseTCP(strings.TrimPrefix(text, "tcp://"), named)
	}
	return Endpoint{}, fmt.Errorf("%s is neither unix:///path.sock nor tcp://host:port; %s", named, endpointExample)
}

func parseUnix(socket, named string) (Endpoint, error) {
	switch {
	case !path.IsAbs(socket):
		return Endpoint{}, fmt.Errorf("%s: the path must be absolute, %s", named, endpointExample)
	case !strings.HasSuffix(socket, ".sock") || path.Base(socket) == ".sock":
		return Endpoint{}, fmt.Errorf("%s: the path must end in a name.sock, %s", named, endpointExample)
	case len(socket) > maxSocketPathBytes:
		return Endpoint{}, fmt.Errorf("%s: the path has %d bytes, the system takes %d; use a shorter directory",
			named, len(socket), maxSocketPathBytes)
	}
	return Endpoint{Socket: socket}, nil
}

func parseTCP(address, named string) (Endpoint, error) {
	host, portText, err := net.SplitHostPort(address)
	port, portErr := strconv.ParseUint(portText, 10, 16)
	if err != nil || portErr != nil || host == "" {
		return Endpoint{}, fmt.Errorf("%s is not tcp://host:port, for example tcp://127.0.0.1:9443", named)
	}
	return Endpoint{Host: host, Port: uint16(port)}, nil
}

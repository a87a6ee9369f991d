package provider_test

import (
	"bytes"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// asProvider makes this test's program a provider.
const asProvider = "TEST_AS_PROVIDER"

func TestMain(m *testing.M) {
	switch os.Getenv(asProvider) {
	case "good":
		provider.Main(machines(nil))
	case "bad":
		provider.Main(&provider.Definition{Name: "Not A Name"})
	}
	os.Exit(m.Run())
}

func socketIn(t *testing.T) string {
	t.Helper()
	// Paths of sockets are short: t.TempDir has the test's name in it.
	directory, err := os.MkdirTemp("", "p")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(directory) })
	return filepath.Join(directory, "p.sock")
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// output is what a program has said so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write takes what the program says.
func (o *output) Write(content []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(content)
}

// String is all of it.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// program starts this test's program as a provider.
func program(t *testing.T, kind string, env ...string) (*exec.Cmd, *output) {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), append(env, asProvider+"="+kind)...)
	said := &output{}
	command.Stderr = said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { command.Process.Kill() })
	return command, said
}

func exitOf(t *testing.T, command *exec.Cmd) int {
	t.Helper()
	_ = command.Wait()
	return command.ProcessState.ExitCode()
}

// answers waits until a server responds on a socket.
func answers(t *testing.T, socket string) {
	t.Helper()
	for range 2000 {
		if connection, err := net.Dial("unix", socket); err == nil {
			connection.Close()
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("no server responds on " + socket)
}

func TestMainServesAndEndsInOrder(t *testing.T) {
	socket := socketIn(t)
	command, _ := program(t, "good", "CLOUD_PROVIDER_ENDPOINT=unix://"+socket)
	answers(t, socket)
	info, err := os.Stat(socket)
	if err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("the socket is %v, %v", info, err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(socket)); len(entries) != 1 {
		t.Errorf("beside the socket lies %v", entries)
	}
	rival, said := program(t, "good", "CLOUD_PROVIDER_ENDPOINT=unix://"+socket)
	if code := exitOf(t, rival); code != 69 || !strings.Contains(said.String(), "another process listens") {
		t.Errorf("a rival ended with %d: %s", code, said)
	}
	command.Process.Signal(syscall.SIGTERM)
	if code := exitOf(t, command); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	if _, err := os.Stat(socket); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
}

func TestMainTurnsDebugOnAndOffAgain(t *testing.T) {
	socket := socketIn(t)
	command, said := program(t, "good", "CLOUD_PROVIDER_ENDPOINT=unix://"+socket, "CLOUD_PROVIDER_LOG_LEVEL=warn")
	answers(t, socket)
	for _, level := range []string{"debug", "warn"} {
		command.Process.Signal(syscall.SIGUSR2)
		want := `"message":"The log level has changed","to":"` + level + `"`
		for range 2000 {
			if strings.Contains(said.String(), want) {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		if !strings.Contains(said.String(), want) {
			t.Fatalf("%s is missing in %s", want, said)
		}
	}
	command.Process.Signal(syscall.SIGTERM)
	if code := exitOf(t, command); code != 0 {
		t.Errorf("it ended with %d", code)
	}
}

func TestMainReplacesAStaleSocket(t *testing.T) {
	socket := socketIn(t)
	command, _ := program(t, "good", "CLOUD_PROVIDER_ENDPOINT=unix://"+socket)
	answers(t, socket)
	command.Process.Kill()
	exitOf(t, command)
	if info, err := os.Stat(socket); err != nil || info.Mode()&fs.ModeSocket == 0 {
		t.Fatalf("the dead process left %v, %v", info, err)
	}
	next, _ := program(t, "good", "CLOUD_PROVIDER_ENDPOINT=unix://"+socket)
	answers(t, socket)
	next.Process.Signal(syscall.SIGTERM)
	if code := exitOf(t, next); code != 0 {
		t.Errorf("it ended with %d", code)
	}
}

func TestMainTellsAllMistakesInPlainLines(t *testing.T) {
	socket := "CLOUD_PROVIDER_ENDPOINT=unix://" + socketIn(t)
	tests := map[string]struct {
		kind string
		env  []string
		want []string
	}{
		"environment": {"good", []string{"CLOUD_PROVIDER_LOG_LEVEL=loud", "CLOUD_PROVIDER_INSECURE_LOOPBACK=1", "CLOUD_PROVIDER_TLS_KEY_FILE=k"},
			[]string{"CLOUD_PROVIDER_ENDPOINT is not set", "CLOUD_PROVIDER_LOG_LEVEL", "TLS needs CLOUD_PROVIDER_TLS_CERT_FILE and CLOUD_PROVIDER_TLS_CLIENT_CA_FILE too", "CLOUD_PROVIDER_INSECURE_LOOPBACK"}},
		"definition":   {"bad", []string{socket}, []string{"Check is required", "Scope is required", "IDPrefixes is required", "nothing is served"}},
		"plain TCP":    {"good", []string{"CLOUD_PROVIDER_ENDPOINT=tcp://127.0.0.1:0"}, []string{"needs TLS with client certificates"}},
		"not loopback": {"good", []string{"CLOUD_PROVIDER_ENDPOINT=tcp://0.0.0.0:0", "CLOUD_PROVIDER_INSECURE_LOOPBACK=true"}, []string{"not a loopback address"}},
		"group":        {"good", []string{socket, "CLOUD_PROVIDER_SOCKET_GROUP=no-such-group"}, []string{"socket group no-such-group is not known"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			command, said := program(t, test.kind, test.env...)
			code := exitOf(t, command)
			for _, want := range test.want {
				if !strings.Contains(said.String(), want) {
					t.Errorf("%q is missing in %s", want, said)
				}
			}
			if code != 78 || strings.Contains(said.String(), "goroutine") {
				t.Errorf("it ended with %d: %s", code, said)
			}
		})
	}
}

func TestStartRefusesEndpointsWithAReason(t *testing.T) {
	directory := filepath.Dir(socketIn(t))
	file := filepath.Join(directory, "file.sock")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for endpoint, want := range map[string]string{
		"unix://@abstract":                                "abstract sockets have no permissions",
		"unix://relative.sock":                            "must be absolute",
		"unix:///x/provider":                              "must end in a name.sock",
		"unix:///x/" + strings.Repeat("x", 120) + ".sock": "use a shorter directory",
		"http://x":                                        "neither unix:///path.sock nor tcp://host:port",
		"unix:///no-such-directory/p.sock":                "does not exist",
		"unix://" + file:                                  "is no socket",
	} {
		server, err := provider.Start(machines(nil), provider.Options{Endpoint: endpoint, Log: discard()})
		if err == nil {
			server.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}

func TestAProviderLeavesASocketThatIsNotItsOwn(t *testing.T) {
	socket := socketIn(t)
	server, err := provider.Start(machines(nil), provider.Options{Endpoint: "unix://" + socket, Log: discard()})
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(socket)
	other, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	server.Close()
	if _, err := os.Stat(socket); err != nil {
		t.Errorf("the other's socket is gone: %v", err)
	}
}

// serveOnSocket serves a provider that knows its scope, and connects to it.
func serveOnSocket(t *testing.T, definition *provider.Definition) (*provider.Server, cpv1.CloudProviderClient) {
	t.Helper()
	server, err := provider.Start(definition, provider.Options{Endpoint: "unix://" + socketIn(t), Log: discard()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	connection, err := grpc.NewClient(server.Address(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	client := cpv1.NewCloudProviderClient(connection)
	for {
		status, err := client.GetProviderStatus(t.Context(), &cpv1.GetProviderStatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if status.GetReady() {
			return server, client
		}
	}
}

func TestHTTPPortTellsLifeReadinessAndFigures(t *testing.T) {
	server, err := provider.Start(machines(nil), provider.Options{Endpoint: "unix://" + socketIn(t), HTTPAddress: "127.0.0.1:0", Log: discard()})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	connection, err := grpc.NewClient(server.Address(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if _, err := cpv1.NewCloudProviderClient(connection).GetProviderStatus(t.Context(), &cpv1.GetProviderStatusRequest{}); err != nil {
		t.Fatal(err)
	}
	get := func(path string) (int, string) {
		response, err := http.Get("http://" + server.HTTPAddress() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		return response.StatusCode, string(body)
	}
	if code, _ := get("/livez"); code != 200 {
		t.Errorf("livez is %d", code)
	}
	for {
		if code, _ := get("/readyz"); code == 200 {
			break
		}
	}
	_, metrics := get("/metrics")
	for _, want := range []string{
		`cloudwire_provider_call_duration_seconds_count{method="GetProviderStatus",code="OK",reason=""} 1`, "cloudwire_provider_ready 1",
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("%s is missing in\n%s", want, metrics)
		}
	}
}

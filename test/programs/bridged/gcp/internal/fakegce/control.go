package fakegce

import (
	"encoding/json"
	"net"
	"net/http"
)

// command is the body of a POST; each path reads what it needs.
type command struct {
	Name    string `json:"name"`
	Failing bool   `json:"failing"`
}

// Control serves what the tests arrange and look at, on loopback, and answers its URL. It ends with the process.
func (c *Cloud) Control() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: c.handler()} //nolint:gosec // loopback, for a test
	go func() { _ = server.Serve(listener) }()
	return "http://" + listener.Addr().String(), nil
}

func (c *Cloud) handler() http.Handler {
	mux := http.NewServeMux()
	handle := func(path string, act func(command) (any, error)) {
		mux.HandleFunc(path, func(response http.ResponseWriter, request *http.Request) {
			var wanted command
			if request.Method == http.MethodPost {
				if err := json.NewDecoder(request.Body).Decode(&wanted); err != nil {
					http.Error(response, err.Error(), http.StatusBadRequest)
					return
				}
			}
			answer, err := act(wanted)
			if err != nil {
				http.Error(response, err.Error(), http.StatusInternalServerError)
				return
			}
			response.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(response).Encode(answer)
		})
	}
	handle("/emulator/state", func(command) (any, error) { return c.State(), nil })
	handle("/emulator/calls", func(command) (any, error) {
		return map[string]int64{"all": c.calls.Load(), "changes": c.changes.Load()}, nil
	})
	handle("/emulator/run", func(command) (any, error) { return c.Run() })
	handle("/emulator/terminate", func(wanted command) (any, error) { return nil, c.Terminate(wanted.Name) })
	handle("/emulator/fail", func(wanted command) (any, error) {
		c.Fail(wanted.Failing)
		return nil, nil
	})
	return mux
}

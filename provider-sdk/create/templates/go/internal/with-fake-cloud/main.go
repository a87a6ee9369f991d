// Command with-fake-cloud runs a command with the fake cloud beside it, and the environment that leads the provider there:
//
//	go run ./internal/with-fake-cloud go run .
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"acme.example.com/acme-provider/internal/fakecloud"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "with-fake-cloud: %v\n", err)
	}
	os.Exit(code)
}

func run(args []string) (int, error) {
	if len(args) == 0 {
		return 2, errors.New("name a command to run")
	}
	directory, err := os.MkdirTemp("", "fake-cloud-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(directory) }()
	tokenFile := filepath.Join(directory, "token")
	if err := os.WriteFile(tokenFile, []byte(fakecloud.Token), 0o600); err != nil {
		return 1, err
	}
	second := fakecloud.Machine("i-2", "node-i-2")
	second.PrivateIPs = []string{"10.0.0.2"}
	cloud := fakecloud.Start(fakecloud.Machine("i-1", "node-i-1"), second)
	defer cloud.Close()
	command := exec.Command(args[0], args[1:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	command.Env = append(os.Environ(), "CLOUD_API_URL="+cloud.URL(), "CLOUD_API_TOKEN_FILE="+tokenFile)
	if err := command.Start(); err != nil {
		return 1, err
	}
	// Ctrl-C goes to both; the command decides when it has ended.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for received := range signals {
			_ = command.Process.Signal(received)
		}
	}()
	var exit *exec.ExitError
	if err := command.Wait(); err != nil && !errors.As(err, &exit) {
		return 1, err
	}
	return command.ProcessState.ExitCode(), nil
}

package provider

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// Exit codes of [Main].
const (
	// exitCrash is for any other failure.
	exitCrash = 1
	// exitUnavailable, EX_UNAVAILABLE: the endpoint cannot be had or was taken away.
	exitUnavailable = 69
	// exitConfig, EX_CONFIG: mistakes in the definition, the environment or the files given.
	exitConfig = 78
)

// sameRequest: terminals and wrappers send one request to end twice.
const sameRequest = 500 * time.Millisecond

// Main serves a provider as the main task of this process, and exits. Configured by the environment:
// CLOUD_PROVIDER_ENDPOINT, CLOUD_PROVIDER_SOCKET_GROUP, CLOUD_PROVIDER_LOG_LEVEL, CLOUD_PROVIDER_TLS_CERT_FILE,
// CLOUD_PROVIDER_TLS_KEY_FILE, CLOUD_PROVIDER_TLS_CLIENT_CA_FILE, CLOUD_PROVIDER_INSECURE_LOOPBACK,
// CLOUD_PROVIDER_HTTP_ADDRESS. SIGUSR2 toggles the log level debug. SIGTERM and SIGINT shut down gracefully, with exit
// code 0; a second one after 500 ms or more exits immediately. Configuration errors are all reported in plain lines,
// with exit code 78; an unavailable endpoint or a removed socket, with exit code 69.
func Main(definition *Definition) {
	os.Exit(run(definition))
}

func run(definition *Definition) int {
	options, level, problems := optionsFromEnvironment()
	if len(problems) > 0 {
		return refuse(definition, &StartError{Config: true, Problems: problems})
	}
	// Before there is anything that a signal would leave behind.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)
	louder := make(chan os.Signal, 1)
	signal.Notify(louder, syscall.SIGUSR2)
	defer signal.Stop(louder)
	go toggleDebug(louder, level, options.Log)
	server, err := Start(definition, options)
	if err != nil {
		return refuse(definition, err)
	}
	options.Log.Info("Serving", "provider", definition.Name, "version", definition.Version, "address", server.Address())
	select {
	case received := <-signals:
		options.Log.Info("Shutting down", "signal", received.String())
	case <-server.ended:
		return exitCode(server.Wait())
	}
	go exitAtSecond(signals)
	server.Close()
	return exitCode(server.Wait())
}

// toggleDebug turns debug on, and off again, until signals end with the process.
func toggleDebug(signals <-chan os.Signal, level *slog.LevelVar, log *slog.Logger) {
	quieter := level.Level()
	if quieter == slog.LevelDebug {
		quieter = slog.LevelInfo
	}
	for range signals {
		next := slog.LevelDebug
		if level.Level() == slog.LevelDebug {
			next = quieter
		}
		level.Set(next)
		log.Log(context.Background(), next, "The log level has changed", "to", strings.ToLower(next.String()))
	}
}

func exitAtSecond(signals <-chan os.Signal) {
	asked := time.Now()
	for range signals {
		if time.Since(asked) >= sameRequest {
			os.Exit(exitCrash)
		}
	}
}

func exitCode(err error) int {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return 0
	case errors.Is(err, ErrSocketLost):
		return exitUnavailable
	}
	return exitCrash
}

// refuse prints configuration errors in plain lines.
func refuse(definition *Definition, err error) int {
	name := "provider"
	if definition != nil && definition.Name != "" {
		name = definition.Name
	}
	failed := &StartError{}
	if !errors.As(err, &failed) {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return exitCrash
	}
	for _, problem := range failed.Problems {
		fmt.Fprintf(os.Stderr, "%s: %s\n", name, problem)
	}
	if failed.Config {
		return exitConfig
	}
	return exitUnavailable
}

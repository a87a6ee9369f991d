package main

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// settings are what the environment says of the cloud; the rest of it is the SDK's.
type settings struct {
	url    string
	apiKey func() (string, error)
	// callTimeout is the longest time of one call of the cloud.
	callTimeout time.Duration
}

const (
	defaultURL         = "http://127.0.0.1:7070"
	defaultCallTimeout = 10 * time.Second
	maxCallTimeout     = 10 * time.Minute
)

// readSettings answers the settings, or everything that is wrong with them.
func readSettings(env func(string) string) (settings, []string) {
	var problems []string
	base := cmp.Or(env("SIMCLOUD_URL"), defaultURL)
	if parsed, err := url.Parse(base); err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		problems = append(problems, fmt.Sprintf("SIMCLOUD_URL %s: must be a URL, such as %s", base, defaultURL))
	}
	key, keyFile := env("SIMCLOUD_API_KEY"), env("SIMCLOUD_API_KEY_FILE")
	if (key == "") == (keyFile == "") {
		problems = append(problems, "give either SIMCLOUD_API_KEY_FILE or SIMCLOUD_API_KEY, the key of an account of the cloud")
	}
	timeout := defaultCallTimeout
	if given := env("SIMCLOUD_CALL_TIMEOUT_MS"); given != "" {
		milliseconds, err := strconv.Atoi(given)
		timeout = time.Duration(milliseconds) * time.Millisecond
		if err != nil || timeout <= 0 || timeout > maxCallTimeout {
			problems = append(problems, fmt.Sprintf(
				"SIMCLOUD_CALL_TIMEOUT_MS %s: must be a whole number of milliseconds, 1 to %d", given, maxCallTimeout.Milliseconds()))
		}
	}
	if len(problems) > 0 {
		return settings{}, problems
	}
	return settings{url: strings.TrimRight(base, "/"), apiKey: keyReader(key, keyFile), callTimeout: timeout}, nil
}

// keyReader reads a file for each request, so that a new key needs no restart.
func keyReader(key, file string) func() (string, error) {
	if file == "" {
		return func() (string, error) { return key, nil }
	}
	return func() (string, error) {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("read the API key: %w", err)
		}
		return strings.TrimSpace(string(content)), nil
	}
}

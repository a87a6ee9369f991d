package main

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"cloudwire.dev/provider-sdk/go/provider"
)

// settings is what the environment says about the cloud. Variables that begin with CLOUD_PROVIDER_ are the SDK's.
type settings struct {
	// url is CLOUD_API_URL.
	url string
	// tokenFile is CLOUD_API_TOKEN_FILE.
	tokenFile string
}

// readSettings reads the settings, or returns every problem with them.
func readSettings(getenv func(string) string) (settings, []string) {
	found := settings{
		url:       strings.TrimSuffix(getenv("CLOUD_API_URL"), "/"),
		tokenFile: getenv("CLOUD_API_TOKEN_FILE"),
	}
	var problems []string
	if parsed, err := url.Parse(found.url); err != nil || parsed.Host == "" {
		problems = append(problems, fmt.Sprintf("CLOUD_API_URL %q: has to be a URL, such as https://api.example.com", found.url))
	}
	if found.tokenFile == "" {
		problems = append(problems, "CLOUD_API_TOKEN_FILE: has to name the file with the token")
	}
	return found, problems
}

// token is what is in the file now: a Secret that is changed is in force with the next request.
func (s settings) token() (string, error) {
	content, err := os.ReadFile(s.tokenFile)
	if err != nil {
		message := fmt.Sprintf("the token cannot be read from %s; is its Secret there, and mounted", s.tokenFile)
		return "", provider.NewError(provider.ReasonCloudCredentialsInvalid, message, provider.Cause(err))
	}
	return strings.TrimSpace(string(content)), nil
}

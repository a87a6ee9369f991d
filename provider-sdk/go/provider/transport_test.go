package provider_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
	"cloudwire.dev/provider-sdk/go/providertest"
)

// cloudOf answers with these statuses, the last one from then on, and counts.
func cloudOf(t *testing.T, statuses ...int) (url string, bodies *[]string) {
	t.Helper()
	var calls atomic.Int32
	bodies = &[]string{}
	cloud := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := min(int(calls.Add(1)), len(statuses)) - 1
		body, _ := io.ReadAll(r.Body)
		*bodies = append(*bodies, string(body))
		w.Header().Set("X-Request-Id", fmt.Sprintf("cloud-%d", calls.Load()))
		w.WriteHeader(statuses[at])
	}))
	t.Cleanup(cloud.Close)
	return cloud.URL, bodies
}

// fetch sends a read through a fresh Transport.
func fetch(ctx context.Context, url, body string) (*http.Response, error) {
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, content)
	if err != nil {
		return nil, err
	}
	response, err := (&http.Client{Transport: &provider.Transport{}}).Do(request)
	if err == nil {
		response.Body.Close()
	}
	return response, err
}

func TestTransportForbidsAbsenceUnlessARetrySucceeds(t *testing.T) {
	tests := map[string]struct {
		statuses  []int
		want      string
		calls     uint32
		throttled bool
	}{
		"a success after 503":   {[]int{503, 200}, "", 2, false},
		"a success after 429":   {[]int{429, 200}, "", 2, true},
		"404 after 503":         {[]int{503, 404}, "CLOUD_UNAVAILABLE", 2, false},
		"404 after 429":         {[]int{429, 404}, "RATE_LIMITED", 2, true},
		"404 at once":           {[]int{404}, "", 1, false},
		"503 again and again":   {[]int{503}, "CLOUD_UNAVAILABLE", 3, false},
		"407, not retried":      {[]int{407}, "INCOMPLETE_ANSWER", 1, false},
		"500, which may pass":   {[]int{500, 200}, "", 2, false},
		"501, which never will": {[]int{501, 200}, "CLOUD_UNAVAILABLE", 1, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			url, _ := cloudOf(t, test.statuses...)
			p := providertest.Start(t, withGet(func(ctx context.Context, _ *cpv1.NodeRef) (provider.InstanceResult, error) {
				if _, err := fetch(ctx, url, ""); err != nil {
					return nil, err
				}
				// A careless provider: whatever was answered, it is no instance.
				return provider.Absent(provider.LookupMiss), nil
			}))
			response, err := p.Client.BatchGetInstances(t.Context(), batch(p, &cpv1.NodeRef{Name: "n", ProviderId: "acme://m-1"}))
			if err != nil {
				t.Fatal(err)
			}
			result, stats := response.GetResults()[0], response.GetStats()
			if result.GetUnknown().GetReason() != test.want || (result.GetAbsent() != nil) != (test.want == "") {
				t.Errorf("got %v, want %q", result, test.want)
			}
			if stats.GetCloudCalls() != test.calls || stats.GetCloudRetries() != test.calls-1 || stats.GetThrottled() != test.throttled {
				t.Errorf("counted %v", stats)
			}
		})
	}
}

func TestTransportSendsTheBodyAgain(t *testing.T) {
	url, bodies := cloudOf(t, 503, 200)
	response, err := fetch(t.Context(), url, "a question")
	if err != nil || response.StatusCode != http.StatusOK || fmt.Sprint(*bodies) != "[a question a question]" {
		t.Errorf("got %v, %v; the cloud read %q", response, err, *bodies)
	}
}

func TestTransportTakesTheProvidersWordForWhatIsARead(t *testing.T) {
	url, bodies := cloudOf(t, 503, 200)
	request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("a question"))
	read := func(*http.Request) bool { return true }
	response, err := (&provider.Transport{IsRead: read}).RoundTrip(request)
	if err != nil || response.StatusCode != http.StatusOK || len(*bodies) != 2 {
		t.Fatalf("got %v, %v; the cloud read %q", response, err, *bodies)
	}
	response.Body.Close()
}

func TestTransportDoesNotRepeatWhatCannotBeReadTwice(t *testing.T) {
	url, bodies := cloudOf(t, 503)
	request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, url, io.MultiReader(strings.NewReader("once")))
	response, err := (&provider.Transport{}).RoundTrip(request)
	if err != nil || response.StatusCode != http.StatusServiceUnavailable || len(*bodies) != 1 {
		t.Fatalf("got %v, %v; the cloud read %q", response, err, *bodies)
	}
	response.Body.Close()
}

func TestStatusFollowsTheHandlersResultForAServerError(t *testing.T) {
	tests := map[string]struct {
		reason provider.Reason
		ready  bool
	}{
		"a full pool": {provider.ReasonQuotaExceeded, true},
		"an outage":   {provider.ReasonCloudUnavailable, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			url, _ := cloudOf(t, 503)
			p := providertest.Start(t, withBalancers(&provider.LoadBalancers{
				Ensure: func(ctx context.Context, _ *provider.EnsureRequest) (provider.LoadBalancerResult, error) {
					if _, err := fetch(ctx, url, ""); err != nil {
						return nil, err
					}
					return nil, provider.NewError(test.reason, "x")
				},
			}))
			if _, err := p.Client.EnsureLoadBalancer(t.Context(), ensureRequest(p, "r-1")); providertest.Reason(err) != test.reason {
				t.Fatalf("got %v", err)
			}
			status, err := p.Client.GetProviderStatus(t.Context(), &cpv1.GetProviderStatusRequest{})
			if err != nil || status.GetReady() != test.ready {
				t.Errorf("the status is %v, %v", status, err)
			}
		})
	}
}

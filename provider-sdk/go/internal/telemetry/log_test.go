package telemetry

import "testing"

func TestLogsShowWhereARequestWent(t *testing.T) {
	const text = `Get "http://10.0.0.1:8080/v1/account?page=2": dial tcp 10.0.0.1:8080: connection refused`
	if got := redactText(text); got != text {
		t.Errorf("got %s", got)
	}
}

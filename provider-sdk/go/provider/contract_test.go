package provider

import (
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/rules"
	"cloudwire.dev/provider-sdk/go/internal/telemetry"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Tests of what has to be the same in every SDK.

func TestReasonsAreThoseOfTheContract(t *testing.T) {
	source, err := os.ReadFile("reasons.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`Reason\w+ Reason = "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	for _, each := range declared {
		if rules.Reasons()[each[1]] == nil {
			t.Errorf("%s is none of the contract", each[1])
		}
	}
	if want := len(cpv1.ErrorReason_name) - 1; len(declared) != want {
		t.Errorf("%d are declared, the contract has %d", len(declared), want)
	}
}

func TestLoadBalancerKeysAreThoseOfEverySDK(t *testing.T) {
	text, err := os.ReadFile("../../../proto/vectors/load-balancer-keys.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct{ ClusterID, ServiceUID, Key string }
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Vectors) == 0 {
		t.Fatal(err)
	}
	for _, vector := range file.Vectors {
		if got := loadBalancerKey(vector.ClusterID, vector.ServiceUID); got != vector.Key {
			t.Errorf("%q and %q make %s, want %s", vector.ClusterID, vector.ServiceUID, got, vector.Key)
		}
	}
}

func TestErrorsStayWithinTheTrailer(t *testing.T) {
	for _, long := range []string{strings.Repeat("x", 9000), strings.Repeat("ü", 9000), strings.Repeat("\xff", 9000), strings.Repeat("%", 9000)} {
		problems := make([]FieldViolation, 200)
		for i := range problems {
			problems[i] = FieldViolation{long, long}
		}
		options := []ErrorOption{
			FieldViolations(problems...), Help(long, long), Quota(long, long), Precondition(long, long, long), Resource(long, long, long),
			Metadata("limit", "7"), Metadata("huge", long), RetryAfter(1),
		}
		reported := NewError(ReasonRateLimited, long, options...).GRPCStatus()
		if size := proto.Size(reported.Proto()); size > maxDetailsBytes {
			t.Errorf("%d bytes", size)
		}
		if len(reported.Details()) < 3 {
			t.Errorf("only %v is left", reported.Details())
		}
		for _, each := range reported.Details() {
			if _, broken := each.(error); broken {
				t.Errorf("a detail is broken: %v", each)
			}
		}
	}
}

// (case A-3)
func TestADelayThatIsNotPositiveCountsAsNone(t *testing.T) {
	for _, asked := range []time.Duration{0, -5 * time.Second} {
		if got := NewError(ReasonCloudUnavailable, "m", RetryAfter(asked)).retryAfter; got != 0 {
			t.Errorf("RetryAfter(%s) sends %s", asked, got)
		}
		if got := NewError(ReasonRateLimited, "m", RetryAfter(asked)).retryAfter; got != defaultRetryAfter {
			t.Errorf("RetryAfter(%s) of a throttled call sends %s", asked, got)
		}
	}
	for _, text := range []string{"0", "-5", "NaN", "-Inf", "soon", "Thu, 01 Jan 1970 00:00:00 GMT"} {
		if got := parseRetryAfter(text, time.Now()); got != 0 {
			t.Errorf("Retry-After: %s is %s", text, got)
		}
	}
	for _, text := range []string{"1e300", "+Inf", "Fri, 31 Dec 9999 23:59:59 GMT"} {
		if got := parseRetryAfter(text, time.Now()); got != maxRetryAfter {
			t.Errorf("Retry-After: %s is %s", text, got)
		}
	}
}

func TestAnAnswerUnderAnotherCloudsPrefixIsNamed(t *testing.T) {
	for id, want := range map[string]string{
		"acme://i-1": "", "acme:///zone/i-1": "", "acme://zone/a://b": "", "acme://aws:///i-1": "has a prefix that is not of this provider", "acme://": "provider_id",
	} {
		problem := answerProblem(&cpv1.Instance{ProviderId: id, Name: "n"})
		if (problem == nil) != (want == "") || (problem != nil && !strings.Contains(problem.message, want)) {
			t.Errorf("%s: %v, want %q", id, problem, want)
		}
	}
}

func TestAnUnknownReasonIsAnInvariant(t *testing.T) {
	err := NewError("NO_SUCH_REASON", "x")
	if err.Reason() != ReasonInvariantBroken || status.Code(err).String() != "Internal" {
		t.Errorf("got %v", err)
	}
	var stated *Error
	if !errors.As(error(NewError(ReasonFieldInvalid, "x", Cause(err))), &stated) || stated.Reason() != ReasonFieldInvalid {
		t.Errorf("got %v", stated)
	}
}

func TestLogsHoldNoSecrets(t *testing.T) {
	var out strings.Builder
	log := telemetry.NewLogger(&out, slog.LevelInfo, errorText)
	log.Info("hello", "apiKey", "canary", "error", errors.New("GET https://user:canary@acme/?token=canary: Bearer canary"))
	if text := out.String(); strings.Contains(text, "canary") || !strings.Contains(text, `"message":"hello"`) || !strings.Contains(text, `"level":"info"`) {
		t.Errorf("got %s", text)
	}
}

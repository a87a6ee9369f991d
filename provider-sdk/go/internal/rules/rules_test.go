package rules

import (
	"testing"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
)

func TestFormatProblem(t *testing.T) {
	tests := []struct {
		format cpv1.FieldFormat
		good   []string
		bad    []string
	}{
		{cpv1.FieldFormat_FIELD_FORMAT_IP, []string{"10.0.0.1", "::1", "::ffff:10.0.0.1"}, []string{"", "10.0.0", "fe80::1%eth0", "010.0.0.1"}},
		{cpv1.FieldFormat_FIELD_FORMAT_CIDR, []string{"10.0.0.0/8", "10.0.0.1/8", "::/0"}, []string{"10.0.0.0", "10.0.0.0/33", "10.0.0.0/08", "::/129"}},
		{cpv1.FieldFormat_FIELD_FORMAT_DNS_NAME, []string{"acme.example.com", "a"}, []string{"", "Acme", "a..b", "-a", "a_b"}},
		{cpv1.FieldFormat_FIELD_FORMAT_PROVIDER_ID, []string{"acme://i-1"}, []string{"acme://", "acme", "://x", "ac me://x"}},
		{cpv1.FieldFormat_FIELD_FORMAT_UNSPECIFIED, []string{"", "anything"}, nil},
	}
	for _, test := range tests {
		for _, text := range test.good {
			if problem := FormatProblem(test.format, text); problem != "" {
				t.Errorf("%s: %s", test.format, problem)
			}
		}
		for _, text := range test.bad {
			if FormatProblem(test.format, text) == "" {
				t.Errorf("%s takes %q", test.format, text)
			}
		}
	}
}

func TestCheckFindsFieldsByTheirPaths(t *testing.T) {
	negative := uint32(101)
	request := &cpv1.EnsureLoadBalancerRequest{
		Context: &cpv1.CallContext{Cluster: &cpv1.ClusterRef{Id: string(make([]byte, 64))}},
		Spec: &cpv1.LoadBalancerSpec{
			Ports:        []*cpv1.ServicePort{{Protocol: 1, Port: 1}, {Protocol: 1, Port: 1 << 20}},
			RequestedIps: []string{"10.0.0.1", "x"}, SourceRanges: &cpv1.SourceRanges{},
			Tags: map[string]string{"k": string(make([]byte, 5000))},
		},
	}
	got := map[string]string{}
	for _, each := range Check(request) {
		got[each.Field] = each.Reason
	}
	want := map[string]string{
		"context.cluster.id": TooLarge, "context.scope_id": Missing, "change": Missing, "service": Missing, "nodes": Missing,
		"spec_fingerprint": Missing, "spec.ports[1].port": Invalid, "spec.requested_ips[1]": Invalid, "spec.source_ranges.cidrs": Missing,
		"spec.tags": TooLarge,
	}
	for field, kind := range want {
		if found, ok := got[field]; !ok || found != kind {
			t.Errorf("%s is %v (%v), want %v", field, found, ok, kind)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %v", got)
	}
	if found := Check(&cpv1.Operation{ProgressPercent: &negative}); len(found) != 2 {
		t.Errorf("got %v", found)
	}
}

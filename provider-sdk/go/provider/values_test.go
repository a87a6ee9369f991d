package provider

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
)

func readVectors[V any](t *testing.T, name string) []V {
	t.Helper()
	text, err := os.ReadFile("../../../proto/vectors/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []V }
	if err := json.Unmarshal(text, &file); err != nil || len(file.Vectors) == 0 {
		t.Fatal(err)
	}
	return file.Vectors
}

// (case N-7)
func TestProviderIDsAreComparedAsInEverySDK(t *testing.T) {
	type vector struct {
		One, Other string
		Same       bool
	}
	for _, v := range readVectors[vector](t, "provider-ids.json") {
		if IsSameInstance(v.One, v.Other) != v.Same || IsSameInstance(v.Other, v.One) != v.Same {
			t.Errorf("%q and %q: want %t", v.One, v.Other, v.Same)
		}
	}
}

// (case S-1)
func TestCIDRsAreWrittenAsInEverySDK(t *testing.T) {
	type vector struct {
		Text      string
		Canonical *string
	}
	for _, v := range readVectors[vector](t, "cidrs.json") {
		want := v.Text
		if v.Canonical != nil {
			want = *v.Canonical
		}
		if got := CanonicalCIDR(v.Text); got != want {
			t.Errorf("%q becomes %q, want %q", v.Text, got, want)
		}
	}
	texts := []string{"2001:DB8:0::/32", "10.1.2.3/8", "2001:db8::/32", "10.0.0.0/8"}
	if got := CanonicalCIDRs(texts); !slices.Equal(got, []string{"10.0.0.0/8", "2001:db8::/32"}) {
		t.Errorf("got %v", got)
	}
	spec := &cpv1.LoadBalancerSpec{SourceRanges: &cpv1.SourceRanges{Cidrs: []string{"10.0.0.0/8"}}}
	if canonicalSpec(spec) != spec || canonicalSpec(nil) != nil {
		t.Error("a canonical spec is copied")
	}
}

// (case N-7)
func TestPrefixesAreFoundInAnyLetterCase(t *testing.T) {
	ids := providerIDs{[]string{"acme://", "acme://eu/"}}
	if prefix, id, mine := ids.parse("ACME://EU/i-1"); prefix != "acme://eu/" || id != "i-1" || !mine {
		t.Errorf("got %q, %q, %t", prefix, id, mine)
	}
	if _, _, mine := ids.parse("acme:/"); mine {
		t.Error("a part of a prefix is none")
	}
}

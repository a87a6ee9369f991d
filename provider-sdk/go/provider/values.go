package provider

import (
	"net/netip"
	"slices"
	"strings"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"google.golang.org/protobuf/proto"
)

// mappedBits is the prefix length of IPv4-mapped IPv6 addresses: ::ffff:0:0/96.
const mappedBits = 96

// IsSameInstance reports whether two provider IDs of one provider name one instance: the contract's rule BAT-6. The scheme and
// the letter case do not count, and an ID may lack the location with which the other one begins.
func IsSameInstance(one, other string) bool {
	left, right := idSegments(one), idSegments(other)
	common := min(len(left), len(right))
	return common > 0 && slices.Equal(left[len(left)-common:], right[len(right)-common:])
}

func idSegments(providerID string) []string {
	if _, path, found := strings.Cut(providerID, "://"); found {
		providerID = path
	}
	return strings.FieldsFunc(strings.ToLower(providerID), func(r rune) bool { return r == '/' })
}

// CanonicalCIDR returns the one way to write a CIDR: host bits cleared, IPv6 shortened, IPv4-mapped IPv6 as IPv4. A text that is
// not a CIDR, such as the ID of a cloud's prefix list, stays as it is. Compare CIDRs in this form only.
func CanonicalCIDR(text string) string {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return text
	}
	if addr := prefix.Addr(); addr.Is4In6() && prefix.Bits() >= mappedBits {
		prefix = netip.PrefixFrom(addr.Unmap(), prefix.Bits()-mappedBits)
	}
	return prefix.Masked().String()
}

// CanonicalCIDRs returns each CIDR once, in the form of [CanonicalCIDR] and in order: equal results mean equal CIDRs.
func CanonicalCIDRs(texts []string) []string {
	out := make([]string, 0, len(texts))
	for _, text := range texts {
		out = append(out, CanonicalCIDR(text))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// canonicalSpec is the spec with canonical source ranges. The request stays as it is: its digest identifies it.
func canonicalSpec(spec *cpv1.LoadBalancerSpec) *cpv1.LoadBalancerSpec {
	given := spec.GetSourceRanges().GetCidrs()
	canonical := CanonicalCIDRs(given)
	if slices.Equal(given, canonical) {
		return spec
	}
	out := proto.CloneOf(spec)
	out.SourceRanges.Cidrs = canonical
	return out
}

// hasPrefix is strings.HasPrefix without regard to letter case.
func hasPrefix(providerID, prefix string) bool {
	return len(providerID) >= len(prefix) && strings.EqualFold(providerID[:len(prefix)], prefix)
}

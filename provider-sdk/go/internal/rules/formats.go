package rules

import (
	"encoding/json"
	"net/netip"
	"regexp"
	"strings"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
)

var (
	dnsLabel   = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$`)
	providerID = regexp.MustCompile(`^[^:/\s]+://\S`)
)

const maxDNSNameBytes = 253

// FormatProblem says what is wrong with a text of this format; empty if nothing.
func FormatProblem(format cpv1.FieldFormat, text string) string {
	fits, wanted := true, ""
	switch format {
	case cpv1.FieldFormat_FIELD_FORMAT_IP:
		fits, wanted = isIP(text), "an IPv4 or IPv6 address"
	case cpv1.FieldFormat_FIELD_FORMAT_CIDR:
		_, fits = ParseCIDR(text)
		wanted = "an address range such as 10.0.0.0/8"
	case cpv1.FieldFormat_FIELD_FORMAT_DNS_NAME:
		fits, wanted = isDNSName(text), "a DNS name in lower case"
	case cpv1.FieldFormat_FIELD_FORMAT_PROVIDER_ID:
		fits, wanted = providerID.MatchString(text), "a provider ID such as acme://i-1"
	}
	if fits {
		return ""
	}
	return Quote(text) + " is not " + wanted
}

func isIP(text string) bool {
	address, err := netip.ParseAddr(text)
	return err == nil && address.Zone() == ""
}

// ParseCIDR reads an address range: address, slash, prefix length. Host bits are allowed, as in Kubernetes.
func ParseCIDR(text string) (netip.Prefix, bool) {
	prefix, err := netip.ParsePrefix(text)
	return prefix, err == nil
}

// isDNSName is true for an RFC 1123 subdomain.
func isDNSName(text string) bool {
	if len(text) > maxDNSNameBytes {
		return false
	}
	for label := range strings.SplitSeq(text, ".") {
		if !dnsLabel.MatchString(label) {
			return false
		}
	}
	return true
}

// maxQuotedRunes bounds values of the peer's inside a message.
const maxQuotedRunes = 64

// Quote is a value of the peer's inside a message: quoted and short.
func Quote(text string) string {
	if runes := []rune(text); len(runes) > maxQuotedRunes {
		text = string(runes[:maxQuotedRunes-1]) + "…"
	}
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return `"?"`
	}
	return strings.TrimSuffix(out.String(), "\n")
}

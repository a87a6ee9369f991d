package rules

import (
	"fmt"
	"slices"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
)

// TargetRule says whether a route must name its target: one to be deleted may point to an instance that is gone.
type TargetRule bool

// The rules.
const (
	TargetRequired TargetRule = true
	TargetOptional TargetRule = false
)

// Routes is what changes of routes must keep to beyond the rules of their fields.
func Routes(routes []*cpv1.Route, claimed *cpv1.RouteCapabilities, target TargetRule) []Violation {
	out := Batch("routes", len(routes), claimed.GetMaxBatchSize())
	for i, route := range routes {
		path := fmt.Sprintf("routes[%d]", i)
		if target == TargetRequired && route.GetTargetProviderId() == "" {
			out = append(out, Violation{Reason: Missing, Field: path + ".target_provider_id", Description: "is required"})
		}
		out = append(out, checkDestination(route, path, claimed)...)
	}
	return out
}

func checkDestination(route *cpv1.Route, path string, claimed *cpv1.RouteCapabilities) []Violation {
	prefix, ok := ParseCIDR(route.GetDestinationCidr())
	if !ok {
		return nil
	}
	family := cpv1.IpFamily_IP_FAMILY_IPV4
	if prefix.Addr().Is6() {
		family = cpv1.IpFamily_IP_FAMILY_IPV6
	}
	problem := ""
	if !slices.Contains(claimed.GetIpFamilies(), family) {
		problem = "is " + familyName(family) + ", which this provider does not route"
	} else if prefix.Masked() != prefix {
		problem = "is " + route.GetDestinationCidr() + ", which has host bits"
	}
	if problem == "" {
		return nil
	}
	return []Violation{{Reason: Invalid, Field: path + ".destination_cidr", Description: problem}}
}

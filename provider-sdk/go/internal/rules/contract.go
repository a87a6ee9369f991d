package rules

import (
	"slices"
	"strings"
	"sync"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

const reasonPrefix = "ERROR_REASON_"

// Reasons holds the rules that the contract states next to its reasons, by reason: FIELD_MISSING.
var Reasons = sync.OnceValue(func() map[string]*cpv1.ReasonRules {
	table := map[string]*cpv1.ReasonRules{}
	values := cpv1.ErrorReason_ERROR_REASON_UNSPECIFIED.Descriptor().Values()
	for i := range values.Len() {
		value := values.Get(i)
		options, ok := value.Options().(*descriptorpb.EnumValueOptions)
		if !ok || !proto.HasExtension(options, cpv1.E_Reason) {
			continue
		}
		if rules, ok := proto.GetExtension(options, cpv1.E_Reason).(*cpv1.ReasonRules); ok {
			table[strings.TrimPrefix(string(value.Name()), reasonPrefix)] = rules
		}
	}
	return table
})

// Method are what the contract says of an RPC.
type Method struct {
	Capability string
	// Mutation is true for a method that may change something.
	Mutation    bool
	reasons     map[string]bool
	itemReasons map[string]bool
}

// commonReasons may be answered by any RPC, cloudReasons by any that asks the cloud (contract, section 4).
var (
	commonReasons = []string{
		"FIELD_MISSING", "FIELD_INVALID", "FIELD_TOO_LARGE", "SCOPE_MISMATCH", "TOO_MANY_CALLS", "CAPABILITY_ABSENT", "UNMAPPED_ERROR",
		"INVARIANT_BROKEN", "DEADLINE_PASSED", "PROVIDER_STARTING", "PROVIDER_DRAINING", "PEER_REFUSED",
	}
	cloudReasons = []string{
		"CLOUD_PERMISSION_DENIED", "RATE_LIMITED", "CLOUD_UNAVAILABLE", "CLOUD_TIMEOUT", "ZONE_UNREACHABLE", "INCOMPLETE_ANSWER",
		"CLOUD_CREDENTIALS_INVALID", "CLOUD_SETUP_INVALID",
	}
)

// Methods holds the rules that the contract states next to its methods.
var Methods = sync.OnceValue(func() map[string]Method {
	table := map[string]Method{}
	methods := cpv1.File_cloudprovider_v1_cloud_provider_proto.Services().Get(0).Methods()
	for i := range methods.Len() {
		method := methods.Get(i)
		options, _ := method.Options().(*descriptorpb.MethodOptions)
		rules, _ := proto.GetExtension(options, cpv1.E_Method).(*cpv1.MethodRules)
		facts := Method{
			Capability: rules.GetCapability(),
			Mutation:   options.GetIdempotencyLevel() != descriptorpb.MethodOptions_NO_SIDE_EFFECTS,
			reasons:    setOf(commonReasons, rules.GetReasons()),
		}
		if rules.GetCallsCloud() {
			facts.reasons = setOf(commonReasons, cloudReasons, rules.GetReasons())
		}
		facts.itemReasons = setOf(commonReasons, cloudReasons, rules.GetItemReasons())
		table[string(method.Name())] = facts
	}
	return table
})

func setOf(groups ...[]string) map[string]bool {
	set := map[string]bool{}
	for _, reason := range slices.Concat(groups...) {
		set[reason] = true
	}
	return set
}

// Permits is true for a reason that the contract lists for an RPC, or for the items of its answers.
func (m Method) Permits(reason string, item bool) bool {
	if item {
		return m.itemReasons[reason]
	}
	return m.reasons[reason]
}

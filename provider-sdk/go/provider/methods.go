package provider

import (
	"slices"
	"sync"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// methodFacts are what the contract says of an RPC.
type methodFacts struct {
	capability string
	// mutation is true for a method that may change something.
	mutation    bool
	reasons     map[Reason]bool
	itemReasons map[Reason]bool
}

// commonReasons may be answered by any RPC, cloudReasons by any that asks the cloud (contract, section 4).
var (
	commonReasons = []Reason{
		ReasonFieldMissing, ReasonFieldInvalid, ReasonFieldTooLarge, ReasonScopeMismatch, ReasonTooManyCalls,
		ReasonCapabilityAbsent, ReasonUnmappedError, ReasonInvariantBroken, ReasonDeadlinePassed, ReasonProviderStarting,
		ReasonProviderDraining, ReasonPeerRefused,
	}
	cloudReasons = []Reason{
		ReasonCloudPermissionDenied, ReasonRateLimited, ReasonCloudUnavailable, ReasonCloudTimeout, ReasonZoneUnreachable,
		ReasonIncompleteAnswer, ReasonCloudCredentialsInvalid,
	}
)

// methodTable holds the rules that the contract states beside its methods.
var methodTable = sync.OnceValue(func() map[string]methodFacts {
	table := map[string]methodFacts{}
	methods := cpv1.File_cloudprovider_v1_cloud_provider_proto.Services().Get(0).Methods()
	for i := range methods.Len() {
		method := methods.Get(i)
		options, _ := method.Options().(*descriptorpb.MethodOptions)
		rules, _ := proto.GetExtension(options, cpv1.E_Method).(*cpv1.MethodRules)
		facts := methodFacts{
			capability: rules.GetCapability(),
			mutation:   options.GetIdempotencyLevel() != descriptorpb.MethodOptions_NO_SIDE_EFFECTS,
			reasons:    reasonSet(commonReasons, words(rules.GetReasons())),
		}
		if rules.GetAsksCloud() {
			facts.reasons = reasonSet(commonReasons, cloudReasons, words(rules.GetReasons()))
		}
		facts.itemReasons = reasonSet(commonReasons, cloudReasons, words(rules.GetItemReasons()))
		table[string(method.Name())] = facts
	}
	return table
})

func words(texts []string) []Reason {
	out := make([]Reason, len(texts))
	for i, text := range texts {
		out[i] = Reason(text)
	}
	return out
}

func reasonSet(groups ...[]Reason) map[Reason]bool {
	set := map[Reason]bool{}
	for _, reason := range slices.Concat(groups...) {
		set[reason] = true
	}
	return set
}

// permitted is the error as it may be told: the contract lists the reasons of each RPC, and a caller acts on them. One that
// does not belong there is a slip of the provider and becomes INVARIANT_BROKEN, which keeps its text. Reasons of a vendor's
// own pass.
func permitted(err *Error, method string, item bool) *Error {
	facts, known := methodTable()[method]
	if !known || err.domain != "" {
		return err
	}
	allowed, what := facts.reasons, method
	if item {
		allowed, what = facts.itemReasons, "an item of "+method
	}
	if allowed[err.Reason()] {
		return err
	}
	return NewError(ReasonInvariantBroken, err.reason+" is no reason of "+what+": "+err.message, Cause(err))
}

package provider

import (
	"fmt"
	"regexp"
	"strings"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/rules"
	"google.golang.org/protobuf/proto"
)

// prefixTwice matches a provider ID whose own part begins with a prefix again, mostly another cloud's; further on in it anything goes.
var prefixTwice = regexp.MustCompile(`^[^:/\s]+://[^:/\s]+://`)

// fieldViolation is one thing wrong with a request.
type fieldViolation struct {
	reason      Reason
	field       string
	description string
	limit       uint32
}

// refusal is the error with all that is wrong with a request; its reason is that of the first. Nil if nothing is.
func refusal(method string, found []fieldViolation) *Error {
	if len(found) == 0 {
		return nil
	}
	problems := make([]FieldProblem, len(found))
	texts := make([]string, len(found))
	for i, each := range found {
		problems[i] = FieldProblem{each.field, each.description}
		texts[i] = each.field + " " + each.description
	}
	message := cutToBytes(method+" is refused: "+strings.Join(texts, "; "), maxMessageBytes)
	options := []ErrorOption{Fields(problems...)}
	if found[0].limit > 0 {
		options = append(options, Metadata("limit", fmt.Sprint(found[0].limit)))
	}
	return NewError(found[0].reason, message, options...)
}

var reasonOfKind = map[rules.Kind]Reason{
	rules.Missing:  ReasonFieldMissing,
	rules.Invalid:  ReasonFieldInvalid,
	rules.TooLarge: ReasonFieldTooLarge,
}

// byRule is what the contract's own rules say of a message.
func byRule(message proto.Message) []fieldViolation {
	found := rules.Check(message)
	out := make([]fieldViolation, len(found))
	for i, each := range found {
		out[i] = fieldViolation{reason: reasonOfKind[each.Kind], field: each.Field, description: each.Description}
	}
	return out
}

// checkRequest is everything wrong with a request: special findings, and those by rule about other fields, because a special
// one says more about the same.
func checkRequest(method string, request proto.Message, special []fieldViolation) *Error {
	fields := map[string]bool{}
	for _, each := range special {
		fields[each.field] = true
	}
	for _, each := range byRule(request) {
		if !fields[each.field] && !isHint(method, each.field) {
			special = append(special, each)
		}
	}
	return refusal(method, special)
}

// isHint is true for class and annotations where they are hints: a bad one never makes the call fail, least of all a
// deletion. Contract: LB-16.
func isHint(method, field string) bool {
	switch method {
	case "GetLoadBalancer", "UpdateLoadBalancerNodes", "DeleteLoadBalancer":
		return field == "class" || strings.HasPrefix(field, "annotations")
	}
	return false
}

// answerProblem is what is wrong with an answer of the provider, as the contract's rules see it; nil if nothing.
func answerProblem(message proto.Message) *Error {
	found := byRule(message)
	if instance, ok := message.(*cpv1.Instance); ok && prefixTwice.MatchString(instance.GetProviderId()) {
		found = append(found, fieldViolation{field: "provider_id", description: fmt.Sprintf(
			"%s has a prefix that is not of this provider; answer the cloud's own id", instance.GetProviderId())})
	}
	if len(found) == 0 {
		return nil
	}
	texts := make([]string, len(found))
	for i, each := range found {
		texts[i] = each.field + " " + each.description
	}
	name := message.ProtoReflect().Descriptor().Name()
	text := fmt.Sprintf("the provider answered a %s that breaks the contract: %s", name, strings.Join(texts, "; "))
	return NewError(ReasonInvariantBroken, cutToBytes(text, maxTextBytes))
}

// checkBatch keeps to the bounds of a batch.
func checkBatch(field string, items int, maxBatchSize uint32) []fieldViolation {
	if items == 0 {
		return []fieldViolation{{reason: ReasonBatchEmpty, field: field, description: "is empty"}}
	}
	if items <= int(maxBatchSize) {
		return nil
	}
	description := fmt.Sprintf("has %d items; at most %d are served at once", items, maxBatchSize)
	return []fieldViolation{{reason: ReasonBatchTooLarge, field: field, description: description, limit: maxBatchSize}}
}

// checkPage: 0 and more is fine, the rest is cut later.
func checkPage(pageSize int32) []fieldViolation {
	if pageSize >= 0 {
		return nil
	}
	description := fmt.Sprintf("is %d; it must not be negative", pageSize)
	return []fieldViolation{{reason: ReasonPageSizeInvalid, field: "page_size", description: description}}
}

// checkWatch: continuing after a token and beginning with everything exclude each other.
func checkWatch(resumeToken string, sendInitialEvents bool) []fieldViolation {
	if resumeToken == "" || !sendInitialEvents {
		return nil
	}
	return []fieldViolation{{
		reason: ReasonFieldInvalid, field: "send_initial_events", description: "is not possible with resume_token",
	}}
}

package rules

import (
	"fmt"
	"regexp"
	"strings"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"google.golang.org/protobuf/proto"
)

// prefixTwice matches a provider ID whose own part begins with a prefix again, mostly another cloud's; further on in it anything goes.
var prefixTwice = regexp.MustCompile(`^[^:/\s]+://[^:/\s]+://`)

// Request is everything wrong with a request: special findings, and those by rule about other fields, because a special
// one says more about the same.
func Request(method string, request proto.Message, special []Violation) []Violation {
	fields := map[string]bool{}
	for _, each := range special {
		fields[each.Field] = true
	}
	for _, each := range Check(request) {
		if !fields[each.Field] && !isHint(method, each.Field) {
			special = append(special, each)
		}
	}
	return special
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

// Answer are the problems of an answer of the provider, as the contract's rules see it; empty if nothing.
func Answer(message proto.Message) string {
	found := Check(message)
	if instance, ok := message.(*cpv1.Instance); ok && prefixTwice.MatchString(instance.GetProviderId()) {
		found = append(found, Violation{Field: "provider_id", Description: fmt.Sprintf(
			"%s has a prefix that is not of this provider; answer the cloud's own id", instance.GetProviderId())})
	}
	if len(found) == 0 {
		return ""
	}
	name := message.ProtoReflect().Descriptor().Name()
	return fmt.Sprintf("the provider answered a %s that breaks the contract: %s", name, Text(found))
}

// Text is all that is wrong in one line.
func Text(found []Violation) string {
	texts := make([]string, len(found))
	for i, each := range found {
		texts[i] = each.Field + " " + each.Description
	}
	return strings.Join(texts, "; ")
}

// Batch keeps to the bounds of a batch.
func Batch(field string, items int, maxBatchSize uint32) []Violation {
	if items == 0 {
		return []Violation{{Reason: BatchEmpty, Field: field, Description: "is empty"}}
	}
	if items <= int(maxBatchSize) {
		return nil
	}
	description := fmt.Sprintf("has %d items; at most %d are served at once", items, maxBatchSize)
	return []Violation{{Reason: BatchTooLarge, Field: field, Description: description, Limit: maxBatchSize}}
}

// Page takes 0 and more; the rest is cut later.
func Page(pageSize int32) []Violation {
	if pageSize >= 0 {
		return nil
	}
	description := fmt.Sprintf("is %d; it must not be negative", pageSize)
	return []Violation{{Reason: PageSizeInvalid, Field: "page_size", Description: description}}
}

// Watch: continuing after a token and beginning with everything exclude each other.
func Watch(resumeToken string, sendInitialEvents bool) []Violation {
	if resumeToken == "" || !sendInitialEvents {
		return nil
	}
	return []Violation{{Reason: Invalid, Field: "send_initial_events", Description: "is not possible with resume_token"}}
}

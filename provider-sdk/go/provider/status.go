package provider

import (
	"fmt"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/rules"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
)

// errorDomain is that of the contract's reasons.
const errorDomain = "cloudprovider.v1"

const (
	// maxDetailsBytes bounds the serialised details: gRPC's C core refuses trailers above 6.5 kB (contract, section 13).
	maxDetailsBytes = 4096
	// maxTextBytes bounds one text inside the details.
	maxTextBytes     = 512
	maxMetadataBytes = 1024
	maxReasonBytes   = 63
	maxDomainBytes   = 253
	maxFieldBytes    = 317
)

// GRPCStatus is the error as it leaves, within the trailer budget: what helps least goes first, ErrorInfo and RetryInfo stay.
func (e *Error) GRPCStatus() *status.Status {
	out := &spb.Status{Code: int32(e.code), Message: rules.CutToHeaderBytes(e.text(), rules.MaxMessageBytes)} // codes are 0 to 16
	out.Details = e.requiredDetails()
	for _, optional := range e.optionalDetails() {
		out.Details = append(out.Details, optional)
		if proto.Size(out) > maxDetailsBytes {
			out.Details = out.Details[:len(out.Details)-1]
		}
	}
	return status.FromProto(out)
}

func (e *Error) text() string {
	if e.message == "" {
		return e.reason
	}
	return e.message
}

func (e *Error) requiredDetails() []*anypb.Any {
	domain := e.domain
	if domain == "" {
		domain = errorDomain
	}
	details := []*anypb.Any{detail(&errdetails.ErrorInfo{
		Reason:   rules.CutToBytes(e.reason, maxReasonBytes),
		Domain:   rules.CutToBytes(domain, maxDomainBytes),
		Metadata: e.boundedMetadata(),
	})}
	if e.retryAfter > 0 {
		details = append(details, detail(&errdetails.RetryInfo{RetryDelay: durationpb.New(e.retryAfter)}))
	}
	return details
}

// optionalDetails are the most useful first.
func (e *Error) optionalDetails() []*anypb.Any {
	var details []*anypb.Any
	if len(e.fields) > 0 {
		details = append(details, e.badRequest())
	}
	if e.quota != nil {
		details = append(details, detail(&errdetails.QuotaFailure{Violations: []*errdetails.QuotaFailure_Violation{
			{Subject: cutText(e.quota.subject), Description: cutText(e.quota.description)},
		}}))
	}
	if e.condition != nil {
		details = append(details, detail(&errdetails.PreconditionFailure{Violations: []*errdetails.PreconditionFailure_Violation{
			{Type: cutText(e.condition.kind), Subject: cutText(e.condition.subject), Description: cutText(e.condition.description)},
		}}))
	}
	if e.resource != nil {
		details = append(details, detail(&errdetails.ResourceInfo{
			ResourceType: cutText(e.resource.kind), ResourceName: cutText(e.resource.name), Owner: cutText(e.resource.owner),
		}))
	}
	if e.help != nil {
		details = append(details, detail(&errdetails.Help{Links: []*errdetails.Help_Link{
			{Description: cutText(e.help.description), Url: cutText(e.help.url)},
		}}))
	}
	return details
}

func (e *Error) badRequest() *anypb.Any {
	// Room for ErrorInfo and the message beside it.
	const budgetBytes, overheadBytes, descriptionBytes = maxDetailsBytes / 2, 8, 253
	out := &errdetails.BadRequest{}
	used := 0
	for i, problem := range e.fields {
		field, description := rules.CutToBytes(problem.Field, maxFieldBytes), rules.CutToBytes(problem.Description, descriptionBytes)
		used += len(field) + len(description) + overheadBytes
		if used > budgetBytes {
			field, description = "", fmt.Sprintf("and %d more", len(e.fields)-i)
		}
		out.FieldViolations = append(out.FieldViolations, &errdetails.BadRequest_FieldViolation{Field: field, Description: description})
		if used > budgetBytes {
			break
		}
	}
	return detail(out)
}

// boundedMetadata keeps whole entries, in their order, as long as they fit.
func (e *Error) boundedMetadata() map[string]string {
	left := maxMetadataBytes
	kept := map[string]string{}
	for _, entry := range e.metadata {
		value := cutText(entry.value)
		size := len(entry.key) + len(value)
		if size > left {
			continue
		}
		left -= size
		kept[entry.key] = value
	}
	return kept
}

// toItem is the error of one item inside an OK answer.
func (e *Error) toItem() *cpv1.ItemError {
	item := &cpv1.ItemError{
		Code:     int32(e.code), // codes are 0 to 16
		Reason:   rules.CutToBytes(e.reason, maxReasonBytes),
		Message:  rules.CutToBytes(e.text(), rules.MaxMessageBytes),
		Metadata: e.boundedMetadata(),
	}
	if e.domain != errorDomain {
		item.Domain = rules.CutToBytes(e.domain, maxDomainBytes)
	}
	if e.retryAfter > 0 {
		item.RetryAfter = durationpb.New(e.retryAfter)
	}
	if len(e.fields) > 0 {
		item.Field = rules.CutToBytes(e.fields[0].Field, maxFieldBytes)
	}
	return item
}

func cutText(text string) string { return rules.CutToBytes(text, maxTextBytes) }

// detail packs a message; those of this file are valid UTF-8 and always can be.
func detail(message proto.Message) *anypb.Any {
	packed, err := anypb.New(message)
	if err != nil {
		return &anypb.Any{}
	}
	return packed
}

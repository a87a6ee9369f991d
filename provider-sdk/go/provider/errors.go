package provider

import (
	"fmt"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/rules"
	"cloudwire.dev/provider-sdk/go/internal/state"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
)

// Error is the error that a provider returns for a call, or for one item of a batch. The reason determines the gRPC
// code and what the controller does. The message is human-readable: what was tried, on what, what to do. No secrets; at
// most 1 KiB of it is sent.
type Error struct {
	reason     string
	domain     string
	code       codes.Code
	message    string
	fields     []FieldViolation
	retryAfter time.Duration
	metadata   []metadatum
	help       *helpLink
	quota      *violation
	condition  *violation
	resource   *resource
	cause      error
}

// FieldViolation describes one invalid field of a request.
type FieldViolation struct {
	// Field is a path in proto spelling: spec.ports[2].protocol, spec.annotations["acme.example.com/tier"].
	Field string
	// Description says what is invalid and which values are valid.
	Description string
}

type metadatum struct{ key, value string }
type helpLink struct{ description, url string }
type violation struct{ kind, subject, description string }
type resource struct{ kind, name, owner string }

// defaultRetryAfter is used if the contract requires RetryInfo and the cloud returned none.
const defaultRetryAfter = 5 * time.Second

// NewError makes an error with a reason of the contract.
func NewError(reason Reason, message string, options ...ErrorOption) *Error {
	stated, known := rules.Reasons()[string(reason)]
	if !known {
		stated = rules.Reasons()[string(ReasonInvariantBroken)]
		message = fmt.Sprintf("%q is no reason of the contract: %s", string(reason), message)
		reason = ReasonInvariantBroken
	}
	err := &Error{reason: string(reason), code: codes.Code(stated.GetCode()), message: message}
	if stated.GetRetryInfoRequired() {
		err.retryAfter = defaultRetryAfter
	}
	return err.with(options)
}

// NewVendorError makes an error with a vendor-specific reason in UPPER_SNAKE_CASE, for cases that the contract does not
// define. The code determines what the controller does; domain is the vendor's DNS name.
func NewVendorError(domain, reason string, code codes.Code, message string, options ...ErrorOption) *Error {
	return (&Error{reason: reason, domain: domain, code: code, message: message}).with(options)
}

func (e *Error) with(options []ErrorOption) *Error {
	for _, option := range options {
		option(e)
	}
	return e
}

// ErrorOption is an option of [NewError] and [NewVendorError].
type ErrorOption func(*Error)

// Field reports one invalid field of the request, with the message as its description.
func Field(path string) ErrorOption {
	return func(e *Error) { e.fields = append(e.fields, FieldViolation{Field: path, Description: e.message}) }
}

// FieldViolations reports several invalid fields of the request.
func FieldViolations(violations ...FieldViolation) ErrorOption {
	return func(e *Error) { e.fields = append(e.fields, violations...) }
}

// RetryAfter sets the minimum time before a retry. A time that is not positive is none: all callers would retry at the same time.
func RetryAfter(d time.Duration) ErrorOption {
	return func(e *Error) {
		if d > 0 {
			e.retryAfter = d
		}
	}
}

// Metadata adds a machine-readable fact, which also appears in the message; no secrets.
func Metadata(key, value string) ErrorOption {
	return func(e *Error) { e.metadata = append(e.metadata, metadatum{key, value}) }
}

// Help adds a link to further documentation.
func Help(description, url string) ErrorOption {
	return func(e *Error) { e.help = &helpLink{description, url} }
}

// Quota names the exhausted quota, with QUOTA_EXCEEDED.
func Quota(subject, description string) ErrorOption {
	return func(e *Error) { e.quota = &violation{subject: subject, description: description} }
}

// Precondition names the violated precondition, with reasons of FAILED_PRECONDITION.
func Precondition(kind, subject, description string) ErrorOption {
	return func(e *Error) { e.condition = &violation{kind, subject, description} }
}

// Resource names the cloud object that the error refers to; owner may be empty.
func Resource(kind, name, owner string) ErrorOption {
	return func(e *Error) { e.resource = &resource{kind, name, owner} }
}

// Cause sets the underlying error; it is logged and never sent.
func Cause(err error) ErrorOption {
	return func(e *Error) { e.cause = err }
}

// Error returns the reason and the message.
func (e *Error) Error() string { return e.reason + ": " + e.message }

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.cause }

// Reason returns the reason: from the contract's closed list, or vendor-specific.
func (e *Error) Reason() Reason { return Reason(e.reason) }

// Code returns the gRPC code of the reason.
func (e *Error) Code() codes.Code { return e.code }

// forbidsAbsence is true for an error that makes absences invalid: no permission, no cloud, no credentials, deadline
// exceeded, throttled. Contract: ABS-2.
func (e *Error) forbidsAbsence() bool {
	switch e.code {
	case codes.PermissionDenied, codes.Unavailable, codes.Unauthenticated, codes.DeadlineExceeded:
		return true
	}
	return e.Reason() == ReasonRateLimited
}

// refusal returns the error with all violations of a request; its reason is that of the first. Nil if there are none.
func refusal(method string, found []rules.Violation) *Error {
	if len(found) == 0 {
		return nil
	}
	problems := make([]FieldViolation, len(found))
	for i, each := range found {
		problems[i] = FieldViolation{each.Field, each.Description}
	}
	message := rules.CutToBytes(method+" is refused: "+rules.Text(found), rules.MaxMessageBytes)
	options := []ErrorOption{FieldViolations(problems...)}
	if found[0].Limit > 0 {
		options = append(options, Metadata("limit", fmt.Sprint(found[0].Limit)))
	}
	return NewError(Reason(found[0].Reason), message, options...)
}

// checkRequest returns all violations of a request.
func checkRequest(method string, request proto.Message, special []rules.Violation) *Error {
	return refusal(method, rules.Request(method, request, special))
}

// answerProblem returns how a response of the provider violates the contract's rules; nil if it does not.
func answerProblem(message proto.Message) *Error {
	if problem := rules.Answer(message); problem != "" {
		return NewError(ReasonInvariantBroken, rules.CutToBytes(problem, maxTextBytes))
	}
	return nil
}

// permitted returns an error that the RPC may return: the contract lists the reasons of each RPC. Another reason of the
// contract is a bug of the provider and becomes INVARIANT_BROKEN with the same text. Vendor-specific reasons pass.
func permitted(err *Error, method string, item bool) *Error {
	facts, known := rules.Methods()[method]
	if !known || err.domain != "" || facts.Permits(err.reason, item) {
		return err
	}
	what := method
	if item {
		what = "an item of " + method
	}
	return NewError(ReasonInvariantBroken, err.reason+" is no reason of "+what+": "+err.message, Cause(err))
}

// fromRefusal converts the error of a store; nil for nil.
func fromRefusal(refused *state.Refusal) *Error {
	if refused == nil {
		return nil
	}
	var options []ErrorOption
	if refused.Field != "" {
		options = append(options, Field(refused.Field))
	}
	if refused.RetryAfter > 0 {
		options = append(options, RetryAfter(refused.RetryAfter))
	}
	for _, each := range refused.Metadata {
		options = append(options, Metadata(each.Key, each.Value))
	}
	return NewError(Reason(refused.Reason), refused.Message, options...)
}

// stated converts an error of a store to one of the contract; others are unchanged.
func stated(err error) error {
	if refused, ok := err.(*state.Refusal); ok {
		return fromRefusal(refused)
	}
	return err
}

// errorDomain is the domain of the contract's reasons.
const errorDomain = "cloudprovider.v1"

const (
	// maxDetailsBytes bounds the serialized details: gRPC's C core refuses trailers above 6.5 kB (contract, section 13).
	maxDetailsBytes = 4096
	// maxTextBytes bounds one text inside the details.
	maxTextBytes     = 512
	maxMetadataBytes = 1024
	maxReasonBytes   = 63
	maxDomainBytes   = 253
	maxFieldBytes    = 317
)

// GRPCStatus returns the error within the trailer budget: the least useful details are dropped first, never ErrorInfo
// and RetryInfo.
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

// optionalDetails are ordered by usefulness.
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
	// Leaves room for ErrorInfo and the message.
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

// toItem returns the error of one item in an OK response.
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

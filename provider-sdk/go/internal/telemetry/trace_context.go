package telemetry

import (
	"fmt"
	"regexp"
)

var wellFormedRequestID = regexp.MustCompile(`^[\x21-\x7e]{1,128}$`)

// IsRequestID is true for an id that can be taken over into logs and trailers.
func IsRequestID(given string) bool { return wellFormedRequestID.MatchString(given) }

var wellFormedTraceparent = regexp.MustCompile(`^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$`)

// Traceparent is empty for a malformed one: it is ignored, as W3C demands, and never fails a call.
func Traceparent(given string) string {
	parts := wellFormedTraceparent.FindStringSubmatch(given)
	if parts == nil || given[:2] == "ff" || allZero(parts[1]) || allZero(parts[2]) {
		return ""
	}
	return given
}

// ExportedTraceID is empty for a trace that is not sampled, because no backend has it.
func ExportedTraceID(traceparent string) string {
	parts := wellFormedTraceparent.FindStringSubmatch(traceparent)
	if parts == nil {
		return ""
	}
	var flags byte
	if _, err := fmt.Sscanf(parts[3], "%02x", &flags); err != nil || flags&1 == 0 {
		return ""
	}
	return parts[1]
}

func allZero(text string) bool {
	for _, digit := range text {
		if digit != '0' {
			return false
		}
	}
	return true
}

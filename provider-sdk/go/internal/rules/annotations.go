package rules

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
)

// annotationKind is what values an annotation takes.
type annotationKind struct {
	takes  func(value string, schema *cpv1.AnnotationSchema) bool
	wanted string
}

var (
	wholeNumber = regexp.MustCompile(`^-?\d{1,15}$`)
	goDuration  = regexp.MustCompile(`^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+)$`)

	annotationKinds = map[cpv1.AnnotationType]annotationKind{
		cpv1.AnnotationType_ANNOTATION_TYPE_BOOL: {
			func(value string, _ *cpv1.AnnotationSchema) bool { return value == "true" || value == "false" }, "true or false",
		},
		cpv1.AnnotationType_ANNOTATION_TYPE_INTEGER: {
			func(value string, _ *cpv1.AnnotationSchema) bool { return wholeNumber.MatchString(value) }, "a whole number",
		},
		cpv1.AnnotationType_ANNOTATION_TYPE_DURATION: {
			func(value string, _ *cpv1.AnnotationSchema) bool { return goDuration.MatchString(value) }, "a duration such as 1m30s",
		},
		cpv1.AnnotationType_ANNOTATION_TYPE_ENUM: {
			func(value string, schema *cpv1.AnnotationSchema) bool {
				return slices.Contains(schema.GetAllowedValues(), value)
			}, "one of ",
		},
		cpv1.AnnotationType_ANNOTATION_TYPE_CIDR_LIST: {
			func(value string, _ *cpv1.AnnotationSchema) bool {
				return everyItem(value, func(item string) bool { _, ok := ParseCIDR(item); return ok })
			}, "address ranges separated by commas",
		},
		cpv1.AnnotationType_ANNOTATION_TYPE_MAP: {
			func(value string, _ *cpv1.AnnotationSchema) bool {
				return everyItem(value, func(item string) bool { return strings.Contains(item, "=") })
			}, "key=value pairs separated by commas",
		},
	}
)

func everyItem(value string, fits func(string) bool) bool {
	for item := range strings.SplitSeq(value, ",") {
		if !fits(strings.TrimSpace(item)) {
			return false
		}
	}
	return true
}

// checkAnnotations are the problems of the values of annotations that the provider described. Others are none of its
// business.
func checkAnnotations(annotations map[string]string, schemas []*cpv1.AnnotationSchema) []Violation {
	var out []Violation
	for _, schema := range schemas {
		value, given := annotations[schema.GetKey()]
		kind, limited := annotationKinds[schema.GetType()]
		if !given || !limited || kind.takes(value, schema) {
			continue
		}
		wanted := kind.wanted
		if schema.GetType() == cpv1.AnnotationType_ANNOTATION_TYPE_ENUM {
			wanted += strings.Join(schema.GetAllowedValues(), ", ")
		}
		out = append(out, Violation{
			Reason: AnnotationInvalid, Field: "spec.annotations[" + strconv.Quote(schema.GetKey()) + "]",
			Description: "is " + Quote(value) + "; it takes " + wanted,
		})
	}
	return out
}

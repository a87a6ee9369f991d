// Package rules checks messages by the rules that the contract states next to its fields.
package rules

import (
	"fmt"
	"sync"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// The reasons for which requests are refused.
const (
	Missing                 = "FIELD_MISSING"
	Invalid                 = "FIELD_INVALID"
	TooLarge                = "FIELD_TOO_LARGE"
	BatchEmpty              = "BATCH_EMPTY"
	BatchTooLarge           = "BATCH_TOO_LARGE"
	PageSizeInvalid         = "PAGE_SIZE_INVALID"
	PortProtocolUnsupported = "PORT_PROTOCOL_UNSUPPORTED"
	AnnotationInvalid       = "ANNOTATION_INVALID"
	ClassUnsupported        = "CLASS_UNSUPPORTED"
	FeatureUnsupported      = "FEATURE_UNSUPPORTED"
)

// Violation is one rule broken.
type Violation struct {
	// Reason is one of the contract's.
	Reason string
	// Field is its path in proto spelling: spec.ports[2].protocol.
	Field string
	// Description says what is wrong; it follows the path: "is required".
	Description string
	// Limit is the bound that was passed, where the caller can keep to it; 0 if none.
	Limit uint32
}

// maxViolations limits the violations in one response; more would not fit.
const maxViolations = 64

// Check finds every rule that a message breaks.
func Check(message proto.Message) []Violation {
	reflected := message.ProtoReflect()
	checker := &checker{}
	checker.message(compile(reflected.Descriptor()), reflected)
	return checker.found
}

// rule is one field with everything that checking needs.
type rule struct {
	field protoreflect.FieldDescriptor
	name  string
	// rules are those stated next to the field; never nil.
	rules *cpv1.FieldRules
	// inner are those of the message in the field, or of those in the list.
	inner *messageRules
	// choice is true for a member of a oneof: one that is not chosen is no missing field.
	choice bool
}

// messageRules are those of one message, without fields that have none.
type messageRules struct{ fields []rule }

var (
	compileMutex sync.Mutex
	compiled     = map[protoreflect.FullName]*messageRules{}
)

func compile(descriptor protoreflect.MessageDescriptor) *messageRules {
	compileMutex.Lock()
	defer compileMutex.Unlock()
	return compileLocked(descriptor)
}

func compileLocked(descriptor protoreflect.MessageDescriptor) *messageRules {
	if known, ok := compiled[descriptor.FullName()]; ok {
		return known
	}
	out := &messageRules{}
	// Before its fields: messages may hold themselves.
	compiled[descriptor.FullName()] = out
	fields := descriptor.Fields()
	for i := range fields.Len() {
		if compiledRule := compileField(fields.Get(i)); compiledRule.hasWork() {
			out.fields = append(out.fields, compiledRule)
		}
	}
	return out
}

func compileField(field protoreflect.FieldDescriptor) rule {
	stated, ok := proto.GetExtension(field.Options(), cpv1.E_Rules).(*cpv1.FieldRules)
	if !ok || stated == nil {
		stated = &cpv1.FieldRules{}
	}
	oneof := field.ContainingOneof()
	out := rule{field: field, name: string(field.Name()), rules: stated, choice: oneof != nil && !oneof.IsSynthetic()}
	if inner := field.Message(); inner != nil && !field.IsMap() {
		if innerRules := compileLocked(inner); len(innerRules.fields) > 0 || innerRules == compiled[field.ContainingMessage().FullName()] {
			out.inner = innerRules
		}
	}
	return out
}

func (r rule) hasWork() bool {
	stated := r.rules
	return r.inner != nil || stated.GetRequired() || stated.GetMaxBytes() > 0 || stated.GetMaxItems() > 0 ||
		stated.GetMaxTotalBytes() > 0 || stated.Min != nil || stated.Max != nil || stated.GetFormat() != 0
}

// checker gathers violations. Paths are built on the way out, so that what is in order, nearly everything, costs none.
type checker struct{ found []Violation }

func (c *checker) full() bool { return len(c.found) >= maxViolations }

func (c *checker) add(reason, field, format string, args ...any) {
	c.found = append(c.found, Violation{Reason: reason, Field: field, Description: fmt.Sprintf(format, args...)})
}

func (c *checker) message(rules *messageRules, message protoreflect.Message) {
	for i := range rules.fields {
		if c.full() {
			return
		}
		c.field(&rules.fields[i], message)
	}
}

func (c *checker) inner(rules *messageRules, message protoreflect.Message, path func() string) {
	before := len(c.found)
	c.message(rules, message)
	for i := before; i < len(c.found); i++ {
		c.found[i].Field = path() + "." + c.found[i].Field
	}
}

func (c *checker) field(r *rule, message protoreflect.Message) {
	if !message.Has(r.field) {
		c.empty(r, message)
		return
	}
	value := message.Get(r.field)
	switch {
	case r.field.IsMap():
		c.entries(r, value.Map())
	case r.field.IsList():
		c.items(r, value.List())
	case r.field.Message() != nil:
		if r.inner != nil {
			c.inner(r.inner, value.Message(), func() string { return r.name })
		}
	case isZero(r.field, value):
		// Chosen or set explicitly, but empty.
		c.empty(r, message)
	default:
		c.scalar(r, value, r.name)
	}
}

func (c *checker) empty(r *rule, message protoreflect.Message) {
	if r.rules.GetRequired() && !r.choice {
		c.add(Missing, r.name, "is required")
		return
	}
	if r.field.HasPresence() && !message.Has(r.field) || r.field.IsList() || r.field.IsMap() {
		return
	}
	if number, ok := asNumber(r.field, r.field.Default()); ok {
		c.rangeOf(r, number, r.name)
	}
}

func (c *checker) items(r *rule, list protoreflect.List) {
	if c.tooMany(r, list.Len()) || (r.inner == nil && r.rules.GetMaxBytes() == 0 && r.rules.GetFormat() == 0) {
		return
	}
	for i := range list.Len() {
		if c.full() {
			return
		}
		path := func() string { return fmt.Sprintf("%s[%d]", r.name, i) }
		if r.inner != nil {
			c.inner(r.inner, list.Get(i).Message(), path)
		} else if r.field.Message() == nil {
			c.scalarAt(r, list.Get(i), path)
		}
	}
}

func (c *checker) entries(r *rule, entries protoreflect.Map) {
	if c.tooMany(r, entries.Len()) || r.rules.GetMaxTotalBytes() == 0 {
		return
	}
	total := 0
	entries.Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
		total += len(key.String()) + len(value.String())
		return true
	})
	c.bytes(int(r.rules.GetMaxTotalBytes()), total, r.name)
}

func (c *checker) tooMany(r *rule, items int) bool {
	most := int(r.rules.GetMaxItems())
	if most == 0 || items <= most {
		return false
	}
	c.add(TooLarge, r.name, "has %d items; at most %d are allowed", items, most)
	return true
}

func (c *checker) scalar(r *rule, value protoreflect.Value, path string) {
	c.scalarAt(r, value, func() string { return path })
}

func (c *checker) scalarAt(r *rule, value protoreflect.Value, path func() string) {
	switch r.field.Kind() {
	case protoreflect.StringKind:
		text := value.String()
		if most := int(r.rules.GetMaxBytes()); most > 0 && len(text) > most {
			c.bytes(most, len(text), path())
		}
		// An empty item of a list has no format to break but its presence: it is checked like any other text.
		if problem := FormatProblem(r.rules.GetFormat(), text); problem != "" {
			c.add(Invalid, path(), "%s", problem)
		}
	case protoreflect.BytesKind:
		c.bytes(int(r.rules.GetMaxBytes()), len(value.Bytes()), path())
	default:
		if number, ok := asNumber(r.field, value); ok {
			c.rangeOf(r, number, path())
		}
	}
}

func (c *checker) bytes(most, size int, path string) {
	if most > 0 && size > most {
		c.add(TooLarge, path, "has %d bytes; at most %d are allowed", size, most)
	}
}

func (c *checker) rangeOf(r *rule, number int64, path string) {
	if r.rules.Min != nil && number < r.rules.GetMin() {
		c.add(Invalid, path, "is %d; the least is %d", number, r.rules.GetMin())
	}
	if r.rules.Max != nil && number > r.rules.GetMax() {
		c.add(Invalid, path, "is %d; the most is %d", number, r.rules.GetMax())
	}
}

func isZero(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
	switch field.Kind() {
	case protoreflect.StringKind:
		return value.String() == ""
	case protoreflect.BytesKind:
		return len(value.Bytes()) == 0
	default:
		number, ok := asNumber(field, value)
		return ok && number == 0
	}
}

// asNumber is the value of an integer or enum field.
func asNumber(field protoreflect.FieldDescriptor, value protoreflect.Value) (int64, bool) {
	switch field.Kind() {
	case protoreflect.EnumKind:
		return int64(value.Enum()), true
	case protoreflect.Int32Kind, protoreflect.Int64Kind, protoreflect.Sint32Kind, protoreflect.Sint64Kind,
		protoreflect.Sfixed32Kind, protoreflect.Sfixed64Kind:
		return value.Int(), true
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind, protoreflect.Fixed32Kind, protoreflect.Fixed64Kind:
		return int64(min(value.Uint(), 1<<62)), true // bounded on the line itself
	default:
		return 0, false
	}
}

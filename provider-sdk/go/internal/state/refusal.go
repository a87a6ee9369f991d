// Package state keeps what outlives a call: changes that run, node sets, lists that are being read.
package state

import "time"

// Refusal is an error of the contract that a store answers.
type Refusal struct {
	// Reason is one of the contract's.
	Reason, Message string
	// Field is the path of the field that is wrong; may be empty.
	Field string
	// RetryAfter is the least time to wait; 0 leaves it to the reason.
	RetryAfter time.Duration
	// Metadata are facts for machines.
	Metadata []Metadatum
}

// Metadatum is one fact.
type Metadatum struct{ Key, Value string }

// Error is the reason and the message.
func (r *Refusal) Error() string { return r.Reason + ": " + r.Message }

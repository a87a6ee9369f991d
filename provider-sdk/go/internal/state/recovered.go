package state

import (
	"fmt"
	"runtime/debug"
)

// PanicError is a panic of the vendor's code.
type PanicError struct {
	Caught any
	Stack  []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Caught) }

// Recovered makes an error of a panic.
func Recovered[Value any](work func() (Value, error)) (value Value, err error) {
	defer func() {
		if caught := recover(); caught != nil {
			err = &PanicError{Caught: caught, Stack: debug.Stack()}
		}
	}()
	return work()
}

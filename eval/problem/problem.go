// Package problem is an error with a kind and the next thing to type.
package problem

import (
	"errors"
	"fmt"
)

// A Kind is what can be done about an error. The program's exit code follows from it.
type Kind uint8

const (
	Failed      Kind = iota // something did not work; the cause has the details
	Input                   // the input is wrong
	NotFound                // something named does not exist
	Refused                 // safety forbids it: kernel, firewall, a conflicting edit
	Stopped                 // a cap, a usage limit or the owner ended it early
	Busy                    // another process is working on the same thing
	Interrupted             // the owner interrupted it
)

// An Error has the kind of its cause if its own is Failed: see Of.
type Error struct {
	Kind Kind
	Err  error
	Hint string // what to type next, commands in backticks; "" for nothing
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Inputf makes an error of bad input.
func Inputf(hint, format string, args ...any) error {
	return &Error{Input, fmt.Errorf(format, args...), hint}
}

// Refusef makes an error of something that safety forbids.
func Refusef(hint, format string, args ...any) error {
	return &Error{Refused, fmt.Errorf(format, args...), hint}
}

// Stoppedf makes an error of something that ended early and can go on.
func Stoppedf(hint, format string, args ...any) error {
	return &Error{Stopped, fmt.Errorf(format, args...), hint}
}

// Hinted adds a hint to an error; the kind stays the cause's. A nil error stays nil.
func Hinted(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &Error{Failed, err, hint}
}

// Of returns the kind and the hint of err: each from the outermost Error of its
// chain that has one; Failed and "" if none has.
func Of(err error) (kind Kind, hint string) {
	for e := (*Error)(nil); errors.As(err, &e); err = e.Err {
		if kind == Failed {
			kind = e.Kind
		}
		if hint == "" {
			hint = e.Hint
		}
	}
	return kind, hint
}

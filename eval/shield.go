package eval

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/sourcegraph/conc/panics"
)

// A PanicError is a panic of code that was called with somebody else's data: a
// bug, which ends what was under way and nothing else. Its text says where it
// was, and not what was said, which may hold a secret: code that shows Value or
// Stack has to redact them.
type PanicError struct {
	Value any
	Stack []byte
	where string
}

func (e *PanicError) Error() string {
	return "a bug in evolve: panic in " + e.where
}

// Shielded calls f and returns its error, or a *PanicError if f panics. In a
// goroutine of its own a panic would end the process, with its value on stderr
// and nothing saved. Every such goroutine that reads data calls what it does
// through here.
func Shielded(f func() error) (err error) {
	p := panics.Try(func() { err = f() })
	if p == nil {
		return err
	}
	// One that was handed on from another goroutine is reported as it was there.
	for inner, ok := p.Value.(*panics.Recovered); ok; inner, ok = p.Value.(*panics.Recovered) {
		p = inner
	}
	return &PanicError{Value: p.Value, Stack: p.Stack, where: place(p.Callers)}
}

// place names the function that panicked: the first that is neither the
// runtime's nor that of the library which recovered it.
func place(callers []uintptr) string {
	frames := runtime.CallersFrames(callers)
	for {
		f, more := frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") && !strings.Contains(f.Function, "/conc/panics.") {
			return fmt.Sprintf("%s (%s:%d)", f.Function[strings.LastIndexByte(f.Function, '/')+1:], filepath.Base(f.File), f.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}

package eval

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/sourcegraph/conc/panics"
)

// A PanicError is a panic of code that processes data from outside: a bug, which ends
// the current operation and nothing else. Its text gives the place, but not the panic's
// value, which may hold a secret: code that shows Value or Stack has to redact them.
type PanicError struct {
	Value any
	Stack []byte
	where string
}

func (e *PanicError) Error() string {
	return "a bug in evolve: panic in " + e.where
}

// Shielded calls f and returns its error, or a *PanicError if f panics. In a goroutine
// of its own a panic would end the process, with its value on stderr and nothing saved.
// So every goroutine that reads data runs its work through Shielded.
func Shielded(f func() error) (err error) {
	p := panics.Try(func() { err = f() })
	if p == nil {
		return err
	}
	// A panic passed on from another goroutine is reported with its original place.
	for inner, ok := p.Value.(*panics.Recovered); ok; inner, ok = p.Value.(*panics.Recovered) {
		p = inner
	}
	return &PanicError{Value: p.Value, Stack: p.Stack, where: place(p.Callers)}
}

// place names the function that panicked: the first that belongs neither to the runtime
// nor to the library that recovered the panic.
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

package kit

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

const (
	MaxInput = 8 << 20     // bytes of the one JSON value on stdin
	MaxWait  = time.Second // for it to be complete
)

// ReadValue reads one JSON value. It returns as soon as an object, an array or a string is
// complete: agents may leave the pipe open. The error of an empty input wraps io.EOF.
func ReadValue(r io.Reader) (json.RawMessage, error) {
	type result struct {
		raw json.RawMessage
		err error
	}
	done := make(chan result, 1)
	limited := &io.LimitedReader{R: r, N: MaxInput + 1}
	go func() {
		// A panic outside the main goroutine would end the process with the exit code
		// that blocks.
		defer func() {
			if p := recover(); p != nil {
				done <- result{err: fmt.Errorf("panic: %v", p)}
			}
		}()
		var raw json.RawMessage
		err := json.NewDecoder(limited).Decode(&raw)
		if limited.N <= 0 && err != nil {
			err = fmt.Errorf("it is longer than %d bytes", MaxInput)
		}
		done <- result{raw, err}
	}()
	timer := time.NewTimer(MaxWait)
	defer timer.Stop()
	select {
	case got := <-done:
		if got.err != nil {
			return nil, fmt.Errorf("read input: %w", got.err)
		}
		return got.raw, nil
	case <-timer.C:
		return nil, fmt.Errorf("read input: not complete after %v", MaxWait)
	}
}

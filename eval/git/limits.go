package git

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// limits bound what git may use for a repository, because one can demand a lot: a tree
// of 6 MB can unpack to 6 GB, and a file system can stop answering.
type limits struct {
	alloc  int64         // bytes that git may allocate at once (GIT_ALLOC_LIMIT)
	data   uint64        // bytes of memory of one git, on systems that can limit it
	output int           // bytes that Output returns
	answer time.Duration // for one command, one object, or one part of it
	total  time.Duration // that one Objects waits for git
}

// defaults let git build any file of a recorded workspace, whose files have at most 512
// MiB together: a file stored as a difference is in memory together with its base.
var defaults = limits{alloc: 528 << 20, data: 3 << 29, output: 32 << 20, answer: time.Minute, total: 30 * time.Minute}

// ErrSlow means that git, or a file system, did not answer in time.
var ErrSlow = errors.New("no answer in time")

// ErrOutput means that git printed more than Output returns.
var ErrOutput = errors.New("it prints more than is read of it")

// grace is how long a killed git may take to end. One that waits for a file system may
// not end at all; then it is no longer waited for.
const grace = 5 * time.Second

// within returns what f returns, or ErrSlow if that takes longer than limit; then f's
// ctx ends. If f returns later nevertheless, drop gets its result.
func within[T any](ctx context.Context, limit time.Duration, f func(context.Context) (T, error), drop func(T)) (T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w (%v)", ErrSlow, limit))
	type result struct {
		value T
		err   error
	}
	ended := make(chan result, 1)
	go func() {
		value, err := f(ctx)
		ended <- result{value, err}
	}()
	select {
	case r := <-ended:
		if r.err != nil && ctx.Err() != nil { // both are ready: the reason is the limit, not what f made of it
			r.err = context.Cause(ctx)
		}
		cancel()
		return r.value, r.err
	case <-ctx.Done():
	}
	var none T
	cause := context.Cause(ctx)
	cancel()
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case r := <-ended:
		drop(r.value)
	case <-late.C:
		go func() { drop((<-ended).value) }()
	}
	return none, cause
}

// A capped keeps the first bytes that are written to it.
type capped struct {
	bytes []byte
	limit int
	stop  bool // fail a write beyond the limit, so that the program ends
	full  bool
}

func (c *capped) Write(p []byte) (int, error) {
	n := min(len(p), c.limit-len(c.bytes))
	c.bytes = append(c.bytes, p[:n]...)
	if n < len(p) {
		c.full = true
		if c.stop {
			return n, ErrOutput
		}
	}
	return len(p), nil
}

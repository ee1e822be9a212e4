package harvest

import (
	"context"
	"errors"
	"io"
	"time"
)

// maxReading is how long one transcript may be read. Redaction takes seconds for a megabyte of
// some texts, so that without a limit one file could take all night.
const maxReading = 2 * time.Minute

// ErrSlow is why nothing of a transcript is kept that took too long. It is tried again by the
// next harvest: perhaps the machine was busy.
var ErrSlow = errors.New("it takes longer than 2 minutes to read: left out")

// InTime calls read with a context that ends in time, and with options by which a Draft
// notices the end. Its error is read's, ctx's if that has ended, since then texts may be
// missing, or ErrSlow if the time was not enough.
func InTime(ctx context.Context, o Options, read func(context.Context, Options) error) error {
	limit := o.MaxReading
	if limit == 0 {
		limit = maxReading
	}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	o.late = func() bool { return within.Err() != nil }
	err := read(within, o)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if within.Err() != nil {
		return ErrSlow
	}
	return err
}

// Transcript is k.Read in time: its error is ctx's, or ErrSlow.
func (k Kind) Transcript(ctx context.Context, r io.Reader, file string, o Options) (s *Session, problems []Problem, err error) {
	err = InTime(ctx, o, func(ctx context.Context, o Options) (err error) {
		s, problems, err = k.Read(ctx, r, file, o)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return s, problems, nil
}

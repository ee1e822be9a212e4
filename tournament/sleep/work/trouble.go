package work

import (
	"context"
	"errors"
	"syscall"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/lock"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// aboutTask marks an error that may be about its task alone: any that the
// next task would not meet as well.
func aboutTask(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || concernsAll(err) ||
		errors.As(err, new(*sleep.Hopeless)) || errors.As(err, new(*sleep.Overtaken)) {
		return err
	}
	t := &sleep.Trouble{Kind: "other", Err: err}
	var infra *eval.InfraError
	if errors.As(err, &infra) {
		t.Kind = string(infra.Kind)
		t.Common = infra.Kind == eval.Unreachable || infra.Kind == eval.Auth || infra.Kind == eval.RateLimited
	}
	return t
}

// concernsAll reports whether an error ends a night: an error of its lease,
// the store or the disk, a subscription's limit, answers that others have to
// give, or its owner's Ctrl-C.
func concernsAll(err error) bool {
	for _, is := range []error{context.Canceled, lock.ErrLost, store.ErrLeaseLost, store.ErrClosed, store.ErrReadOnly, syscall.ENOSPC, syscall.EROFS} {
		if errors.Is(err, is) {
			return true
		}
	}
	var infra *eval.InfraError
	if errors.As(err, &infra) && (infra.Kind == eval.UsageLimit || infra.Kind == eval.Pending) {
		return true
	}
	return errors.As(err, new(*store.NewerError)) || errors.As(err, new(*store.CorruptError)) ||
		errors.As(err, new(*store.FullError)) || errors.As(err, new(*store.LostError))
}

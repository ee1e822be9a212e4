package second

import (
	"context"
	"fmt"

	"github.com/skill-evolve/evolve/eval"
)

// A Recalled model is not asked again what it has answered in another run.
type Recalled struct {
	*eval.Metered
	// Elsewhere is a reply in any run by its key, nil if there is none.
	Elsewhere func(ctx context.Context, key string) (*eval.Completion, error)
}

// Complete returns a reply of another run, which costs this one nothing, unless this run has
// one of its own, which is on its bill.
func (m Recalled) Complete(ctx context.Context, p eval.Prompt) (eval.Completion, error) {
	key := m.Key(p)
	own, err := m.Recorder.Completion(ctx, key)
	if err == nil && own == nil && m.Elsewhere != nil {
		if own, err = m.Elsewhere(ctx, key); own != nil {
			return *own, nil
		}
	}
	if err != nil {
		return eval.Completion{}, fmt.Errorf("look up the second reader's reply: %w", err)
	}
	return m.Metered.Complete(ctx, p)
}

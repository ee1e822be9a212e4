package harvest

import "context"

// A Memory keeps what a model made of recorded text, by a hash of all that it
// was asked: nobody pays twice for an answer, and not for a useless one either.
// It must be safe for concurrent use.
type Memory interface {
	// Recall returns what is kept under key, nil if nothing is.
	Recall(ctx context.Context, key string) ([]byte, error)
	// Remember keeps answer under key, in the place of what was there. It goes
	// when the session, whose text the answer may quote, is purged.
	Remember(ctx context.Context, session, key string, answer []byte) error
}

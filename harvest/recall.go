package harvest

import "context"

// A Memory keeps a model's replies about recorded text, usable or not, by a hash of the
// whole request, so that none is paid for twice. It must be safe for concurrent use.
type Memory interface {
	// Recall returns what is kept under key, nil if nothing is.
	Recall(ctx context.Context, key string) ([]byte, error)
	// Remember keeps answer under key and replaces what was there. It is purged with
	// the session, whose text the answer may quote.
	Remember(ctx context.Context, session, key string, answer []byte) error
}

// GroupKey begins the keys of answers about rules. Those of rules that are in one group are
// the same; each may quote the sessions of all of them, so they are purged together.
const GroupKey = "rule/"

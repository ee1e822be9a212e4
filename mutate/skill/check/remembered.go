package check

import "sync"

// A remembered caches a result for each sentence: a search checks hundreds of
// texts that have nearly all sentences in common. It has two generations, and
// drops the older one when the younger is full. The zero value is ready, and
// safe for concurrent use.
type remembered[V any] struct {
	mu         sync.RWMutex
	young, old map[string]V
}

const (
	rememberedSentences = 1024 // a generation
	rememberedLength    = 1024 // of a sentence: longer ones do not come again
)

// of is find(s), cached; callers must not change the result.
func (r *remembered[V]) of(s string, find func(string) V) V {
	if len(s) > rememberedLength {
		return find(s)
	}
	r.mu.RLock()
	v, young := r.young[s]
	known := young
	if !young {
		v, known = r.old[s]
	}
	r.mu.RUnlock()
	if young {
		return v
	}
	if !known {
		v = find(s)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.young == nil || len(r.young) >= rememberedSentences {
		r.young, r.old = map[string]V{}, r.young
	}
	r.young[s] = v
	return v
}

package work

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/skill-evolve/evolve/tournament/sleep"
)

// unmined names the stored uses of a skill, by a hash over them, if no night
// has made cases of them yet; "" if one has. A harvest brings uses of every
// skill, and a night may have been about some of them only.
func (s *Worker) unmined(ctx context.Context, name string) (mark string, err error) {
	uses, err := s.Store.Invocations(ctx, name)
	if err != nil {
		return "", err
	}
	for i := range uses { // what expires makes no new use
		u := &uses[i]
		u.Path, u.Dir, u.Feedback.Evidence = "", "", ""
	}
	raw, err := json.Marshal(map[string]any{"uses": uses, "headless": s.Runner.Headless})
	if err != nil {
		return "", fmt.Errorf("encode the uses of %s: %w", name, err)
	}
	sum := sha256.Sum256(raw)
	mark = hex.EncodeToString(sum[:])
	st, err := sleep.Stored(s.Store).State(ctx, name)
	if err != nil || st.Mined == mark {
		return "", err
	}
	return mark, nil
}

package harvest

import (
	"cmp"
	"slices"
	"strings"
)

// CheckpointMark follows the repository in the Path of a session that was read from the
// repository's checkpoints.
const CheckpointMark = "#entire"

// fuller reports whether s is a better record than t, which has the same id: the
// agent's own transcript is better than a checkpoint, which anyone who can push to the
// repository may have written; otherwise the one with more turns is.
func (s *Session) fuller(t *Session) bool {
	if a, b := strings.Contains(s.Path, CheckpointMark+"/"), strings.Contains(t.Path, CheckpointMark+"/"); a != b {
		return b
	}
	return len(s.Turns) > len(t.Turns) || len(s.Turns) == len(t.Turns) && s.Path < t.Path
}

// Distinct returns sessions by their beginning, each once: of several with one id (a
// copy, a backup, a checkpoint), the fullest.
func Distinct(sessions []*Session) []*Session {
	best := make(map[string]*Session, len(sessions))
	for _, s := range sessions {
		key := s.Agent + "\x00" + s.ID
		if old := best[key]; old == nil || s.fuller(old) {
			best[key] = s
		}
	}
	out := make([]*Session, 0, len(best))
	for _, s := range best {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *Session) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Agent, b.Agent))
	})
	return out
}

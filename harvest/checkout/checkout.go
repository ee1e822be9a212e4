// Package checkout finds the commit of the tree in which the request of a recorded turn was made.
//
// Codex, Copilot and Entire record a commit; Claude Code does if evolve's hooks ran, and pi
// does not. A recorded commit is that of the session's beginning, and a session moves on: its
// user commits, pulls and changes branches. What is checked out in a folder is in the reflog
// of its HEAD.
//
// A commit is exact if something recorded that it was checked out when the request was made,
// and the session had left no changes in its files by then that the commit may lack. It is
// the commit that is exact, not the tree: what the user, an editor or another session had
// changed and not committed is recorded nowhere. All else is approximate.
package checkout

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/redact"
)

// A Finder finds commits. It reads each repository once, when it is first asked for it. The
// zero value is ready; it is safe for concurrent use.
type Finder struct {
	mu    sync.Mutex
	repos map[string]*repository // by folder; nil: there is none
}

// Workspace is the folder and the commit in which the request of a turn was made, nil if
// neither is known. The folder need not exist any more if the session recorded its commit.
// The only error is ctx's.
func (f *Finder) Workspace(ctx context.Context, s *harvest.Session, turn int) (*eval.Workspace, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if turn < 0 || turn >= len(s.Turns) {
		return nil, nil
	}
	own, checkpoints := s.CWD, ""
	if redact.Has(own) {
		own = "" // it had a secret in its name
	}
	if at := strings.LastIndex(s.Path, harvest.CheckpointMark+"/"); at >= 0 {
		checkpoints = s.Path[:at]
	}
	repo, err := f.repository(ctx, own)
	if err != nil {
		return nil, err
	}
	dir := own
	if repo == nil && checkpoints != "" { // of another machine, or of a worktree that is gone
		if repo, err = f.repository(ctx, checkpoints); err != nil {
			return nil, err
		}
		dir = checkpoints
	}
	if repo == nil {
		if own == "" || s.Commit == "" {
			return nil, nil
		}
		return &eval.Workspace{Repo: own, Commit: s.Commit, Approximate: !first(s, turn) || unsaved(s, turn, s.Started)}, nil
	}
	p, err := find(ctx, repo, s, turn, dir == own, checkpoints != "")
	if err != nil || p.commit == "" {
		return nil, err
	}
	return &eval.Workspace{Repo: dir, Commit: p.commit, Approximate: !p.exact}, nil
}

// A position is what was checked out at some time.
type position struct {
	commit string    // "" if that is not known
	since  time.Time // when the commit came there: it may lack what was changed later
	exact  bool
}

// find asks whatever recorded the commit: the reflog, if the folder is the session's own, the
// commits with the session's checkpoints, the session itself, and last the history.
func find(ctx context.Context, repo *repository, s *harvest.Session, turn int, own, checkpoints bool) (p position, err error) {
	when, known := timeOf(s, turn)
	recorded := s.Commit
	if checkpoints || when.Before(s.Started) { // the parent of a commit that is asked below; or of a later time
		recorded = ""
	}
	if own && !when.IsZero() {
		p = repo.loggedAt(when, s.Started, recorded)
	}
	if p.commit == "" && checkpoints {
		if p, err = repo.committed(ctx, s, turn, when); err != nil {
			return p, err
		}
	}
	if recorded != "" && first(s, turn) && (p.commit == "" || strings.HasPrefix(p.commit, recorded)) {
		p, known = position{recorded, s.Started, true}, true
	} else if recorded != "" && p.commit == "" {
		p = position{recorded, s.Started, false}
	}
	if p.commit == "" && !when.IsZero() {
		p.commit, err = repo.newest(ctx, s.Branch, when)
	}
	p.exact = p.exact && known && !unsaved(s, turn, p.since)
	return p, err
}

// timeOf is when the request of a turn was made, or, if that is not known, when the
// conversation had come there.
func timeOf(s *harvest.Session, turn int) (at time.Time, known bool) {
	for i := turn; i >= 0; i-- {
		if at := s.Turns[i].Time; !at.IsZero() {
			return at, i == turn
		}
	}
	return s.Started, false
}

// first reports whether the turn is the first one since the session began: a fork repeats
// the turns of another session before its own.
func first(s *harvest.Session, turn int) bool {
	before := func(t harvest.Turn) bool { return !t.Time.IsZero() && t.Time.Before(s.Started) }
	return turn == 0 && !before(s.Turns[0]) || turn > 0 && before(s.Turns[turn-1]) && !before(s.Turns[turn])
}

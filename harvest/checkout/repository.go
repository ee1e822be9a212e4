package checkout

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/git"
	"github.com/skill-evolve/evolve/harvest"
)

// A repository is what is known of one, each part since it was first needed.
type repository struct {
	dir   string
	moves []git.Move // of HEAD
	head  string     // the commit that it names now; "" if it has none

	tips    map[string][]git.Stamp // by ref or commit, newest first
	commits map[string]*git.Commit // nil: it is not there
}

// repository reads the one that dir is in; nil if there is none.
func (f *Finder) repository(ctx context.Context, dir string) (*repository, error) {
	r, known := f.repos[dir]
	if known || dir == "" {
		return r, nil
	}
	opened, err := git.Open(ctx, dir)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil {
		defer opened.Close() // what it leaves behind is in the scratch ledger
		r = &repository{dir: dir, tips: map[string][]git.Stamp{}, commits: map[string]*git.Commit{}}
		r.moves, _ = opened.Reflog("HEAD") // many repositories have none
		r.head, _ = git.Head(dir)
	}
	if f.repos == nil {
		f.repos = map[string]*repository{}
	}
	f.repos[dir] = r
	return r, nil
}

// loggedAt is headAt, if the log agrees with the commit that was recorded when a session
// began, "" for none. A log that names another one then is of another repository, such as a
// later clone in the same place.
func (r *repository) loggedAt(when, began time.Time, recorded string) position {
	p := r.headAt(when)
	if recorded == "" {
		return p
	}
	switch first := r.headAt(began).commit; {
	case first == "": // the log is younger
		p.exact = false
	case !strings.HasPrefix(first, recorded):
		return position{}
	}
	return p
}

// headAt is what HEAD named at a time by its log. It is exact if the log is whole around that
// time: git drops lines that are old, clocks are set back, and the log has no fractions of
// seconds.
func (r *repository) headAt(when time.Time) (p position) {
	i := len(r.moves) - 1
	for i >= 0 && r.moves[i].At.After(when) {
		i--
	}
	if i < 0 || none(r.moves[i].To) {
		return p
	}
	m, next := r.moves[i], r.head
	if i+1 < len(r.moves) {
		next = r.moves[i+1].From
	}
	p = position{commit: m.To, since: m.At}
	p.exact = next == m.To && m.At.Before(when.Truncate(time.Second)) &&
		!slices.ContainsFunc(r.moves[:i], func(e git.Move) bool { return e.At.After(m.At) })
	return p
}

// none reports whether a log names no commit.
func none(id string) bool { return strings.Trim(id, "0") == "" }

// committed is what HEAD named by the commits with the session's checkpoints: the parent of
// the first one since the turn. That is exact if the commit was made as it is: rebasing,
// amending and merging on a server give it another committer, another time or another
// parent.
func (r *repository) committed(ctx context.Context, s *harvest.Session, turn int, when time.Time) (p position, err error) {
	if when.IsZero() {
		return p, nil
	}
	i := slices.IndexFunc(s.Turns[turn:], func(t harvest.Turn) bool { return t.Committed != "" })
	id := ""
	if i >= 0 {
		id = s.Turns[turn+i].Committed
	} else {
		for _, t := range s.Turns[:turn] {
			if t.Committed != "" {
				id = t.Committed
			}
		}
	}
	c, err := r.commit(ctx, id)
	if err != nil || c == nil {
		return p, err
	}
	if i >= 0 && len(c.Parents) == 1 && c.Author == c.Committer && !c.Committer.At.Before(when) {
		parent, err := r.commit(ctx, c.Parents[0])
		if err != nil {
			return p, err
		}
		if parent != nil && parent.Committer.At.Before(when.Truncate(time.Second)) {
			return position{parent.ID, parent.Committer.At, true}, nil
		}
	}
	p.commit, err = r.before(ctx, c.ID, when)
	return p, err
}

// commit reads a commit by its id; nil if it is not there.
func (r *repository) commit(ctx context.Context, id string) (*git.Commit, error) {
	if c, known := r.commits[id]; known || id == "" || strings.Trim(id, "0123456789abcdef") != "" {
		return c, nil
	}
	opened, err := git.Open(ctx, r.dir)
	if err != nil {
		return nil, ctx.Err() // it was there before
	}
	defer opened.Close()
	objects := opened.Objects(ctx)
	defer objects.Close()
	c, _ := objects.Header(id)
	if ctx.Err() == nil {
		r.commits[id] = c
	}
	return c, ctx.Err()
}

// newest is the newest commit of a branch before a time, or of what is checked out if the
// branch is gone or is none.
func (r *repository) newest(ctx context.Context, branch string, when time.Time) (string, error) {
	if branch != "" && branch != "HEAD" {
		for _, ref := range []string{"refs/heads/" + branch, "refs/remotes/origin/" + branch} {
			if id, err := r.before(ctx, ref, when); id != "" || err != nil {
				return id, err
			}
		}
	}
	if r.head == "" {
		return "", nil
	}
	return r.before(ctx, r.head, when)
}

// before is the newest commit before a time of those that a ref or a commit has had as its
// newest.
func (r *repository) before(ctx context.Context, tip string, when time.Time) (string, error) {
	history, known := r.tips[tip]
	if !known {
		opened, err := git.Open(ctx, r.dir)
		if err == nil {
			defer opened.Close()
			history, err = opened.History(ctx, tip)
		}
		if err != nil && ctx.Err() != nil {
			return "", ctx.Err()
		}
		r.tips[tip] = history // none if the ref is gone
	}
	for _, c := range history {
		if c.At.Before(when) {
			return c.ID, nil
		}
	}
	return "", nil
}

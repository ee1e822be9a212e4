package serve

import (
	"net/http"
	"sync"

	"github.com/skill-evolve/evolve/eval/problem"
)

// skips are the pairs that were skipped since the server began, by skill.
type skips struct {
	mu sync.Mutex
	of map[string]map[PairName]bool
}

func (k *skips) add(skill string, p PairName) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil {
		k.of = map[string]map[PairName]bool{}
	}
	if k.of[skill] == nil {
		k.of[skill] = map[PairName]bool{}
	}
	k.of[skill][p] = true
}

// has reports whether a pair was skipped, in either order.
func (k *skips) has(skill string, p PairName) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	of := k.of[skill]
	return of[p] || of[PairName{p.Case, p.Second, p.First}]
}

func (k *skips) count(skill string) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.of[skill])
}

func (k *skips) forget(skill string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.of, skill)
}

type reviewView struct {
	Skill string
	*Pair // nil if none is left
	*Review
	Skipped int
}

func (v reviewView) title() string { return "Review: " + v.Skill }

func (s *Server) review(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("skill")
	pair, rev, err := s.program.Pair(r.Context(), name, func(p PairName) bool { return s.skips.has(name, p) })
	if err != nil {
		s.failed(w, r, err)
		return
	}
	s.page(w, r, http.StatusOK, "review.html", reviewView{name, pair, rev, s.skips.count(name)})
}

// answer stores one choice and shows the next pair.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	name, f := r.PathValue("skill"), r.PostForm
	p := PairName{f.Get("case"), f.Get("first"), f.Get("second")}
	switch word := f.Get("better"); word {
	case "1", "2", "=":
		_, err := alone(s, func() (struct{}, error) { return struct{}{}, s.program.Answer(r.Context(), name, p, word) })
		if err != nil {
			s.failed(w, r, err)
			return
		}
	case "skip":
		s.skips.add(name, p)
	case "again":
		s.skips.forget(name)
	default:
		s.failed(w, r, &Error{Message: "say 1, 2, = or skip: nothing was kept", Kind: problem.Input})
		return
	}
	http.Redirect(w, r, skillPath(name)+"/review", http.StatusSeeOther)
}

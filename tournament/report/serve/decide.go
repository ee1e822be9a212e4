package serve

import (
	"net/http"

	"github.com/skill-evolve/evolve/eval/plain"
)

type planView struct{ *Plan }

func (v planView) title() string { return string(v.Act) + " " + plain.Text(v.Skill) }

// Verb is the label of the button.
func (v planView) Verb() string {
	switch v.Act {
	case Approve:
		return "Approve: let it be tried"
	case Reject:
		return "Reject it for good"
	case Promote:
		if v.Unproven {
			return "Install it, not shown to be better"
		}
		return "Install it"
	}
	return "Roll back"
}

// plan shows what an act would do, with a form that does it.
func (s *Server) plan(act Act) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p, err := alone(s, func() (*Plan, error) {
			return s.program.Plan(r.Context(), act, r.PathValue("skill"), r.URL.Query().Get("at"))
		})
		if err != nil {
			s.failed(w, r, err)
			return
		}
		s.page(w, r, http.StatusOK, "plan.html", planView{p})
	}
}

// do carries out a plan that was shown.
func (s *Server) do(act Act) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.deciding.Lock()
		defer s.deciding.Unlock()
		name, f := r.PathValue("skill"), r.PostForm
		done, err := s.program.Do(r.Context(), act, name, f.Get("at"), f.Get("seen"), f.Get("unproven") == "yes")
		if err != nil {
			s.failed(w, r, err)
			return
		}
		s.done(w, r, done, skillPath(name), plain.Text(name))
	}
}

// A doneView is the result of an act, and the page to continue on.
type doneView struct {
	*Done
	Path, Name string
}

func (s *Server) done(w http.ResponseWriter, r *http.Request, d *Done, path, name string) {
	s.page(w, r, http.StatusOK, "done.html", doneView{d, path, name})
}

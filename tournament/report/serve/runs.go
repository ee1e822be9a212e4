package serve

import (
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/report/page"
)

func (s *Server) runs(w http.ResponseWriter, r *http.Request) {
	all, err := s.program.Runs(r.Context())
	if err != nil {
		s.failed(w, r, err)
		return
	}
	s.page(w, r, http.StatusOK, "runs.html", all)
}

// run shows the progress of a run that a process works on, and the report of any other.
func (s *Server) run(w http.ResponseWriter, r *http.Request) {
	p, err := s.program.Progress(r.Context(), r.PathValue("run"))
	if err != nil {
		s.failed(w, r, err)
		return
	}
	if !p.Working {
		s.report(w, r)
		return
	}
	s.page(w, r, http.StatusOK, "live.html", newLiveView(p))
}

// A bodyView is the page of a report that is a file elsewhere.
type bodyView struct {
	Name string
	Body template.HTML
	File string // the command that writes the file
}

func (v bodyView) title() string { return v.Name }

func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	m, err := s.program.Report(r.Context(), r.PathValue("run"))
	if err != nil {
		s.failed(w, r, err)
		return
	}
	body, err := page.Body(page.Run(m))
	if err != nil {
		s.failed(w, r, err)
		return
	}
	s.page(w, r, http.StatusOK, "body.html", bodyView{plain.Text(m.Skill) + ": run " + m.Run, body, "evolve report " + m.Run})
}

func (s *Server) fleet(w http.ResponseWriter, r *http.Request) {
	at, err := s.program.Fleet(r.Context())
	if err != nil {
		s.failed(w, r, err)
		return
	}
	s.page(w, r, http.StatusOK, "fleet.html", at)
}

func (s *Server) nights(w http.ResponseWriter, r *http.Request) {
	all, err := s.program.Nights(r.Context())
	if err != nil {
		s.failed(w, r, err)
		return
	}
	s.page(w, r, http.StatusOK, "nights.html", all)
}

func (s *Server) night(w http.ResponseWriter, r *http.Request) {
	// The pages of a night's runs are beside its own on disk.
	if run, ok := strings.CutSuffix(r.PathValue("night"), ".html"); ok {
		http.Redirect(w, r, "/runs/"+url.PathEscape(run), http.StatusSeeOther)
		return
	}
	n, err := s.program.Night(r.Context(), r.PathValue("night"))
	if err != nil {
		s.failed(w, r, err)
		return
	}
	body, err := page.Body(page.Night(n))
	if err != nil {
		s.failed(w, r, err)
		return
	}
	s.page(w, r, http.StatusOK, "body.html", bodyView{"night " + plain.Text(n.ID), body, "evolve report night-" + n.ID})
}

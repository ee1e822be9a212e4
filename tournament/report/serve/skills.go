package serve

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/status"
)

func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	st, err := alone(s, func() (*status.Report, error) { return s.program.Status(r.Context()) })
	if err != nil {
		s.failed(w, r, err)
		return
	}
	s.page(w, r, http.StatusOK, "status.html", statusView{st})
}

type statusView struct{ *status.Report }

// Waiting counts open decisions.
func (v statusView) Waiting() (n int) {
	for _, k := range v.Skills {
		n += len(k.Waits)
	}
	return n
}

// wayOf is the page for a command that waits to be typed, "" for none.
func wayOf(skill, command string) string {
	words := strings.Fields(command)
	if len(words) != 3 || words[0] != "evolve" {
		return ""
	}
	name, at := subject.Cut(words[2])
	if name != skill {
		return ""
	}
	switch a := Act(words[1]); a {
	case Approve, Reject, Promote, Rollback:
		way := skillPath(skill) + "/" + string(a)
		if at != "" {
			way += "?at=" + url.QueryEscape(at)
		}
		return way
	}
	if words[1] == "review" && at == "" {
		return skillPath(skill) + "/review"
	}
	return ""
}

// counted is the number of cases.
func counted(cases map[eval.Split]int) (n int) {
	for _, c := range cases {
		n += c
	}
	return n
}

type skillView struct{ *status.Log }

func (v skillView) title() string { return plain.Text(v.Skill) }

// Lineage is drawn in characters.
func (v skillView) Lineage() string { return v.Text(0, 80) }

// Back reports whether there is something to roll back to.
func (v skillView) Back() bool { return len(v.Versions) > 1 }

func (s *Server) skill(w http.ResponseWriter, r *http.Request) {
	l, err := s.program.Log(r.Context(), r.PathValue("skill"))
	if err != nil {
		s.failed(w, r, err)
		return
	}
	s.page(w, r, http.StatusOK, "skill.html", skillView{l})
}

type diffView struct {
	Skill string
	*report.Diff
}

func (s *Server) diff(w http.ResponseWriter, r *http.Request) {
	q, name := r.URL.Query(), r.PathValue("skill")
	d, err := s.program.Diff(r.Context(), name, q.Get("from"), q.Get("to"))
	if err != nil {
		s.failed(w, r, err)
		return
	}
	s.page(w, r, http.StatusOK, "diff.html", diffView{name, d})
}

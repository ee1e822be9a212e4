package serve

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/charts"
	"github.com/skill-evolve/evolve/tournament/status"
)

// status answers with a page of every skill's status: all of it, or what waits.
func (s *Server) status(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		st, err := alone(s, func() (*status.Report, error) { return s.program.Status(r.Context()) })
		if err != nil {
			s.failed(w, r, err)
			return
		}
		s.page(w, r, http.StatusOK, name, statusView{st})
	}
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

// rejectOf is the page that rejects what a command would approve, "" for another command.
func rejectOf(skill, command string) string {
	const approve = "evolve " + string(Approve) + " "
	if !strings.HasPrefix(command, approve) {
		return ""
	}
	return wayOf(skill, "evolve "+string(Reject)+" "+command[len(approve):])
}

// counted is the number of cases.
func counted(cases map[eval.Split]int) (n int) {
	for _, c := range cases {
		n += c
	}
	return n
}

type skillView struct {
	*status.Log
	History, Measured *charts.Plot
}

func (v skillView) title() string { return plain.Text(v.Skill) }

// Lineage is drawn in characters.
func (v skillView) Lineage() string { return v.Text(0, 80) }

// Back reports whether there is a version before the live one.
func (v skillView) Back() bool {
	return slices.ContainsFunc(v.Versions, func(k status.Version) bool { return k.Live && k.Parent != "" })
}

func (s *Server) skill(w http.ResponseWriter, r *http.Request) {
	l, err := s.program.Log(r.Context(), r.PathValue("skill"))
	if err != nil {
		s.failed(w, r, err)
		return
	}
	uses, err := s.program.Uses(r.Context(), l.Skill)
	if err != nil {
		s.failed(w, r, err)
		return
	}
	v := skillView{Log: l}
	var marks []charts.Mark
	var measured []charts.Verdict
	for _, k := range slices.Backward(l.Versions) {
		name := fmt.Sprintf("v%d", k.Version)
		if k.Version > 0 { // the first is what was there
			marks = append(marks, charts.Mark{Time: k.Created, Name: name})
		}
		if e := k.Evidence; e != nil {
			measured = append(measured, charts.Verdict{Name: name, Better: e.Wins, Worse: e.Losses, Same: e.Ties})
		}
	}
	v.History, v.Measured = charts.History(uses, marks), charts.Versions(measured)
	s.page(w, r, http.StatusOK, "skill.html", v)
}

type correctionsView struct {
	Skill string
	*Corrections
}

func (v correctionsView) title() string { return plain.Text(v.Skill) + ": corrections" }

func (s *Server) corrections(w http.ResponseWriter, r *http.Request) {
	c, err := s.program.Corrections(r.Context(), r.PathValue("skill"))
	if err != nil {
		s.failed(w, r, err)
		return
	}
	s.page(w, r, http.StatusOK, "corrections.html", correctionsView{r.PathValue("skill"), c})
}

type forecastView struct {
	Skill string
	*Forecast
}

func (v forecastView) title() string { return plain.Text(v.Skill) + ": start a run" }

func (s *Server) forecast(w http.ResponseWriter, r *http.Request) {
	f, err := alone(s, func() (*Forecast, error) { return s.program.Forecast(r.Context(), r.PathValue("skill")) })
	if err != nil {
		s.failed(w, r, err)
		return
	}
	s.page(w, r, http.StatusOK, "forecast.html", forecastView{r.PathValue("skill"), f})
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

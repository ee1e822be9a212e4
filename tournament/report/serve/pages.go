package serve

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/report/page"
)

//go:embed page
var files embed.FS

func file(name string) string {
	b, err := files.ReadFile("page/" + name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return string(b)
}

// frame is made for the first page.
var frame = sync.OnceValue(func() *page.Frame {
	f, err := page.NewFrame(files, template.FuncMap{
		"skillPath": skillPath,
		"skillNav":  skillNav,
		"query":     url.QueryEscape,
		"wayOf":     wayOf,
		"rejectOf":  rejectOf,
		"counted":   counted,
		"splitName": splitName,
		"inc":       func(i int) int { return i + 1 },
		"ago":       ago,
		"now":       time.Now,
		"date":      func(t time.Time) string { return t.Local().Format("2006-01-02 15:04") },
		"percent":   func(x *float64) string { return fmt.Sprintf("%.0f %%", 100**x) },
		"chance":    pareto.ChanceOf,
	}, "page/*.html")
	if err != nil {
		panic(err)
	}
	return f
})

// skillPath is the path of a skill's pages.
func skillPath(name string) string { return "/skills/" + url.PathEscape(name) }

// A way is a link to another page of a skill.
type way struct {
	Name, Path string
	Here       bool
}

// skillNav are the pages of a skill; here is the one that is shown.
func skillNav(name, here string) []way {
	ways := []way{{Name: "Versions"}, {Name: "Corrections", Path: "/corrections"}, {Name: "Start a run", Path: "/run"}, {Name: "Cases", Path: "/cases"}, {Name: "Blind review", Path: "/review"}}
	for i := range ways {
		ways[i].Path, ways[i].Here = skillPath(name)+ways[i].Path, ways[i].Name == here
	}
	return ways
}

// ago formats the time that has passed since t; "" for the zero time.
func ago(t time.Time) string {
	switch d := time.Since(t); {
	case t.IsZero():
		return ""
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	default:
		return fmt.Sprintf("%d days ago", int(d.Hours()/24))
	}
}

// A view is the data of every page.
type view struct {
	Title string
	Here  string // the part of the site: "status", "runs", "nights", "queue", "fleet"
	Fleet bool   // there is one
	CSRF  string
	Live  string // the address of a stream that the page follows, "" for none
	Data  any
}

// titles are the titles of the pages and of their sections.
var titles = map[string][2]string{
	"enter.html": {"evolve", ""}, "error.html": {"Not done", ""}, "done.html": {"Done", ""},
	"status.html": {"Skills", "status"}, "runs.html": {"Runs", "runs"}, "live.html": {"Run", "runs"}, "body.html": {"Report", "runs"},
	"nights.html": {"Nights", "nights"}, "queue.html": {"Waiting", "queue"}, "fleet.html": {"Fleet", "fleet"}, "plan.html": {"Confirm", "status"},
	"skill.html": {"Skill", "status"}, "diff.html": {"What changed", "status"}, "corrections.html": {"Corrections", "status"}, "forecast.html": {"Start a run", "status"}, "cases.html": {"Cases", "status"},
	"case.html": {"Case", "status"}, "edit.html": {"Edit a case", "status"}, "drop.html": {"Drop a case", "status"}, "review.html": {"Review", "status"},
}

// titled is data with a better title than its page's.
type titled interface{ title() string }

// page answers with a page.
func (s *Server) page(w http.ResponseWriter, r *http.Request, code int, name string, data any) {
	v := view{Title: titles[name][0], Here: titles[name][1], CSRF: s.guard.form, Data: data, Fleet: s.Fleet}
	if t, ok := data.(titled); ok {
		v.Title = t.title()
	}
	if l, ok := data.(*liveView); ok && l.Working {
		v.Live = "/runs/" + url.PathEscape(l.ID) + "/events"
	}
	var b bytes.Buffer
	if err := frame().Render(&b, name, v); err != nil {
		if s.Bug != nil {
			s.Bug(err, nil)
		}
		http.Error(w, "this page cannot be shown", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = b.WriteTo(w) // who is gone needs no answer
}

// A refusal is an error page.
type refusal struct {
	*Error
	Back  string // the page to return to
	Typed string // what must not be lost
}

func (s *Server) fail(w http.ResponseWriter, r *http.Request, code int, e *Error) {
	v := refusal{Error: e, Back: "/"}
	if code != http.StatusForbidden && r.PathValue("skill") != "" {
		v.Back = skillPath(r.PathValue("skill"))
	}
	s.page(w, r, code, "error.html", v)
}

// failed answers with an error of the program.
func (s *Server) failed(w http.ResponseWriter, r *http.Request, err error) {
	e, code := s.asError(err)
	if reads(r.Method) && code == http.StatusUnprocessableEntity {
		code = http.StatusNotFound
	}
	s.fail(w, r, code, e)
}

// asError is an error with its status.
func (s *Server) asError(err error) (*Error, int) {
	var e *Error
	if !errors.As(err, &e) {
		if s.Explain == nil {
			return &Error{Message: err.Error()}, http.StatusInternalServerError
		}
		e = s.Explain(err)
	}
	switch e.Kind {
	case problem.Refused:
		return e, http.StatusConflict
	case problem.Input:
		return e, http.StatusUnprocessableEntity
	}
	return e, http.StatusInternalServerError
}

func tooLong(err error) bool {
	var e *http.MaxBytesError
	return errors.As(err, &e)
}

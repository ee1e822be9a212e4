package serve

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
)

// A casesView is a filtered list of a skill's cases.
type casesView struct {
	Skill               string
	Split, Origin, Text string // the filter
	Splits, Origins     []string
	All                 int
	Cases               []eval.Case
}

func (v casesView) title() string { return plain.Text(v.Skill) + ": cases" }

func (s *Server) cases(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v := casesView{Skill: r.PathValue("skill"), Split: q.Get("split"), Origin: q.Get("origin"), Text: strings.TrimSpace(q.Get("text")),
		Splits: []string{string(eval.Train), string(eval.Val), string(eval.Test)}}
	all, err := s.program.Cases(r.Context(), v.Skill)
	if err != nil {
		s.failed(w, r, err)
		return
	}
	v.All = len(all)
	for i := range all {
		c := &all[i]
		if o := c.Origin(); !slices.Contains(v.Origins, o) {
			v.Origins = append(v.Origins, o)
		}
		if (v.Split == "" || string(c.Split) == v.Split) && (v.Origin == "" || c.Origin() == v.Origin) && Mentions(c, v.Text) {
			v.Cases = append(v.Cases, *c)
		}
	}
	slices.Sort(v.Origins)
	s.page(w, r, http.StatusOK, "cases.html", v)
}

// splitName is what the cases of a split are for.
func splitName(s any) string {
	switch fmt.Sprint(s) {
	case string(eval.Train):
		return "to learn from"
	case string(eval.Val):
		return "to choose by"
	case string(eval.Test):
		return "for trials: the search never sees it"
	}
	return "no part yet"
}

// Mentions reports whether a visible field of a case has the words of a
// search, ignoring case.
func Mentions(c *eval.Case, text string) bool {
	if text == "" {
		return true
	}
	parts := []string{c.ID, c.Prompt, c.Reference}
	for _, k := range c.Checks {
		parts = append(parts, k.Value, k.Rubric, k.Feedback, k.Path)
	}
	return strings.Contains(strings.ToLower(strings.Join(parts, "\x00")), strings.ToLower(text))
}

// A caseView is one case, from the store or from a form.
type caseView struct {
	Skill string
	*CaseNow
	Form    *caseForm
	Problem *Error // why the form was not taken; what was typed stays
	JSON    string // the whole case, for the form that has all of it; "" for the other
}

func (v caseView) title() string { return plain.Text(v.Skill) + ": case " + plain.Text(v.Case.ID) }

// Outcome describes the source of a case.
func (v caseView) Outcome() string {
	words := plain.Text(v.Case.Origin())
	if c := v.Case.Source; c != nil {
		for _, w := range []string{c.Outcome, plain.Agent(c.Agent), c.Session} {
			if w != "" {
				words += " · " + plain.Text(w)
			}
		}
	}
	return words
}

func (s *Server) readCase(w http.ResponseWriter, r *http.Request) (v caseView, ok bool) {
	v.Skill = r.PathValue("skill")
	now, err := s.program.Case(r.Context(), v.Skill, r.URL.Query().Get("id"))
	if err != nil {
		s.failed(w, r, err)
		return v, false
	}
	v.CaseNow = now
	return v, true
}

func (s *Server) oneCase(w http.ResponseWriter, r *http.Request) {
	if v, ok := s.readCase(w, r); ok {
		s.page(w, r, http.StatusOK, "case.html", v)
	}
}

func (s *Server) dropForm(w http.ResponseWriter, r *http.Request) {
	if v, ok := s.readCase(w, r); ok {
		s.page(w, r, http.StatusOK, "drop.html", v)
	}
}

func (s *Server) drop(w http.ResponseWriter, r *http.Request) {
	s.deciding.Lock()
	defer s.deciding.Unlock()
	name := r.PathValue("skill")
	done, err := s.program.DropCase(r.Context(), name, r.PostForm.Get("id"), r.PostForm.Get("seen"))
	if err != nil {
		s.failed(w, r, err)
		return
	}
	s.done(w, r, done, skillPath(name)+"/cases", "the cases")
}

func casePath(skill, id string) string { return skillPath(skill) + "/case?id=" + url.QueryEscape(id) }

func (s *Server) editForm(w http.ResponseWriter, r *http.Request) {
	v, ok := s.readCase(w, r)
	if !ok {
		return
	}
	var err error
	if r.URL.Query().Has("json") {
		v.JSON, err = caseJSON(v.Case)
	} else {
		v.Form = formOf(v.Case)
	}
	if err != nil {
		s.failed(w, r, err)
		return
	}
	s.page(w, r, http.StatusOK, "edit.html", v)
}

// edit takes a form. If anything is wrong with it, the answer is the form
// with the typed text.
func (s *Server) edit(w http.ResponseWriter, r *http.Request) {
	s.deciding.Lock()
	defer s.deciding.Unlock()
	v := caseView{Skill: r.PathValue("skill")}
	text := unix(r.PostForm.Get("json"))
	var err error
	if v.CaseNow, err = s.program.Case(r.Context(), v.Skill, r.PostForm.Get("id")); err != nil {
		e, code := s.asError(err)
		s.page(w, r, code, "error.html", refusal{Error: e, Back: skillPath(v.Skill) + "/cases", Typed: text + unix(r.PostForm.Get("prompt"))})
		return
	}
	if r.PostForm.Has("json") {
		v.JSON = text
	} else {
		v.Form = readForm(r.PostForm)
		text, err = v.Form.apply(v.Case)
	}
	var done *Done
	if err == nil {
		done, err = s.program.EditCase(r.Context(), v.Skill, v.Case.ID, r.PostForm.Get("seen"), []byte(text))
	}
	if err != nil {
		e, code := s.asError(err)
		v.Problem = e
		v.Seen = r.PostForm.Get("seen") // what it was typed over
		s.page(w, r, code, "edit.html", v)
		return
	}
	s.done(w, r, done, casePath(v.Skill, v.Case.ID), "the case")
}

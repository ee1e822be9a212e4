package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store"
)

// TestServeCases: what is typed is in the store, what was changed meanwhile is not
// overwritten, and a dropped case stays away.
func TestServeCases(t *testing.T) {
	t.Parallel()
	d := serveDemo(t)
	cases, err := d.db.Cases(t.Context(), demoSkill)
	d.must(err)
	was := cases[0]
	q := "?id=" + url.QueryEscape(was.ID)
	d.says(d.get("/skills/dataviz/case"+q), was.ID, "Checks", "edit…")
	page := d.get("/skills/dataviz/case/edit" + q + "&json")
	text, err := json.Marshal(was)
	d.must(err)
	f := form(page)
	f.Set("json", strings.Replace(string(text), `"prompt":"`, `"prompt":"Please: `, 1))
	d.says(d.post("/skills/dataviz/case/edit", f, http.StatusOK), "changed")
	now, err := d.db.Case(t.Context(), demoSkill, was.ID)
	d.must(err)
	if want := "Please: " + was.Prompt; now.Prompt != want || len(now.Checks) != len(was.Checks) || now.Split != was.Split {
		t.Errorf("the case is %+v", now)
	}
	// The second of two tabs: what it was typed over is gone, and what was typed stays.
	f.Set("json", strings.Replace(string(text), `"prompt":"`, `"prompt":"Second tab: `, 1))
	d.says(d.post("/skills/dataviz/case/edit", f, http.StatusConflict), "changed since the page was made", "Second tab: ")
	for what, change := range map[string]func(*eval.Case){
		"change the split": func(c *eval.Case) {
			c.Split = eval.Test
			if was.Split == eval.Test {
				c.Split = eval.Train
			}
		},
		"change the id":  func(c *eval.Case) { c.ID = "other" },
		"runs a program": func(c *eval.Case) { c.Checks = []eval.Check{{Type: eval.Exec, Command: []string{"true"}}} },
		"check":          func(c *eval.Case) { c.Checks = nil },
	} {
		c := *now
		change(&c)
		text, err := json.Marshal(c)
		d.must(err)
		f := form(d.get("/skills/dataviz/case/edit" + q))
		f.Set("json", string(text))
		want := http.StatusUnprocessableEntity
		if what == "runs a program" {
			want = http.StatusConflict
		}
		d.says(d.post("/skills/dataviz/case/edit", f, want), what[strings.LastIndex(what, " ")+1:], "nothing was changed")
	}
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	f = form(d.get("/skills/dataviz/case/edit" + q))
	c := *now
	c.Prompt = "the key is " + secret
	text, err = json.Marshal(c)
	d.must(err)
	f.Set("json", string(text))
	d.says(d.post("/skills/dataviz/case/edit", f, http.StatusOK), "1 secret replaced")
	if now, err = d.db.Case(t.Context(), demoSkill, was.ID); err != nil || strings.Contains(now.Prompt, secret) {
		t.Errorf("%v: a secret is stored", err)
	}
	page = d.get("/skills/dataviz/case/drop" + q)
	d.says(d.post("/skills/dataviz/case/drop", form(page), http.StatusOK), "1 case dropped")
	if _, err := d.db.Case(t.Context(), demoSkill, was.ID); err == nil {
		t.Error("it is there still")
	}
	d.post("/skills/dataviz/case/drop", form(page), http.StatusUnprocessableEntity)
}

// TestServeReview: an answer is a label of the pair as it was shown; the page
// names neither arm.
func TestServeReview(t *testing.T) {
	t.Parallel()
	d := serveDemo(t)
	var names []string // of all texts
	runs, err := d.db.Runs(t.Context(), demoSkill)
	d.must(err)
	for _, r := range runs {
		cs, err := d.db.Candidates(t.Context(), r.ID)
		d.must(err)
		for _, c := range cs {
			names = append(names, c.SHA[:12])
		}
	}
	if len(names) < 5 {
		t.Fatalf("%d texts: this test shows nothing", len(names))
	}
	shown := map[string]bool{}
	for i, word := range []string{"1", "=", "skip", "2"} {
		page := d.get("/skills/dataviz/review")
		f := form(page)
		page = strings.ReplaceAll(page, f.Get("csrf"), "") // random digits can spell anything
		for _, told := range append([]string{"incumbent", "challenger", "gate:", "v0", "v1"}, names...) {
			if strings.Contains(strings.ToLower(page), told) {
				t.Errorf("the page tells %q", told)
			}
		}
		pair := f.Get("case") + " " + f.Get("first") + " " + f.Get("second") // a case may have several
		if shown[pair] {
			t.Errorf("%s is asked again", pair)
		}
		shown[pair] = true
		f.Set("better", word)
		d.post("/skills/dataviz/review", f, http.StatusOK)
		labels, err := d.db.Labels(t.Context(), demoSkill)
		d.must(err)
		var kept *store.Label
		for k := range labels {
			if labels[k].CaseID == f.Get("case") && labels[k].First == f.Get("first") && labels[k].Second == f.Get("second") {
				kept = &labels[k]
			}
		}
		switch {
		case word == "skip":
			if kept != nil {
				t.Errorf("a skipped pair is a label: %+v", kept)
			}
		case kept == nil || string(kept.Choice) != word || kept.First != f.Get("first") || kept.Second != f.Get("second"):
			t.Errorf("answer %d is kept as %+v", i, kept)
		}
	}
	f := form(d.get("/skills/dataviz/review"))
	f.Set("better", "3")
	d.post("/skills/dataviz/review", f, http.StatusUnprocessableEntity)
	f.Set("better", "1")
	f.Set("first", strings.Repeat("0", 64))
	d.says(d.post("/skills/dataviz/review", f, http.StatusConflict), "changed since")
}

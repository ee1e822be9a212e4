package ingest

import (
	"errors"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/casefile"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// brought imports lines of cases.
func brought(t *testing.T, g *Ingester, lines ...string) *Import {
	t.Helper()
	r, err := Read(Input{Input: casefile.Input{Text: []byte(strings.Join(lines, "\n")), Name: "cases.jsonl"}}, g.Layout, redact.Known())
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Save(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return r
}

func line(id, skill, prompt string) string {
	return `{"id":"` + id + `","skill":"` + skill + `","prompt":"` + prompt + `","checks":[{"type":"contains","value":"x"}]}`
}

// TestCaseByName: a case is found by its id or the beginning of it alone, of a skill
// that is on disk or in the store; of several that are to be dropped all are there, or
// none goes.
func TestCaseByName(t *testing.T) {
	ctx := t.Context()
	g := person(t)
	first := brought(t, g, line("abc-1", "dataviz", "plot the revenue of March as bars"), line("abc-2", "dataviz", "name the three largest customers"),
		line("b", "gone", "write a letter to the bank"))
	if first.Added != 3 || len(first.Skills) != 2 || len(first.Warnings) != 2 {
		t.Errorf("imported %+v", first)
	}
	if again := brought(t, g, line("abc-1", "dataviz", "plot the revenue of March as bars")); again.Unchanged != 1 || again.Added != 0 {
		t.Errorf("imported again %+v", again)
	}
	for _, c := range []struct{ skill, id, want, says string }{
		{"dataviz", "abc-1", "abc-1", ""}, {"dataviz", "abc-2", "abc-2", ""}, {"gone", "b", "b", ""},
		{"dataviz", "abc", "", "2 cases of dataviz begin with"}, {"dataviz", "", "", "has no case"}, {"dataviz", "abd-1", "", `has no case "abd-1"`},
	} {
		k, err := g.Case(ctx, c.skill, c.id)
		switch {
		case c.says == "" && (err != nil || k.ID != c.want):
			t.Errorf("%s of %s: %v, %v", c.id, c.skill, k, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s of %s: %v, want %q", c.id, c.skill, err, c.says)
		}
	}
	var unknown *skill.UnknownSkillError
	if _, err := g.Cases(ctx, "datavis", ""); !errors.As(err, &unknown) || unknown.Nearest != "dataviz" {
		t.Errorf("an unknown skill: %v", err)
	}
	if _, err := g.Cases(ctx, "dataviz", "tset"); err == nil {
		t.Error("an unknown split is accepted")
	} else if _, hint := problem.Of(err); hint != "did you mean test?" {
		t.Errorf("hint %q", hint)
	}
	if _, _, err := g.Drop(ctx, "dataviz", []string{"abc-1", "abc-9"}); err == nil {
		t.Error("dropped what is not there")
	}
	if cases, err := g.Cases(ctx, "dataviz", ""); err != nil || len(cases) != 2 {
		t.Errorf("%d cases are left, %v; want both", len(cases), err)
	}
	if dropped, left, err := g.Drop(ctx, "dataviz", []string{"abc-1", "abc-1"}); err != nil || len(dropped) != 1 || left != 1 {
		t.Errorf("dropped %q, %d are left, %v", dropped, left, err)
	}
	if left := brought(t, g, line("abc-1", "dataviz", "plot the revenue of March as bars")); left.Added != 1 {
		t.Errorf("its owner brings a dropped case back: %+v", left)
	}
}

// TestWithoutAStore: before anything is harvested a skill has no cases, and an unknown
// skill is an error.
func TestWithoutAStore(t *testing.T) {
	g := &Ingester{Layout: person(t).Layout}
	if cases, err := g.Cases(t.Context(), "dataviz", ""); err != nil || len(cases) != 0 {
		t.Errorf("%v, %v", cases, err)
	}
	var unknown *skill.UnknownSkillError
	if _, err := g.Cases(t.Context(), "datavis", ""); !errors.As(err, &unknown) {
		t.Errorf("an unknown skill: %v", err)
	}
}

// TestReplace: an edit changes the checks of a case, and neither its name nor its
// split; a refused edit changes nothing and its error names the place of the text.
func TestReplace(t *testing.T) {
	ctx := t.Context()
	g := person(t)
	brought(t, g, line("abc", "dataviz", "plot the revenue of March as bars"))
	was, err := g.Case(ctx, "dataviz", "abc")
	if err != nil {
		t.Fatal(err)
	}
	text := func(change func(c *eval.Case)) []byte {
		c := *was
		change(&c)
		var b strings.Builder
		if err := casefile.WriteLines(&b, []eval.Case{c}); err != nil {
			t.Fatal(err)
		}
		return []byte(b.String())
	}
	const again = "your text is in /tmp/x"
	for what, change := range map[string]func(c *eval.Case){
		"id": func(c *eval.Case) { c.ID = "other" }, "checks": func(c *eval.Case) { c.Checks = nil },
		"split": func(c *eval.Case) {
			c.Split = map[eval.Split]eval.Split{eval.Train: eval.Test}[was.Split]
			if c.Split == was.Split {
				c.Split = eval.Train
			}
		},
		"program": func(c *eval.Case) { c.Checks = []eval.Check{{Type: eval.Exec, Command: []string{"true"}}} },
	} {
		_, err := g.Replace(ctx, was, text(change), false, again)
		if _, hint := problem.Of(err); err == nil || !strings.HasPrefix(hint, again) {
			t.Errorf("%s: %v, hint %q", what, err, hint)
		}
	}
	for i, changed := range []bool{true, false} {
		e, err := g.Replace(ctx, was, text(func(c *eval.Case) {
			if changed {
				c.Prompt = "plot the revenue of April as bars"
			}
		}), false, again)
		if err != nil || e.Changed != changed {
			t.Errorf("edit %d: %+v, %v", i, e, err)
		}
	}
	if now, err := g.Case(ctx, "dataviz", "abc"); err != nil || !strings.Contains(now.Prompt, "April") {
		t.Errorf("%+v, %v", now, err)
	}
}

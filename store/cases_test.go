package store

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

func aCase(id string) eval.Case {
	return eval.Case{
		ID: id, Skill: "dataviz", Prompt: "plot it",
		Context:   []eval.Message{{Role: "user", Text: "hello"}},
		Files:     map[string]string{"a.csv": "x\n1"},
		Workspace: &eval.Workspace{Repo: "../shop", Commit: "9c1f"},
		Checks: []eval.Check{{Type: "json_schema", Schema: json.RawMessage(`{"type":"object"}`), Weight: 2},
			{Type: "contains", Value: "log", Feedback: "must be logarithmic"}},
		Reference: "a plot", Cluster: "s1",
		Source: &eval.Source{Agent: "claude-code", Session: "ses-1", Turn: "t", Origin: "mined", Outcome: "corrected", Time: day},
	}
}

func save(t *testing.T, s *Store, added, changed int, cases ...eval.Case) {
	t.Helper()
	a, c, err := s.SaveCases(t.Context(), cases)
	if a != added || c != changed || err != nil {
		t.Errorf("SaveCases: %d added, %d changed, %v; want %d, %d", a, c, err, added, changed)
	}
}

func TestCases(t *testing.T) {
	s := open(t)
	s.now = func() time.Time { return day }
	want := aCase("b")
	want.Split = eval.Test
	save(t, s, 2, 0, want, aCase("a"))
	got, err := s.Case(t.Context(), "dataviz", "b")
	must(t, err)
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("got %+v\nwant %+v", *got, want)
	}

	s.now = func() time.Time { return day.Add(time.Hour) }
	again := want
	again.Split = eval.Train
	save(t, s, 0, 0, again)
	edited := aCase("b")
	edited.Prompt, edited.Split = "plot it again", eval.Train
	save(t, s, 0, 1, edited)
	got, err = s.Case(t.Context(), "dataviz", "b")
	must(t, err)
	if got.Split != eval.Test || got.Prompt != "plot it again" {
		t.Errorf("after an edit: split %q, prompt %q", got.Split, got.Prompt)
	}
	assigned := aCase("a")
	assigned.Split = eval.Val
	save(t, s, 0, 0, assigned)
	list, err := s.Cases(t.Context(), "dataviz")
	must(t, err)
	if len(list) != 2 || list[0].ID != "a" || list[0].Split != eval.Val {
		t.Errorf("cases are %+v", list)
	}
	if other, err := s.Cases(t.Context(), "other"); len(other) != 0 || err != nil {
		t.Errorf("cases of another skill: %v, %v", other, err)
	}
}

func TestSaveCasesAllOrNone(t *testing.T) {
	s := open(t)
	broken := aCase("x")
	broken.Checks[0].Schema = json.RawMessage(`{`)
	if _, _, err := s.SaveCases(t.Context(), []eval.Case{aCase("a"), broken}); err == nil {
		t.Error("saved a case that is no JSON")
	}
	if _, _, err := s.SaveCases(t.Context(), []eval.Case{aCase("a"), {Skill: "dataviz"}}); err == nil {
		t.Error("saved a case without an id")
	}
	if list, err := s.Cases(t.Context(), ""); len(list) != 0 || err != nil {
		t.Errorf("kept %v, %v", list, err)
	}
}

func TestDropCase(t *testing.T) {
	s := open(t)
	save(t, s, 1, 0, aCase("a"))
	must(t, s.DropCase(t.Context(), "dataviz", "a"))
	if err := s.DropCase(t.Context(), "dataviz", "a"); !errors.Is(err, ErrNotFound) {
		t.Errorf("dropped twice: %v", err)
	}
	save(t, s, 0, 0, aCase("a")) // the next harvest
	if _, err := s.Case(t.Context(), "dataviz", "a"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a harvest brought a dropped case back: %v", err)
	}
	imported := aCase("a")
	imported.Source = nil
	save(t, s, 1, 0, imported)
	if _, err := s.Case(t.Context(), "dataviz", "a"); err != nil {
		t.Errorf("an import did not: %v", err)
	}
}

func TestSetSplits(t *testing.T) {
	s := open(t)
	save(t, s, 2, 0, aCase("a"), aCase("b"))
	err := s.SetSplits(t.Context(), "dataviz", map[string]eval.Split{"a": eval.Test, "b": eval.Val, "none": eval.Val})
	if !errors.Is(err, ErrNotFound) {
		t.Errorf("split of an unknown case: %v", err)
	}
	c, err := s.Case(t.Context(), "dataviz", "a")
	if err != nil || c.Split != eval.Unassigned {
		t.Errorf("half of it was kept: %q, %v", c.Split, err)
	}
	must(t, s.SetSplits(t.Context(), "dataviz", map[string]eval.Split{"a": eval.Test}))
	c, err = s.Case(t.Context(), "dataviz", "a")
	if err != nil || c.Split != eval.Test {
		t.Errorf("split is %q, %v", c.Split, err)
	}
}

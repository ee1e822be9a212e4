package eval

import (
	"testing"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill"
)

func parse(t *testing.T, body string) *skill.Document {
	t.Helper()
	d, err := skill.Parse([]byte("---\nname: s\ndescription: d\n---\n"+body), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestKeyHoldsAllThatCanChangeAnAnswer(t *testing.T) {
	type what struct {
		job Job
		set Setting
	}
	fresh := func() what {
		return what{
			Job{Variant: Variant{Name: "s", Doc: parse(t, "body"), Rest: "r"}, Case: &Case{
				ID: "1", Skill: "s", Prompt: "p", Checks: []Check{{Type: Contains, Value: "x"}}}},
			Setting{Agent: Identity{Backend: "b"}, Grader: "g"},
		}
	}
	base := fresh()
	key := base.job.Key(base.set)
	if again := fresh(); again.job.Key(again.set) != key || len(key) != 64 {
		t.Fatal("the same job has two keys")
	}
	seen := map[string]string{key: "nothing"}
	for name, change := range map[string]func(*what){
		"text":          func(w *what) { w.job.Variant.Doc = parse(t, "other") },
		"no skill":      func(w *what) { w.job.Variant.Doc = nil },
		"other files":   func(w *what) { w.job.Variant.Rest = "q" },
		"trial":         func(w *what) { w.job.Trial = 1 },
		"arm":           func(w *what) { w.job.Arm = "gate" },
		"prompt":        func(w *what) { w.job.Case.Prompt = "q" },
		"context":       func(w *what) { w.job.Case.Context = []Message{{"user", "x"}} },
		"file":          func(w *what) { w.job.Case.Files = map[string]string{"a": "b"} },
		"workspace":     func(w *what) { w.job.Case.Workspace = &Workspace{Repo: "r"} },
		"check":         func(w *what) { w.job.Case.Checks[0].Value = "y" },
		"reference":     func(w *what) { w.job.Case.Reference = "y" },
		"agent":         func(w *what) { w.set.Agent.Backend = "c" },
		"agent version": func(w *what) { w.set.Agent.Version = "2" },
		"model":         func(w *what) { w.set.Agent.Model = "m" },
		"parameters":    func(w *what) { w.set.Agent.Params = "t=0" },
		"grader":        func(w *what) { w.set.Grader = "h" },
		"work retries":  func(w *what) { w.set.MaxRetries = 1 },
		"wall clock":    func(w *what) { w.set.WallClock = time.Minute },
	} {
		w := fresh()
		change(&w)
		k := w.job.Key(w.set)
		if twin, dup := seen[k]; dup {
			t.Errorf("changing %s gives the key of changing %s", name, twin)
		}
		seen[k] = name
	}
	for name, change := range map[string]func(*Case){
		"split":   func(c *Case) { c.Split = Test },
		"cluster": func(c *Case) { c.Cluster = "k" },
		"source":  func(c *Case) { c.Source = &Source{Agent: "a"} },
	} {
		w := fresh()
		change(w.job.Case)
		if w.job.Key(w.set) != key {
			t.Errorf("changing %s, which no agent sees, changes the key", name)
		}
	}
}

// preparing is a Workspaces that prepares cases.
type preparing struct {
	Workspaces
	as string
}

func (p preparing) Prepared(*Case) string { return p.as }

// What was prepared for a case is part of its rollouts' keys, and nothing is as before.
func TestKeyHoldsWhatWasPrepared(t *testing.T) {
	j := Job{Variant: Variant{Name: "s"}, Case: &Case{ID: "1", Skill: "s", Prompt: "p", Checks: []Check{{Type: Contains, Value: "x"}}}}
	key := func(w Workspaces) string {
		return (&Evaluator{Agent: agentFunc(nil), Workspaces: w}).Key(j)
	}
	plain := key(nil)
	if key(preparing{}) != plain || key(preparing{as: "npm ci"}) == plain || key(preparing{as: "npm ci"}) == key(preparing{as: "npm install"}) {
		t.Error("what was prepared does not decide the key")
	}
}

package public

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"pgregory.net/rapid"
)

const canary = "canary-7f3a"

// No case that a session or a model brought, and no name of a session, gets out.
func TestCanary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var cases []eval.Case
		n := 0
		for i := range rapid.IntRange(1, 12).Draw(t, "cases") {
			c := eval.Case{ID: fmt.Sprint("c", i), Skill: "s", Prompt: "p", Checks: []eval.Check{{Type: eval.Contains, Value: "x"}}}
			c.Cluster = rapid.SampledFrom([]string{"", canary, canary + "2"}).Draw(t, "cluster")
			switch rapid.IntRange(0, 7).Draw(t, "kind") {
			case 0:
				c.Prompt, c.Source = canary, &eval.Source{Agent: "claude", Session: canary, Origin: "mined", Time: time.Unix(1, 0)}
			case 1:
				c.Prompt, c.Source = canary, &eval.Source{Agent: "model", Origin: "generated", Also: []eval.Source{{Session: canary}}}
			case 2:
				c.Prompt, c.Source = canary, &eval.Source{Agent: "claude", Session: canary, Origin: "imported"}
			case 3:
				c.Prompt, c.Workspace = canary, &eval.Workspace{Repo: "/home/dev/" + canary}
			case 4:
				c.Reference = "see /home/" + canary + "/notes.md"
			case 5:
				c.Checks[0].Feedback = `see C:\Users\` + canary
			case 6:
				c.Files = map[string]string{"a": "/opt/me/" + canary}
			default:
				n++
			}
			cases = append(cases, c)
		}
		kept, _ := Cases(cases, "/opt/me")
		text, err := json.Marshal(kept)
		if err != nil || len(kept) != n || strings.Contains(string(text), canary) {
			t.Fatalf("%d kept, want %d: %s, %v", len(kept), n, text, err)
		}
	})
}

// What may be published is as it was; cases of one cluster still share one.
func TestKept(t *testing.T) {
	a := eval.Case{ID: "a", Skill: "s", Prompt: "p", Split: eval.Test, Cluster: "session 9", Files: map[string]string{"x": "y"}, Workspace: &eval.Workspace{Repo: "github.com/a/b"},
		Checks: []eval.Check{{Type: eval.Judge, Rubric: "r", Weight: 2}}, Source: &eval.Source{Agent: "skill-creator", Origin: "imported"}}
	b := a
	b.ID = "b"
	kept, notes := Cases([]eval.Case{a, b}, "/home/me")
	a.Cluster, b.Cluster = "a", "a"
	if !reflect.DeepEqual(kept, []eval.Case{a, b}) || len(notes) > 0 {
		t.Errorf("kept %+v, notes %q", kept, notes)
	}
}

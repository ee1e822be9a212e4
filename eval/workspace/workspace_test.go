package workspace

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

func TestWorkspace(t *testing.T) {
	parent := t.TempDir()
	var dirs []string
	e := &eval.Evaluator{Grader: new(eval.Checks), Workspaces: &Recorded{Parent: parent}, MaxRetries: 1,
		Agent: agentFunc(func(_ context.Context, task eval.Task) (eval.Attempt, error) {
			dirs = append(dirs, task.Workspace)
			in, err := os.ReadFile(filepath.Join(task.Workspace, "data", "in.csv"))
			if err != nil || string(in) != "week,usd\n" {
				t.Errorf("file = %q (%v)", in, err)
			}
			// The first attempt forgets the file; the second finds its workspace as it left it.
			if task.Prior != nil {
				err = os.Rename(filepath.Join(task.Workspace, "draft"), filepath.Join(task.Workspace, "out.csv"))
			} else {
				err = os.WriteFile(filepath.Join(task.Workspace, "draft"), []byte("total"), 0o600)
			}
			return eval.Attempt{Answer: "done"}, err
		})}
	c := &eval.Case{ID: "1", Skill: "s", Prompt: "sum", Files: map[string]string{"data/in.csv": "week,usd\n"},
		Checks: []eval.Check{{Type: eval.FileContains, Path: "out.csv", Value: "total"}}}
	out, err := e.Run(t.Context(), jobsOf([]*eval.Case{c}))
	if err != nil {
		t.Fatal(err)
	}
	if r := out[0]; r.Status != eval.Done || r.Quality != 0 || r.Retries != 1 || r.Attempts != 2 {
		t.Errorf("rollout = %+v", r)
	}
	if len(dirs) != 2 || dirs[0] != dirs[1] {
		t.Errorf("workspaces %q", dirs)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

type agentFunc func(context.Context, eval.Task) (eval.Attempt, error)

func (agentFunc) Identity() eval.Identity { return eval.Identity{Backend: "test"} }

func (f agentFunc) Run(ctx context.Context, t eval.Task) (eval.Attempt, error) { return f(ctx, t) }

func jobsOf(cases []*eval.Case) []eval.Job {
	jobs := make([]eval.Job, len(cases))
	for i, c := range cases {
		jobs[i] = eval.Job{Variant: eval.Variant{Name: "s"}, Case: c}
	}
	return jobs
}

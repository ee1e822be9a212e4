package eval

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestWorkspace(t *testing.T) {
	parent := t.TempDir()
	var dirs []string
	e := &Evaluator{Grader: new(Checks), Workspaces: FileWorkspaces{parent}, MaxRetries: 1,
		Agent: agentFunc(func(_ context.Context, task Task) (Attempt, error) {
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
			return Attempt{Answer: "done"}, err
		})}
	c := &Case{ID: "1", Skill: "s", Prompt: "sum", Files: map[string]string{"data/in.csv": "week,usd\n"},
		Checks: []Check{{Type: FileContains, Path: "out.csv", Value: "total"}}}
	out, err := e.Run(t.Context(), jobsOf([]*Case{c}))
	if err != nil {
		t.Fatal(err)
	}
	if r := out[0]; r.Status != Done || r.Quality != 0 || r.Retries != 1 || r.Attempts != 2 {
		t.Errorf("rollout = %+v", r)
	}
	if len(dirs) != 2 || dirs[0] != dirs[1] {
		t.Errorf("workspaces %q", dirs)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}

	c2 := *c
	c2.Workspace = &Workspace{Repo: "../shop"}
	var infra *InfraError
	if _, err := e.Run(t.Context(), jobsOf([]*Case{&c2})); !errors.As(err, &infra) || infra.Kind != BadRequest {
		t.Errorf("a recorded tree: %v", err)
	}
}

package worker

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/coordinator"
	"github.com/skill-evolve/evolve/eval/fleet/fleettest"
	"github.com/skill-evolve/evolve/eval/fleet/parcel"
	"github.com/skill-evolve/evolve/eval/workspace"
)

// TestTogether: with a real coordinator, checks find in their folder what the agent did to its
// own on another machine, a retry goes on from there, and what the folder was is known.
func TestTogether(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on PATH")
	}
	repo := t.TempDir()
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", repo, "-c", "user.name=d", "-c", "user.email=d@example.com"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if err := errors.Join(os.WriteFile(filepath.Join(repo, "a"), []byte("one\n"), 0o600), os.WriteFile(filepath.Join(repo, "b"), []byte("b"), 0o600)); err != nil {
		t.Fatal(err)
	}
	git("init", "-q")
	git("add", "-A")
	git("commit", "-q", "-m", "x")
	c := &eval.Case{ID: "1", Prompt: "p", Files: map[string]string{"in": "in"}, Workspace: &eval.Workspace{Repo: repo, Commit: git("rev-parse", "HEAD")},
		Checks: []eval.Check{{Type: eval.FileExists, Path: "a"}}}

	s := fleettest.Serve(t)
	start(t, join(t, s.Join("w"), func(_ context.Context, task eval.Task) (eval.Attempt, error) {
		was, err := task.Before("a")
		if err != nil {
			return eval.Attempt{}, err
		}
		at := filepath.Join(task.Workspace, "a")
		now, err := os.ReadFile(at)
		if err != nil {
			return eval.Attempt{}, err
		}
		err = errors.Join(os.WriteFile(at, append(now, "more\n"...), 0o600), os.Remove(filepath.Join(task.Workspace, "b")))
		if task.Prior != nil {
			err = nil // b is gone
		}
		return eval.Attempt{Answer: string(was) + string(now)}, err
	}))
	trees := &workspace.Recorded{}
	defer trees.Close()
	conn := s.Join("lead")
	blobs, err := fleet.OpenBlobs(t.Context(), conn.JS)
	if err != nil {
		t.Fatal(err)
	}
	pack := &parcel.Packer{Blobs: blobs, Trees: trees}
	lead, err := coordinator.Open(t.Context(), coordinator.Options{Conn: conn, Blobs: blobs, Program: program, Sandbox: "on", Agent: identity, Pack: pack.Pack,
		Apply:      func(ctx context.Context, dir string, c *fleet.Changes) error { return parcel.Apply(ctx, blobs, dir, c) },
		Workspaces: trees, Log: func(line string) { t.Log(line) }, Beat: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer lead.Close()
	if err := lead.Continue(t.Context(), "run"); err != nil {
		t.Fatal(err)
	}
	task := eval.Task{Case: c}
	place, err := lead.Begin(t.Context(), task, eval.Work{Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	defer place.Close()
	for _, want := range []struct{ answer, a string }{{"one\none\n", "one\nmore\n"}, {"one\none\nmore\n", "one\nmore\nmore\n"}} {
		a, err := place.Attempt(t.Context(), task)
		if err != nil || a.Answer != want.answer || a.Worker == "" {
			t.Fatalf("%+v, %v", a, err)
		}
		dir, err := place.Folder(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(text) != want.a {
			t.Errorf("%q, %v", text, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "b")); err == nil {
			t.Error("b is still there")
		}
		repo = dir
		if got := git("status", "--porcelain"); got != "M a\n D b" {
			t.Errorf("git status: %q", got)
		}
		task.Prior = &eval.Prior{Answer: a.Answer, Feedback: []string{"more"}}
	}
}

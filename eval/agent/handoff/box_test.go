package handoff

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

type masking struct{}

func (masking) Redact(text string) (string, int) {
	return strings.ReplaceAll(text, "hunter2", "[secret]"), strings.Count(text, "hunter2")
}

func TestRedactedAndPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "requests")
	a := opened(t, dir, func(c *Config) { c.Redactor = masking{} })
	tk := task(t)
	c := *tk.Case
	c.Prompt, c.Context[0].Text = "log in with hunter2", "it is hunter2"
	tk.Case, tk.Prior = &c, &eval.Prior{Answer: "hunter2?", Feedback: []string{"not hunter2"}}
	_, err := a.Run(t.Context(), tk)
	wantPending(t, err, "")
	_, err = a.Complete(t.Context(), eval.Prompt{System: "hunter2", User: "hunter2"})
	wantPending(t, err, "")
	n := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		if d.IsDir() {
			return nil
		}
		n++
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "hunter2") {
			t.Errorf("%s holds what must not be written", path)
		}
		return err
	})
	if err != nil || n < 8 {
		t.Errorf("%d files (%v)", n, err)
	}
}

func TestTogether(t *testing.T) {
	dir := t.TempDir()
	stop := make(chan struct{})
	var person, callers sync.WaitGroup
	person.Go(func() { answerAll(t, dir, "yes", stop) })
	for range 4 {
		a := opened(t, dir, waiting)
		callers.Go(func() {
			for i := range 20 {
				if c, err := a.Complete(t.Context(), eval.Prompt{User: "x", Seed: int64(i)}); err != nil || c.Text != "yes" {
					t.Errorf("%d: %+v (%v)", i, c, err)
				}
			}
		})
	}
	callers.Wait()
	close(stop)
	person.Wait()
	away, err := os.ReadDir(filepath.Join(dir, answered))
	if err != nil || len(away) != 20 {
		t.Errorf("%d answered (%v), want 20", len(away), err)
	}
	if open, err := Open(dir); err != nil || len(open) != 0 {
		t.Errorf("still open: %+v (%v)", open, err)
	}
	left, err := filepath.Glob(filepath.Join(dir, newPrefix+"*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left over: %q (%v)", left, err)
	}
	index, err := os.ReadFile(filepath.Join(dir, indexName))
	if err != nil || !strings.Contains(string(index), "# Open requests: 0") {
		t.Errorf("index: %s (%v)", index, err)
	}
}

func TestClean(t *testing.T) {
	dir := t.TempDir()
	for _, run := range []string{"run-1", "run-2"} {
		a := opened(t, dir, func(c *Config) { c.Run = run })
		for seed := range int64(3) {
			_, err := a.Complete(t.Context(), eval.Prompt{User: run, Seed: seed})
			wantPending(t, err, "")
		}
		open, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		last := open[len(open)-1]
		put(t, filepath.Join(filepath.Dir(last.Path), answerText), "x")
		if _, err := a.Complete(t.Context(), eval.Prompt{User: run, Seed: 2}); err != nil {
			t.Fatal(err)
		}
	}
	mine := filepath.Join(dir, "notes", "mine.txt")
	write(t, mine, "keep")
	crashed := filepath.Join(dir, newPrefix+"1")
	write(t, filepath.Join(crashed, requestText), "half")
	old := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(crashed, old, old); err != nil {
		t.Fatal(err)
	}
	n, err := Clean(dir, func(run string, _ time.Time) bool { return run == "run-1" })
	if err != nil || n != 3 {
		t.Errorf("%d removed (%v), want 3", n, err)
	}
	open, err := Open(dir)
	if err != nil || len(open) != 2 || open[0].Run != "run-2" {
		t.Errorf("open: %+v (%v)", open, err)
	}
	if away, err := os.ReadDir(filepath.Join(dir, answered)); err != nil || len(away) != 1 {
		t.Errorf("answered: %v (%v)", away, err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("what is no request is gone: %v", err)
	}
	if _, err := os.Stat(crashed); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what a crash left is still there: %v", err)
	}
	index, err := os.ReadFile(filepath.Join(dir, indexName))
	if err != nil || !strings.Contains(string(index), "# Open requests: 2") {
		t.Errorf("index: %s (%v)", index, err)
	}
	if n, err := Clean(filepath.Join(dir, "absent"), func(string, time.Time) bool { return true }); n != 0 || err != nil {
		t.Errorf("no folder: %d (%v)", n, err)
	}
}

func TestCleanedWhileWaiting(t *testing.T) {
	dir := t.TempDir()
	a := opened(t, dir, waiting)
	asked := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		if c, err := a.Complete(t.Context(), eval.Prompt{User: "x"}); err != nil || c.Text != "yes" {
			t.Errorf("%+v (%v)", c, err)
		}
	})
	go func() {
		defer close(asked)
		for {
			if open, _ := Open(dir); len(open) == 1 {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	<-asked
	if n, err := Clean(dir, func(string, time.Time) bool { return true }); n != 1 || err != nil {
		t.Errorf("%d (%v)", n, err)
	}
	stop := make(chan struct{})
	var person sync.WaitGroup
	person.Go(func() { answerAll(t, dir, "yes", stop) })
	done.Wait()
	close(stop)
	person.Wait()
}

func TestRequestData(t *testing.T) {
	dir := t.TempDir()
	_, err := opened(t, dir, nil).Run(t.Context(), task(t))
	wantPending(t, err, "")
	text, err := os.ReadFile(filepath.Join(filepath.Dir(one(t, dir).Path), requestData))
	if err != nil {
		t.Fatal(err)
	}
	var r request
	if err := json.Unmarshal(text, &r); err != nil || r.Evolve != 1 || r.Skill != "stones" || r.Case != "1" ||
		!strings.Contains(r.Prompt, "gems") {
		t.Errorf("%+v (%v)", r, err)
	}
}

func TestNew(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("no folder, no error")
	}
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "x")
	if _, err := New(Config{Dir: file}); err == nil {
		t.Error("a file for a folder, no error")
	}
	a := opened(t, t.TempDir(), func(c *Config) { c.By = "Ada" })
	if id := a.Identity(); id != (eval.Identity{Backend: "handoff", Model: "Ada"}) {
		t.Errorf("identity = %+v", id)
	}
	if err := a.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(a.c.Dir); err != nil {
		t.Fatal(err)
	}
	var infra *eval.InfraError
	if err := a.Ping(t.Context()); !errors.As(err, &infra) {
		t.Errorf("the folder is gone: %v", err)
	}
}

func BenchmarkPending(b *testing.B) {
	a := opened(b, b.TempDir(), nil)
	for seed := range int64(100) {
		_, err := a.Complete(b.Context(), eval.Prompt{User: "x", Seed: seed})
		wantPending(b, err, "")
	}
	for b.Loop() {
		_, err := a.Complete(b.Context(), eval.Prompt{User: "x"})
		wantPending(b, err, "")
	}
}

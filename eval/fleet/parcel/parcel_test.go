package parcel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/workspace"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// shelf keeps blobs in memory.
type shelf struct {
	mu  sync.Mutex
	all map[string][]byte
	put int
}

func (s *shelf) Put(ctx context.Context, text []byte) (string, error) {
	name := fleet.NameOf(text)
	return name, s.PutFrom(ctx, name, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil })
}

func (s *shelf) PutFrom(_ context.Context, name string, open func() (io.ReadCloser, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[name] != nil {
		return nil
	}
	in, err := open()
	if err != nil {
		return err
	}
	defer in.Close()
	text, err := io.ReadAll(in)
	if fleet.NameOf(text) != name {
		return errors.New("another content")
	}
	if s.all == nil {
		s.all = map[string][]byte{}
	}
	s.all[name] = text
	s.put++
	return err
}

func (s *shelf) Fetch(_ context.Context, name, file string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, ok := s.all[name]
	if !ok {
		return fleet.ErrNoBlob
	}
	return os.WriteFile(file, text, 0o600)
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=dev", "-c", "user.email=dev@example.com"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// write makes files below dir; a name that ends in @ is a link to its text, one in * can run.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(dir, strings.TrimRight(name, "@*"))
		err := os.MkdirAll(filepath.Dir(at), 0o700)
		switch {
		case strings.HasSuffix(name, "@"):
			err = errors.Join(err, os.Symlink(text, at))
		case strings.HasSuffix(name, "*"):
			err = errors.Join(err, os.WriteFile(at, []byte(text), 0o700))
		default:
			err = errors.Join(err, os.WriteFile(at, []byte(text), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// state is all of a folder: modes, contents and where links lead; without folders.
func everything(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		info, err := e.Info()
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(p)
			out[rel] = "-> " + to
			return err
		}
		text, err := os.ReadFile(p)
		out[rel] = fmt.Sprintf("%v %x", info.Mode(), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func differ(a, b map[string]string) (names []string) {
	for name := range a {
		if a[name] != b[name] {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// A scene is a task with all that can stand in it.
type scene struct {
	task  eval.Task
	owner *setup.Set
	trees *workspace.Recorded
	repo  string
}

const secret = "never-travels"

func stage(t testing.TB) *scene {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on PATH")
	}
	repo := filepath.Join(t.TempDir(), secret+"-repo")
	write(t, repo, map[string]string{"a.txt": "a", "run.sh*": "#!/bin/sh\n", "d/b.txt": "b", "d/link@": "../a.txt"})
	git(t, repo, "init", "-q")
	git(t, repo, "add", "-A")
	git(t, repo, "commit", "-q", "-m", secret)
	commit := git(t, repo, "rev-parse", "HEAD")
	dir := t.TempDir()
	write(t, dir, map[string]string{"SKILL.md": "not this", "tool.py*": "print()", "evals/evals.json": secret, "out@": "/etc/hostname", "in@": "tool.py", ".git/HEAD": secret, "ref/x.md": "x"})
	other := t.TempDir()
	write(t, other, map[string]string{"SKILL.md": "---\nname: other\ndescription: d\n---\n", "more.md": "more", "evals/evals.json": secret})
	doc, err := skill.Parse([]byte("---\nname: stones\ndescription: about stones\n---\nBe hard.\n"), skill.Options{EvolveDescription: true})
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	c := &eval.Case{ID: "1", Skill: "stones", Prompt: "Which?", Context: []eval.Message{{Role: "user", Text: "before"}}, Files: map[string]string{"in/put.csv": "1,2", "a.txt": "A"},
		Workspace: &eval.Workspace{Repo: repo, Commit: commit}, Checks: []eval.Check{{Type: eval.Contains, Value: secret}}, Reference: secret, ShouldTrigger: &yes,
		Neighbour: secret, Cluster: secret, Source: &eval.Source{Session: secret}}
	s := &scene{repo: repo, trees: &workspace.Recorded{}, owner: &setup.Set{Files: []setup.File{{Path: ".claude/CLAUDE.md", Text: []byte("be brief")}},
		Notes: map[string][]setup.File{strings.NewReplacer("/", "-", ".", "-", "_", "-").Replace(repo): {{Path: "MEMORY.md", Text: []byte("a note")}}, "-elsewhere": {{Path: "MEMORY.md", Text: []byte(secret)}}}}}
	t.Cleanup(func() { s.trees.Close() })
	s.task = eval.Task{Variant: eval.Variant{Name: "stones", Doc: doc, Dir: dir, Rest: "r"}, Case: c, Seed: 7, Prior: &eval.Prior{Answer: "no", Feedback: []string{"more"}},
		Others: []eval.Offer{{Name: "other", Dir: other, SHA: "s"}, {Name: "text", Dir: other, SHA: "s2", Text: []byte("its own")}}}
	return s
}

func (s *scene) pack(t testing.TB, to Store) fleet.Task {
	t.Helper()
	out, err := (&Packer{Blobs: to, Owner: s.owner, Trees: s.trees}).Pack(t.Context(), s.task)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// over is a task as it is at its worker, after a trip as JSON.
func over(t testing.TB, from Source, task fleet.Task) *Unpacked {
	t.Helper()
	text, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	task = fleet.Task{}
	if err := json.Unmarshal(text, &task); err != nil {
		t.Fatal(err)
	}
	u, err := Unpack(t.Context(), from, task, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func open(t testing.TB, w eval.Workspaces, c *eval.Case) string {
	t.Helper()
	f, err := w.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f.Dir
}

func TestTaskTravels(t *testing.T) {
	s, blobs := stage(t), new(shelf)
	u := over(t, blobs, s.pack(t, blobs))
	got := u.Task
	if got.Variant.Name != "stones" || got.Variant.SHA() != s.task.Variant.SHA() || got.Seed != 7 || got.Case.Prompt != "Which?" || got.Case.ShouldTrigger == nil ||
		len(got.Case.Context) != 1 || got.Prior.Feedback[0] != "more" || got.Case.Files["in/put.csv"] != "1,2" {
		t.Errorf("task = %+v, case %+v", got, got.Case)
	}
	var skillFiles []string
	for name := range everything(t, got.Variant.Dir) {
		skillFiles = append(skillFiles, name)
	}
	if slices.Sort(skillFiles); !slices.Equal(skillFiles, []string{"in", "ref/x.md", "tool.py"}) {
		t.Errorf("the skill's folder has %q", skillFiles)
	}
	if info, err := os.Stat(filepath.Join(got.Variant.Dir, "tool.py")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("tool.py is %v, %v", info.Mode(), err)
	}
	if o := got.Others; len(o) != 2 || len(everything(t, o[0].Dir)) != 2 || o[0].Text != nil || string(o[1].Text) != "its own" || len(everything(t, o[1].Dir)) != 1 {
		t.Errorf("others = %+v", o)
	}
	if u.Owner.Hash() != s.owner.Hash() || len(u.Owner.NotesOf("")) != 1 || string(u.Owner.Files[0].Text) != "be brief" {
		t.Errorf("owner = %+v", u.Owner)
	}
	there, here := open(t, u, got.Case), open(t, s.trees, s.task.Case)
	if names := differ(everything(t, there), everything(t, here)); len(names) > 0 {
		t.Errorf("%q differ", names)
	}
	if st := git(t, there, "status", "--porcelain"); st != "" {
		t.Errorf("git status: %s", st)
	}
	if a, b := git(t, there, "rev-parse", "HEAD"), git(t, here, "rev-parse", "HEAD"); a != b {
		t.Errorf("the commit is %s, and here %s", a, b)
	}
}

// TestWhatStays: of what is expected, and of where it comes from, nothing travels.
func TestWhatStays(t *testing.T) {
	s, blobs := stage(t), new(shelf)
	text, err := json.Marshal(s.pack(t, blobs))
	if err != nil {
		t.Fatal(err)
	}
	blobs.all["task"] = text
	for name, text := range blobs.all {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s has it: %.200q", name, text)
		}
	}
	no := false
	s.task.Case.ShouldTrigger = &no
	other, err := json.Marshal(s.pack(t, blobs))
	if err != nil || !bytes.Equal(text, other) {
		t.Errorf("it shows whether the skill should be loaded:\n%s\n%s", text, other)
	}
}

// TestStoredOnce: the same task is the same blobs, which are made once.
func TestStoredOnce(t *testing.T) {
	s, blobs := stage(t), new(shelf)
	first := s.pack(t, blobs)
	n := blobs.put
	again, err := json.Marshal(s.pack(t, blobs))
	if want, _ := json.Marshal(first); err != nil || !bytes.Equal(again, want) || blobs.put != n {
		t.Errorf("%d blobs and then %d:\n%s\n%s", n, blobs.put, want, again)
	}
	// A worker that has lost one gets it again.
	p := &Packer{Blobs: blobs, Owner: s.owner, Trees: s.trees}
	for range 2 {
		clear(blobs.all)
		task, err := p.Pack(t.Context(), s.task)
		if err != nil || len(blobs.all) != n {
			t.Fatalf("%d blobs, want %d, %v", len(blobs.all), n, err)
		}
		over(t, blobs, task)
	}
	delete(blobs.all, first.Tree)
	var gone *NoBlobError
	if _, err := Unpack(t.Context(), blobs, first, t.TempDir()); !errors.As(err, &gone) || gone.Name != first.Tree || !errors.Is(err, fleet.ErrNoBlob) {
		t.Errorf("%v", err)
	}
}

type prepares struct{}

func (prepares) Identity(string) string { return "x" }
func (prepares) Prepare(context.Context, string, func(string) error) (*workspace.Prepared, error) {
	return &workspace.Prepared{Root: "/"}, nil
}
func (prepares) Close() error { return nil }

func TestPreparedStays(t *testing.T) {
	s := stage(t)
	s.trees.Setup = prepares{}
	if _, err := (&Packer{Blobs: new(shelf), Trees: s.trees}).Pack(t.Context(), s.task); !errors.Is(err, workspace.ErrPrepared) {
		t.Errorf("%v", err)
	}
}

// TestHostileTask: a coordinator can have an agent run, and nothing else.
func TestHostileTask(t *testing.T) {
	s, blobs := stage(t), new(shelf)
	whole := s.pack(t, blobs)
	put := func(v any) string {
		text, _ := json.Marshal(v)
		name, _ := blobs.Put(t.Context(), text)
		return name
	}
	for name, change := range map[string]func(*fleet.Task){
		"a name that is a path":      func(f *fleet.Task) { f.Text = "../../../etc/passwd" },
		"settings as instructions":   func(f *fleet.Task) { f.Path = "~/.claude/settings.json" },
		"settings of the owner":      func(f *fleet.Task) { f.Owner = put(&setup.Set{Files: []setup.File{{Path: ".codex/config.toml"}}}) },
		"a set-up outside":           func(f *fleet.Task) { f.Owner = put(&setup.Set{Files: []setup.File{{Path: "../x.md"}}}) },
		"a tree that is none":        func(f *fleet.Task) { f.Tree = f.Text },
		"a folder that is none":      func(f *fleet.Task) { f.Dir = f.Text },
		"a file outside":             func(f *fleet.Task) { f.Files = put(map[string]string{"../../x": "y"}) },
		"something gone outside":     func(f *fleet.Task) { f.Changes = &fleet.Changes{Gone: []string{"../x"}} },
		"all of the folder is gone":  func(f *fleet.Task) { f.Changes = &fleet.Changes{Gone: []string{"."}} },
		"changes that are something": func(f *fleet.Task) { f.Changes = &fleet.Changes{Made: f.Text} },
	} {
		task := whole
		change(&task)
		u, err := Unpack(t.Context(), blobs, task, t.TempDir())
		if err == nil {
			_, err = u.Open(t.Context(), u.Task.Case)
		}
		if err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

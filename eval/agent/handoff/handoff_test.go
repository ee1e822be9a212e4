package handoff

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/agenttest"
	folders "github.com/skill-evolve/evolve/eval/workspace"
	"github.com/skill-evolve/evolve/mutate/skill"
)

func opened(t testing.TB, dir string, change func(*Config)) *Agent {
	t.Helper()
	c := Config{Dir: dir, Run: "run-1"}
	if change != nil {
		change(&c)
	}
	a, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func waiting(c *Config) { c.Wait, c.Quiet = true, 2*time.Millisecond }

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// old makes a file look as if it had not changed for a minute.
func old(t testing.TB, name string) {
	t.Helper()
	then := time.Now().Add(-time.Minute)
	if err := os.Chtimes(name, then, then); err != nil {
		t.Fatal(err)
	}
}

// put writes an answer that lies still.
func put(t testing.TB, name, text string) {
	t.Helper()
	write(t, name, text)
	old(t, name)
}

func one(t testing.TB, dir string) Request {
	t.Helper()
	open, err := Open(dir)
	if err != nil || len(open) != 1 {
		t.Fatalf("open requests: %+v (%v), want one", open, err)
	}
	return open[0]
}

func wantPending(t testing.TB, err error, tells string) {
	t.Helper()
	if !eval.IsPending(err) || !strings.Contains(err.Error(), tells) {
		t.Fatalf("err = %v, want pending and %q", err, tells)
	}
}

func stones(t testing.TB) eval.Variant {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "SKILL.md"), "the installed one")
	write(t, filepath.Join(dir, "scripts", "weigh.sh"), "#!/bin/sh\n")
	write(t, filepath.Join(dir, "evals", "evals.json"), "[]")
	doc, err := skill.Parse([]byte("---\nname: stones\ndescription: Names stones.\n---\nBe brief.\n```\nlook\n```\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return eval.Variant{Name: "stones", Doc: doc, Dir: dir, Rest: "r"}
}

func task(t testing.TB) eval.Task {
	t.Helper()
	return eval.Task{Variant: stones(t), Seed: 5, Case: &eval.Case{ID: "1", Skill: "stones", Prompt: "/stones Which is the hardest?",
		Context: []eval.Message{{Role: "user", Text: "We speak of gems."}}, Files: map[string]string{"data/gems.csv": "gem\n"}}}
}

// answerAll answers every open request until stop is closed.
func answerAll(t testing.TB, dir, text string, stop <-chan struct{}) {
	for {
		open, err := Open(dir)
		if err != nil {
			t.Error(err)
			return
		}
		for _, r := range open {
			part := filepath.Join(filepath.Dir(r.Path), "answer.part")
			err := os.WriteFile(part, []byte(text), 0o600)
			if err == nil {
				err = os.Rename(part, filepath.Join(filepath.Dir(r.Path), answerText))
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // taken meanwhile
				t.Error(err)
				return
			}
		}
		select {
		case <-stop:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

func TestConformance(t *testing.T) {
	agenttest.Run(t, agenttest.Harness{
		New: func(t *testing.T, _ *agenttest.Server, _ string) eval.Agent {
			dir := t.TempDir()
			stop := make(chan struct{})
			var done sync.WaitGroup
			done.Go(func() { answerAll(t, dir, "zirconium", stop) })
			t.Cleanup(func() { close(stop); done.Wait() })
			return opened(t, dir, waiting)
		},
		Unsupported: agenttest.WithoutServer("a person speaks to no server"),
	})
}

func TestTask(t *testing.T) {
	dir := t.TempDir()
	a := opened(t, dir, nil)
	tk := task(t)
	tk.Workspace = t.TempDir()
	write(t, filepath.Join(tk.Workspace, "data", "gems.csv"), "gem\n")
	write(t, filepath.Join(tk.Workspace, "stale.txt"), "x")
	_, err := a.Run(t.Context(), tk)
	wantPending(t, err, "is not answered yet")
	r := one(t, dir)
	at := filepath.Dir(r.Path)
	if r.Kind != "task" || r.Run != "run-1" || r.Answered || r.Problem != "" || !strings.Contains(r.Title, "Which is the hardest?") {
		t.Errorf("request = %+v", r)
	}
	text, err := os.ReadFile(r.Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Use the skill **stones**", "Be brief.", "````\n---\nname: stones", "> We speak of gems.",
		"answer.md", "workspace/", r.ID, "once it has not changed for 2s", "\nWhich is the hardest?\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("request.md lacks %q:\n%s", want, text)
		}
	}
	for _, no := range []string{"/stones Which", "<no value>", dir} {
		if strings.Contains(string(text), no) {
			t.Errorf("request.md holds %q:\n%s", no, text)
		}
	}
	for name, want := range map[string]string{"workspace/data/gems.csv": "gem\n", "skills/stones/SKILL.md": string(tk.Variant.Doc.Render()),
		"skills/stones/scripts/weigh.sh": "#!/bin/sh\n"} {
		if got, err := os.ReadFile(filepath.Join(at, name)); err != nil || string(got) != want {
			t.Errorf("%s = %q (%v)", name, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(at, "skills", "stones", "evals")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the evals stand beside the request")
	}

	// Asked again, by this process or another, it is the same request.
	again := opened(t, dir, func(c *Config) { c.Run = "resumed" })
	_, err = again.Run(t.Context(), tk)
	wantPending(t, err, r.ID)
	if now := one(t, dir); now != r {
		t.Errorf("asked again: %+v, want %+v", now, r)
	}

	write(t, filepath.Join(at, "workspace", "out", "best.txt"), "diamond")
	if err := os.Remove(filepath.Join(at, "workspace", "stale.txt")); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(at, answerText), "\ufeffThe diamond.\r\n")
	got, err := again.Run(t.Context(), tk)
	if err != nil {
		t.Fatal(err)
	}
	if got.Answer != "The diamond." || got.Failure != "" || !got.Untimed || got.CostUSD != nil || got.Usage != nil ||
		got.SkillInvoked != nil || got.Audit != eval.Inconclusive || !slices.Equal(got.Files, []string{"out/best.txt", "stale.txt"}) {
		t.Errorf("attempt = %+v", got)
	}
	if text, err := os.ReadFile(filepath.Join(tk.Workspace, "out", "best.txt")); err != nil || string(text) != "diamond" {
		t.Errorf("the workspace that the checks see: %q (%v)", text, err)
	}
	if open, err := Open(dir); err != nil || len(open) != 0 {
		t.Errorf("still open: %+v (%v)", open, err)
	}
	// The answer is there for a third time, too, in a workspace as it was.
	tk.Workspace = t.TempDir()
	write(t, filepath.Join(tk.Workspace, "data", "gems.csv"), "gem\n")
	write(t, filepath.Join(tk.Workspace, "stale.txt"), "x")
	if third, err := a.Run(t.Context(), tk); err != nil || third.Answer != got.Answer || !slices.Equal(third.Files, got.Files) {
		t.Errorf("read again: %+v (%v)", third, err)
	}
}

func TestEveryQuestionIsItsOwn(t *testing.T) {
	dir := t.TempDir()
	base := task(t)
	changes := map[string]func(*eval.Task){
		"nothing":   func(*eval.Task) {},
		"seed":      func(t *eval.Task) { t.Seed++ },
		"prior":     func(t *eval.Task) { t.Prior = &eval.Prior{Answer: "quartz", Feedback: []string{"harder"}} },
		"feedback":  func(t *eval.Task) { t.Prior = &eval.Prior{Answer: "quartz", Feedback: []string{"softer"}} },
		"no skill":  func(t *eval.Task) { t.Variant = eval.Variant{Name: "stones"} },
		"rest":      func(t *eval.Task) { t.Variant.Rest = "other" },
		"prompt":    func(t *eval.Task) { c := *t.Case; c.Prompt = "Which is the softest?"; t.Case = &c },
		"trigger":   func(t *eval.Task) { c := *t.Case; fires := true; c.ShouldTrigger = &fires; t.Case = &c },
		"the split": func(t *eval.Task) { c := *t.Case; c.Split = eval.Test; t.Case = &c },
	}
	a := opened(t, dir, nil)
	for _, change := range changes {
		tk := base
		change(&tk)
		if _, err := a.Run(t.Context(), tk); !eval.IsPending(err) {
			t.Fatal(err)
		}
	}
	if _, err := opened(t, dir, func(c *Config) { c.By = "somebody else" }).Run(t.Context(), base); !eval.IsPending(err) {
		t.Fatal(err)
	}
	for _, p := range []eval.Prompt{{User: "x"}, {User: "x", Seed: 1}, {System: "y", User: "x"}, {User: "x"}} {
		_, err := a.Complete(t.Context(), p)
		wantPending(t, err, "")
	}
	open, err := Open(dir)
	if want := len(changes) - 1 + 1 + 3; err != nil || len(open) != want {
		t.Errorf("%d requests (%v), want %d: the split is nothing that can be seen", len(open), err, want)
	}
	if !slices.IsSortedFunc(open, func(x, y Request) int { return x.Asked.Compare(y.Asked) }) {
		t.Error("the oldest is not first")
	}
}

func TestTriggerCase(t *testing.T) {
	dir := t.TempDir()
	a := opened(t, dir, nil)
	tk := task(t)
	c := *tk.Case
	fires := true
	c.ShouldTrigger, c.Prompt, tk.Case = &fires, "Which is the hardest?", &c
	tk.Others = []eval.Offer{{Name: "metals", Dir: stones(t).Dir}}
	_, err := a.Run(t.Context(), tk)
	wantPending(t, err, "")
	r := one(t, dir)
	text, err := os.ReadFile(r.Path)
	if err != nil || strings.Contains(string(text), "Be brief.") || !strings.Contains(string(text), "- metals: \n- stones: Names stones.\n") {
		t.Errorf("the skill is forced on the answerer: %s (%v)", text, err)
	}
	put(t, filepath.Join(filepath.Dir(r.Path), answerData),
		`{"answer":"diamond","skills":["metals"],"turns":2,"usage":{"input":7,"output":1},"cost_usd":0.5,"trace":[{"name":"Read","input":"x","failed":true}]}`)
	got, err := a.Run(t.Context(), tk)
	if err != nil || got.Answer != "diamond" || *got.SkillInvoked || !slices.Equal(got.Skills, []string{"metals"}) || got.Turns != 2 ||
		got.Usage.Input != 7 || *got.CostUSD != 0.5 || len(got.Trace) != 1 || !got.Trace[0].Failed {
		t.Errorf("attempt = %+v (%v)", got, err)
	}
}

func TestComplete(t *testing.T) {
	dir := t.TempDir()
	a := opened(t, dir, nil)
	p := eval.Prompt{System: "You judge.", User: "Is it good?\n```\ncode\n```", MaxTokens: 50, Seed: 3}
	_, err := a.Complete(t.Context(), p)
	wantPending(t, err, "")
	r := one(t, dir)
	text, err := os.ReadFile(r.Path)
	if err != nil || !strings.Contains(string(text), "You judge.") || !strings.HasSuffix(string(text), "---\n\n"+p.User+"\n") ||
		!strings.Contains(string(text), "at most 50 tokens") || strings.Contains(string(text), "workspace/") {
		t.Errorf("request.md = %s (%v)", text, err)
	}
	put(t, filepath.Join(filepath.Dir(r.Path), answerText), "{\"score\":1}\n")
	if c, err := a.Complete(t.Context(), p); err != nil || c.Text != `{"score":1}` || c.Finish != "stop" || c.CostUSD != nil || c.Usage != nil {
		t.Errorf("completion = %+v (%v)", c, err)
	}
}

// A request with an unusable answer stays open, and shows why where its author looks.
func TestUnusableAnswers(t *testing.T) {
	for name, c := range map[string]struct{ md, json, problem string }{
		"half":              {"", `{"answer":"x`, "does not end"},
		"unknown field":     {"", `{"anwser":"x"}`, `did you mean "answer"?`},
		"another's":         {"", `{"id":"0123456789ab","answer":"x"}`, "belongs to request 0123456789ab"},
		"nothing in it":     {" \n", `{"turns":1}`, "has no answer and no failure"},
		"negative":          {"x", `{"cost_usd":-1}`, "cost_usd is negative"},
		"not text":          {"\xff\xfe", "", "no UTF-8"},
		"empty":             {"", "", ""},
		"space":             {" \n\n", "", ""},
		"empty beside":      {"", " ", ""},
		"more than its sum": {"x", `{"usage":{"input":1,"output":1,"reasoning":5}}`, "usage.reasoning"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			a := opened(t, dir, nil)
			_, err := a.Run(t.Context(), task(t))
			wantPending(t, err, "")
			at := filepath.Dir(one(t, dir).Path)
			if c.md != "" {
				put(t, filepath.Join(at, answerText), c.md)
			}
			if c.json != "" {
				put(t, filepath.Join(at, answerData), c.json)
			}
			_, err = a.Run(t.Context(), task(t))
			wantPending(t, err, c.problem)
			if r := one(t, dir); !strings.Contains(r.Problem, c.problem) || (r.Problem == "") != (c.problem == "") {
				t.Errorf("problem %q, want %q", r.Problem, c.problem)
			}
			index, err := os.ReadFile(filepath.Join(dir, indexName))
			if err != nil || !strings.Contains(string(index), c.problem) || strings.Contains(string(index), "cannot be used") != (c.problem != "") {
				t.Errorf("%s (%v)", index, err)
			}
		})
	}
}

func TestAnswerThatIsALink(t *testing.T) {
	dir := t.TempDir()
	a := opened(t, dir, nil)
	tk := task(t)
	_, err := a.Run(t.Context(), tk)
	wantPending(t, err, "")
	at := filepath.Dir(one(t, dir).Path)
	secret := filepath.Join(t.TempDir(), "secret")
	put(t, secret, "hidden")
	if err := os.Symlink(secret, filepath.Join(at, answerText)); err != nil {
		t.Fatal(err)
	}
	_, err = a.Run(t.Context(), tk)
	wantPending(t, err, "no regular file")
	if err := os.Remove(filepath.Join(at, answerText)); err != nil {
		t.Fatal(err)
	}
	// Nor does a workspace that is a link lead anywhere.
	if err := os.RemoveAll(filepath.Join(at, workspace)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(secret), filepath.Join(at, workspace)); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(at, answerText), "x")
	if got, err := a.Run(t.Context(), tk); err == nil || !strings.Contains(err.Error(), "is no folder") {
		t.Errorf("%+v (%v)", got, err)
	}
}

func TestFailureIsData(t *testing.T) {
	dir := t.TempDir()
	a := opened(t, dir, nil)
	_, err := a.Run(t.Context(), task(t))
	wantPending(t, err, "")
	put(t, filepath.Join(filepath.Dir(one(t, dir).Path), answerData), `{"failure":"I do not know"}`)
	if got, err := a.Run(t.Context(), task(t)); err != nil || got.Failure != "I do not know" {
		t.Errorf("%+v (%v)", got, err)
	}
}

// A waiting call takes an answer only when it has come to rest.
// Without waiting, a fresh answer gets a second look, and one that still grows
// none after it.
// A batch stands in the folder after one pass, is answered out of order, and
// measured again by the same run; a work retry asks with the workspace as the
// first attempt left it.
func TestEvaluator(t *testing.T) {
	dir, spaces := t.TempDir(), t.TempDir()
	jobs := make([]eval.Job, 6)
	v := stones(t)
	for i := range jobs {
		jobs[i] = eval.Job{Variant: v, Case: &eval.Case{ID: fmt.Sprint(i), Skill: "stones", Prompt: fmt.Sprintf("Number %d?", i),
			Files: map[string]string{"in.txt": "1"}, Checks: []eval.Check{{Type: eval.FileContains, Path: "out.txt", Value: "right"}}}}
	}
	e := &eval.Evaluator{Agent: opened(t, dir, nil), Grader: new(eval.Checks), Workspaces: &folders.Recorded{Parent: spaces},
		Concurrency: 4, MaxRetries: 1, Budget: eval.NewBudget(eval.Caps{}, nil)}
	_, err := e.Run(t.Context(), jobs)
	wantPending(t, err, "6 of 6 rollouts wait for an answer")
	answer := func(work string) {
		t.Helper()
		open, err := Open(dir)
		if err != nil || len(open) != 6 {
			t.Fatalf("%d open (%v)", len(open), err)
		}
		for _, r := range open {
			at := filepath.Dir(r.Path)
			if was, err := os.ReadFile(filepath.Join(at, workspace, "out.txt")); work == "right" && string(was) != "wrong" {
				t.Errorf("the second attempt begins with %q (%v)", was, err)
			}
			write(t, filepath.Join(at, workspace, "out.txt"), work)
			put(t, filepath.Join(at, answerText), "done")
		}
	}
	answer("wrong")
	_, err = e.Run(t.Context(), jobs)
	wantPending(t, err, "6 of 6")
	answer("right")
	out, err := e.Run(t.Context(), jobs)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range out {
		if r.Status != eval.Done || r.Quality != 0 || r.Retries != 1 || r.Attempts != 2 || r.LatencyMS != nil || !slices.Equal(r.Files, []string{"out.txt"}) {
			t.Errorf("rollout = %+v", r)
		}
	}
	if s := e.Budget.Spent(); s.Rollouts != 12 {
		t.Errorf("spent = %+v", s)
	}
}

// Several processes on one folder ask once, and share the answer.
// BenchmarkPending is one pass over a request that stands and is not answered,
// among a hundred others.
// A wall clock around a waiting agent must not make a bad answer of a slow one.

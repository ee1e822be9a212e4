package outgoing

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir/policy"
)

// A world is a store with a session in each of some projects, and a case of each.
type world struct {
	*Control
	db    *store.Store
	cases []eval.Case
	dir   string
}

func (w *world) at(project string) string { return filepath.Join(w.dir, project) }

func newWorld(t *testing.T, decide func(w *world, d *consent.Decisions)) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), filepath.Join(dir, "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	w := &world{Control: &Control{File: filepath.Join(dir, "projects.yaml"), Recorder: func(s *harvest.Session) string {
		return map[string]string{"claude-code": "anthropic", "codex": "openai"}[s.Agent]
	}}, db: db, dir: dir}
	for _, s := range []struct{ id, agent, project string }{{"shop", "claude-code", "shop"}, {"web", "codex", "web"}, {"secret", "claude-code", "secret"}, {"pi", "pi", "web"}, {"nowhere", "claude-code", ""}} {
		cwd := ""
		if s.project != "" {
			cwd = w.at(s.project)
			if err := os.MkdirAll(cwd, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.SaveSession(t.Context(), &harvest.Session{ID: s.id, Agent: s.agent, Path: s.id, CWD: cwd, Invocations: []harvest.Invocation{{ID: "i", Skill: "plot"}}}); err != nil {
			t.Fatal(err)
		}
		w.cases = append(w.cases, eval.Case{ID: s.id, Skill: "plot", Prompt: "p", Source: &eval.Source{Agent: s.agent, Session: s.id, Origin: "mined"}})
	}
	w.cases = append(w.cases, eval.Case{ID: "own", Skill: "plot", Prompt: "p"},
		eval.Case{ID: "varied", Skill: "plot", Prompt: "p", Source: &eval.Source{Agent: "claude-code", Session: "secret", Origin: "generated"}},
		eval.Case{ID: "lost", Skill: "plot", Prompt: "p", Source: &eval.Source{Agent: "claude-code", Session: "gone", Origin: "mined"}},
		eval.Case{ID: "theirs", Skill: "plot", Prompt: "p", Source: &eval.Source{Agent: "claude-code", Session: "elsewhere", Origin: "imported"}})
	if decide != nil {
		d := new(consent.Decisions)
		decide(w, d)
		if err := d.Write(w.File); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// asks are backends whose requests go to these vendors, by kind.
func asks(to map[string]string) *agent.Backends {
	b := &agent.Backends{To: map[string][]agent.Recipient{}}
	for kind, v := range to {
		b.To[kind] = []agent.Recipient{{Vendor: v, Host: v + ".example", Port: "443"}}
	}
	return b
}

func ids(cases []eval.Case) string {
	var out []string
	for _, c := range cases {
		out = append(out, c.ID)
	}
	return strings.Join(out, " ")
}

func TestFilter(t *testing.T) {
	shop := func(w *world, d *consent.Decisions) {
		d.Allow(w.at("shop"))
		d.Allow(w.at("web"), "anthropic")
		d.Deny(w.at("secret"))
	}
	anthropic, both := map[string]string{agent.Replay: "anthropic"}, map[string]string{agent.Replay: "anthropic", agent.Judge: "openai"}
	for _, c := range []struct {
		name   string
		decide func(*world, *consent.Decisions)
		to     map[string]string
		want   string
		line   string // of what stays out
	}{
		{"this machine", nil, nil, "shop web secret pi nowhere own varied lost theirs", ""},
		{"this machine, what may be read", shop, nil, "shop web pi own theirs", "2 cases of DIR/secret stay out: it is not allowed to be read; `evolve projects allow DIR/secret`"},
		{"never asked", nil, anthropic, "own theirs", "1 case of DIR/shop stays out: you have not been asked yet"},
		{"who recorded it, and who was allowed", shop, anthropic, "shop web pi own theirs", "2 cases of DIR/secret stay out: it is not allowed to be read"},
		{"every vendor", shop, both, "web own theirs", "1 case of DIR/shop stays out: the text goes to anthropic alone; `evolve projects allow DIR/shop --to openai`"},
		{"unknown recorder", shop, map[string]string{agent.Mutate: "openai"}, "web own theirs", "1 case of DIR/web stays out: it is not known which vendor has the text already; `evolve projects allow DIR/web --to openai`"},
		{"all", func(w *world, d *consent.Decisions) { d.All = true }, anthropic, "shop secret nowhere own varied lost theirs", "1 case of DIR/web stays out: the text goes to openai alone"},
		{"all to a vendor", func(w *world, d *consent.Decisions) { d.All, d.Send = true, []string{"openai"} }, both, "shop secret nowhere own varied lost theirs", "1 case of DIR/web stays out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.decide)
			back := asks(c.to)
			kept, left, err := w.Filter(t.Context(), w.db, back, agent.Requests, w.cases)
			if err != nil {
				t.Fatal(err)
			}
			if ids(kept) != c.want {
				t.Errorf("kept %s, want %s", ids(kept), c.want)
			}
			lines := strings.Join(left.Lines(), "\n")
			if !strings.Contains(lines, strings.ReplaceAll(c.line, "DIR", w.dir)) || len(left) > 0 && c.line == "" {
				t.Errorf("what stays out:\n%s", lines)
			}
			for i := range w.cases[:5] { // sessions are held to the same
				list, err := w.db.Sessions(t.Context(), store.SessionFilter{ID: w.cases[i].ID})
				if err != nil {
					t.Fatal(err)
				}
				may, err := w.Readable(back, agent.Requests)
				if err != nil {
					t.Fatal(err)
				}
				if got := may == nil || may(&list[0]); got != slices.Contains(strings.Fields(c.want), w.cases[i].ID) {
					t.Errorf("session %s: %v", w.cases[i].ID, got)
				}
			}
		})
	}
}

// A case that was imported without its session is still one of a session if it names the
// agent that recorded it.
func TestImportedOfAnAgent(t *testing.T) {
	w := newWorld(t, func(w *world, d *consent.Decisions) { d.Allow(w.at("shop")) })
	cases := []eval.Case{{ID: "taken", Skill: "plot", Source: &eval.Source{Agent: "claude-code"}}, {ID: "own", Skill: "plot", Source: &eval.Source{Origin: "imported"}}, {ID: "by", Skill: "plot", Source: &eval.Source{Agent: "somebody"}}}
	for all, want := range map[bool]string{false: "own by", true: "taken own by"} {
		d := &consent.Decisions{All: all}
		d.Allow(w.at("shop"))
		if err := d.Write(w.File); err != nil {
			t.Fatal(err)
		}
		kept, _, err := w.Filter(t.Context(), w.db, asks(map[string]string{agent.Replay: "anthropic"}), agent.Requests, cases)
		if err != nil || ids(kept) != want {
			t.Errorf("all %v: kept %s, %v", all, ids(kept), err)
		}
	}
}

// A case brings no tree of a repository that is denied, whoever wrote the case.
func TestRepositoryIsDenied(t *testing.T) {
	w := newWorld(t, func(w *world, d *consent.Decisions) { d.Allow(w.at("shop")); d.Deny(w.at("secret")) })
	var cases []eval.Case
	for _, dir := range []string{"shop", "web", "secret", "secret/below"} {
		cases = append(cases, eval.Case{ID: dir, Skill: "plot", Workspace: &eval.Workspace{Repo: w.at(dir)}})
	}
	for _, to := range []map[string]string{nil, {agent.Replay: "anthropic"}} {
		kept, left, err := w.Filter(t.Context(), w.db, asks(to), agent.Requests, cases)
		if err != nil || ids(kept) != "shop web" || len(left) != 2 || !strings.Contains(left.Lines()[0], "1 case of "+w.at("secret")+" stays out: it is not allowed to be read") {
			t.Errorf("kept %s, %q, %v", ids(kept), left.Lines(), err)
		}
	}
	p := new(policy.Policy)
	p.Projects.Allow = &[]string{w.at("web")}
	w.Policy = func() (*policy.Policy, error) { return p, nil }
	if kept, _, err := w.Filter(t.Context(), w.db, asks(nil), agent.Requests, cases); err != nil || ids(kept) != "web" {
		t.Errorf("under a policy: kept %s, %v", ids(kept), err)
	}
}

// What was not cleared is not sent, whoever asks; nor what nobody has agreed to.
func TestRequestsAreHeld(t *testing.T) {
	w := newWorld(t, func(w *world, d *consent.Decisions) {
		d.Allow(w.at("shop"))
		d.Seen = []consent.Request{{Kind: agent.Replay, Vendor: "anthropic"}, {Kind: agent.Mutate, Vendor: "anthropic"}}
	})
	back := asks(map[string]string{agent.Replay: "anthropic", agent.Mutate: "anthropic", agent.Mine: "anthropic"})
	e := new(echo)
	replay := func(g *Control, id string) error {
		_, err := g.Agent(back.To[agent.Replay], e, nil).Run(t.Context(), eval.Task{Case: &eval.Case{ID: id, Prompt: id}})
		return err
	}
	ask := func(g *Control, kind string) error {
		_, err := g.Model(kind, back.To[kind], e).Complete(t.Context(), eval.Prompt{User: kind})
		return err
	}
	refused := func(err error, want string) {
		t.Helper()
		infra := new(eval.InfraError)
		if !errors.As(err, &infra) || infra.Kind != eval.Refused || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want a refusal: %s", err, want)
		}
	}
	refused(replay(nil, "shop"), "nobody has cleared")
	refused(replay(w.Control, "shop"), "was not cleared")
	refused(ask(w.Control, agent.Mutate), "was not cleared")
	if _, _, err := w.Clear(t.Context(), w.db, back, []string{agent.Replay, agent.Mutate}, w.cases); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(replay(w.Control, "shop"), replay(w.Control, "own"), ask(w.Control, agent.Mutate)); err != nil {
		t.Error(err)
	}
	refused(replay(w.Control, "secret"), "was not cleared")
	refused(ask(w.Control, agent.Mine), "was not cleared")
	if got := strings.Join(e.got, " "); got != "shop own mutate" {
		t.Errorf("sent: %s", got)
	}
	// Without a terminal the kinds that nobody has seen are an error before anything is sent.
	_, _, err := w.Clear(t.Context(), w.db, back, agent.Requests, w.cases)
	if kind, hint := problem.Of(err); kind != problem.Input || !strings.Contains(hint, "`evolve privacy agree anthropic mine`") {
		t.Errorf("%v, %s", err, hint)
	}
	refused(ask(w.Control, agent.Mine), "not agreed yet")
	// And if no case is left.
	_, _, err = w.Clear(t.Context(), w.db, back, agent.Requests, w.cases[1:3])
	if kind, _ := problem.Of(err); kind != problem.Input || !strings.Contains(err.Error(), "no case is left") {
		t.Error(err)
	}
}

// The first request of each kind is shown whole, as it is sent, and asked for once.
func TestFirstRequestIsShown(t *testing.T) {
	w := newWorld(t, func(w *world, d *consent.Decisions) { d.Allow(w.at("shop")) })
	back := asks(map[string]string{agent.Replay: "anthropic", agent.Judge: "anthropic"})
	var shown []string
	agree := true
	w.Ask = func(request, question string) (bool, error) {
		shown = append(shown, request+"\n"+question)
		return agree, nil
	}
	w.Redactor = func() eval.Redactor { return noNumbers{} }
	if _, _, err := w.Clear(t.Context(), w.db, back, agent.Requests, w.cases); err != nil {
		t.Fatal(err)
	}
	e := new(echo)
	task := eval.Task{Case: &eval.Case{ID: "shop", Prompt: "plot the 1234", Context: []eval.Message{{Role: "assistant", Text: "which colour?"}},
		Workspace: &eval.Workspace{Repo: "/src/shop"}, Files: map[string]string{"data/sales.csv": "a,b\n"}}, Prior: &eval.Prior{Answer: "no plot", Feedback: []string{"plot it"}}}
	own := func(name string) []setup.File { return []setup.File{{Path: name, Text: []byte("be brief")}} }
	owner := &setup.Set{Files: own(".claude/CLAUDE.md"), Notes: map[string][]setup.File{"-src-shop": own("MEMORY.md"), "-src-other": own("other.md")}}
	var wait sync.WaitGroup
	for range 8 { // at once: one question
		wait.Go(func() {
			if _, err := w.Agent(back.To[agent.Replay], e, owner).Run(context.Background(), task); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if len(shown) != 1 || len(e.got) != 8 {
		t.Fatalf("%d questions, %d requests", len(shown), len(e.got))
	}
	for _, want := range []string{"first replay request to anthropic (anthropic.example)", "plot the [number]", "which colour?", "data/sales.csv (4 bytes):\na,b\n", "no plot", "plot it", "Send this",
		"your own: ~/.claude/CLAUDE.md (8 bytes)", "your own: your agent's notes of /src/shop, MEMORY.md (8 bytes)"} {
		if !strings.Contains(shown[0], want) {
			t.Errorf("no %q in:\n%s", want, shown[0])
		}
	}
	if strings.Contains(shown[0], "other.md") {
		t.Errorf("notes of another project are shown, and would be sent:\n%s", shown[0])
	}
	agree = false
	judge := w.Model(agent.Judge, back.To[agent.Judge], e)
	_, err := judge.Complete(t.Context(), eval.Prompt{System: "grade", User: "this"})
	if kind, _ := problem.Of(err); kind != problem.Stopped || len(e.got) != 8 || !strings.Contains(shown[1], "grade\n\nthis") {
		t.Errorf("%v, %d requests, %q", err, len(e.got), shown[1:])
	}
	agree = true
	if _, again := judge.Complete(t.Context(), eval.Prompt{User: "that"}); !errors.Is(again, errors.Unwrap(err)) || len(shown) != 2 {
		t.Errorf("asked again: %v, %d questions", again, len(shown))
	}
	d, err := consent.Read(w.File)
	if err != nil || !slices.Equal(d.Seen, []consent.Request{{Kind: agent.Replay, Vendor: "anthropic"}}) {
		t.Errorf("%+v, %v", d, err)
	}
}

// Without a terminal the first error is that nothing may be sent, and no hint lets the text
// of every project go.
func TestFirstErrorMatters(t *testing.T) {
	w := newWorld(t, func(w *world, d *consent.Decisions) { d.Allow(w.at("shop")) })
	back := asks(map[string]string{agent.Mine: "google"})
	for i := range w.cases {
		if id := w.cases[i].ID; id != "own" && id != "theirs" {
			w.cases[i].Checks = []eval.Check{{Type: eval.Regex, Value: "x"}}
			if _, _, err := w.db.SaveCases(t.Context(), w.cases[i:i+1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := w.Sessions(t.Context(), w.db, back, agent.Requests, "plot"); err == nil || !strings.Contains(err.Error(), "no case is left") {
		t.Error(err)
	}
	if _, err := w.Sessions(t.Context(), w.db, back, agent.Requests, "other"); err == nil || !strings.Contains(err.Error(), "not agreed yet") {
		t.Error(err)
	}
	_, left, err := w.Filter(t.Context(), w.db, back, agent.Requests, w.cases)
	if lines := strings.Join(left.Lines(), "\n"); err != nil || !strings.Contains(lines, "of no known project") || strings.Contains(lines, "--all") {
		t.Errorf("%s, %v", lines, err)
	}
}

// To agree is not to have decided which projects are read.
func TestAgreeIsNoDecision(t *testing.T) {
	file := filepath.Join(t.TempDir(), "projects.yaml")
	if err := Agree(file, "openai", agent.Judge, agent.Judge); err != nil {
		t.Fatal(err)
	}
	d, err := consent.Read(file)
	if err != nil || d.Asked() || len(d.Seen) != 1 {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestPolicyOfTheMachine(t *testing.T) {
	p := &policy.Policy{Vendors: &[]string{"anthropic"}, Hosts: &[]string{"anthropic.example"}}
	g := &Control{Policy: func() (*policy.Policy, error) { return p, nil }}
	if err := g.Allowed(asks(map[string]string{agent.Replay: "anthropic"}).To); err != nil {
		t.Error(err)
	}
	if err := g.Allowed(asks(map[string]string{agent.Judge: "openai"}).To); err == nil || !strings.Contains(err.Error(), "openai") {
		t.Error(err)
	}
	p.Hosts = &[]string{"other.example"}
	if err := g.Allowed(asks(map[string]string{agent.Replay: "anthropic"}).To); err == nil || !strings.Contains(err.Error(), "anthropic.example") {
		t.Error(err)
	}
	w := newWorld(t, func(w *world, d *consent.Decisions) { d.All = true })
	p.Projects.Deny = []string{w.at("secret")}
	w.Policy = g.Policy
	kept, left, err := w.Filter(t.Context(), w.db, asks(map[string]string{agent.Replay: "anthropic"}), agent.Requests, w.cases)
	if err != nil || ids(kept) != "shop nowhere own lost theirs" || !strings.Contains(left.Lines()[1], "2 cases of "+w.at("secret")+" stay out: the policy of this machine") {
		t.Errorf("%s, %q, %v", ids(kept), left.Lines(), err)
	}
	if err := g.Allowed(nil); err != nil { // this machine
		t.Error(err)
	}
}

// echo is an agent and a model that notes what it gets.
type echo struct {
	mu  sync.Mutex
	got []string
}

func (e *echo) Identity() eval.Identity { return eval.Identity{Backend: "echo"} }

func (e *echo) note(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.got = append(e.got, text)
}

func (e *echo) Run(_ context.Context, t eval.Task) (eval.Attempt, error) {
	e.note(t.Case.Prompt)
	return eval.Attempt{}, nil
}

func (e *echo) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	e.note(p.User)
	return eval.Completion{}, nil
}

type noNumbers struct{}

func (noNumbers) Redact(text string) (string, int) {
	return strings.ReplaceAll(text, "1234", "[number]"), 1
}

func TestVendor(t *testing.T) {
	for name, want := range map[string]string{"openai": "openai", "https://api.openai.com/v1": "openai", "API.Anthropic.com": "anthropic", "models.example:8443": "models.example",
		"gpubox": "gpubox", "command:/bin/x": "command:/bin/x", "opnai": "", "Anthropic": "", "http://localhost:1": "", "": "", "a b": ""} {
		if got, err := Vendor(name); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}

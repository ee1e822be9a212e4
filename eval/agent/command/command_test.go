package command

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/agenttest"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/mutate/skill"
)

const key = "sk-private-0123456789"

func program(t testing.TB, name string, change func(*Config)) *Agent {
	t.Helper()
	c := Config{Config: replay.Config{Path: os.Args[0], Env: []string{"PROGRAM=" + name, "GORACE=atexit_sleep_ms=0"}, Credentials: []string{"API_KEY=" + key}}}
	if change != nil {
		change(&c)
	}
	a, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func chatting(t *testing.T, s *agenttest.Server, key string) *Agent {
	t.Helper()
	return program(t, "chat", func(c *Config) {
		c.Env = append(c.Env, "BASE_URL="+s.URL)
		c.Credentials = []string{"API_KEY=" + key}
	})
}

func TestConformance(t *testing.T) {
	agenttest.Run(t, agenttest.Harness{
		New: func(t *testing.T, s *agenttest.Server, key string) eval.Agent { return chatting(t, s, key) },
	})
}

func TestModelConformance(t *testing.T) {
	agenttest.RunModel(t, func(t *testing.T, s *agenttest.Server, key string) eval.Model { return chatting(t, s, key) })
}

func stones(t testing.TB) eval.Variant {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"SKILL.md": "the installed one", "scripts/weigh.sh": "#!/bin/sh\n"} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	doc, err := skill.Parse([]byte("---\nname: stones\ndescription: Names stones.\n---\nBe brief.\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return eval.Variant{Name: "stones", Doc: doc, Dir: dir}
}

// mirrored is what the mirror saw.
type mirrored struct {
	Request incoming
	Env     []string
	Dir     string
	Skills  []string
}

func TestTask(t *testing.T) {
	a := program(t, "mirror", nil)
	v := stones(t)
	work := t.TempDir()
	if err := os.WriteFile(filepath.Join(work, "in.csv"), []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	neighbour := stones(t).Dir
	fires := true
	task := eval.Task{Variant: v, Workspace: work, Seed: 11,
		Others: []eval.Offer{{Name: "metals", Dir: neighbour}},
		Prior:  &eval.Prior{Answer: "quartz", Feedback: []string{"harder"}},
		Case: &eval.Case{ID: "1", Skill: "stones", Prompt: "Which?", ShouldTrigger: &fires, Files: map[string]string{"in.csv": "1"},
			Context: []eval.Message{{Role: "user", Text: "hello"}}}}
	got, err := a.Run(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	var saw mirrored
	if err := json.Unmarshal([]byte(got.Answer), &saw); err != nil {
		t.Fatal(err)
	}
	r := saw.Request
	if r.Evolve != 1 || r.Kind != "task" || r.Prompt != "Which?" || r.Seed != 11 || r.Forced || r.Files["in.csv"] != "1" ||
		len(r.Context) != 1 || r.Context[0].Text != "hello" || r.Prior.Answer != "quartz" || r.Prior.Feedback[0] != "harder" {
		t.Errorf("request = %+v", r)
	}
	if r.Skill.Name != "stones" || r.Skill.Text != string(v.Doc.Render()) || len(r.Others) != 1 || r.Others[0].Name != "metals" {
		t.Errorf("skills %+v, %+v", r.Skill, r.Others)
	}
	slices.Sort(saw.Skills)
	if want := []string{"metals/SKILL.md", "scripts/weigh.sh", "scripts/weigh.sh", "stones/SKILL.md"}; !slices.Equal(saw.Skills, want) {
		t.Errorf("beside the skill stand %q, want %q", saw.Skills, want)
	}
	if within(r.Skill.Dir, v.Dir) || within(r.Others[0].Dir, neighbour) {
		t.Errorf("the skills are not copies: %s, %s", r.Skill.Dir, r.Others[0].Dir)
	}
	if _, err := os.Stat(r.Skill.Dir); !os.IsNotExist(err) {
		t.Errorf("the private folder is left behind: %v", err)
	}
	real, err := filepath.EvalSymlinks(work)
	if err != nil {
		t.Fatal(err)
	}
	if saw.Dir != real || r.Workspace != real {
		t.Errorf("it worked in %s and was told %s, want %s", saw.Dir, r.Workspace, real)
	}
	for _, kv := range saw.Env {
		if name, value, _ := strings.Cut(kv, "="); name == "HOME" && value == os.Getenv("HOME") {
			t.Error("the home is the user's own")
		}
	}

	usage := eval.Usage{Input: 10, CacheRead: 5, Output: 4, Reasoning: 1}
	if *got.Usage != usage || *got.CostUSD != 0.25 || got.Turns != 3 || got.Duration != 1234500*time.Microsecond ||
		!*got.SkillInvoked || !slices.Equal(got.Skills, []string{"stones", "other"}) || !slices.Equal(got.Files, []string{"made.txt"}) {
		t.Errorf("attempt = %+v", got)
	}
	want := []eval.ToolCall{{Name: "Bash", Input: `{"command":"echo [API_KEY]"}`}, {Name: "Read", Input: "made.txt", Failed: true}}
	if !reflect.DeepEqual(got.Trace, want) {
		t.Errorf("trace = %+v, want %+v", got.Trace, want)
	}
	if got.Audit == eval.Clean {
		t.Error("without a sandbox, what a program tells of itself proves nothing")
	}

	task.Variant, task.Others, task.Prior, task.Workspace = eval.Variant{Name: "stones"}, nil, nil, ""
	task.Case.ShouldTrigger = nil
	if got, err = a.Run(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	saw = mirrored{}
	if err := json.Unmarshal([]byte(got.Answer), &saw); err != nil {
		t.Fatal(err)
	}
	if r := saw.Request; r.Skill != nil || r.Forced || r.Prior != nil || r.Workspace == "" || *got.SkillInvoked {
		t.Errorf("without a skill: %+v, invoked %v", r, *got.SkillInvoked)
	}
}

func within(path, dir string) bool { return strings.HasPrefix(path, dir) }

func TestComplete(t *testing.T) {
	a := program(t, "mirror", func(c *Config) { c.Prices = &eval.Price{Input: 1e6, Output: 2e6} })
	got, err := a.Complete(t.Context(), eval.Prompt{System: "be brief", User: "u", MaxTokens: 9, Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	var saw mirrored
	if err := json.Unmarshal([]byte(got.Text), &saw); err != nil {
		t.Fatal(err)
	}
	if r := saw.Request; r.Kind != "complete" || r.System != "be brief" || r.User != "u" || r.MaxTokens != 9 || r.Seed != 4 {
		t.Errorf("request = %+v", r)
	}
	if got.Finish != "stop" || got.Usage.Output != 4 || got.CostUSD == nil || *got.CostUSD != 18 {
		t.Errorf("completion = %+v, cost %v", got, got.CostUSD)
	}
}

// Anything but one reply is the infrastructure's failure, and the error describes what
// is wrong with it.
func TestBadReplies(t *testing.T) {
	for say, want := range map[string]string{
		"":                                "nothing, want one JSON object",
		"I think that\n":                  "not a JSON object",
		`{"answer":"x"`:                   "does not end",
		`{"answer":"x"} bye`:              "text after the JSON object",
		`{"anwser":"x"}`:                  `unknown field "anwser" (did you mean "answer"?)`,
		`{"text":"x"}`:                    `unknown field "text"`,
		`{"answer":1}`:                    "cannot unmarshal number",
		`{"answer":"x","evolve":2}`:       "version 2 of the contract",
		`{"answer":"x","turns":-1}`:       "turns is negative",
		`{"answer":"x","duration_ms":-1}`: "duration_ms",
		`{"answer":"x","cost_usd":-0.5}`:  "cost_usd is negative",
		`{"answer":"x","usage":{"input":-1,"output":1}}`:              "usage is negative",
		`{"answer":"x","usage":{"inptu":1,"output":1}}`:               `unknown field "usage.inptu" (did you mean "input"?)`,
		`{"answer":"x","usage":{"input":1,"output":1,"reasoning":2}}`: "usage.reasoning",
		`{"error":{"kind":"pending","message":"x"}}`:                  `error.kind "pending" is none of unreachable,`,
		`{"error":{"kind":"auth","retry_after_s":-1}}`:                "retry_after_s",
	} {
		a := program(t, "say", func(c *Config) { c.Env = append(c.Env, "SAY="+say) })
		_, err := a.Run(t.Context(), eval.Task{Case: &eval.Case{Prompt: "x"}})
		var infra *eval.InfraError
		if !errors.As(err, &infra) || infra.Kind != eval.ServerError || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", say, err, want)
			continue
		}
		if text := err.Error(); !strings.Contains(text, "exit code 3") || !strings.Contains(text, "noise the key was [API_KEY]") || len(text) > 4<<10 {
			t.Errorf("%q: the error lacks the end of stderr, or holds too much: %.200s…", say, text)
		}
	}
}

func TestGoodReplies(t *testing.T) {
	for say, want := range map[string]string{
		` {"answer":"x"}` + "\r\n":               "",
		`{"answer":" "}`:                         "empty answer",
		`{}`:                                     "empty answer",
		`{"answer":"x","failure":"gave up"}`:     "gave up",
		`{"failure":"` + key + `","trace":null}`: "[API_KEY]",
	} {
		a := program(t, "say", func(c *Config) { c.Env = append(c.Env, "SAY="+say) })
		// The exit code is 3: it does not matter if there is a complete reply.
		got, err := a.Run(t.Context(), eval.Task{Case: &eval.Case{Prompt: "x"}})
		if err != nil || got.Failure != want || got.SkillInvoked != nil || got.CostUSD != nil || got.Usage != nil {
			t.Errorf("%q: %+v (%v)", say, got, err)
		}
	}
}

func TestToldFailures(t *testing.T) {
	reset := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for say, want := range map[string]eval.InfraError{
		`{"error":{"kind":"rate_limited","message":"slow down","retry_after_s":2.5}}`:                    {Kind: eval.RateLimited, RetryAfter: 2500 * time.Millisecond},
		`{"error":{"kind":"usage_limit","message":"no more today","reset_at":"2026-03-01T12:00:00Z"}}`:   {Kind: eval.UsageLimit, ResetAt: reset},
		`{"error":{"kind":"auth","message":"` + key + ` is wrong","retry_after_s":1e300},"answer":"no"}`: {Kind: eval.Auth, RetryAfter: 1<<31*time.Second - time.Second},
	} {
		a := program(t, "say", func(c *Config) { c.Env = append(c.Env, "SAY="+say) })
		for name, call := range map[string]func() error{
			"run":      func() error { _, err := a.Run(t.Context(), eval.Task{Case: &eval.Case{Prompt: "x"}}); return err },
			"complete": func() error { _, err := a.Complete(t.Context(), eval.Prompt{User: "x"}); return err },
		} {
			err := call()
			var infra *eval.InfraError
			if name == "complete" && strings.Contains(say, "answer") {
				if !errors.As(err, &infra) || infra.Kind != eval.ServerError {
					t.Errorf("a prompt has no answer but a text: %v", err)
				}
				continue
			}
			if !errors.As(err, &infra) || infra.Kind != want.Kind || infra.RetryAfter != want.RetryAfter || !infra.ResetAt.Equal(want.ResetAt) {
				t.Errorf("%s %s: %+v", name, say, infra)
			}
			if strings.Contains(err.Error(), key) {
				t.Errorf("the key is in %v", err)
			}
		}
	}
}

func TestFlood(t *testing.T) {
	a := program(t, "flood", func(c *Config) { c.MaxOutput = 1 << 20 })
	_, err := a.Run(t.Context(), eval.Task{Case: &eval.Case{Prompt: "x"}})
	var infra *eval.InfraError
	if !errors.As(err, &infra) || infra.Kind != eval.ServerError || !strings.Contains(err.Error(), "more than 1048576 bytes") {
		t.Errorf("err = %v", err)
	}
}

func TestIdentity(t *testing.T) {
	script := filepath.Join(t.TempDir(), "agent")
	if err := os.WriteFile(script, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	base := func(c *Config) { c.Args = []string{"-x", script}; c.Model = "unused" }
	id := program(t, "mirror", base).Identity()
	if id.Backend != "command" || id.Model != "glass" || !strings.HasPrefix(id.Version, "3.1 ") ||
		!strings.Contains(id.Params, `"args":["-x","agent"]`) || strings.Contains(id.Params+id.Version, key) {
		t.Errorf("identity = %+v", id)
	}
	t.Chdir(filepath.Dir(script))
	if here := program(t, "mirror", func(c *Config) { base(c); c.Args = []string{"-x", "agent"} }); here.Identity() != id || here.c.Args[1] != script {
		t.Errorf("by its relative path: %+v with %q, want %+v", here.Identity(), here.c.Args, id)
	}
	if again := program(t, "mirror", base).Identity(); again != id {
		t.Errorf("%+v, then %+v", id, again)
	}
	for name, change := range map[string]func(*Config){
		"args":      func(c *Config) { c.Args = []string{"-y", script} },
		"variables": func(c *Config) { c.Env = append(c.Env, "MOOD=good") },
	} {
		if other := program(t, "mirror", func(c *Config) { base(c); change(c) }).Identity(); other == id {
			t.Errorf("another of its %s is the same agent", name)
		}
	}
	if other := program(t, "mirror", func(c *Config) { base(c); c.Credentials = []string{"API_KEY=sk-other-0123"} }).Identity(); other != id {
		t.Error("another key is another agent")
	}
	if err := os.WriteFile(script, []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	if other := program(t, "mirror", base).Identity(); other == id {
		t.Error("another script is the same agent")
	}
	if id := program(t, "noping", func(c *Config) { c.Model = "m" }).Identity(); id.Model != "m" || strings.Contains(id.Version, " ") {
		t.Errorf("a program that knows no ping: %+v", id)
	}
}

func TestNewRefuses(t *testing.T) {
	at := func(name string) Config {
		return Config{Config: replay.Config{Path: os.Args[0], Env: []string{"PROGRAM=" + name, "GORACE=atexit_sleep_ms=0"}}}
	}
	none, plain, variable := at("mirror"), at("mirror"), at("mirror")
	none.Path = ""
	plain.Path = filepath.Join(t.TempDir(), "absent")
	variable.Credentials = []string{key}
	for want, c := range map[string]Config{
		"no program":               none,
		"no such file":             plain,
		"not written as KEY=VALUE": variable,
		`unknown field "answer"`:   at("rude"), // it would answer a ping like anything else
	} {
		_, err := New(t.Context(), c)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), key) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(ctx, at("mirror")); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

func TestPing(t *testing.T) {
	for _, name := range []string{"mirror", "noping"} {
		if err := program(t, name, nil).Ping(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSandbox(t *testing.T) {
	if err := process.Available(); err != nil {
		t.Skip(err)
	}
	canary := filepath.Join(t.TempDir(), "canary")
	if err := os.WriteFile(canary, []byte("tweet"), 0o600); err != nil {
		t.Fatal(err)
	}
	sh, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Skip(err)
	}
	script := `read -r request; case $request in *'"ping"'*) echo '{"ok":true}'; exit;; esac
echo done >out.txt; if [ -e ` + canary + ` ]; then echo '{"answer":"read"}'; else echo '{"answer":"hidden"}'; fi`
	for _, c := range []struct {
		sandbox bool
		want    string
	}{{true, "hidden"}, {false, "read"}} {
		a, err := New(t.Context(), Config{Config: replay.Config{Path: sh, Sandbox: c.sandbox}, Args: []string{"-c", script}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Run(t.Context(), eval.Task{Workspace: t.TempDir(), Case: &eval.Case{Prompt: "x"}})
		if err != nil || got.Answer != c.want || !slices.Equal(got.Files, []string{"out.txt"}) || (got.Audit == eval.Clean) != c.sandbox {
			t.Errorf("sandbox %v: %+v (%v)", c.sandbox, got, err)
		}
	}
}

// A program that a limit of its sandbox ended has failed, and says at which.
func TestSandboxLimit(t *testing.T) {
	if err := process.Available(); err != nil {
		t.Skip(err)
	}
	script := `read -r request; case $request in *'"ping"'*) echo '{"ok":true}'; exit;; esac
while :; do sleep 60 & done`
	a, err := New(t.Context(), Config{Config: replay.Config{Path: "/bin/sh", Sandbox: true}, Args: []string{"-c", script}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Run(t.Context(), eval.Task{Workspace: t.TempDir(), Case: &eval.Case{Prompt: "x"}})
	if err != nil || got.Failure != "ran more than 512 processes: ended" || got.Answer != "" {
		t.Errorf("%+v (%v)", got, err)
	}
}

// Overhead of a call over the program's own time.
func BenchmarkRun(b *testing.B) {
	a, err := New(b.Context(), Config{Config: replay.Config{Path: "/bin/sh"}, Args: []string{"-c",
		`read -r r; case $r in *'"ping"'*) echo '{"ok":true}';; *) echo '{"answer":"x"}';; esac`}})
	if err != nil {
		b.Fatal(err)
	}
	task := eval.Task{Variant: stones(b), Workspace: b.TempDir(), Case: &eval.Case{Prompt: "x"}}
	for b.Loop() {
		if _, err := a.Run(b.Context(), task); err != nil {
			b.Fatal(err)
		}
	}
}

// In a sandbox the program reaches its model, and no other server.
func TestSandboxedHosts(t *testing.T) {
	if err := process.Available(); err != nil {
		t.Skip(err)
	}
	for _, open := range []bool{true, false} {
		s := agenttest.NewServer(t, nil, agenttest.Reply{Text: "diamond", Input: 5, Output: 1})
		a := program(t, "chat", func(c *Config) {
			c.Env = append(c.Env, "BASE_URL="+s.URL)
			c.Credentials = []string{"API_KEY=" + agenttest.Key}
			c.Sandbox = true
			if open {
				c.Hosts = []string{strings.TrimPrefix(s.Root, "http://")}
			}
		})
		got, err := a.Run(t.Context(), eval.Task{Variant: stones(t), Case: &eval.Case{Prompt: "x"}})
		var infra *eval.InfraError
		switch {
		case open && (err != nil || got.Answer != "diamond" || got.Audit != eval.Clean):
			t.Errorf("%+v (%v)", got, err)
		case !open && (!errors.As(err, &infra) || infra.Kind != eval.Unreachable || len(s.Bodies()) != 0):
			t.Errorf("a host that nobody named: %+v (%v)", got, err)
		}
	}
}

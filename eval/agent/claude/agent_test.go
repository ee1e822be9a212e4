package claude

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// script writes a program that answers --version and otherwise runs body.
func script(t *testing.T, version, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "claude")
	text := "#!/bin/sh\nif [ \"$1\" = --version ]; then echo '" + version + "'; exit; fi\n" + body + "\n"
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

const fine = "2.1.329 (Claude Code)"

// agentOf runs body in place of the program.
func agentOf(t *testing.T, c replay.Config, body string) *Agent {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	c.Path = script(t, fine, body)
	a, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestNewSaysWhatToType(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for name, c := range map[string]struct {
		c    replay.Config
		want string
	}{
		"not on the path":  {replay.Config{}, Install},
		"not at its place": {replay.Config{Path: filepath.Join(t.TempDir(), "claude")}, Install},
		"too old":          {replay.Config{Path: script(t, "2.1.196 (Claude Code)", "")}, Install},
		"another program":  {replay.Config{Path: script(t, "usage: claude", "")}, "it answers"},
		"bad address":      {replay.Config{Path: script(t, fine, ""), BaseURL: "localhost:1"}, "base URL"},
		"secret address":   {replay.Config{Path: script(t, fine, ""), BaseURL: "http://me:secret@localhost:1"}, "base URL"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(t.Context(), c.c)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret@") {
				t.Errorf("err = %v, want %q", err, c.want)
			}
		})
	}
}

// Version managers and people put a script before the program. Outside of the
// sandbox it works, so it is asked inside.
func TestNewRefusesWrapper(t *testing.T) {
	if err := process.Available(); err != nil {
		t.Skip(err)
	}
	real := script(t, fine, "")
	wrapper := filepath.Join(t.TempDir(), "claude")
	if err := os.WriteFile(wrapper, []byte("#!/bin/sh\nexec '"+real+"' \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := New(t.Context(), replay.Config{Path: wrapper}); err != nil {
		t.Errorf("without a sandbox: %v", err)
	}
	if _, err := New(t.Context(), replay.Config{Path: wrapper, Sandbox: true}); err == nil || !strings.Contains(err.Error(), "program itself") {
		t.Errorf("in a sandbox: %v", err)
	}
}

func TestRecent(t *testing.T) {
	for version, want := range map[string]bool{
		"2.1.197": true, "2.1.329": true, "2.2.0": true, "3.0.0": true, "2.1.330-beta.1": true,
		"2.1.196": false, "2.0.999": false, "1.9.9": false, "": false, "2.1": false, "2.x.1": false,
	} {
		if err := replay.AtLeast("claude", version, oldest, ""); (err == nil) != want {
			t.Errorf("%q: %v", version, err)
		}
	}
}

func TestPing(t *testing.T) {
	for name, c := range map[string]struct {
		credentials, env []string
		ok               bool
	}{
		"nothing":      {nil, nil, false},
		"empty":        {[]string{"ANTHROPIC_API_KEY="}, nil, false},
		"key":          {[]string{"ANTHROPIC_API_KEY=k"}, nil, true},
		"subscription": {[]string{"CLAUDE_CODE_OAUTH_TOKEN=k"}, nil, true},
		"gateway":      {[]string{"ANTHROPIC_AUTH_TOKEN=k"}, nil, true},
		"cloud":        {nil, []string{"CLAUDE_CODE_USE_BEDROCK=1"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			err := agentOf(t, replay.Config{Credentials: c.credentials, Env: c.env}, "").Ping(t.Context())
			if (err == nil) != c.ok {
				t.Errorf("err = %v, want none: %v", err, c.ok)
			}
			if err != nil && !strings.Contains(err.Error(), SetupToken) {
				t.Errorf("err = %v does not say what to type", err)
			}
		})
	}
}

func TestIdentityHoldsNoSecret(t *testing.T) {
	a := agentOf(t, replay.Config{Model: "m", BaseURL: "http://localhost:8080/x", Env: []string{"SOME_TOKEN=secret"},
		Credentials: []string{"ANTHROPIC_API_KEY=secret"}}, "")
	id := a.Identity()
	want := eval.Identity{Backend: "claude", Version: "2.1.329", Model: "m"}
	params := id.Params
	if id.Params = ""; id != want {
		t.Errorf("identity = %+v, want %+v", id, want)
	}
	if strings.Contains(params, "secret") || !strings.HasPrefix(params, "base=localhost:8080 turns=30 tools="+tools+" sandbox=false env=") {
		t.Errorf("params = %q", params)
	}
	b := agentOf(t, replay.Config{Model: "m", BaseURL: "http://localhost:8080/x", Env: []string{"SOME_TOKEN=other"}}, "")
	if b.Identity().Params == params {
		t.Error("another environment has the same identity")
	}
}

// The child gets no key beside a subscription's, which would be billed, and
// nothing of this process's environment.
func TestChildEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "inherited")
	const tell = `env > env.txt; printf '%s\n' '{"type":"result","terminal_reason":"completed","result":"done"}'`
	const billed, mine = "ANTHROPIC_API_KEY=billed", "CLAUDE_CODE_OAUTH_TOKEN=mine"
	for name, c := range map[string]replay.Config{
		"as a credential": {Credentials: []string{billed, mine + "\n"}, Env: []string{billed}},
		"as a variable":   {Credentials: []string{billed}, Env: []string{mine}},
	} {
		t.Run(name, func(t *testing.T) {
			c.Env = append(c.Env, "CLAUDE_CODE_MAX_RETRIES=1", "DISABLE_TELEMETRY=0")
			c.BaseURL = "http://localhost:1/"
			dir := t.TempDir()
			got, err := agentOf(t, c, tell).Run(t.Context(), eval.Task{Variant: eval.Variant{Name: "x"},
				Case: &eval.Case{ID: "c", Prompt: "p"}, Workspace: dir})
			if err != nil || got.Answer != "done" || !slices.Equal(got.Files, []string{"env.txt"}) {
				t.Fatalf("attempt = %+v, %v", got, err)
			}
			env, err := os.ReadFile(filepath.Join(dir, "env.txt"))
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(string(env), "\n")
			for _, want := range []string{mine, "CLAUDE_CODE_MAX_RETRIES=1", "DISABLE_TELEMETRY=1",
				"ANTHROPIC_BASE_URL=http://localhost:1", "IS_SANDBOX=1", "CLAUDE_CODE_DISABLE_FILE_MENTIONS=1"} {
				if !slices.Contains(lines, want) {
					t.Errorf("%s is missing in %s", want, env)
				}
			}
			if strings.Contains(string(env), "ANTHROPIC_API_KEY") {
				t.Errorf("the child has a key that is billed: %s", env)
			}
		})
	}
}

// A key that the server or a tool repeats gets no further.
func TestKeysAreScrubbed(t *testing.T) {
	const key = "sk-ant-made-up-0123456789"
	lines := []string{
		`{"type":"assistant","message":{"id":"m","model":"x","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"echo ` + strings.Repeat("x", replay.MaxInput-30) + key + `"}}]}}`,
		`{"type":"result","terminal_reason":"completed","result":"it is ` + key + `"}`,
	}
	task := eval.Task{Variant: eval.Variant{Name: "x"}, Case: &eval.Case{ID: "c", Prompt: "p"}}
	c := replay.Config{Credentials: []string{"ANTHROPIC_API_KEY=" + key}}
	got, err := agentOf(t, c, "cat <<'E'\n"+strings.Join(lines, "\n")+"\nE").Run(t.Context(), task)
	if err != nil || got.Answer != "it is [api key]" || strings.Contains(got.Trace[0].Input, key[:9]) {
		t.Errorf("attempt = %+v, %v", got, err)
	}
	lines[1] = `{"type":"result","is_error":true,"terminal_reason":"api_error","api_error_status":400,"result":"no: ` + key + `"}`
	a := agentOf(t, c, "cat <<'E'\n"+strings.Join(lines, "\n")+"\nE")
	if _, err = a.Run(t.Context(), task); err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("err = %v", err)
	}
	if _, err = a.Complete(t.Context(), eval.Prompt{User: "u"}); err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("err = %v", err)
	}
}

// A candidate that the program did not take up would measure the arm without
// one.
func TestCandidateThatIsNotOffered(t *testing.T) {
	doc, err := skill.Parse([]byte("---\nname: stones\ndescription: Names stones.\n---\nText.\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const end = `printf '%s\n' '{"type":"result","terminal_reason":"completed","result":"done"}'`
	task := eval.Task{Variant: eval.Variant{Name: "stones", Doc: doc}, Case: &eval.Case{ID: "c", Prompt: "p"}}
	for offered, want := range map[string]bool{`"gems"`: false, ``: false, `"gems","stones"`: true} {
		a := agentOf(t, replay.Config{}, `printf '%s\n' '{"type":"system","subtype":"init","skills":[`+offered+`]}'; `+end)
		got, err := a.Run(t.Context(), task)
		var infra *eval.InfraError
		if ok := err == nil; ok != want || !ok && (!errors.As(err, &infra) || infra.Kind != eval.BadRequest) {
			t.Errorf("offered %s: %v", offered, err)
		}
		if want && (got.SkillInvoked == nil || !*got.SkillInvoked) {
			t.Errorf("the skill was called, and is not told: %+v", got)
		}
	}
}

func TestPrompt(t *testing.T) {
	parse := func(front string) *skill.Document {
		doc, err := skill.Parse([]byte("---\nname: stones\ndescription: Names stones.\n"+front+"---\nuser-invocable: false\n"), skill.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	yes := true
	for _, c := range []struct {
		name string
		doc  *skill.Document
		kase eval.Case
		want string
	}{
		{"forced", parse(""), eval.Case{Prompt: "which?"}, "/stones which?"},
		{"for the model alone", parse("user-invocable: false\n"), eval.Case{Prompt: "which?"}, "Use the stones skill: which?"},
		{"offered", parse(""), eval.Case{Prompt: "which?", ShouldTrigger: &yes}, "which?"},
		{"another skill's call", parse(""), eval.Case{Prompt: "/gems which?", ShouldTrigger: &yes}, "/gems which?"},
		{"a command of the program", parse(""), eval.Case{Prompt: "/cost of it?", ShouldTrigger: &yes}, " \n/cost of it?"},
		{"no skill", nil, eval.Case{Prompt: "/stones which?"}, "which?"},
		{"no skill, a command", nil, eval.Case{Prompt: "/help me"}, " \n/help me"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := prompt(eval.Task{Variant: eval.Variant{Name: "stones", Doc: c.doc}, Case: &c.kase,
				Others: []eval.Offer{{Name: "gems"}}})
			if got != c.want {
				t.Errorf("prompt = %q, want %q", got, c.want)
			}
		})
	}
}

func TestSkills(t *testing.T) {
	use := func(id, name, input string) string {
		return `{"type":"assistant","message":{"id":"` + id + `","model":"x","content":[{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":` + input + `}]}}` + "\n" +
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"` + id + `","is_error":` + map[bool]string{true: "true", false: "false"}[strings.HasPrefix(id, "bad")] + `}]}}` + "\n"
	}
	s := read([]byte(use("1", "Skill", `{"skill":"/gems"}`) + use("bad", "Skill", `{"skill":"none"}`) +
		use("2", "Read", `{"file_path":"/c/skills/stones/SKILL.md"}`) + use("3", "Read", `{"file_path":"/else/skills/other/SKILL.md"}`) +
		use("4", "Skill", `{"command":"gems"}`) + use("5", "Read", `{"file_path":"/c/skills/stones/more.md"}`)))
	if got, want := s.skills("/c/skills"), []string{"gems", "stones"}; !slices.Equal(got, want) {
		t.Errorf("skills = %q, want %q", got, want)
	}
}

func TestCost(t *testing.T) {
	price := &eval.Price{Input: 1, Output: 10}
	for _, c := range []struct {
		models string
		usd    string
		want   float64 // −1: unknown
		priced float64 // with price
	}{
		{`{"claude-x":{"inputTokens":10,"outputTokens":1,"costBasis":"list"}}`, "0.5", 0.5, 0.5},
		{`{"claude-x":{"inputTokens":10,"outputTokens":1}}`, "0.5", 0.5, 0.5},
		{`{"local":{"inputTokens":10,"outputTokens":1}}`, "0.5", -1, 20e-6},
		{`{"local":{"inputTokens":10,"outputTokens":1,"costBasis":"unknown"}}`, "0.5", -1, 20e-6},
		{`{"claude-x":{"inputTokens":10,"outputTokens":1,"costBasis":"list"}}`, "0", -1, 20e-6},
		{`{"claude-x":{"inputTokens":9,"costBasis":"list"},"local":{"inputTokens":1,"outputTokens":1,"costBasis":"unknown"}}`, "0.5", -1, 20e-6},
		{`{}`, "0.5", -1, -1},
	} {
		s := read([]byte(`{"type":"result","total_cost_usd":` + c.usd + `,"modelUsage":` + c.models + `}`))
		for p, want := range map[*eval.Price]float64{nil: c.want, price: c.priced} {
			got := s.cost(p)
			if want < 0 && got != nil || want >= 0 && (got == nil || *got < want-1e-12 || *got > want+1e-12) {
				t.Errorf("%s, %s USD, price %v: cost %v, want %v", c.models, c.usd, p, got, want)
			}
		}
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/casefile"
)

// A plotter is a scripted model server: its agent draws a linear scale unless
// the skill contains log, its mutator and its miner adopt the user's
// correction.
type plotter struct {
	agent func(system string) (answer string, status int) // nil: as above
	mute  bool                                            // the mutator says nothing
	seen  []string                                        // every request, as it came
}

var currentText = regexp.MustCompile("(?s)```+\n(.*?)```")

func (p *plotter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/models") {
		reply(w, map[string]any{"object": "list", "data": []any{}})
		return
	}
	var q struct {
		Model    string
		Messages []struct{ Role, Content string }
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &q) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	p.seen = append(p.seen, string(body))
	var system, user string
	for _, m := range q.Messages {
		if m.Role == "system" {
			system = m.Content
		} else {
			user = m.Content
		}
	}
	text, status := "", http.StatusOK
	switch {
	case q.Model == "plotter":
		if p.agent != nil {
			text, status = p.agent(system)
		} else if strings.Contains(system, "log scale") {
			text = "Chart saved to data/revenue.svg with a log scale on the y axis."
		} else {
			text = "Chart saved to data/revenue.svg with a linear scale."
		}
	case p.mute && q.Model == "helper":
	case strings.HasPrefix(system, "You read what people said"):
		text = "```json\n{\"moments\":[]}\n```"
	case strings.HasPrefix(system, "You turn a user's correction"):
		text = "```json\n{\"checks\":[{\"type\":\"regex\",\"value\":\"(?i)log[- ]?scale\",\"feedback\":\"the axis must be logarithmic\"}]}\n```"
	case strings.HasPrefix(system, "You compare"):
		text = `{"reason": "the same", "better": "neither"}`
	case strings.HasPrefix(system, "You grade"):
		text = `{"score": 1, "reason": "as asked"}`
	default:
		m := currentText.FindStringSubmatch(user)
		text = "The user wants a log scale.\n```\n" + m[1] + "5. Use a log scale for revenue.\n```\n"
	}
	if status != http.StatusOK {
		w.WriteHeader(status)
		reply(w, map[string]any{"error": map[string]any{"message": text, "code": strings.Fields(text)[0]}})
		return
	}
	reply(w, map[string]any{"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": text}}},
		"usage": map[string]any{"prompt_tokens": 900, "completion_tokens": 40}})
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that went away is the test's own doing
}

// person copies the recorded home, so that nothing can change it.
func person(t *testing.T) (claude string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/home")); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, ".claude")
}

// runHere runs the program in this process.
func runHere(t *testing.T, home string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(home, "projects.yaml")); err != nil {
		allowEverything(t, home)
	}
	t.Setenv("EVOLVE_HOME", home)
	t.Setenv("HOME", home) // no other agent's sessions
	t.Setenv("OPENAI_API_KEY", "sk-test-not-a-key")
	var out, errs bytes.Buffer
	code = run(context.Background(), machine{}, args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// TestRealInput takes sessions that the real CLI recorded all the way: harvest,
// cases, a search against a server, and a verdict.
func TestRealInput(t *testing.T) {
	claude, home := person(t), t.TempDir()
	model := &plotter{}
	srv := httptest.NewServer(model)
	defer srv.Close()
	path := filepath.Join(claude, "skills", "dataviz", "SKILL.md")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	code, out, errs := runHere(t, home, "--skill", "dataviz", "--claude-home", claude, "--agent", "openai",
		"--base-url", srv.URL+"/v1", "--model", "plotter", "--reflect-model", "helper", "--concurrency", "1", "--json")
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, errs)
	}
	if want := "harvest: 5 new sessions, 5 uses of dataviz (2 corrected, 0 accepted), 5 new cases"; !strings.Contains(errs, want) {
		t.Errorf("stderr does not say %q:\n%s", want, errs)
	}
	var r runResult
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Challenger == nil || r.Verdict.Decision != "undecided" || !r.Kernel.Unchanged || r.Incumbent.Metrics.Quality != .5 || r.Challenger.Metrics.Quality != 1 {
		t.Fatalf("result %s", out)
	}
	text, err := os.ReadFile(r.Challenger.Path)
	if err != nil || !strings.HasSuffix(string(text), "5. Use a log scale for revenue.\n") {
		t.Errorf("challenger %q, %v", text, err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the live skill changed: %q, %v", after, err)
	}
	code, out, errs = runHere(t, home, "cases", "export", "dataviz", "--claude-home", claude)
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, errs)
	}
	cases, err := casefile.ReadLines(strings.NewReader(out), "export")
	if err != nil || len(cases) != 5 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, c := range cases {
		if c.Source.Outcome == "corrected" && !strings.Contains(c.Checks[0].Feedback, "no, use a log scale") {
			t.Errorf("case %s does not quote the user: %+v", c.ID, c.Checks)
		}
	}
}

// TestBackendFailures: each is one line, a hint and the right exit code.
func TestBackendFailures(t *testing.T) {
	always := func(text string, status int) func(string) (string, int) {
		return func(string) (string, int) { return text, status }
	}
	for name, c := range map[string]struct {
		plotter
		down       bool
		code       int
		says, hint string
	}{
		"401":              {plotter: plotter{agent: always("bad key sk-test-not-a-key", 401)}, code: exitFailed, says: "auth", hint: "check the key"},
		"404":              {plotter: plotter{agent: always("no such model", 404)}, code: exitFailed, says: "bad_request", hint: "--model"},
		"unreachable":      {down: true, code: exitFailed, says: "unreachable", hint: "--base-url"},
		"answers nothing":  {plotter: plotter{agent: always("", 200)}, code: exitFailed, says: "the agent failed on all", hint: "--model"},
		"mutator is mute":  {plotter: plotter{mute: true}, code: exitDone, says: ""},
		"quota is used up": {plotter: plotter{agent: always("insufficient_quota you exceeded your current quota", 429)}, code: exitStopped, says: "usage_limit", hint: "saved"},
	} {
		t.Run(name, func(t *testing.T) {
			claude, home := person(t), t.TempDir()
			srv := httptest.NewServer(&c.plotter)
			defer srv.Close()
			if c.down {
				srv.Close()
			}
			code, out, errs := runHere(t, home, "--skill", "dataviz", "--claude-home", claude, "--agent", "openai", "--quiet",
				"--base-url", srv.URL+"/v1", "--model", "plotter", "--reflect-model", "helper", "--judge-model", "judge", "--concurrency", "1")
			if code != c.code || !strings.Contains(errs, c.says) || !strings.Contains(errs, c.hint) {
				t.Fatalf("exit %d, want %d; stderr:\n%s\nstdout:\n%s", code, c.code, errs, out)
			}
			if n := strings.Count(errs, "\n"); c.code != exitDone && n != 2 {
				t.Errorf("%d lines on stderr, want an error and a hint:\n%s", n, errs)
			}
			if strings.Contains(errs+out, "sk-test-not-a-key") {
				t.Error("the API key was printed")
			}
			if name == "mutator is mute" && !strings.Contains(out, "could not be used") {
				t.Errorf("no warning about the mutator:\n%s", out)
			}
		})
	}
}

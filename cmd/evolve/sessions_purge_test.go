package main

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest/purge"
)

// canaries are words of one session alone: its prompt, its answers, its
// tools' output, its folder, its files, the user's correction, its id.
var canaries = map[string]string{"a": "03b6c89b-321c-4d58-8b09-f591caf0fb0b", "b": "11111111-2222-4333-8444-555555555555"}

func planted(tag string) []string {
	return []string{"qzprompt" + tag, "qzfile" + tag, "qzfeedback" + tag, "qzanswer" + tag, "qztool" + tag, "qzwork" + tag, "qzpath" + tag, canaries[tag]}
}

// plant copies the recorded home, with the canaries in two of its sessions.
func plant(t *testing.T) (claude string) {
	t.Helper()
	claude = person(t)
	for tag, id := range canaries {
		path := filepath.Join(claude, "projects", "-home-dev-project", id+".jsonl")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		ask := "Make a chart qzprompt" + tag + " of data/revenue.csv"
		if tag == "b" {
			ask = "Our board wants bars, the newest week first qzpromptb, from data/revenue.csv"
		}
		out := strings.NewReplacer("Make a chart of data/revenue.csv", strings.ReplaceAll(ask, "revenue", "qzfile"+tag),
			"no, use a log scale", "no, use a log scale qzfeedback"+tag, "a linear scale", "a linear scale qzanswer"+tag,
			"Redrawn with", "Redrawn qzanswer"+tag+" with", ".skills-plot.py", ".skills-qzwork"+tag+".py", "wrote data/", "wrote qztool"+tag+" data/", "data/revenue", "data/qzfile"+tag,
			"/home/dev/project", "/home/dev/qzpath"+tag).Replace(string(text))
		if tag == "a" { // the first of those that teach: a search reads it
			out = strings.ReplaceAll(out, "2026-11-20T18:", "2026-11-20T16:")
		}
		if err := os.WriteFile(path, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return claude
}

// A parrot repeats everything that it is asked: the agent in its answers, the
// mutator in the text of the skill, judge and miner in their reasons.
func parrot(w http.ResponseWriter, r *http.Request) {
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
	system, user := "", ""
	for _, m := range q.Messages {
		if m.Role == "system" {
			system += m.Content
		} else {
			user += m.Content + "\n"
		}
	}
	words := strings.Join(regexp.MustCompile(`qz[a-z]+`).FindAllString(user, -1), " ")
	var text string
	switch {
	case q.Model == "plotter":
		text = "You said: " + user
		if strings.Contains(system, "log scale") {
			text += " Drawn with a log scale."
		}
	case strings.HasPrefix(system, "You read what people said"):
		text = "```json\n{\"moments\":[]}\n```"
	case strings.HasPrefix(system, "You turn a user's correction"):
		text = "```json\n{\"checks\":[{\"type\":\"regex\",\"value\":\"(?i)log[- ]?scale\",\"feedback\":\"the axis must be logarithmic " + words + "\"}]}\n```"
	case strings.HasPrefix(system, "You compare"):
		text = `{"reason": "the same", "better": "neither"}`
	case strings.HasPrefix(system, "You grade"):
		text = `{"score": 1, "reason": "as asked ` + words + `"}`
	default:
		m := currentText.FindStringSubmatch(user)
		text = "You said " + words + ".\n```\n" + m[1] + "5. Use a log scale: the axis must be logarithmic " + words + ".\n```\n"
	}
	reply(w, map[string]any{"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": text}}},
		"usage": map[string]any{"prompt_tokens": 900, "completion_tokens": 40}})
}

// bytesUnder counts words in every file of a folder, and in their names.
func bytesUnder(t *testing.T, dir string, words []string) (where map[string]int) {
	t.Helper()
	where = map[string]int{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		text := []byte(path)
		if e.Type().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = append(text, content...)
		}
		for _, w := range words {
			if n := bytes.Count(text, []byte(w)); n > 0 {
				where[w+" in "+strings.TrimPrefix(path, dir)] = n
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return where
}

// TestPurgeLeavesNoByte: harvest, cases, a search and its report, requests to
// a person, logs, an interrupted edit, with models that repeat their input.
// After the purge of a session no byte of it is in evolve's folder, and the
// other session is still complete.
func TestPurgeLeavesNoByte(t *testing.T) {
	claude, home := plant(t), t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	srv := httptest.NewServer(http.HandlerFunc(parrot))
	defer srv.Close()
	evolve := func(want int, args ...string) string {
		t.Helper()
		code, out, errs := runHere(t, home, append(args, "--claude-home", claude)...)
		if code != want {
			t.Fatalf("evolve %s: exit %d: %s%s", strings.Join(args, " "), code, out, errs)
		}
		return out + errs
	}
	model := []string{"--base-url", srv.URL + "/v1", "--model", "plotter", "--reflect-model", "helper", "--judge-model", "judge", "--concurrency", "1"}
	evolve(exitDone, append([]string{"--skill", "dataviz", "--agent", "openai", "--max-rollouts", "40"}, model...)...)
	evolve(exitDone, append([]string{"--skill", "dataviz", "--agent", "openai", "--max-rollouts", "12", "--anew", "--seed", "5"}, model...)...)
	evolve(exitStopped, "--skill", "dataviz", "--agent", "handoff", "--no-wait", "--anew", "--max-rollouts", "9")
	evolve(exitDone, append([]string{"suggest", "dataviz", "--agent", "openai", "--smoke"}, model[:len(model)-2]...)...)
	for name, text := range map[string]string{
		"logs/night.log":            "the model said qzprompta\n",
		"hook-state/g/value-k.json": `{"schema":1,"value":"qzprompta"}`,
		"bus.jsonl":                 `{"session":"` + canaries["a"] + `","said":"qzanswera"}` + "\n" + `{"session":"other"}` + "\n",
		"handoff/.new-1/request":    "qzprompta",
		"queue/0123.json":           `{"schema":1,"session":"` + canaries["a"] + `","transcript":"/home/dev/qzpatha"}`,
		"queue/4567.json":           `{"schema":1,"session":"other"}`,
		"evolve.db.damaged-123456":  "an old copy",
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := bytesUnder(t, home, append(planted("a"), planted("b")...))
	for _, want := range []string{"qzprompta in /evolve.db", "qzfilea in /evolve.db", "qzfeedbacka in /evolve.db", "qzanswera in /evolve.db", "qzpatha in /evolve.db"} {
		if before[want] == 0 {
			t.Errorf("before the purge: no %s; this test shows less than it says", want)
		}
	}
	for _, part := range []string{"/reports/", "/handoff/", "/staged/", "OPEN.md"} {
		found := false
		for where := range before {
			found = found || strings.Contains(where, part)
		}
		if !found {
			t.Errorf("before the purge: no word of a session in %s; this test shows less than it says", part)
		}
	}
	live, err := os.ReadFile(filepath.Join(claude, "skills", "dataviz", "SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}

	// Without consent nothing happens.
	evolve(exitRefused, "sessions", "purge", canaries["a"][:8])
	if now := bytesUnder(t, home, planted("a")); len(now) == 0 {
		t.Fatal("purged without a yes")
	}
	var plan struct{ Purge purge.Result }
	if err := json.Unmarshal([]byte(evolve(exitDone, "sessions", "show", canaries["a"], "--json")), &plan); err != nil {
		t.Fatal(err)
	}
	if len(plan.Purge.Texts) == 0 {
		t.Fatal("no text learned from the session: this test shows less than it says")
	}
	out := evolve(exitDone, "sessions", "purge", canaries["a"][:8], "--yes")
	for where, n := range bytesUnder(t, home, planted("a")) {
		if !strings.Contains(where, canaries["a"]) || !strings.Contains(out, canaries["a"]) {
			t.Errorf("after the purge: %s, %d times", where, n)
		}
	}
	if rest := bytesUnder(t, home, planted("b")); len(rest) == 0 {
		t.Error("the other session went too")
	}
	for _, want := range []string{"1 session purged", "made anew", "evolve.db.damaged-123456 may hold it too", "bus.jsonl: 1 line"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
	if bus, err := os.ReadFile(filepath.Join(home, "bus.jsonl")); err != nil || string(bus) != `{"session":"other"}`+"\n" {
		t.Errorf("bus.jsonl holds %q, %v", bus, err)
	}
	if left, _ := filepath.Glob(filepath.Join(home, "queue", "*")); len(left) != 1 {
		t.Errorf("the queue holds %v, want the other session alone", left)
	}
	if left, _ := filepath.Glob(filepath.Join(home, "reports", "*.html")); len(left) < 2 {
		t.Errorf("reports %v", left)
	}

	// It does not come back, and everything works on.
	evolve(exitDone, "harvest")
	evolve(exitDone, "sessions", "purge", canaries["a"], "--yes") // again, by the whole id
	evolve(exitDone, "status")
	evolve(exitDone, "log", "dataviz")
	evolve(exitDone, "report", "last", "--json")
	if said := evolve(exitUsage, "show", "dataviz@"+plan.Purge.Texts[0]); !strings.Contains(said, "was removed with a session") {
		t.Errorf("of a removed text it says %q", said)
	}
	evolve(exitDone, append([]string{"--skill", "dataviz", "--agent", "openai", "--max-rollouts", "12", "--anew", "--no-harvest", "--seed", "6"}, model...)...)
	if now := bytesUnder(t, home, planted("a")); len(now) != 0 {
		t.Errorf("after another harvest: %v", now)
	}
	evolve(exitDone, "sessions", "purge", "--all", "--yes")
	if now := bytesUnder(t, home, append(planted("a"), planted("b")...)); len(now) != 0 {
		t.Errorf("after everything was purged: %v", now)
	}
	if now, err := os.ReadFile(filepath.Join(claude, "skills", "dataviz", "SKILL.md")); err != nil || !bytes.Equal(now, live) {
		t.Errorf("the live skill changed: %v", err)
	}
}

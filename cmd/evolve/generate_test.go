package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/casefile"
)

// A model behind a real server is shown neither held-out cases nor secrets, is
// stopped by a cap, and nothing of what it writes is held out or executed.
func TestCasesGenerateOverTheWire(t *testing.T) {
	home := t.TempDir()
	t.Setenv("EVOLVE_HOME", filepath.Join(home, "data"))
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(home, "claude"))
	t.Setenv("OPENAI_API_KEY", "sk-"+strings.Repeat("aB3", 12))
	dir := filepath.Join(home, "claude", "skills", "dataviz")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	skill := "---\nname: dataviz\ndescription: Draws charts\n---\nDraw it.\n"
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(skill), 0o600); err != nil {
		t.Fatal(err)
	}
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	reply := "```json\n" + `{"cases":[
		{"from":1,"kind":"harder","prompt":"A chart of tides with half of the rows missing","checks":[{"type":"regex","value":"(?i)gaps","feedback":"leave gaps"}]},
		{"from":1,"kind":"persona","prompt":"Run this for my boss","checks":[{"type":"command","command":["touch","/tmp/never"]}]},
		{"from":1,"kind":"near_miss","prompt":"A table of tides, my token is ` + secret + `","checks":[{"type":"judge","rubric":"it is a table"}]}]}` + "\n```"
	var seen bytes.Buffer
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/models") {
			io.WriteString(w, `{"object":"list","data":[{"id":"m"}]}`)
			return
		}
		io.Copy(&seen, r.Body)
		json.NewEncoder(w).Encode(map[string]any{"id": "x", "object": "chat.completion", "model": "m",
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": reply}}},
			"usage":   map[string]any{"prompt_tokens": 900, "completion_tokens": 300, "total_tokens": 1200}})
	}))
	defer srv.Close()
	do := func(stdin string, want int, args ...string) (stdout, stderr string) {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(t.Context(), machine{}, args, strings.NewReader(stdin), &out, &errs); code != want {
			t.Fatalf("evolve %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), code, want, &out, &errs)
		}
		return out.String(), errs.String()
	}
	do(`{"id":"real","skill":"dataviz","prompt":"Plot tides with `+secret+`","checks":[{"type":"contains","value":"x"}],"split":"train"}
{"id":"held","skill":"dataviz","prompt":"The secret harbour question","checks":[{"type":"contains","value":"x"}],"split":"test"}`, 0, "cases", "import", "-")
	_, said := do("", 3, "cases", "generate", "--skill", "dataviz", "-n", "30", "--base-url", srv.URL+"/v1", "--model", "m", "--max-tokens", "2000",
		"--price-in", "1", "--price-out", "2")
	if !strings.Contains(said, "forecast: 30 cases of dataviz from 1 real one by openai/m, 6 calls") || !strings.Contains(said, "max-tokens is used up") {
		t.Errorf("said %s", said)
	}
	for _, never := range []string{secret, "secret harbour"} {
		if strings.Contains(seen.String(), never) {
			t.Errorf("the model was sent %q", never)
		}
	}
	if !strings.Contains(seen.String(), "Plot tides with [redacted:github-token]") {
		t.Errorf("the model was not sent the real case: %s", &seen)
	}
	exported, _ := do("", 0, "cases", "export", "dataviz")
	cases, err := casefile.ReadLines(strings.NewReader(exported), "export")
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for _, c := range cases {
		if !c.Generated() {
			continue
		}
		made++
		if c.Split != eval.Train || c.Cluster != "real" || c.Checks[0].Executing() || strings.Contains(c.Prompt, secret) {
			t.Errorf("generated %+v", c)
		}
	}
	if made != 2 || len(cases) != 4 {
		t.Errorf("%d of %d cases are generated, want 2 of 4", made, len(cases))
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/spf13/cobra"
)

// The program that panics is the program itself with one more command.
func init() {
	groups[0].commands = append(groups[0].commands, func(*global) *cobra.Command {
		return &cobra.Command{Use: "panic-for-test", Hidden: true, RunE: func(*cobra.Command, []string) error {
			panic(fmt.Errorf("read: %s", os.Getenv("EVOLVE_TEST_PANIC")))
		}}
	})
}

// TestNoSecretIsKeptSentOrSaid plants secrets of every kind in every origin, uses
// the whole program, and looks for them in every byte that it keeps, while it
// runs and afterwards, in all that it printed, and in every request that it sent.
func TestNoSecretIsKeptSentOrSaid(t *testing.T) {
	t.Parallel()
	useEverything(t, &field{})
}

// TestKeysOfNoKnownForm does the same with the keys that the program itself was
// given, which nothing but their value makes secrets.
func TestKeysOfNoKnownForm(t *testing.T) {
	t.Parallel()
	useEverything(t, &field{keys: []string{"qv-" + fmt.Sprint(6481*6481*31) + "-mine", "wx-" + fmt.Sprint(7013*7013*29) + "-mine"}})
}

// useEverything plants f's canaries wherever something comes into the program.
func useEverything(t *testing.T, f *field) {
	world := simulated.Demo()
	srv := &leaky{world: world.Server(), f: f}
	web := httptest.NewServer(srv)
	defer web.Close()

	home, data, temp := t.TempDir(), t.TempDir(), t.TempDir()
	claude := filepath.Join(home, ".claude")
	roots := []string{data, temp, filepath.Join(claude, "skills")}
	write := func(path string, text []byte) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(claude, "skills", "dataviz", "SKILL.md"), []byte("---\nname: dataviz\ndescription: Draws charts.\n---\n\n# Charts\n\n- Draw what is asked for.\n- Keep it short.\n\n<!-- kernel -->\n- Never delete the files of the user.\n<!-- /kernel -->\n"))
	for i := range len(secretsFor(0)) {
		correction := "no, use a log scale, it grows by factors"
		if i%4 == 3 {
			correction = "das ist leider überhaupt nicht, was ich wollte: sämtliche Achsen gehören ordentlich beschriftet"
		}
		write(filepath.Join(claude, "projects", "-home-dev", fmt.Sprintf("cccccccc-0000-4000-8000-%012d.jsonl", i)), f.transcript(i, correction))
	}
	write(filepath.Join(claude, "projects", "-home-dev-asked", "asked.jsonl"), f.asked())
	write(filepath.Join(claude, "projects", "-home-dev", "broken.jsonl"), []byte("{broken "+f.plant("broken file", 0)+"\n"))

	key := "zz-no-known-form-" + fmt.Sprint(7781*7781) + "-qk"
	f.planted["api key"] = []string{key}
	extra := []string{"SOME_TOKEN=" + f.plant("environment", 3)}
	for i, k := range f.keys {
		extra = append(extra, fmt.Sprintf("SHOP_%d_API_KEY=%s", i, k))
	}
	allowEverything(t, data)
	var outs bytes.Buffer
	evolve := func(stdin string, want []int, args ...string) string {
		t.Helper()
		c := exec.Command(os.Args[0], append(args, "--claude-home", claude)...)
		c.Env = append(extra, "EVOLVE_TEST_AS_MAIN=1", "EVOLVE_HOME="+data, "HOME="+home, "TMPDIR="+temp, "PATH="+os.Getenv("PATH"), "TZ=UTC",
			"OPENAI_API_KEY="+key, "EVOLVE_TEST_PANIC="+f.plant("panic", 2)+" "+key)
		c.Stdin = strings.NewReader(stdin)
		var out, errs bytes.Buffer
		c.Stdout, c.Stderr = &out, &errs
		_ = c.Run()
		if code := c.ProcessState.ExitCode(); !slices.Contains(want, code) {
			t.Errorf("evolve %s: exit %d, want %v: %s", strings.Join(args, " "), code, want, errs.String())
		}
		text := out.String() + errs.String()
		f.search(t, "what `evolve "+args[0]+"` prints", []byte(text))
		outs.WriteString(text)
		return text
	}
	looks, walBytes := 0, 0
	var looking sync.Mutex // until the commands whose own arguments hold a canary
	srv.look = func() {
		if !looking.TryLock() {
			return
		}
		defer looking.Unlock()
		looks++
		for _, path := range f.searchFiles(t, "while it runs: ", roots) {
			if info, err := os.Stat(path); err == nil && strings.HasSuffix(path, ".db-wal") {
				walBytes = max(walBytes, int(info.Size()))
			}
		}
		f.searchProcesses(t)
	}
	server := []string{"--agent", "openai", "--base-url", web.URL + "/v1", "--model", "sim-task", "--reflect-model", "sim-reflect"}

	evolve("", []int{0}, "harvest", "--json", "--moments", "all")
	evolve("", []int{0}, append([]string{"hooks", "learn", "--since", "9000d"}, server...)...)
	// Most replies of this mutator hold a secret in the text, and are refused.
	evolve("", []int{0, 1}, append([]string{"suggest", "dataviz", "--smoke"}, server...)...)
	srv.beside.Store(true)
	suggested := evolve("", []int{0}, append([]string{"suggest", "dataviz", "--smoke"}, server...)...)
	srv.beside.Store(false)
	srv.mu.Lock()
	srv.suggested = true
	srv.mu.Unlock()
	evolve("", []int{0}, append([]string{"kernel", "probes", "dataviz", "--yes"}, server...)...)
	evolve("", []int{0}, "kernel", "probes", "dataviz", "--approve")
	imported := map[string]any{"id": "imp-1", "skill": "dataviz", "prompt": "plot it, " + f.plant("case prompt", 4), "split": "train",
		"context": []map[string]any{{"role": "user", "text": f.plant("case context", 5)}}, "reference": f.plant("case reference", 6),
		"files":  map[string]string{"data/a.txt": f.plant("case file", 7)},
		"checks": []map[string]any{{"type": "judge", "rubric": "says so " + f.plant("case rubric", 8), "feedback": f.plant("case feedback", 9)}}}
	raw, err := json.Marshal(imported)
	if err != nil {
		t.Fatal(err)
	}
	evolve(string(raw)+"\n", []int{0}, "cases", "import", "-")
	imported["id"], imported["files"] = "imp-2", map[string]string{"data/" + f.plant("case file name", 0) + ".txt": "x"}
	if raw, err = json.Marshal(imported); err != nil {
		t.Fatal(err)
	}
	evolve(string(raw)+"\n", []int{4}, "cases", "import", "-")
	run := evolve("", []int{0}, append([]string{"--skill", "dataviz", "--max-rollouts", "300", "--max-tokens", "2000000", "--json"}, server...)...)
	if !strings.Contains(run, `"mutator_calls"`) || strings.Contains(run, `"mutator_calls": 0`) {
		t.Errorf("the run asked no mutator:\n%s", run)
	}
	evolve("", []int{0, 1, 2}, append([]string{"compare", "dataviz", "none", "--json"}, server...)...)
	for _, args := range [][]string{{"status", "--json"}, {"status"}, {"log", "dataviz"}, {"log", "dataviz", "--json"}, {"show", "dataviz"},
		{"show", "dataviz@challenger"}, {"diff", "dataviz"}, {"cases", "list", "dataviz"}, {"cases", "export", "dataviz"}, {"report", "--json"}, {"report"}, {"review", "dataviz"}, {"corrections"}} {
		evolve("1\n2\n=\n", []int{0, 1, 2, 3, 4}, args...)
	}
	name, _, _ := strings.Cut(suggested, ":")
	evolve("", []int{0}, "try", name, "--yes")
	evolve("", []int{0}, "status", "--json")
	evolve("", []int{0}, "rollback", "dataviz")
	// Requests to a person, notes of hooks, a night.
	evolve("", []int{3}, "--skill", "dataviz", "--agent", "handoff", "--no-wait", "--anew", "--no-harvest", "--max-rollouts", "30", "--judge-agent", "handoff")
	write(filepath.Join(data, "config.yaml"), []byte("hooks:\n  record_prompts: true\n"))
	for i := range 20 {
		in, err := json.Marshal(map[string]any{"session_id": "live", "prompt_id": fmt.Sprint("p", i), "hook_event_name": "UserPromptExpansion",
			"command_name": "dataviz", "command_args": "x", "prompt": "/dataviz plot it, " + f.plant("hook prompt", i)})
		if err != nil {
			t.Fatal(err)
		}
		evolve(string(in), []int{0}, "hook", "UserPromptExpansion")
	}
	evolve(`{"session_id": `+f.plant("hook input", 1), []int{0, 1}, "hook", "Stop")
	evolve("", []int{0, 3}, append([]string{"sleep", "run", "--max-rollouts", "20"}, server...)...)
	srv.mu.Lock()
	srv.fail = true
	srv.mu.Unlock()
	if text := evolve("", []int{1}, append([]string{"compare", "dataviz", "none", "--trials", "3"}, server...)...); !strings.Contains(text, "refused") {
		t.Errorf("the server's refusal is not told:\n%s", text)
	}
	looking.Lock() // a handler may outlive the program that asked it
	for _, base := range []string{"http://ci:" + f.plant("base url", 0) + "@" + strings.TrimPrefix(web.URL, "http://") + "/v1", "ci:" + f.planted["api key"][0] + "@x", "::" + f.plant("base url", 2)} {
		evolve("", []int{2}, "--skill", "dataviz", "--agent", "openai", "--model", "m", "--base-url", strings.ReplaceAll(base, " ", "/"))
	}
	evolve("", []int{2}, "--skill", f.plant("skill name", 3), "--agent", "openai", "--model", "m", "--base-url", web.URL)
	evolve("", []int{2}, "--"+f.plant("flag", 4))
	if text := evolve("", []int{1}, "panic-for-test"); !strings.Contains(text, "panic") || !strings.Contains(text, "canary_secrets_test.go") {
		t.Errorf("a panic does not say where it was:\n%s", text)
	}

	files := f.searchFiles(t, "", roots)
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left in the folder for temporary files: %v, %v", left, err)
	}
	srv.mu.Lock()
	defer srv.mu.Unlock()
	for i, body := range srv.seen {
		f.search(t, fmt.Sprintf("request %d", i), body)
	}
	for _, part := range []string{"evolve.db", "reports/", "staged/", "handoff/", "logs/", "bus.jsonl"} {
		if !slices.ContainsFunc(files, func(path string) bool { return strings.Contains(path, "/"+part) }) {
			t.Errorf("nothing was written to %s: this test shows less than it says", part)
		}
	}
	if looks == 0 || walBytes == 0 {
		t.Errorf("%d looks while it ran, %d bytes of its log: this test shows less than it says", looks, walBytes)
	}
	srv.kept(t, data)
	if len(files) < 3 || len(srv.seen) < 50 || len(f.planted) < 20 {
		t.Errorf("%d files, %d requests, %d origins: the program was hardly used", len(files), len(srv.seen), len(f.planted))
	}
	if !bytes.Contains(outs.Bytes(), []byte("[redacted:")) {
		t.Error("no placeholder was printed: the canaries were not near")
	}
	t.Logf("%d origins, %d kinds, %d requests, %d files, %d bytes printed, %d looks while it ran at %d bytes of the log: none",
		len(f.planted), len(secretsFor(0)), len(srv.seen), len(files), outs.Len(), looks, walBytes)
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
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
	commands = append(commands, func(*app) *cobra.Command {
		return &cobra.Command{Use: "panic-for-test", Hidden: true, RunE: func(*cobra.Command, []string) error {
			panic(fmt.Errorf("read: %s", os.Getenv("EVOLVE_TEST_PANIC")))
		}}
	})
}

// A canary is a secret as it stands in a text, and the part of it that must not
// be found anywhere.
type canary struct{ text, needle string }

// secretsFor are secrets of every kind that is told apart, made for one origin: a
// needle that is found says where it was planted.
func secretsFor(origin int) []canary {
	var out []canary
	n := 0
	// run makes a random-looking run of so many characters that no other has.
	run := func(alphabet string, length int) string {
		n++
		x := uint64(origin)*7919 + uint64(n)*104729 + 12345
		b := make([]byte, length)
		for i := range b {
			x = x*6364136223846793005 + 1442695040888963407
			b[i] = alphabet[(x>>33)%uint64(len(alphabet))]
		}
		return string(b)
	}
	const (
		low   = "abcdefghijkmnpqrstuvwxyz23456789"
		alnum = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789"
		upper = "ABCDEFGHJKLMNPQRSTUVWXYZ234567"
		hex   = "0123456789abcdef"
	)
	token := func(prefix, alphabet string, length int) {
		v := run(alphabet, length)
		out = append(out, canary{"the call had " + prefix + v + " in it", v})
	}
	in := func(format, alphabet string, length int) {
		v := run(alphabet, length-2) + "7a"
		out = append(out, canary{fmt.Sprintf(format, v), v})
	}
	token("gh"+"p_", alnum, 36)
	token("github"+"_pat_", alnum, 60)
	token("sk-"+"ant-api03-", alnum, 80)
	token("sk-"+"proj-", alnum, 48)
	token("AK"+"IA", upper, 16)
	token("xox"+"b-", low, 40)
	token("sk_"+"live_", alnum, 24)
	token("AI"+"za", alnum, 35)
	token("np"+"m_", alnum, 36)
	token("gl"+"pat-", alnum, 20)
	token("hf"+"_", alnum, 34)
	token("SG"+".", alnum, 60)
	token("dop"+"_v1_", hex, 64)
	in("clone https://ci:%s@git.example.com/shop.git", alnum, 24)
	in("Authorization: Bearer %s", alnum, 40)
	in("export DB_PASSWORD=%s", alnum, 18)
	in(`{"api_key": "%s"}`, alnum, 32)
	in("the password is %s", low, 16)
	in("postgres://shop:%s@db.internal:5432/shop", alnum, 20)
	in("-----BEGIN OPENSSH PRIVATE KEY-----\n%s\n-----END OPENSSH PRIVATE KEY-----", alnum, 70)
	return out
}

// A field is where canaries grow: origin → the needles planted there.
type field struct {
	mu      sync.Mutex
	origins []string
	planted map[string][]string
}

// plant returns the i-th kind's text for an origin.
func (f *field) plant(origin string, i int) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := slices.Index(f.origins, origin)
	if at < 0 {
		at = len(f.origins)
		f.origins = append(f.origins, origin)
	}
	all := secretsFor(at)
	c := all[i%len(all)]
	if f.planted == nil {
		f.planted = map[string][]string{}
	}
	if !slices.Contains(f.planted[origin], c.needle) {
		f.planted[origin] = append(f.planted[origin], c.needle)
	}
	return c.text
}

// search looks for every canary in text.
func (f *field) search(t *testing.T, where string, text []byte) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for origin, needles := range f.planted {
		for _, n := range needles {
			at := bytes.Index(text, []byte(n))
			if at < 0 {
				at = bytes.Index(text, []byte(n[:len(n)-2])) // cut, or escaped at its end
			}
			if at >= 0 {
				t.Errorf("%s holds the canary %s, planted in %s: …%q…", where, n, origin, text[max(0, at-60):min(len(text), at+len(n)+20)])
			}
		}
	}
}

// A leaky is a server that answers as the simulated model does, with secrets in
// what it says, and records every request.
type leaky struct {
	world http.Handler
	f     *field
	mu    sync.Mutex
	n     int
	seen  [][]byte
	fail  bool // refuse the key, and repeat it
}

func (l *leaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	l.mu.Lock()
	l.n++
	n, fail := l.n, l.fail
	l.seen = append(l.seen, slices.Concat([]byte(r.URL.String()+"\n"), body))
	l.mu.Unlock()
	if key := r.Header.Get("Authorization"); fail || n%23 == 5 {
		status := http.StatusInternalServerError
		if fail {
			status = http.StatusUnauthorized
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"message":%q}}`, "refused: "+strings.TrimPrefix(key, "Bearer ")+" and "+l.f.plant("provider error", n))
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	rec := httptest.NewRecorder()
	l.world.ServeHTTP(rec, r)
	var reply map[string]any
	if json.Unmarshal(rec.Body.Bytes(), &reply) == nil && n%3 != 0 {
		if choices, ok := reply["choices"].([]any); ok && len(choices) > 0 {
			m := choices[0].(map[string]any)["message"].(map[string]any)
			if s, ok := m["content"].(string); ok {
				m["content"] = l.leak(string(body), s, n)
			}
		}
		out, _ := json.Marshal(reply)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(rec.Code)
		_, _ = w.Write(out)
		return
	}
	w.WriteHeader(rec.Code)
	_, _ = w.Write(rec.Body.Bytes())
}

// leak puts a secret into a reply where it does not spoil its form.
func (l *leaky) leak(asked, reply string, n int) string {
	switch {
	case strings.Contains(reply, `"score"`):
		secret, _ := json.Marshal(l.f.plant("judge reply", n))
		return strings.Replace(reply, `"reason":"`, `"reason":"`+strings.Trim(string(secret), `"`)+". ", 1)
	case strings.Contains(asked, `instructions (\"skill\")`): // the mutator, in its text and beside it
		fence := strings.LastIndex(reply, "\n```")
		if fence < 0 {
			return reply
		}
		return l.f.plant("mutator reply", n) + "\n\n" + reply[:fence] + "\n- use a log scale: " +
			strings.ReplaceAll(l.f.plant("mutator text", n), "\n", " ") + reply[fence:]
	case strings.Contains(reply, "```json"):
		return l.f.plant("miner reply", n) + "\n" + reply
	}
	return reply + "\n" + l.f.plant("agent answer", n)
}

// transcript is a session of Claude Code with canaries in all its parts.
func (f *field) transcript(i int, correction string) []byte {
	var out bytes.Buffer
	id := fmt.Sprintf("cccccccc-0000-4000-8000-%012d", i)
	line := 0
	add := func(kind string, message map[string]any) {
		line++
		b, err := json.Marshal(map[string]any{"type": kind, "sessionId": id, "uuid": fmt.Sprint(id, "-", line), "version": "2.1.0",
			"cwd": "/home/dev/" + strings.ReplaceAll(f.plant("cwd", i), "\n", " "), "gitBranch": "fix/" + f.plant("branch", i),
			"timestamp": fmt.Sprintf("2026-05-%02dT10:%02d:00.000Z", i+1, line), "message": message})
		if err != nil {
			panic(err)
		}
		out.Write(append(b, '\n'))
	}
	user := func(content any) { add("user", map[string]any{"role": "user", "content": content}) }
	say := func(blocks ...map[string]any) {
		add("assistant", map[string]any{"role": "assistant", "id": fmt.Sprint("m", i, line), "model": "claude-test", "content": blocks,
			"usage": map[string]any{"input_tokens": 10, "output_tokens": 5}})
	}
	user(fmt.Sprintf("/dataviz plot the revenue of week %d from data/%d.csv for %s readers, %s", i, i, []string{"new", "old", "our"}[i%3], f.plant("prompt", i)))
	say(map[string]any{"type": "text", "text": "I look at it."},
		map[string]any{"type": "tool_use", "id": fmt.Sprint("t", i), "name": "Bash", "input": map[string]any{"command": f.plant("tool input", i)}})
	user([]map[string]any{{"type": "tool_result", "tool_use_id": fmt.Sprint("t", i), "content": f.plant("tool output", i)}})
	say(map[string]any{"type": "text", "text": "Here is the chart of week " + fmt.Sprint(i) + ". " + f.plant("answer", i)})
	user(correction + " " + f.plant("correction", i))
	say(map[string]any{"type": "text", "text": "Mended with a log scale. " + f.plant("second answer", i)})
	user("perfect, thanks")
	return out.Bytes()
}

// TestNoSecretIsKeptSentOrSaid plants secrets of every kind in every origin, uses
// the whole program, and looks for them in every byte that it left behind, in all
// that it printed, and in every request that it sent.
func TestNoSecretIsKeptSentOrSaid(t *testing.T) {
	f := &field{}
	world := simulated.Demo()
	srv := &leaky{world: world.Server(), f: f}
	web := httptest.NewServer(srv)
	defer web.Close()

	home, data := t.TempDir(), t.TempDir()
	claude := filepath.Join(home, ".claude")
	write := func(path string, text []byte) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(claude, "skills", "dataviz", "SKILL.md"), []byte("---\nname: dataviz\ndescription: Draws charts.\n---\n\n# Charts\n\n- Draw what is asked for.\n- Keep it short.\n"))
	for i := range len(secretsFor(0)) {
		correction := "no, use a log scale, it grows by factors"
		if i%4 == 3 {
			correction = "das ist leider überhaupt nicht, was ich wollte: sämtliche Achsen gehören ordentlich beschriftet"
		}
		write(filepath.Join(claude, "projects", "-home-dev", fmt.Sprintf("cccccccc-0000-4000-8000-%012d.jsonl", i)), f.transcript(i, correction))
	}
	write(filepath.Join(claude, "projects", "-home-dev", "broken.jsonl"), []byte("{broken "+f.plant("broken file", 0)+"\n"))

	key := "zz-no-known-form-" + fmt.Sprint(7781*7781) + "-qk"
	f.planted["api key"] = []string{key}
	var outs bytes.Buffer
	evolve := func(stdin string, want []int, args ...string) string {
		t.Helper()
		c := exec.Command(os.Args[0], append(args, "--claude-home", claude)...)
		c.Env = []string{"EVOLVE_TEST_AS_MAIN=1", "EVOLVE_HOME=" + data, "HOME=" + home, "PATH=" + os.Getenv("PATH"), "TZ=UTC",
			"OPENAI_API_KEY=" + key, "SOME_TOKEN=" + f.plant("environment", 3), "EVOLVE_TEST_PANIC=" + f.plant("panic", 2) + " " + key}
		c.Stdin = strings.NewReader(stdin)
		var out, errs bytes.Buffer
		c.Stdout, c.Stderr = &out, &errs
		_ = c.Run()
		if code := c.ProcessState.ExitCode(); !slices.Contains(want, code) {
			t.Fatalf("evolve %s: exit %d, want %v: %s", strings.Join(args, " "), code, want, errs.String())
		}
		text := out.String() + errs.String()
		f.search(t, "what `evolve "+args[0]+"` prints", []byte(text))
		outs.WriteString(text)
		return text
	}
	server := []string{"--agent", "openai", "--base-url", web.URL + "/v1", "--model", "sim-task", "--reflect-model", "sim-reflect"}

	evolve("", []int{0}, "harvest", "--json")
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
	run := evolve("", []int{0}, append([]string{"--skill", "dataviz", "--max-rollouts", "120", "--max-tokens", "900000", "--json"}, server...)...)
	if !strings.Contains(run, `"mutator_calls"`) || strings.Contains(run, `"mutator_calls": 0`) {
		t.Errorf("the run asked no mutator:\n%s", run)
	}
	evolve("", []int{0, 1, 2}, append([]string{"compare", "dataviz", "none", "--json"}, server...)...)
	for _, args := range [][]string{{"status", "--json"}, {"status"}, {"log", "dataviz"}, {"log", "dataviz", "--json"}, {"show", "dataviz"},
		{"show", "dataviz@challenger"}, {"diff", "dataviz"}, {"cases", "list", "dataviz"}, {"cases", "export", "dataviz"}, {"report", "--json"}, {"report"}, {"review", "dataviz"}} {
		evolve("1\n2\n=\n", []int{0, 1, 2, 3, 4}, args...)
	}
	srv.mu.Lock()
	srv.fail = true
	srv.mu.Unlock()
	if text := evolve("", []int{1}, append([]string{"compare", "dataviz", "none", "--trials", "3"}, server...)...); !strings.Contains(text, "refused") {
		t.Errorf("the server's refusal is not told:\n%s", text)
	}
	for _, base := range []string{"http://ci:" + f.plant("base url", 0) + "@" + strings.TrimPrefix(web.URL, "http://") + "/v1", "ci:" + f.planted["api key"][0] + "@x", "::" + f.plant("base url", 2)} {
		evolve("", []int{2}, "--skill", "dataviz", "--agent", "openai", "--model", "m", "--base-url", strings.ReplaceAll(base, " ", "/"))
	}
	evolve("", []int{2}, "--skill", f.plant("skill name", 3), "--agent", "openai", "--model", "m", "--base-url", web.URL)
	evolve("", []int{2}, "--"+f.plant("flag", 4))
	if text := evolve("", []int{1}, "panic-for-test"); !strings.Contains(text, "panic") || !strings.Contains(text, "canary_secrets_test.go") {
		t.Errorf("a panic does not say where it was:\n%s", text)
	}

	files := 0
	for _, root := range []string{data, filepath.Join(claude, "skills")} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			files++
			text, err := os.ReadFile(path)
			f.search(t, strings.TrimPrefix(path, root), append([]byte(path+"\n"), text...))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	srv.mu.Lock()
	defer srv.mu.Unlock()
	for i, body := range srv.seen {
		f.search(t, fmt.Sprintf("request %d", i), body)
	}
	if files < 3 || len(srv.seen) < 50 || len(f.planted) < 20 {
		t.Errorf("%d files, %d requests, %d origins: the program was hardly used", files, len(srv.seen), len(f.planted))
	}
	if !bytes.Contains(outs.Bytes(), []byte("[redacted:")) {
		t.Error("no placeholder was printed: the canaries were not near")
	}
	t.Logf("%d origins, %d kinds, %d requests, %d files, %d bytes printed: none", len(f.planted), len(secretsFor(0)), len(srv.seen), files, outs.Len())
}

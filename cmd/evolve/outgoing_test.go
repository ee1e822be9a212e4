package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/store/datadir"
)

// elsewhere is a vendor's host. A proxy leads to it, which is a server of this test.
const elsewhere = "models.example"

// A border is a home with sessions and cases of two projects, shop and client, and a
// vendor's server that notes what it gets. Whatever is the client's holds ofClient.
type border struct {
	*station
	home, shop, client string
	proxy              string

	mu   sync.Mutex
	sent []request
	then func(n int) // called with the number of each request before it is answered
}

type request struct{ host, body string }

const (
	ofClient = "cathedral of the client"
	inShop   = "lighthouse of the shop" // in the shop's requests, and in its corrections
	ofJudge  = "the chart says which year it is of"
)

func newBorder(t *testing.T) *border {
	b := &border{station: newStation(t, 0)}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		b.mu.Lock()
		b.sent = append(b.sent, request{r.Host, string(body)})
		if b.then != nil {
			b.then(len(b.sent))
		}
		b.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		b.world.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	b.proxy = srv.URL
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b.shop, b.client = filepath.Join(dir, "shop"), filepath.Join(dir, "client")
	for _, p := range []string{b.shop, b.client} {
		if err := os.MkdirAll(p, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var cases []eval.Case
	rename := func(c eval.Case, project, words string) eval.Case {
		c.ID, c.Cluster = project+"-"+c.ID, ""
		c.Prompt += "\n" + words
		c.Context = []eval.Message{{Role: "assistant", Text: "earlier: " + words}}
		c.Files = map[string]string{"notes.txt": words}
		c.Reference = "as agreed: " + words
		c.Checks = append(slices.Clone(c.Checks), eval.Check{Type: eval.Judge, Rubric: ofJudge + " (" + words + ")", Feedback: words})
		c.Source = &eval.Source{Agent: "claude-code", Session: project, Origin: "mined", Outcome: "corrected"}
		return c
	}
	for _, c := range b.cases {
		cases = append(cases, rename(c, "shop", inShop), rename(c, "client", ofClient))
	}
	b.cases = cases
	b.home = b.station.home()
	db := b.open(b.home)
	defer db.Close()
	skill := cases[0].Skill
	for project, words := range map[string]string{b.shop: inShop, b.client: ofClient} {
		for _, name := range []string{"", "-2", "-3"} { // as many as make a night search
			name = filepath.Base(project) + name
			at := time.Now().Add(-time.Hour).UTC()
			s := &harvest.Session{ID: name, Agent: "claude-code", Path: name, CWD: project, Started: at,
				Turns: []harvest.Turn{{ID: "1", Time: at, Prompt: "plot the " + words, Answer: "Here it is: " + words},
					{ID: "2", Time: at, Prompt: "no, that is wrong, use a log scale for the " + words, Answer: "Done: " + words}, {ID: "3", Time: at, Prompt: "thanks, perfect"}},
				Invocations: []harvest.Invocation{{ID: "i-" + name, Skill: skill, Signal: harvest.SkillToolUse, Explicit: true, Time: at}}}
			harvest.Assess(s)
			if err := db.SaveSession(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b
}

// decide keeps what the owner has allowed: text of these projects goes to the vendor.
func (b *border) decide(projects ...string) {
	b.t.Helper()
	d := new(consent.Decisions)
	d.Allow(b.shop)
	d.Allow(b.client)
	for _, p := range projects {
		d.Allow(p, elsewhere)
	}
	file := datadir.Dir(b.home).Projects()
	if err := d.Write(file); err != nil {
		b.t.Fatal(err)
	}
	if err := outgoing.Agree(file, elsewhere, agent.Requests...); err != nil {
		b.t.Fatal(err)
	}
}

// ended is the exit code of a run that ended, with its verdict or at its cap.
const ended = -1

// evolve runs a command whose models are the vendor's, and returns what it prints and
// what was sent meanwhile.
func (b *border) evolve(code int, args ...string) (stdout, stderr string, sent []request) {
	b.t.Helper()
	b.mu.Lock()
	b.sent = nil
	b.mu.Unlock()
	c := exec.Command(os.Args[0], append(args, "--skills-dir", b.skills, "--agent", "openai", "--base-url", "http://"+elsewhere+"/v1", "--model", "sim-task", "--reflect-model", "sim-reflect")...)
	c.Env = []string{"EVOLVE_TEST_AS_MAIN=1", "EVOLVE_HOME=" + b.home, "HOME=" + b.home, "PATH=" + os.Getenv("PATH"), "HTTP_PROXY=" + b.proxy, "OPENAI_API_KEY=sk-test-not-a-key"}
	c.Dir = b.home
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	_ = c.Run() // its code is looked at
	if got := c.ProcessState.ExitCode(); got != code && (code != ended || got != exitDone && got != exitStopped) {
		b.t.Fatalf("evolve %s: exit %d, want %d: %s%s", strings.Join(args, " "), got, code, &out, &errs)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return out.String(), errs.String(), slices.DeleteFunc(slices.Clone(b.sent), func(r request) bool { return r.body == "" }) // lists of models
}

// roles counts the requests of each role.
func roles(sent []request) map[string]int {
	n := map[string]int{}
	for _, r := range sent {
		switch {
		case strings.Contains(r.body, `"model":"sim-task"`):
			n[agent.Replay]++
		case strings.Contains(r.body, "log scale for the"):
			n[agent.Mine]++
		case strings.Contains(r.body, "These are the current instructions"):
			n[agent.Mutate]++
		case strings.Contains(r.body, ofJudge):
			n[agent.Judge]++
		default:
			n["other"]++
		}
	}
	return n
}

func (b *border) forbid(what string, sent []request) {
	b.t.Helper()
	for _, r := range sent {
		if r.host != elsewhere {
			b.t.Errorf("%s: a request to %s", what, r.host)
		}
		if strings.Contains(r.body, ofClient) {
			b.t.Errorf("%s: text of a project that was not allowed was sent: %.2000s", what, r.body)
			return
		}
	}
}

// A run sends no byte of a project that the vendor may not have, in any role, and no more
// than its dry run says.
func TestRunSendsWhatItsDryRunSays(t *testing.T) {
	t.Parallel()
	b := newBorder(t)
	b.decide(b.shop)
	line := []string{"--skill", b.cases[0].Skill, "--max-rollouts", "90", "--max-retries", "1", "--objectives", "quality,retries", "--seed", "7", "--yes"}
	stdout, _, sent := b.evolve(exitDone, append(line, "--dry-run", "--json")...)
	if len(sent) > 0 {
		t.Fatalf("the dry run sent %+v", sent)
	}
	var fc struct{ Sends []outgoing.Send }
	if err := json.Unmarshal([]byte(stdout), &fc); err != nil || len(fc.Sends) != 1 {
		t.Fatalf("%v in %s", err, stdout)
	}
	s := fc.Sends[0]
	if s.Host != elsewhere || s.Vendor != elsewhere || !slices.Equal(s.Kinds, agent.Requests) || len(s.Projects) != 1 || s.Projects[0].Folder != b.shop {
		t.Errorf("the dry run says %+v", s)
	}
	_, stderr, sent := b.evolve(ended, line...)
	b.forbid("run", sent)
	n, total := roles(sent), int64(0)
	for _, kind := range agent.Requests {
		if n[kind] == 0 {
			t.Errorf("no %s request: %v", kind, n)
		}
	}
	for _, r := range sent {
		total += int64(len(r.body))
	}
	t.Logf("%v: %d bytes were sent, at most %d were said", n, total, s.Bytes)
	if total > s.Bytes {
		t.Errorf("%d bytes were sent, and the dry run says %d at most", total, s.Bytes)
	}
	if want := fmt.Sprintf("cases of %s stay out: the text goes to anthropic alone; `evolve projects allow %s --to %s`", outgoing.Short(b.client), outgoing.Short(b.client), elsewhere); !strings.Contains(strings.Join(strings.Fields(stderr), " "), want) {
		t.Errorf("no %q in %s", want, stderr)
	}
	// The test can fail: the same run sends it if it is allowed.
	b = newBorder(t)
	b.decide(b.client)
	_, _, sent = b.evolve(ended, line...)
	if found := roles(slices.DeleteFunc(sent, func(r request) bool { return !strings.Contains(r.body, ofClient) })); found[agent.Replay] == 0 || found[agent.Mine] == 0 || found[agent.Judge] == 0 || found[agent.Mutate] == 0 {
		t.Errorf("allowed, and not sent: %v", found)
	}
}

// Comparisons, written cases and nights are held to the same.
func TestOthersSendWhatIsAllowed(t *testing.T) {
	t.Parallel()
	b := newBorder(t)
	b.decide(b.shop)
	skill := b.cases[0].Skill
	for name, line := range map[string][]string{
		"compare":  {"compare", skill, "none", "--max-retries", "1"},
		"generate": {"cases", "generate", "--skill", skill, "-n", "3"},
	} {
		stdout, stderr, sent := b.evolve(exitDone, append(line, "--dry-run")...)
		said := strings.Join(strings.Fields(stdout+stderr), " ")
		if len(sent) > 0 || !strings.Contains(said, "sends: "+elsewhere) || !strings.Contains(said, outgoing.Short(b.shop)+" (") || !strings.Contains(said, "cases of "+outgoing.Short(b.client)+" stay out") && name == "generate" {
			t.Errorf("%s --dry-run: %d requests, %s", name, len(sent), said)
		}
		var fc struct{ Sends []outgoing.Send }
		stdout, _, _ = b.evolve(exitDone, append(line, "--dry-run", "--json")...)
		if err := json.Unmarshal([]byte(stdout), &fc); err != nil || len(fc.Sends) != 1 {
			t.Fatalf("%v in %s", err, stdout)
		}
		_, _, sent = b.evolve(exitDone, line...)
		b.forbid(name, sent)
		total := int64(0)
		for _, r := range sent {
			total += int64(len(r.body))
		}
		if len(sent) == 0 || total > fc.Sends[0].Bytes {
			t.Errorf("%s: %d requests, %d bytes, at most %d were said", name, len(sent), total, fc.Sends[0].Bytes)
		}
	}
	stdout, stderr, sent := b.evolve(exitDone, "sleep", "run", "--dry-run")
	if said := strings.Join(strings.Fields(stdout+stderr), " "); len(sent) > 0 || !strings.Contains(said, "sends: "+elsewhere) {
		t.Errorf("sleep --dry-run: %d requests, %s", len(sent), said)
	}
	_, _, sent = b.evolve(exitDone, "sleep", "run")
	b.forbid("night", sent)
	if len(sent) == 0 {
		t.Error("the night sent nothing")
	}
}

// Nothing is sent before the owner was asked, and nothing that nobody has agreed to; a
// night reports why.
func TestNothingIsSentUnasked(t *testing.T) {
	t.Parallel()
	b := newBorder(t)
	skill := b.cases[0].Skill
	file := datadir.Dir(b.home).Projects()
	for _, now := range []struct {
		what    string
		prepare func() error
	}{
		{"you have not been asked yet", func() error { return os.RemoveAll(file) }},
		{"you have not agreed yet to", func() error {
			d := new(consent.Decisions)
			d.Allow(b.shop, elsewhere)
			return d.Write(file)
		}},
	} {
		if err := now.prepare(); err != nil {
			t.Fatal(err)
		}
		for _, line := range [][]string{{"--skill", skill, "--no-harvest", "--yes"}, {"compare", skill, "none", "--yes"}, {"cases", "generate", "--skill", skill, "--yes"}} {
			_, stderr, sent := b.evolve(exitUsage, line...)
			if said := strings.Join(strings.Fields(stderr), " "); len(sent) > 0 || !strings.Contains(said, now.what) || !strings.Contains(said, "hint: ") {
				t.Errorf("evolve %s: %d requests, %s", strings.Join(line, " "), len(sent), said)
			}
		}
	}
	stdout, stderr, sent := b.evolve(exitFailed, "sleep", "run")
	if said := strings.Join(strings.Fields(stdout+stderr), " "); len(sent) > 0 || !strings.Contains(said, "you have not agreed yet to") {
		t.Errorf("the night: %d requests, %s", len(sent), said)
	}
}

// A run that is resumed asks again whether its cases may be sent.
func TestResumedRunIsHeld(t *testing.T) {
	t.Parallel()
	b := newBorder(t)
	b.decide(b.shop, b.client)
	b.evolve(exitStopped, "--skill", b.cases[0].Skill, "--max-rollouts", "40", "--max-duration", "1ms", "--yes", "--no-harvest")
	db := b.open(b.home)
	runs, err := db.Runs(t.Context(), b.cases[0].Skill)
	db.Close()
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	b.decide(b.shop)
	c := exec.Command(os.Args[0], "--resume", runs[0].ID, "--skills-dir", b.skills)
	c.Env = []string{"EVOLVE_TEST_AS_MAIN=1", "EVOLVE_HOME=" + b.home, "HOME=" + b.home, "PATH=" + os.Getenv("PATH"), "HTTP_PROXY=" + b.proxy}
	b.mu.Lock()
	b.sent = nil
	b.mu.Unlock()
	text, err := c.CombinedOutput()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forbid("resumed", b.sent)
	if said := strings.Join(strings.Fields(string(text)), " "); c.ProcessState.ExitCode() != exitUsage || !strings.Contains(said, "the run cannot continue: 48 cases of "+outgoing.Short(b.client)+" stay out") {
		t.Errorf("%v: %s", err, said)
	}
}

// A run on this machine alone is held, too: a project that is denied while it goes on is in
// no further request.
func TestRunOnThisMachineIsHeld(t *testing.T) {
	b := newBorder(t)
	b.decide()
	const before = 20
	b.then = func(n int) {
		if n == before {
			if err := consent.Update(datadir.Dir(b.home).Projects(), func(d *consent.Decisions) error { d.Deny(b.client); return nil }); err != nil {
				t.Error(err)
			}
		}
	}
	c := exec.Command(os.Args[0], "--skill", b.cases[0].Skill, "--skills-dir", b.skills, "--agent", "openai", "--base-url", b.proxy+"/v1", "--model", "sim-task",
		"--reflect-model", "sim-reflect", "--max-rollouts", "260", "--concurrency", "1", "--no-harvest", "--yes", "--seed", "7")
	c.Env = []string{"EVOLVE_TEST_AS_MAIN=1", "EVOLVE_HOME=" + b.home, "HOME=" + b.home, "PATH=" + os.Getenv("PATH")}
	text, err := c.CombinedOutput()
	b.mu.Lock()
	defer b.mu.Unlock()
	if said := strings.Join(strings.Fields(string(text)), " "); err == nil || !strings.Contains(said, "text of "+outgoing.Short(b.client)) || !strings.Contains(said, "may not be used any more") || len(b.sent) < before {
		t.Fatalf("%v after %d requests: %s", err, len(b.sent), said)
	}
	of := func(sent []request) (n int) {
		for _, r := range sent {
			if strings.Contains(r.body, ofClient) {
				n++
			}
		}
		return n
	}
	if of(b.sent[:before]) == 0 || of(b.sent[before:]) > 0 {
		t.Errorf("%d requests held the client's text before it was denied, %d later", of(b.sent[:before]), of(b.sent[before:]))
	}
}

//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/store/datadir"
)

// TestTerminalFirstRequest: on a terminal the first request of each kind is shown whole and
// asked for. No sends nothing; yes is remembered; another kind is another question, and
// without a terminal the command says what to type.
func TestTerminalFirstRequest(t *testing.T) {
	t.Parallel()
	b := newBorder(t)
	file := datadir.Dir(b.home).Projects()
	d := new(consent.Decisions)
	d.Allow(b.shop, elsewhere)
	if err := d.Write(file); err != nil {
		t.Fatal(err)
	}
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	skill := b.cases[0].Skill
	sit := func() *seat {
		return b.sit(120, b.home, []string{"compare", skill, "none", "--split", "train", "--max-retries", "0", "--concurrency", "4", "--yes",
			"--agent", "openai", "--base-url", "http://" + elsewhere + "/v1", "--model", "sim-task", "--reflect-model", "sim-reflect"}, "HTTP_PROXY="+b.proxy, "OPENAI_API_KEY=sk-test-not-a-key")
	}
	question := func(kind string) string {
		return `Send this, and from now on all ` + kind + ` requests of allowed projects, to ` + elsewhere + `\? \[y/N\]`
	}
	// No: nothing was sent, and the next command asks again.
	p := sit()
	p.await(question(agent.Replay))
	p.mu.Lock()
	seen := p.raw.String() // a screen has fewer lines
	p.mu.Unlock()
	if !strings.Contains(flat(seen), "the first replay request to models.example (models.example:80), with text of "+b.shop+", as it is sent:") {
		t.Errorf("asked:\n%s", seen)
	}
	if sent := b.take(); len(sent) > 0 {
		t.Errorf("%d requests before the answer", len(sent))
	}
	p.press("n\n")
	has(t, p.leaves(exitStopped), `you did not agree to replay requests to models\.example`)
	if sent := b.take(); len(sent) > 0 {
		t.Errorf("%d requests after a no", len(sent))
	}
	// Yes: this kind is sent, and it was shown whole; the next kind is asked for.
	p = sit()
	p.await(question(agent.Replay))
	p.mu.Lock()
	shown := p.raw.String()
	p.mu.Unlock()
	p.press("y\n")
	p.await(question(agent.Judge))
	p.press("n\n")
	judge := strings.Join(p.leaves(exitStopped), "\n")
	sent := b.take()
	if n := roles(sent); n[agent.Replay] == 0 || len(n) != 1 {
		t.Errorf("sent %v", n)
	}
	b.forbid("agreed to", sent)
	whole := false // which of the requests is first is open
	for _, c := range b.cases {
		whole = whole || c.Source.Session == "shop" && strings.Contains(flat(shown), flat(c.Prompt)) && strings.Contains(flat(shown), flat(c.Context[0].Text)) && strings.Contains(flat(shown), "notes.txt (22 bytes): "+inShop)
	}
	if !whole || strings.Contains(shown, ofClient) {
		t.Errorf("the first request was shown as\n%s", shown)
	}
	if !strings.Contains(judge, "the first judge request to "+elsewhere) || !strings.Contains(flat(judge), ofJudge) {
		t.Errorf("the second kind was shown as\n%s", judge)
	}
	// The yes is remembered, and so is the second; then nothing is asked.
	p = sit()
	p.await(question(agent.Judge))
	p.press("y\n")
	if seen := strings.Join(p.leaves(exitDone), "\n"); strings.Contains(seen, "first replay request") {
		t.Errorf("asked again:\n%s", seen)
	}
	if n := roles(b.take()); n[agent.Replay] == 0 || n[agent.Judge] == 0 {
		t.Errorf("sent %v", n)
	}
	p = sit()
	if seen := strings.Join(p.leaves(exitDone), "\n"); strings.Contains(seen, "Send this") {
		t.Errorf("asked again:\n%s", seen)
	}
	// Without a terminal it is an error, with what to type; that is all that is needed.
	line := []string{"cases", "generate", "--skill", skill, "-n", "1", "--yes"}
	_, stderr, sent := b.evolve(exitUsage, line...)
	const typed = "evolve privacy agree models.example mine"
	if !strings.Contains(flat(stderr), "`"+typed+"`") || len(sent) > 0 {
		t.Errorf("%d requests, %s", len(sent), stderr)
	}
	agree := b.command(b.home, strings.Fields(typed)[1:]...)
	if out, err := agree.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, _, sent := b.evolve(exitDone, line...); len(sent) == 0 {
		t.Error("agreed to, and nothing was sent")
	}
}

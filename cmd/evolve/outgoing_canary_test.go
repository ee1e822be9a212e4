package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
)

// What a judge is calibrated on, the answers that the owner has reviewed, is to requests of
// the projects whose text it may get, and of no other.
func TestCalibrationIsHeld(t *testing.T) {
	t.Parallel()
	b := newBorder(t)
	b.decide(b.shop)
	name := b.cases[0].Skill
	db := b.open(b.home)
	before, err := db.Cases(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range before {
		if err := db.DropCase(t.Context(), name, c.ID); err != nil {
			t.Fatal(err)
		}
	}
	var cases []eval.Case
	at := time.Now().Add(-time.Hour).UTC()
	for project, words := range map[string]string{b.shop: inShop, b.client: ofClient} {
		for i := range 24 { // as many labels as make a judge trusted
			id := fmt.Sprintf("%s-answer-%d", filepath.Base(project), i)
			prompt := fmt.Sprintf("chart %d of the %s", i, words)
			s := &harvest.Session{ID: id, Agent: "claude-code", Path: id, CWD: project, Started: at, Invocations: []harvest.Invocation{{ID: id, Skill: name, Time: at}},
				Turns: []harvest.Turn{{ID: "1", Time: at, Prompt: prompt, Answer: "the wrong answer about the " + words}, {ID: "2", Time: at, Prompt: "no, " + words}}}
			if err := db.SaveSession(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			cases = append(cases, eval.Case{ID: id, Skill: name, Prompt: prompt, Split: []eval.Split{eval.Train, eval.Val, eval.Test}[i%3], Cluster: id, Reference: "the right answer about the " + words,
				Checks: []eval.Check{{Type: eval.Judge, Rubric: ofJudge + " " + words}}, Source: &eval.Source{Agent: "claude-code", Session: id, Turn: "1", Origin: "mined", Outcome: "corrected"}})
		}
	}
	if _, _, err := db.SaveCases(t.Context(), cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		right, wrong := c.Reference, "the wrong answer about the "+strings.SplitN(c.Prompt, " of the ", 2)[1]
		for _, answer := range []string{right, wrong} {
			if err := db.Journal("earlier").SaveRollout(t.Context(), &eval.Rollout{Key: c.ID + answer, CaseID: c.ID, Candidate: answer, Status: eval.Done, Answer: answer}); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.SaveLabel(t.Context(), store.Label{Skill: name, CaseID: c.ID, First: skill.HashText([]byte(right)), Second: skill.HashText([]byte(wrong)), Choice: store.FirstBetter}); err != nil {
			t.Fatal(err)
		}
	}
	db.Close()
	live, err := os.ReadFile(filepath.Join(b.skills, name, "SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}
	asked := func(words string, sent []request) (n int) {
		for _, r := range sent {
			if strings.Contains(r.body, "the wrong answer about the "+words) {
				n++
			}
		}
		return n
	}
	// A challenger on trial: the run goes to the gate at once, which asks the judge first.
	sha := b.learned("Be kind", "shop-answer-0")
	if sha == skill.HashText(live) {
		t.Fatal("no challenger")
	}
	b.undecided(sha)
	line := []string{"--skill", name, "--yes", "--no-harvest", "--max-retries", "0"}
	_, _, sent := b.evolve(ended, line...)
	b.forbid("calibration", sent)
	if asked(inShop, sent) < 15 {
		t.Errorf("the judge was asked about %d wrong answers", asked(inShop, sent))
	}
	// The test can fail: allowed, the other project's answers are shown.
	b.decide(b.shop, b.client)
	if _, _, sent = b.evolve(ended, line...); asked(ofClient, sent) == 0 {
		t.Error("allowed, and not asked about")
	}
}

// take returns what was sent since the last call.
func (b *border) take() (sent []request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.sent {
		if r.body != "" { // else a list of models
			sent = append(sent, r)
		}
	}
	b.sent = nil
	return sent
}

// hoarder is an agent that keeps all that it can see: what it is given, its variables, its
// folder and its home.
const hoarder = `#!/bin/sh
IN=$(cat)
F=$(mktemp "$(dirname "$0")/got.XXXXXX")
{ echo "$IN"; env; echo "$@"; find . "$HOME" -type f -exec cat {} + 2>/dev/null; } >"$F"
case $IN in
*'"kind":"ping"'*) rm "$F"; echo '{"ok":true,"name":"hoarder","version":"1","model":"none"}';;
*) echo '{"answer":"done"}';;
esac
`

// A program of an agent finds no byte of a project that its vendor may not have: not in
// what it is given, and nowhere around it.
func TestAgentsProgramIsHeld(t *testing.T) {
	t.Parallel()
	b := newBorder(t)
	dir := t.TempDir()
	program, home := filepath.Join(dir, "hoarder.sh"), filepath.Join(dir, "home")
	if err := os.WriteFile(program, []byte(hoarder), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	name, file := b.cases[0].Skill, datadir.Dir(b.home).Projects()
	vendor := "command:" + filepath.Base(program)
	got := func(projects []string, args ...string) (all []string, said string) {
		d := new(consent.Decisions)
		d.Allow(b.shop)
		d.Allow(b.client)
		for _, p := range projects {
			d.Allow(p, vendor, elsewhere)
		}
		if err := d.Write(file); err != nil {
			t.Fatal(err)
		}
		for _, v := range []string{vendor, elsewhere} {
			if err := outgoing.Agree(file, v, agent.Requests...); err != nil {
				t.Fatal(err)
			}
		}
		c := exec.Command(os.Args[0], append(args, "--skills-dir", b.skills, "--agent", "command", "--command", "sh "+program, "--sandbox", "none", "--max-retries", "1",
			"--reflect-agent", "openai", "--reflect-model", "sim-reflect", "--judge-agent", "openai", "--judge-model", "sim-reflect", "--base-url", "http://"+elsewhere+"/v1")...)
		c.Env = []string{"EVOLVE_TEST_AS_MAIN=1", "EVOLVE_HOME=" + b.home, "HOME=" + home, "PATH=" + os.Getenv("PATH"), "HTTP_PROXY=" + b.proxy, "OPENAI_API_KEY=sk-test-not-a-key"}
		c.Dir = home
		var both bytes.Buffer
		c.Stdout, c.Stderr = &both, &both
		_ = c.Run() // what it got is looked at
		notes, err := filepath.Glob(filepath.Join(dir, "got.*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, note := range notes {
			text, err := os.ReadFile(note)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(text))
			if err := os.Remove(note); err != nil {
				t.Fatal(err)
			}
		}
		return all, both.String()
	}
	for what, line := range map[string][]string{
		"run":     {"--skill", name, "--max-rollouts", "30", "--no-gate", "--yes", "--no-harvest"},
		"compare": {"compare", name, "none", "--split", "train", "--yes"},
	} {
		b.take()
		all, said := got([]string{b.shop}, line...)
		if len(all) < 10 || !slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, inShop) }) {
			t.Errorf("%s: the program was started %d times: %s", what, len(all), said)
		}
		for _, s := range all {
			if strings.Contains(s, ofClient) {
				t.Errorf("%s: the program got text of a project that it may not have:\n%.2000s", what, s)
				break
			}
		}
		b.forbid(what, b.take())
	}
	if all, said := got([]string{b.client}, "compare", name, "none", "--split", "train", "--yes"); !slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, ofClient) }) {
		t.Errorf("allowed, and not given: %s", said)
	}
}

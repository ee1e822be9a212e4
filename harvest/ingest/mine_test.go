package ingest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/claude"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
)

// A scribe writes the same checks for every correction.
type scribe struct {
	name  string
	calls int
}

func (s *scribe) Identity() eval.Identity { return eval.Identity{Model: s.name} }

func (s *scribe) Complete(context.Context, eval.Prompt) (eval.Completion, error) {
	s.calls++
	return eval.Completion{Text: "```json\n{\"checks\":[{\"type\":\"regex\",\"value\":\"(?i)log\"}]}\n```", Finish: "stop"}, nil
}

// home holds five sessions of Claude Code, and the skill that they use.
const home = "../../cmd/evolve/testdata/home/.claude"

// person is an Ingester with an empty store, for the sessions in home.
func person(t *testing.T) *Ingester {
	t.Helper()
	dir := datadir.Dir(t.TempDir())
	db, err := store.Open(t.Context(), dir.Database())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Ingester{Store: db, Layout: &skill.Layout{ClaudeHome: home, Getenv: func(string) string { return "" }}, Dir: dir, Now: time.Now, Redactor: redact.Known()}
}

// read harvests the sessions in home.
func read(t *testing.T, g *Ingester) {
	t.Helper()
	src := claude.Kind.Source(home, harvest.Options{Redactor: g.Redactor, Exists: func(name string) bool { return name == "dataviz" }})
	if r, err := g.Harvest(t.Context(), []Source{{src, home}}, false, func() {}); err != nil || r.Sessions != 5 {
		t.Fatalf("%+v, %v", r, err)
	}
}

// mineAll makes cases without a model.
func mineAll(t *testing.T, g *Ingester) {
	t.Helper()
	reg, err := g.Layout.Registry()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.MineAll(t.Context(), reg, "", false, func(context.Context, *skill.Live) (bool, error) { return false, nil }); err != nil {
		t.Fatal(err)
	}
}

func checkTypes(t *testing.T, g *Ingester) map[string]int {
	t.Helper()
	cases, err := g.Store.Cases(t.Context(), "dataviz")
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, c := range cases {
		for _, k := range c.Checks {
			n[k.Type]++
		}
		if c.Split == eval.Unassigned || c.Cluster == "" {
			t.Errorf("case %s: split %q, cluster %q", c.ID, c.Split, c.Cluster)
		}
	}
	return n
}

// Labels that an older evolve gave by cues that no longer count are given anew, and so are
// the cases that were made by them.
func TestOldLabelsAreGivenAnew(t *testing.T) {
	ctx := t.Context()
	g := person(t)
	s := &harvest.Session{ID: "old", Agent: "claude-code", Path: "/old", Turns: []harvest.Turn{
		{ID: "1", Prompt: "Make a chart of data/revenue.csv", Answer: "Done. Shall I commit it?"}, {ID: "2", Prompt: "no, I look first"}},
		Invocations: []harvest.Invocation{{ID: "u", Skill: "dataviz", Signal: harvest.SkillToolUse, Explicit: true,
			Feedback: harvest.Feedback{Label: harvest.Corrected, Confidence: .9, Evidence: "no, I look first", Turn: 1}}}}
	if err := g.Store.SaveSession(ctx, s); err != nil {
		t.Fatal(err)
	}
	if old, err := g.Uses(ctx, "dataviz"); err != nil || old.Corrected != 1 || old.Unread != 0 {
		t.Fatalf("%+v, %v", old, err)
	}
	mineAll(t, g)
	if now, err := g.Uses(ctx, "dataviz"); err != nil || now.Uses != 1 || now.Corrected != 0 || now.Unread != 1 {
		t.Errorf("%+v, %v", now, err)
	}
	if cases, err := g.Store.Cases(ctx, "dataviz"); err != nil || len(cases) != 1 || cases[0].Source.Stratum != eval.Silent {
		t.Errorf("%+v, %v", cases, err)
	}
}

// A harvest that asks no model must not cost a skill the checks that a model
// would have written: they are written when one is there, once, and neither use
// nor cluster of the case changes.
func TestQuotedCorrectionsAreMinedAgain(t *testing.T) {
	ctx := t.Context()
	g := person(t)
	read(t, g)
	mineAll(t, g)
	if n := checkTypes(t, g); n[eval.Judge] != 2+3 || len(n) != 1 {
		t.Fatalf("checks without a model: %v, want 2 quotations, and 3 of uses about which nothing was said", n)
	}
	before, err := g.Store.Cases(ctx, "dataviz")
	if err != nil {
		t.Fatal(err)
	}
	var m scribe
	if _, stats, err := g.Mine(ctx, "dataviz", Mining{Model: &m}); err != nil || stats.Cases != 0 {
		t.Fatalf("mined %d new cases, error %v; want none, the old ones are rewritten", stats.Cases, err)
	}
	if n := checkTypes(t, g); n[eval.Regex] != 2 || n[eval.Judge] != 3 || len(n) != 2 {
		t.Errorf("checks with a model: %v, want 2 of its own", n)
	}
	after, err := g.Store.Cases(ctx, "dataviz")
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range after {
		if old := before[i]; c.ID != old.ID || c.Split != old.Split || c.Cluster != old.Cluster {
			t.Errorf("case %s (%s, %s) became %s (%s, %s)", old.ID, old.Split, old.Cluster, c.ID, c.Split, c.Cluster)
		}
	}
	if _, _, err := g.Mine(ctx, "dataviz", Mining{Model: &m}); err != nil || m.calls != 3 {
		t.Errorf("%d calls, error %v; want the 3 of the first time", m.calls, err)
	}
}

// While a challenger is on trial new cases are held out for it, but not those of
// a session that its search has read already.
func TestTrialGetsNoCasesOfKnownSessions(t *testing.T) {
	ctx := t.Context()
	clusters := func(known ...eval.Case) map[string]eval.Split {
		t.Helper()
		g := person(t)
		read(t, g)
		if _, _, err := g.Store.SaveCases(ctx, known); err != nil {
			t.Fatal(err)
		}
		mined, _, err := g.Mine(ctx, "dataviz", Mining{OnTrial: true})
		if err != nil || len(mined) < 2 {
			t.Fatalf("%d cases, error %v", len(mined), err)
		}
		at := map[string]eval.Split{}
		for _, c := range mined {
			stored, err := g.Store.Case(ctx, "dataviz", c.ID)
			if err != nil {
				t.Fatal(err)
			}
			at[c.Cluster] = stored.Split
		}
		return at
	}
	var first string
	for name, split := range clusters() {
		if first = name; split != eval.Test {
			t.Errorf("cluster %s is %q, want it held out for the trial", name, split)
		}
	}
	known := eval.Case{ID: "read", Skill: "dataviz", Prompt: "something else entirely", Cluster: first, Split: eval.Train,
		Checks: []eval.Check{{Type: eval.Contains, Value: "x"}}}
	if at := clusters(known); at[first] != eval.Train {
		t.Errorf("a later case of session %s is %q, want train: the search has read that session", first, at[first])
	}
}

// A mumbler replies with unusable text, or with labels.
type mumbler struct {
	scribe
	reply string
	entry string // in its place: about each moment, with %s for its id
}

func (m *mumbler) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	m.calls++
	if m.entry == "" {
		return eval.Completion{Text: m.reply, Finish: "stop"}, nil
	}
	var list []string
	for line := range strings.Lines(p.User) {
		if id, ok := strings.CutPrefix(line, "moment "); ok {
			list = append(list, strings.ReplaceAll(m.entry, "%s", strings.TrimSpace(id)))
		}
	}
	return eval.Completion{Text: "```json\n{\"moments\":[" + strings.Join(list, ",") + "]}\n```", Finish: "stop"}, nil
}

// A reply that could not be used was paid for: the next run does not ask for it
// again, and neither does one after the session was read anew.
func TestFailedRepliesAreNotPaidTwice(t *testing.T) {
	ctx := t.Context()
	g := person(t)
	read(t, g)
	mineAll(t, g)
	m := mumbler{reply: "I would rather not."}
	for range 2 {
		if _, stats, err := g.Mine(ctx, "dataviz", Mining{Model: &m}); err != nil || m.calls != 3 || stats.Cases != 0 {
			t.Errorf("%d calls, %+v, %v; want the 3 of the first time (two for checks, one to read), and no new case", m.calls, stats, err)
		}
	}
	if n := checkTypes(t, g); n[eval.Judge] != 2+3 || len(n) != 1 {
		t.Errorf("checks %v, want the 2 quotations, and 3 of uses about which nothing was said", n)
	}
	var better scribe
	better.name = "better"
	if _, _, err := g.Mine(ctx, "dataviz", Mining{Model: &better}); err != nil || better.calls != 2 {
		t.Errorf("another model was asked %d times, %v; want 2", better.calls, err)
	}
}

// A reply that the lexicon cannot read is read by the model, once; the session
// keeps the label, and gets it back for nothing when it is read anew.
func TestForeignRepliesAreRead(t *testing.T) {
	ctx := t.Context()
	g := person(t)
	db := g.Store
	session := func() {
		s := &harvest.Session{ID: "de", Agent: "claude-code", Path: "/de.jsonl", Turns: []harvest.Turn{
			{ID: "1", Prompt: "Zeichne data/revenue.csv als Diagramm", Answer: "Gezeichnet."}, {ID: "2", Prompt: "nein, bitte logarithmisch", Answer: "So."}},
			Invocations: []harvest.Invocation{{ID: "u", Skill: "dataviz", Signal: harvest.SkillToolUse, Explicit: true}}}
		harvest.Assess(s)
		if err := db.SaveSession(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	corrected := func() int {
		uses, err := db.SkillUses(ctx)
		if err != nil || len(uses) != 1 {
			t.Fatalf("%+v, %v", uses, err)
		}
		return uses[0].Corrected
	}
	m := mumbler{entry: `{"id":"%s","label":"corrected","words":"bitte logarithmisch","replayable":"yes"}`}
	session()
	if _, stats, err := g.Mine(ctx, "dataviz", Mining{}); err != nil || stats.Unknown != 1 {
		t.Errorf("without a model: %+v, %v", stats, err)
	}
	// The one reply of this model is a reading, and no checks.
	if _, stats, err := g.Mine(ctx, "dataviz", Mining{Model: &m}); err != nil || stats.Corrected != 1 || stats.Reading.Calls != 1 || m.calls != 2 || corrected() != 1 {
		t.Errorf("%+v, %d calls, %v", stats, m.calls, err)
	}
	session()
	if n := corrected(); n != 1 { // the store still has its reading
		t.Errorf("%d corrected uses in a session that was read anew", n)
	}
	if _, stats, err := g.Mine(ctx, "dataviz", Mining{}); err != nil || stats.Reading.Read != 1 || stats.Reading.Calls != 0 || corrected() != 1 {
		t.Errorf("read anew: %+v, %v", stats, err)
	}
	if _, err := db.PurgeSessions(ctx, []string{"de"}); err != nil {
		t.Fatal(err)
	}
}

// A case names the commit that was checked out when its request was made, and says if nobody
// recorded it.
func TestMinedWorkspaces(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on PATH")
	}
	ctx, g, repo := t.Context(), person(t), t.TempDir()
	git := func(at time.Time, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", repo, "-c", "user.name=dev", "-c", "user.email=dev@example.com"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_COMMITTER_DATE="+at.Format(time.RFC3339))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	git(noon, "init", "-q", "-b", "main")
	git(noon, "commit", "-q", "--allow-empty", "-m", "one")
	want := git(noon, "rev-parse", "HEAD")
	git(noon.Add(time.Hour), "commit", "-q", "--allow-empty", "-m", "two")

	at := noon.Add(time.Minute)
	s := &harvest.Session{ID: "w", Agent: "claude-code", Path: "/w", CWD: repo, Started: at}
	for i, tools := range [][]harvest.Tool{{{Name: "Read"}}, {{Name: "Edit"}}, nil} {
		s.Turns = append(s.Turns, harvest.Turn{ID: fmt.Sprint(i), Time: at.Add(time.Duration(i) * time.Minute), Tools: tools,
			Prompt: fmt.Sprintf("Make chart number %d of the revenue table", i), Answer: "Done."})
		s.Invocations = append(s.Invocations, harvest.Invocation{ID: fmt.Sprint(i), Skill: "dataviz", Turn: i, Signal: harvest.SkillToolUse, Explicit: true})
	}
	if err := g.Store.SaveSession(ctx, s); err != nil {
		t.Fatal(err)
	}
	mineAll(t, g)
	cases, err := g.Store.Cases(ctx, "dataviz")
	if err != nil || len(cases) != 3 {
		t.Fatalf("%+v, %v", cases, err)
	}
	for _, c := range cases {
		edited := c.Source.Turn == "2" // in the turn before
		if c.Workspace == nil || *c.Workspace != (eval.Workspace{Repo: repo, Commit: want, Approximate: edited}) {
			t.Errorf("the case of turn %s is at %+v", c.Source.Turn, c.Workspace)
		}
	}
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report/browsertest"
	"github.com/skill-evolve/evolve/tournament/report/page"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// restlessNight has a step of every stage, each of another skill.
func restlessNight(w *waitingRoom) []sleep.Step {
	sha := func(name string) string { return skill.HashText([]byte(w.text(name))) }
	on := sleep.Model{Agent: "claude", Asked: "claude-next-5-20261101"}
	took := eval.Spent{Rollouts: 24, AgentCalls: 24, JudgeCalls: 6, TokensIn: 81_000, TokensOut: 9_000, CostUSD: 0.21, CostKnown: true}
	known := sleep.Compared{Version: sha("standing"), Against: "ab", Model: on, Quality: 0.12, Low: -0.05, High: 0.3, Cases: 24}
	return []sleep.Step{{Kind: sleep.Harvest, Stage: sleep.Done, Note: "41 sessions read, 9 new cases"},
		{Kind: sleep.Compare, Skill: "standing", Stage: sleep.Done, Drift: &sleep.Drift{Version: sha("standing"), To: on}, Note: known.String(), Spent: took},
		{Kind: sleep.Certify, Skill: "worse", Stage: sleep.Done, Drift: &sleep.Drift{Version: sha("worse"), To: on}, Spent: took,
			Note: "alarm: on claude/claude-next-5-20261101: worse than the version before it: quality -0.31 (92 % interval -0.52 to -0.11), 24 cases"},
		{Kind: sleep.Continue, Skill: "unlabelled", Stage: sleep.Skipped,
			Note: "challenger ab12: 12 unseen requests rest on a judge that is not shown to agree with you: they decide nothing; `evolve review unlabelled` adds labels"},
		{Kind: sleep.Continue, Skill: "overtaken", Stage: sleep.Skipped, Note: "you edited the live text since this night looked at it: the next one begins with your text"},
		{Kind: sleep.Continue, Skill: "description", Part: sleep.Description, Stage: sleep.Done, Spent: took, Note: "undecided: quality +0.20 over 12 cases",
			Result: &sleep.Result{Decision: pareto.Undecided, Challenger: "ab", EValue: 6.1, Alpha: 0.0007, Total: 0.001}},
		{Kind: sleep.Install, Skill: "single", Stage: sleep.Skipped, Note: "better as a single trial (at most 1 time in 33 by chance); among all trials of this skill it takes 1 in 909, and waits for your word (policy stage)",
			Result: &sleep.Result{Decision: pareto.Promote, Challenger: "cd34cd34cd34cd34", Incumbent: sha("single"), EValue: 33, Alpha: 0.04}},
		{Kind: sleep.Search, Skill: "large", Live: sha("large"), Stage: sleep.Waits, Gain: 3.1, Needs: sleep.Caps{Rollouts: 640}, Note: "takes about 640 rollouts, 100 are left; 9 of 11 uses corrected"},
		{Kind: sleep.Search, Skill: "a-skill-with-quite-a-long-name-that-goes-on", Stage: sleep.Waits, Gain: 0.4, Needs: sleep.Caps{Rollouts: 80}, Note: "takes about 80 rollouts, 12 are left; 2 of 11 uses corrected"},
		{Kind: sleep.Search, Skill: "failing", Stage: sleep.Failed, Attempts: 3, Errors: 3, Note: "the agent fails on all of its cases: exit status 1", Spent: took}}
}

// TestRestlessNight: a night of every stage fits on one page and in a few
// lines, its sentence forgets no alarm, and nothing is too wide at any width.
func TestRestlessNight(t *testing.T) {
	t.Parallel()
	w := newWaitingRoom(t, "standing", "worse", "unlabelled", "overtaken", "description", "single", "large", "failing")
	h := w.house("unlabelled")
	h.challenger(pareto.Undecided, record.Finished, 0)
	w.must(h.err)
	w.judged("unlabelled", 12)
	w.open("unlabelled")
	w.night(sleep.Caps{Rollouts: 100, CostUSD: 2}, restlessNight(w)...)
	rd, err := w.a.reader(w.db)
	w.must(err)
	n, err := rd.Night(t.Context(), "night")
	w.must(err)
	if want := "One installed version raises an alarm; one better version waits for your decision; one trial goes on; one step failed; 2 steps wait for a later night."; n.Sentence() != want {
		t.Errorf("%s\nwant %s", n.Sentence(), want)
	}
	for _, width := range []string{"40", "80"} {
		out := new(bytes.Buffer)
		w.env["COLUMNS"], w.a.Stdout = width, out
		w.must(sleepStatus(t.Context(), w.a))
		page := out.String()
		if k := strings.Count(page, "`evolve rollback worse`") + strings.Count(page, "`evolve review unlabelled`") + strings.Count(page, "`evolve promote single`"); k != 3 {
			t.Errorf("%s columns: %d of 3 commands:\n%s", width, k, page)
		}
		t.Logf("%s columns:\n%s", width, page)
	}
	b := browsertest.New(t)
	path := filepath.Join(t.TempDir(), "night.html")
	f, err := os.Create(path)
	w.must(err)
	w.must(page.Night(n)(f))
	w.must(f.Close())
	for _, width := range []int64{1280, 390} {
		for _, scheme := range []string{"light", "dark"} {
			b.Shape(width, 844, scheme)
			b.Open("file://" + path)
			for _, s := range browsertest.Ask[[]string](b, browsertest.Sticking) {
				t.Errorf("at %d px, %s: %s", width, scheme, s)
			}
			says(t, b, plain.Text(n.Sentence()))
		}
	}
	shots(b, "night")
}

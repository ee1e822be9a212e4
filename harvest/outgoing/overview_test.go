package outgoing

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/store/datadir/policy"
)

// What the overview says is what Readable does, and it takes ten lines: with one project,
// twelve, several vendors in one, and none.
func TestOverview(t *testing.T) {
	anthropic := map[string]string{agent.Replay: "anthropic", agent.Mutate: "anthropic"}
	both := map[string]string{agent.Replay: "anthropic", agent.Judge: "openai"}
	for _, c := range []struct {
		name   string
		decide func(*world, *consent.Decisions)
		to     map[string]string
		fixed  *policy.Policy
		want   []string
		run    int // sessions; -1: nothing is asked
	}{
		{"never asked", nil, anthropic, nil, []string{"you have not been asked yet", "DIR/web: 2 sessions with ", "text stays on this machine", "replay, mutate to anthropic.example (anthropic): text of no session", "a run     uses no session"}, 0},
		{"no requests", func(_ *world, d *consent.Decisions) { d.All = true }, nil, nil, []string{"all may be read\n", "no text leaves this machine", "DIR/web: 2 sessions with 8 bytes, text may go to openai (1 of them) (who recorded 1 of them is not known)"}, -1},
		{"all", func(_ *world, d *consent.Decisions) { d.All = true }, anthropic, nil, []string{"anthropic.example (anthropic): at most text of 3 sessions with 12 bytes, in 3 projects; the first request of each kind is shown", "a run     uses text of 3 sessions"}, 3},
		{"some", func(w *world, d *consent.Decisions) {
			d.Allow(w.at("shop"), "openai")
			d.Allow(w.at("web"))
			d.Deny(w.at("secret"))
			d.Seen = []consent.Request{{Kind: agent.Replay, Vendor: "anthropic"}}
		}, both, nil, []string{"only those that you allowed may be read; you denied 1", "DIR/shop: 1 session with 4 bytes, text may go to anthropic, openai\n", "DIR/secret: 1 session with 4 bytes, not read and not used",
			"replay to anthropic.example (anthropic): at most text of 1 session with 4 bytes, in 1 project\n", "judge to openai.example (openai): at most text of 2 sessions with 8 bytes, in 2 projects; the first request", "a run     uses text of 1 session with 4 bytes: all of these may get it"}, 1},
		{"policy", func(_ *world, d *consent.Decisions) { d.All = true }, both, &policy.Policy{Vendors: &[]string{"openai"}}, []string{"replay to anthropic.example (anthropic): denied by the machine's policy\n", "DIR/shop: 1 session with 4 bytes, text stays on this machine", "a run     uses no session"}, 0},
		{"twelve", func(w *world, d *consent.Decisions) {
			d.All = true
			for i := range 12 {
				s := &harvest.Session{ID: fmt.Sprint("more", i), Agent: "claude-code", Path: fmt.Sprint(i), CWD: w.at(fmt.Sprint("more", i))}
				if err := os.MkdirAll(s.CWD, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := w.db.SaveSession(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			}
		}, both, nil, []string{"12 more, 12 sessions with 48 bytes: `evolve privacy --json` lists all"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.decide)
			if c.fixed != nil {
				w.Policy = func() (*policy.Policy, error) { return c.fixed, nil }
			}
			back := asks(c.to)
			v, err := w.Overview(t.Context(), w.db, back.To, "somebody")
			if err != nil {
				t.Fatal(err)
			}
			text := strings.ReplaceAll(v.String(), w.dir, "DIR")
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			v.Settings = [][2]string{{"kept", "x"}, {"redacted", "y"}}
			if text := v.String(); strings.Count(text, "\n") > shownLines || !strings.HasSuffix(text, "redacted  y\n") {
				t.Errorf("%d lines:\n%s", strings.Count(text, "\n"), text)
			}
			if run := v.Run; (run == nil) != (c.run < 0) || run != nil && run.Sessions != c.run {
				t.Errorf("a run uses %+v, want %d", run, c.run)
			}
		})
	}
}

package status

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"
)

func onDay(d int) time.Time { return time.Date(2026, 7, d, 3, 0, 0, 0, time.UTC) }

// aLog is a skill's history with everything in it that a log can show.
func aLog() *Log {
	usd, back := 1.25, onDay(9)
	sha := func(c string) string { return strings.Repeat(c, 64) }
	ev := func(e float64, n int) *Evidence {
		return &Evidence{Decision: "promote", Reason: "quality is superior", EValue: e, Alpha: 0.04, Cases: n, Wins: n / 2, Losses: n / 8, Ties: n - n/2 - n/8}
	}
	taught := Origin{CostUSD: &usd, Rollouts: 118, Cases: []string{"a", "b", "c"}, Sessions: []string{"s"}}
	return &Log{Schema: 1, Skill: "dataviz", Live: sha("d"), Recorded: true, Pinned: sha("d"), Edited: []string{"copilot"},
		Versions: []Version{
			{Version: 4, SHA: sha("e"), Parent: sha("b"), Created: onDay(12), Author: "you", Operator: "edit", Note: "edited by hand in codex, 図表を描く", Targets: []string{"codex"}, parent: 1},
			{Version: 3, SHA: sha("d"), Parent: sha("a"), Created: onDay(11), Author: "evolve", Operator: "merge", Proven: true, Evidence: ev(31.4, 24), Origin: taught,
				Live: true, Pinned: true, Targets: []string{"claude", "agents", "pi"}, parent: 0},
			{Version: 2, SHA: sha("c"), Parent: sha("b"), Created: onDay(8), Author: "evolve", Operator: "reflect", Evidence: ev(3, 10), Origin: Origin{Rollouts: 1},
				Simulated: true, RolledBack: &back, Alarm: true, Note: "flagged: new-host; approved by you, and a note that is longer than any line can be", parent: 1},
			{Version: 1, SHA: sha("b"), Parent: sha("a"), Created: onDay(3), Author: "evolve", Operator: "prune", Proven: true, Evidence: ev(25.5, 30), parent: 0},
			{Version: 0, SHA: sha("a"), Created: onDay(1), Author: "you", Operator: "edit", Note: "found", Targets: []string{"/home/u/team/skills"}, parent: -1},
		},
		Candidates: []Trial{
			{SHA: sha("1"), Incumbent: sha("d"), Decision: "promote", Operator: "examples", Updated: onDay(14), Evidence: ev(40, 12), Current: true, Offer: "evolve promote dataviz", parent: 3},
			{SHA: sha("2"), Incumbent: sha("d"), Decision: "undecided", Operator: "reflect", Updated: onDay(13), Evidence: ev(2, 8), Current: true, Origin: taught, parent: 3},
			{SHA: sha("3"), Incumbent: sha("a"), Decision: "undecided", Operator: "reflect", Updated: onDay(2), Evidence: ev(1, 4), parent: 0},
			{SHA: sha("4"), Incumbent: sha("a"), Decision: "reject", Operator: "reflect", Updated: onDay(2), Evidence: ev(0.1, 4), parent: 0},
		}}
}

var rewrite = flag.Bool("update", false, "rewrite the expected output in testdata")

// goldenText compares with testdata/NAME, or writes it with -update.
func goldenText(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || got != string(want) {
		t.Errorf("%s: %v\ngot\n%s\nwant\n%s", name, err, got, want)
	}
}

func TestLogText(t *testing.T) {
	for _, c := range []struct {
		name          string
		newest, width int
	}{{"log.txt", 0, 200}, {"log_short.txt", 2, 80}, {"log_narrow.txt", 0, 40}} {
		got := aLog().Text(c.newest, c.width)
		goldenText(t, c.name, got)
		wide := runewidth.Condition{}
		for _, l := range strings.Split(got, "\n") {
			if n := wide.StringWidth(l); n > min(c.width, logWidth) {
				t.Errorf("%s: %d columns: %s", c.name, n, l)
			}
		}
	}
}

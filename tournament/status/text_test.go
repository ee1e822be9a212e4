package status

import (
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/applies"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// With any name and state of a skill no line is wider than the terminal,
// except one that holds nothing but a command; and no text reaches the
// terminal as a control sequence.
func TestStatusFitsItsTerminal(t *testing.T) {
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	rate, forty := 0.5, 40
	s := newSkillStatus("週次の売上を描く-とても-長い-名前-です-から-切る\x1b[2J")
	s.Path, s.Uses, s.Corrected, s.CorrectionRate, s.LastUse = "/p", 12345, 6172, &rate, &now
	s.Live, s.Kernel = &Live{Version: 117, Author: "evolve"}, &Kernel{}
	s.Challenger = &Challenger{SHA: strings.Repeat("a", 64), Decision: pareto.Undecided, EValue: 1.234567e+200, Alpha: 0.0123456, Cases: 31, Needed: &forty, Simulated: true}
	for _, k := range waitKinds {
		s.Waits = append(s.Waits, Wait{k, strings.Repeat("warum\n", 40), "evolve promote " + s.Skill})
	}
	r := &Report{Schema: 1, harvested: true, Sessions: 123456, Skills: []Skill{*s}, Broken: []Broken{{Skill: "broken", Reason: strings.Repeat("why ", 60)}, {Reason: "not a folder"}},
		Night: Nights{Last: &NightSummary{Began: now, Ended: &now, Spent: eval.Spent{Rollouts: 123456, AgentCalls: 1, CostUSD: 1234, CostKnown: true}}, Next: &now},
		Next:  Step{"evolve promote " + s.Skill, "because"}}
	for _, w := range []int{20, 40, 63, 64, 80, 200} {
		out := r.Text(w, false)
		if strings.Contains(out, "\x1b") {
			t.Errorf("%d columns: it commands the terminal:\n%q", w, out)
		}
		for line := range strings.Lines(out) {
			line = strings.TrimSuffix(line, "\n")
			if plain.Width(line) > w && !strings.HasSuffix(line, "`") {
				t.Errorf("%d columns: %d wide: %s", w, plain.Width(line), line)
			}
			if n := strings.Count(line, "`"); n%2 != 0 {
				t.Errorf("%d columns: half a command: %s", w, line)
			}
		}
		if !strings.HasPrefix(out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:], "next: `evolve promote ") {
			t.Errorf("%d columns: the last line is not what to type:\n%s", w, out)
		}
	}
}

// What needs its owner comes first, then use; and it is the next thing to do.
func TestStatusOrder(t *testing.T) {
	r := &Report{harvested: true}
	skill := func(name string, uses int, kinds ...WaitKind) {
		s := newSkillStatus(name)
		s.Path, s.Uses, s.Live = "/"+name, uses, &Live{}
		for _, k := range kinds {
			s.Waits = append(s.Waits, Wait{k, "why " + name, "type " + name})
		}
		r.Skills = append(r.Skills, *s)
	}
	skill("held", 1, waitApprove)
	skill("busy", 900)
	skill("proved", 2, waitPromote, waitKernel)
	skill("calm", 1000)
	skill("alarmed", 3, waitAlarm)
	r.sort()
	var names []string
	for _, s := range r.Skills {
		names = append(names, s.Skill)
	}
	if got, want := strings.Join(names, " "), "alarmed proved held calm busy"; got != want {
		t.Errorf("order %q, want %q", got, want)
	}
	if n := r.next(nil, 0); n.Command != "type alarmed" {
		t.Errorf("next %+v", n)
	}
	r.Next = r.next(nil, 0)
	if out := r.Text(80, false); strings.Contains(out, "more without news") {
		t.Errorf("five skills are folded:\n%s", out)
	}
}

// Where quality is proved and another objective keeps the trial open, status names it.
func TestStatusNamesWhatIsOpen(t *testing.T) {
	c := &Challenger{Decision: pareto.Undecided, EValue: 82.7, Alpha: 0.04, Cases: 17, Open: []string{"latency", "cost"}}
	if got, want := c.String(), "at most 1 time in 82 by chance, but latency and cost beyond tolerance, 17 cases"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s := newSkillStatus("tables")
	s.Challenger = c
	if got := s.next(true); !strings.HasSuffix(got, "quality is shown, and latency and cost beyond tolerance so far") {
		t.Errorf("next %q", got)
	}
	c.EValue = 24
	if got, want := c.String(), "no difference seen, 17 cases"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestStatusNamesWhatIsPromising: what a challenger has shown so far is on the page
// of its skill, in what to do next, and in the sentence about the night.
func TestStatusNamesWhatIsPromising(t *testing.T) {
	forty := 40
	c := &Challenger{Decision: pareto.Promising, EValue: 6.9, Alpha: 0.04, Cases: 9, Wins: 7, Losses: 1, Needed: &forty}
	if got, want := c.String(), "probably better, 9/40 cases"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s := newSkillStatus("tables")
	s.Challenger = c
	if got, want := s.next(true), "once there are new cases; probably better, 7 better and 1 worse, at most 1 time in 6 by chance"; !strings.HasSuffix(got, want) {
		t.Errorf("next %q, want %q", got, want)
	}
	c.Left = 44 // a cap ended the last run
	if got, want := s.next(true), "continues the trial with the 44 cases that are left; probably better,"; !strings.Contains(got, want) {
		t.Errorf("next %q, want %q", got, want)
	}
	n := Night{Night: &sleep.Night{Ended: time.Now()}}
	for _, v := range []pareto.Verdict{pareto.Promising, pareto.Undecided} {
		n.Steps = append(n.Steps, sleep.Step{Kind: sleep.Search, Stage: sleep.Done, Result: &sleep.Result{Decision: v}})
	}
	if got, want := n.Sentence(), "One new text is probably better, and its trial goes on; one trial goes on."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestIdleLinesAreShown with the command that tries to do without them.
func TestIdleLinesAreShown(t *testing.T) {
	s := newSkillStatus("file:/src/shop:AGENTS.md")
	s.Idle = &applies.Idle{Requests: 120, Lines: 24, None: []string{"Never use Fortran.", "Use tabs."}}
	var b strings.Builder
	s.arrows(&b, 200)
	want := "  `evolve --file /src/shop/AGENTS.md --evolve shorten`: 2 of 24 lines applied to none of your last 120 requests: “Never use Fortran.”, “Use tabs.”\n"
	if b.String() != want {
		t.Errorf("%q", b.String())
	}
}

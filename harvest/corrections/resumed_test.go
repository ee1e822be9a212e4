package corrections

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
)

func session(id string, turns ...harvest.Turn) *harvest.Session {
	return &harvest.Session{ID: id, Agent: "claude-code", Path: id, Started: day, Turns: turns}
}

func read(turn harvest.Turn, reply int) harvest.Turn {
	turn.Reading = &harvest.Reading{Label: harvest.Corrected, Words: "no, in USD", Reply: reply, Rule: "Use USD in every plot", By: "model", Replayable: "yes"}
	return turn
}

// TestResumed counts a turn once, from the session that has what the user said to it.
func TestResumed(t *testing.T) {
	plot := harvest.Turn{ID: "t1", Time: day, Prompt: "plot it", Answer: "done"}
	for _, resumed := range []string{"a", "c"} { // before and behind the other
		r := Of([]*harvest.Session{session("b", plot), session(resumed, read(plot, 1), harvest.Turn{ID: "t2", Prompt: "no, in USD"})}, nil, "", nil)
		if f := r.Funnel; f.Turns != 2 || f.Replied != 1 || f.Read != 1 || f.Corrected != 1 || len(r.Rules) != 1 || r.Rules[0].Sessions != 1 {
			t.Errorf("%s: %+v, %+v", resumed, f, r.Rules)
		}
	}
	other := session("d", plot)
	if other.Agent = "pi"; Of([]*harvest.Session{session("b", plot), other}, nil, "", nil).Funnel.Turns != 2 {
		t.Error("turns of two agents are one")
	}
}

// TestFunnel has a correction behind a message that is all pasted.
func TestFunnel(t *testing.T) {
	pasted := "```\n" + strings.Repeat("error: no such column\n", 3) + "```"
	r := Of([]*harvest.Session{session("a", read(harvest.Turn{ID: "t1", Prompt: "plot it", Answer: "done"}, 2), harvest.Turn{ID: "t2", Prompt: pasted}, harvest.Turn{ID: "t3", Prompt: "no, in USD"})}, nil, "", nil)
	if f := r.Funnel; f.Read != 1 || f.Replied != 2 {
		t.Errorf("%+v", f)
	}
}

// TestMany groups and compares years of corrections, each of them once.
func TestMany(t *testing.T) {
	const n = 2000
	var quotes []Quote
	for i := range n {
		quotes = append(quotes, Quote{Words: fmt.Sprintf("no that is wrong, use alpha%d beta%d gamma%d delta%d", i, i, i, i), Session: fmt.Sprint(i)})
	}
	r := &Report{Rules: group(quotes, nil)}
	for i := range r.Rules {
		r.Rules[i].Rule, r.Rules[i].Concerns = r.Rules[i].Quotes[0].Words, "standing"
	}
	text := Text{Concerns: "standing", Lines: strings.Split(strings.Repeat("- Always run the linter before saying that the work is done and the tests pass\n", 3000)+"- use gamma7 beta7 alpha7 delta7", "\n")}
	r.Standing([]Text{text})
	if len(r.Rules) != n {
		t.Errorf("%d rules", len(r.Rules))
	}
	found := 0
	for _, x := range r.Rules {
		if x.Written.Line != "" {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d rules are written", found)
	}
}

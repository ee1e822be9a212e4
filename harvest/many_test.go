package harvest

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestTooManyTurns: of a session with more turns than any person has, the first are kept, and
// a line says so; of the uses of one skill in them, some become cases.
func TestTooManyTurns(t *testing.T) {
	d := NewDraft("claude-code", "s", "/s.jsonl", Options{})
	for i := range maxTurns + 7 {
		d.Turns = append(d.Turns, Turn{ID: fmt.Sprint(i), Prompt: fmt.Sprintf("Make a chart of the revenue of week %d", i), Answer: "Done.", Time: time.Unix(int64(i), 0)})
		d.Invoke(Invocation{Skill: "dataviz", Turn: i, Dir: "/skills/dataviz"})
	}
	s := d.Finish(nil, nil)
	if len(s.Turns) != maxTurns || len(s.Invocations) != maxTurns || s.Turns[maxTurns-1].ID != fmt.Sprint(maxTurns-1) {
		t.Errorf("%d turns, %d uses", len(s.Turns), len(s.Invocations))
	}
	if len(s.Problems) != 1 || !strings.Contains(s.Problems[0].Reason, "5007 messages of its user, and 5000 are the limit") || s.Problems[0].Path != "/s.jsonl" {
		t.Errorf("%+v", s.Problems)
	}
	cases, stats := mine(t, Miner{}, s)
	if len(cases) != MaxCases || stats.Uses != maxTurns || stats.TooMany != maxTurns-MaxCases {
		t.Errorf("%d cases, %+v", len(cases), stats)
	}
}

// TestManyTurnsAtOnce: what looks at the prompts before a prompt looks at a few: labels for
// four times the turns take about four times the memory, and not its square, also where all
// have the same time.
func TestManyTurnsAtOnce(t *testing.T) {
	allocated := func(turns int) float64 {
		s := &Session{Agent: "claude-code", ID: "s"}
		for i := range turns {
			s.Turns = append(s.Turns, Turn{Prompt: strings.Repeat(fmt.Sprintf("Make a chart of week %d. ", i), 10), Answer: "Done.", Time: time.Unix(1, 0)})
			s.Invocations = append(s.Invocations, Invocation{Skill: "dataviz", Turn: i})
		}
		return testing.AllocsPerRun(1, func() { Assess(s) })
	}
	if few, many := allocated(100), allocated(400); few == 0 || many > 5*few {
		t.Errorf("%.0f allocations for 100 turns, %.0f for 400", few, many)
	}
}

package guard

import (
	"fmt"
	"math"
	"testing"
)

// TestCount: sessions are the unit of wrong blocks, and only labels count.
func TestCount(t *testing.T) {
	block, goes := Answer{Decision: Block, Millis: [2]float64{1, 2}}, Answer{Decision: GoOn, Millis: [2]float64{3, 4}}
	var cases []Case
	for i := range 12 {
		a := block
		if i >= 9 {
			a = goes
		}
		cases = append(cases, Case{Session: fmt.Sprint("refused", i), Label: Stop, Refused: true, Answer: a})
	}
	for i := range 68 {
		for range 2 {
			cases = append(cases, Case{Session: fmt.Sprint("permitted", i), Label: Go, Answer: goes})
		}
	}
	cases = append(cases, Case{Session: "x", Answer: block}, Case{Session: "x", Refused: true, Answer: block}, Case{Session: "x", Refused: true, Answer: Answer{Decision: Ask, Late: true, Second: "changed it"}})
	s := Count(cases, false)
	if s.Events != 151 || s.Sessions != 81 || s.Stop != 12 || s.Stopped != 9 || s.All.Sessions != 68 || s.All.Wrong != 0 || s.Later != nil || s.Wrong != 0 ||
		s.Unlabelled != 3 || s.UnlabelledStopped != 2 || s.Refused != 2 || s.RefusedStopped != 1 || s.Asks != 1 || s.Late != 1 || s.Twice != 1 || s.P95 != 4 {
		t.Errorf("%+v", s)
	}
	if want := 1 - math.Pow(0.05, 1.0/68); s.All.AtMost == nil || math.Abs(*s.All.AtMost-want) > 1e-9 {
		t.Errorf("at most %v, want %v", s.All.AtMost, want)
	}
	cases[12].Answer, cases[13].Answer = block, block // both of one session
	for i := 14; i < 34; i++ {
		cases[i].Later = true // of ten sessions, none of them wrong
	}
	if s = Count(cases, true); s.All.Wrong != 1 || s.Wrong != 2 || s.Later.Sessions != 10 || s.Later.Wrong != 0 || *s.All.AtMost <= 1-math.Pow(0.05, 1.0/68) {
		t.Errorf("%+v", s)
	}
	if s = Count(nil, true); s.All.AtMost != nil || s.Later.AtMost != nil || s.P95 != 0 {
		t.Errorf("of nothing: %+v", s)
	}
}

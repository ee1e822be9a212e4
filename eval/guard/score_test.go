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
	s := Count(cases)
	if s.Events != 151 || s.Sessions != 81 || s.Stop != 12 || s.Stopped != 9 || s.GoSessions != 68 || s.WrongSessions != 0 || s.Wrong != 0 ||
		s.Unlabelled != 3 || s.UnlabelledStopped != 2 || s.Refused != 2 || s.RefusedStopped != 1 || s.Asks != 1 || s.Late != 1 || s.Twice != 1 || s.P95 != 4 {
		t.Errorf("%+v", s)
	}
	if want := 1 - math.Pow(0.05, 1.0/68); s.WrongAtMost == nil || math.Abs(*s.WrongAtMost-want) > 1e-9 {
		t.Errorf("at most %v, want %v", s.WrongAtMost, want)
	}
	cases[12].Answer, cases[13].Answer = block, block // both of one session
	if s = Count(cases); s.WrongSessions != 1 || s.Wrong != 2 || *s.WrongAtMost <= 1-math.Pow(0.05, 1.0/68) {
		t.Errorf("%+v", s)
	}
	if s = Count(nil); s.WrongAtMost != nil || s.P95 != 0 {
		t.Errorf("of nothing: %+v", s)
	}
}

package charts

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/reporttest"
	"pgregory.net/rapid"
)

// TestTicks: round, in order, within the axis, not too many, and
// distinguishable.
func TestTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Float64Range(-1e6, 1e6).Draw(t, "lo")
		// What is drawn spans at least a fiftieth of its values (see spanning).
		a := axis{lo: lo, hi: lo + max(math.Abs(lo)/50, math.Pow(10, rapid.Float64Range(-6, 6).Draw(t, "span"))), from: 0, to: 300}
		n := rapid.IntRange(3, 12).Draw(t, "n")
		ticks := a.ticks(n)
		if len(ticks) == 0 || len(ticks) > n {
			t.Fatalf("%d ticks of at most %d: %v", len(ticks), n, ticks)
		}
		for i, v := range ticks {
			if slack := 1e-6 * (a.hi - a.lo); v < a.lo-slack || v > a.hi+slack || i > 0 && v <= ticks[i-1] {
				t.Fatalf("%v in %v to %v", ticks, a.lo, a.hi)
			}
			if x := a.at(v); x < 0 || x > 300 {
				t.Fatalf("%v stands at %v", v, x)
			}
		}
		if len(ticks) > 1 {
			step := ticks[1] - ticks[0]
			mantissa := step / math.Pow(10, math.Floor(math.Log10(step)+1e-9))
			if !slices.ContainsFunc([]float64{1, 2, 5, 10}, func(m float64) bool { return math.Abs(mantissa-m) < 1e-4 }) {
				t.Fatalf("a step of %v is not round", step)
			}
		}
	})
	for _, c := range []struct {
		a    axis
		want string
	}{{axis{lo: 0, hi: 1}, "0 0.2 0.4 0.6 0.8 1.0"}, {axis{lo: 0.0041, hi: 0.0059}, "0.0045 0.0050 0.0055"}, {axis{lo: 0, hi: 200_500}, "0 50k 100k 150k 200k"}} {
		if got := strings.Join(tickTexts(c.a.ticks(6)), " "); got != c.want {
			t.Errorf("ticks from %v to %v: %s, want %s", c.a.lo, c.a.hi, got, c.want)
		}
	}
	for _, hi := range []float64{12, 50, 3e7} {
		a := axis{lo: 1, hi: hi, from: 0, to: 100, log: true}
		if ticks := a.ticks(5); len(ticks) < 2 || len(ticks) > 8 || ticks[0] != 1 {
			t.Errorf("to %v: %v", hi, ticks)
		}
	}
}

// TestLabelsDoNotOverlap: however the marks lie.
func TestLabelsDoNotOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &placer{bounds: box{0, 0, 300, 200}}
		n := rapid.IntRange(1, 30).Draw(t, "n")
		for i := range n {
			x, y := rapid.Float64Range(0, 300).Draw(t, "x"), rapid.Float64Range(0, 200).Draw(t, "y")
			l.mark(x, y, 4)
			_, _, _, ok := l.place(strings.Repeat("m", 1+i%9), fontSize, x, y, 4, i%2 == 0)
			if i == 0 && !ok {
				t.Fatal("no room for the first label")
			}
		}
		for i, a := range l.texts {
			if !l.bounds.holds(a) {
				t.Fatalf("%v reaches out", a)
			}
			for _, b := range l.texts[:i] {
				if a.meets(b) {
					t.Fatalf("%v covers %v", a, b)
				}
			}
		}
	})
}

// TestHeatIsARunLengthCode: neighbours of one shade are one stroke.
func TestHeatIsARunLengthCode(t *testing.T) {
	m := report.Matrix{Candidates: []string{"a"}}
	for i := range 10 {
		q := reporttest.Ptr(float64(i / 5))
		if i == 9 {
			q = nil
		}
		m.Rows = append(m.Rows, report.Row{Case: fmt.Sprint(i), Split: "val", Cells: []*float64{q}})
	}
	paths := heatPaths(m, 0, 0, 2, 4)
	if paths[0] != "M0 2h10" || paths[HeatLevels-1] != "M10 2h8" || paths[2] != "" {
		t.Errorf("%q", paths)
	}
	for q, want := range map[float64]int{0: 0, 0.01: 1, 0.5: 2, 0.99: 3, 1: 4} {
		if got := heatLevel(&q); got != want {
			t.Errorf("quality %v has shade %d, want %d", q, got, want)
		}
	}
}

// TestLineageOfMany: of many texts the challenger's way is drawn, of few all.
func TestLineageOfMany(t *testing.T) {
	m := reporttest.Model(t, reporttest.Tournament(t, 200, 4))
	p := Lineage(m)
	if p == nil || len(p.Texts) > lineageRows {
		t.Fatal("a lineage of 200 is drawn in full")
	}
	last := p.Texts[len(p.Texts)-1].S
	if !strings.Contains(last, "new text") || !strings.Contains(p.Texts[0].S, "your text") {
		t.Errorf("from %q to %q", p.Texts[0].S, last)
	}
	if p := Lineage(reporttest.Model(t, reporttest.Tournament(t, 9, 4))); p == nil || len(p.Texts) != 9 {
		t.Error("nine texts are not drawn one by one")
	}
}

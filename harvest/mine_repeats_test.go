package harvest

import (
	"reflect"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// TestMineRepeats: an accepted answer that repeats a file is no reference, so no comparison with
// it is a check; the others of its session stay, and the transcript is looked at once.
func TestMineRepeats(t *testing.T) {
	s := at(session("!Make a chart of revenue => As the README says.", "thanks", "!Plot the costs of last year => Plotted.", "thanks",
		"!Draw the visits of each week => Linear.", "no, use a log scale => As the README says.", "thanks"), "s1", 0)
	var asked [][]int
	repeats := func(of *Session, turns []int) map[int]float64 {
		if of != s {
			t.Error("another session")
		}
		asked = append(asked, turns)
		return map[int]float64{0: .51, 2: .5, 5: 1}
	}
	cases, stats := mine(t, Miner{Repeats: repeats}, s)
	if len(cases) != 3 || stats.Repeating != 2 || stats.NoAnswer != 0 {
		t.Fatalf("%d cases, %+v", len(cases), stats)
	}
	if want := [][]int{{0, 2, 5}}; !reflect.DeepEqual(asked, want) {
		t.Errorf("asked about the turns %v, want %v", asked, want)
	}
	first, second, third := cases[0], cases[1], cases[2]
	if first.Reference != "" || !reflect.DeepEqual(first.Checks, []eval.Check{Fulfilled}) || first.Source.Outcome != string(Accepted) {
		t.Errorf("of a file: %+v", first)
	}
	if second.Reference != "Plotted." || reflect.DeepEqual(second.Checks, []eval.Check{Fulfilled}) {
		t.Errorf("the agent's own: %+v", second)
	}
	if third.Reference != "" || len(third.Checks) == 0 || third.Source.Outcome != string(Corrected) {
		t.Errorf("corrected, then of a file: %+v", third)
	}
}

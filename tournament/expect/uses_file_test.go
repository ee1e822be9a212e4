package expect

import (
	"reflect"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/record"
)

// What no coin drew is no part of the sample, and imported cases are none either.
func TestUsesOfFile(t *testing.T) {
	at := func(day int) time.Time { return time.Date(2026, 3, day, 0, 0, 0, 0, time.UTC) }
	mined := func(day int, stratum string, trainOnly bool) eval.Case {
		return eval.Case{Source: &eval.Source{Origin: "mined", Session: stratum, Stratum: stratum, Time: at(day), TrainOnly: trainOnly}}
	}
	cases := []eval.Case{mined(3, "corrected", false), mined(2, "corrected", true), mined(1, "silent", false), {ID: "imported"}}
	got, err := Uses(t.Context(), nil, "file:~:CLAUDE.md", cases)
	want := []record.Use{{Time: at(1), Stratum: "silent", Session: "silent", Replays: true}, {Time: at(3), Stratum: "corrected", Session: "corrected", Replays: true}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

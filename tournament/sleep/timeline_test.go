package sleep

import (
	"fmt"
	"reflect"
	"testing"
	"time"
)

// TestHistory: a text that comes back has both of its stays, the text that
// was found was there before, and an unknown text gives no answer.
func TestHistory(t *testing.T) {
	day := func(n int) time.Time { return evening.AddDate(0, 0, n) }
	h := Timeline{{Version: "a"}, {"b", day(1)}, {"a", day(2)}, {"", day(3)}, {"b", day(4)}}
	var got []string
	for n := range 5 {
		got = append(got, h.At(day(n)), h.At(day(n).Add(time.Hour)))
	}
	if want := []string{"a", "a", "b", "b", "a", "a", "", "", "b", "b"}; !reflect.DeepEqual(got, want) {
		t.Errorf("in place %q, want %q", got, want)
	}
	if h.At(time.Time{}) != "" || Timeline(nil).At(evening) != "" {
		t.Error("something was in place at no time, or in no history")
	}
	if !h.Since().Equal(day(4)) || !h[:1].Since().IsZero() {
		t.Errorf("since %v and %v, want the last stay's beginning and none", h.Since(), h[:1].Since())
	}
	var uses []Use
	for n := range 5 {
		uses = append(uses, Use{Session: fmt.Sprint(n), At: day(n).Add(time.Hour), Failed: h.At(day(n)) == "b"})
	}
	if a := DefaultRule.Look("b", was("a"), h, uses); a.OldSessions != 2 || a.OldRate != 0 || a.NewSessions != 2 || a.NewRate != 1 {
		t.Errorf("%+v: want two sessions of each text, and that of day 3 in none", a)
	}
}

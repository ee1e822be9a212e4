package harvest

import (
	"strings"
	"testing"
)

// Without a model these cues count, and no other.
func TestSure(t *testing.T) {
	for own, want := range map[string]Label{
		"that is wrong, the axis is linear": Corrected, "this is still broken": Corrected, "its wrong": Corrected,
		"no, use a log scale": Corrected, "No. In USD, please": Corrected, "nope": Corrected, "not what I asked for: bars": Corrected, "wrong again. In USD": Corrected,
		"you forgot the unit": Corrected, "you didn't run the tests": Corrected, "it doesn't show the unit": Corrected, "that didn't work": Corrected,
		"undo that": Rejected, "revert the last commit please": Rejected, "no, roll back everything": Rejected,
		"commit this": Accepted, "ok, push it": Accepted, "please commit and push": Accepted, "perfect, thanks!": Accepted,
		"but what about the costs": Unknown, "why did you change that?": Unknown, "fix it up": Unknown, "please redo it: in USD": Unknown, "scrap that": Unknown,
		"no, that's okay": Unknown, "no problem": Unknown, "no, leave it": Unknown, "doesn't that take long?": Unknown, "you did it": Unknown, "use a log scale": Unknown,
		"great, is it fast too?": Unknown, "thanks. " + strings.Repeat("now do the next part of it ", 6): Unknown, "": Unknown, "write a parser": Unknown,
	} {
		if f := session("chart it => Done: revenue.svg has a linear scale.", own).Heard(1); f.Label != want {
			t.Errorf("%q: %+v, want %s", own, f, want)
		}
	}
}

// A "no" to a question corrects nothing, and neither does one of which the question is not known.
func TestNoToAQuestion(t *testing.T) {
	for answer, want := range map[string]Label{
		"Done.": Corrected,
		"Done: `a?.b` is https://x.org/?q=1 now.":                                                    Corrected,
		"Should it be logarithmic? I left that out.\n" + strings.Repeat("The file is written. ", 40): Corrected, // long ago
		"":                         Unknown,
		"Done. Shall I commit it?": Unknown,
		"Want me to use a log scale?\n- it shows the small values\n- it hides the zeros": Unknown,
		"Should it be **logarithmic?**":                         Unknown,
		"I can also add a title if you'd like.":                 Unknown,
		"Done. Let me know what you think.":                     Unknown,
		"I wanted to check with you before I change the tests.": Unknown,
	} {
		for _, own := range []string{"no, use a log scale", "undo that", "it doesn't show the unit"} {
			want := want
			if want == Corrected && own == "undo that" {
				want = Rejected
			}
			if f := session("chart it => "+answer, own).Heard(1); f.Label != want {
				t.Errorf("%q after %q: %s, want %s", own, answer, f.Label, want)
			}
		}
		for _, own := range []string{"that is wrong", "you forgot the unit"} {
			if f := session("chart it => "+answer, own).Heard(1); f.Label != Corrected {
				t.Errorf("%q after %q: %s", own, answer, f.Label)
			}
		}
	}
	if f := session("^chart it", "no, use a log scale").Heard(1); f.Label != Corrected {
		t.Errorf("what was stopped before an answer asked nothing: %+v", f)
	}
}

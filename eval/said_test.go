package eval

import "testing"

func TestSaid(t *testing.T) {
	for feedback, want := range map[string]string{
		Saying("", "no, use bars"):                                      "no, use bars",
		Saying("bars were missing", "no, use bars (as always)"):         "no, use bars (as always)",
		Saying("", "use bars (as always)"):                              "use bars (as always)",
		Saying("the user said: thanks (user said: ok)", "no, use bars"): "no, use bars",
		"bars were missing":                                             "",
		"":                                                              "",
	} {
		c := Case{Checks: []Check{{Type: Contains, Value: "x"}, {Type: Judge, Feedback: feedback}}}
		if got := c.Said(); got != want {
			t.Errorf("%q: %q, want %q", feedback, got, want)
		}
	}
}

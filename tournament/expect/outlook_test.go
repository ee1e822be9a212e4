package expect

import "testing"

func TestOutlookWords(t *testing.T) {
	weeks := func(n int) *int { return &n }
	for want, o := range map[string]Outlook{
		"no use in the sessions that were read":                                                                                                                 {},
		"5 uses, 2 corrections: too few to tell a pace, which takes 10 uses over two weeks":                                                                     {Uses: 5, Corrected: 2},
		"7 uses a week, 0 corrections: there is no failure to mend":                                                                                             {Uses: 40, Pace: Pace{7, 3}},
		"5 uses a week, 3 corrections: a change that mends half of the failures is shown better in about 11 weeks, probably better in 4":                        {Uses: 40, Corrected: 3, Pace: Pace{5.2, 3}, Promising: weeks(4), Proved: weeks(11)},
		"5 uses a week, 3 corrections: a change that mends half of the failures is shown better in about 1 week":                                                {Uses: 40, Corrected: 3, Pace: Pace{5.2, 3}, Promising: weeks(1), Proved: weeks(1)},
		"5 uses a week, 1 correction: a change that mends half of the failures is not shown better within 2000 cases":                                           {Uses: 40, Corrected: 1, Pace: Pace{5.2, 3}},
		"5 uses a week, 3 corrections: there are cases enough to show a change that mends half of the failures":                                                 {Uses: 40, Corrected: 3, Pace: Pace{5.2, 3}, Promising: weeks(0), Proved: weeks(0)},
		"1 use a week, 3 corrections: a change that mends half of the failures is shown better in about 2 weeks, probably better with the cases that there are": {Uses: 40, Corrected: 3, Pace: Pace{0.3, 3}, Promising: weeks(0), Proved: weeks(2)},
	} {
		if got := o.Words(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

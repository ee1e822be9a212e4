package splits

import (
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
)

// A Lack is how many cases a search still waits for; zero if it may begin.
type Lack struct {
	Train int `json:"train"`
	Val   int `json:"val"`
}

// Lack counts what the next search of a skill waits for: cases that can teach, that are
// no model's invention, and that the last search has not read. The cases of one cluster
// count as one.
func (s State) Lack(cases []eval.Case) Lack {
	var ordinary []*eval.Case
	for i := range cases {
		if !cases[i].IsTrigger() && cases[i].Teaches() && !cases[i].Generated() {
			ordinary = append(ordinary, &cases[i])
		}
	}
	l := Lack{SearchTrain, SearchVal}
	for _, k := range s.clusters(ordinary) {
		switch {
		case k.read:
		case k.has[eval.Train]:
			l.Train = max(0, l.Train-1)
		case k.has[eval.Val]:
			l.Val = max(0, l.Val-1)
		}
	}
	return l
}

// String is what is waited for, "" for nothing.
func (l Lack) String() string {
	var parts []string
	if l.Train > 0 {
		parts = append(parts, plain.Counted(l.Train, "more train case"))
	}
	if l.Val > 0 {
		parts = append(parts, plain.Counted(l.Val, "more validation case"))
	}
	return strings.Join(parts, " and ")
}

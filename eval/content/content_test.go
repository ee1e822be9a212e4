package content

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

func asks(skill, prompt string) eval.Case { return eval.Case{Skill: skill, Prompt: prompt} }

func TestContent(t *testing.T) {
	base := eval.Case{Skill: "s", Prompt: "Plot the weekly revenue, please."}
	yes := true
	for name, c := range map[string]struct {
		is   eval.Case
		same bool
	}{
		"another name, cluster and split": {eval.Case{ID: "b", Cluster: "x", Split: eval.Test, Skill: "s", Prompt: base.Prompt}, true},
		"case, space and punctuation":     {asks("s", " plot the  WEEKLY revenue\nplease!"), true},
		"another word":                    {asks("s", "Plot the monthly revenue, please."), false},
		"another sign":                    {asks("s", "Plot the weekly -revenue, please."), false},
		"after something":                 {eval.Case{Prompt: base.Prompt, Context: []eval.Message{{Role: "user", Text: "hello"}}}, false},
		"about a file":                    {eval.Case{Prompt: base.Prompt, Files: map[string]string{"a.csv": "1"}}, false},
		"asked as a trigger":              {eval.Case{Prompt: base.Prompt, ShouldTrigger: &yes}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if same := Of(&base) == Of(&c.is); same != c.same {
				t.Errorf("the same: %v", same)
			}
			if same := Print([]byte("k"), &base) == Print([]byte("k"), &c.is); same != c.same {
				t.Errorf("the same print: %v", same)
			}
		})
	}
	p := Print([]byte("k"), &base)
	if p == Print([]byte("l"), &base) || len(p) != 65 || !strings.HasPrefix(p, "#") {
		t.Errorf("print %q does not depend on its key", p)
	}
	if c := asks("s", " \n"); Of(&c) != "" || Print(nil, &c) != "" {
		t.Error("a case that asks nothing has a content")
	}
	if q, e := asks("s", "?"), asks("s", "!"); Of(&q) == "" || Of(&q) == Of(&e) {
		t.Error("punctuation alone is lost")
	}
}

func TestRepeats(t *testing.T) {
	long := "show the turnover of the museum in the north of the town for each week of the year"
	in := func(c eval.Case, files map[string]string) eval.Case { c.Files = files; return c }
	yes := true
	cases := []eval.Case{
		0: asks("s", long),
		1: asks("s", long+" now"),                               // nearly 0
		2: asks("t", long),                                      // of another skill
		3: in(asks("s", long), map[string]string{"a.csv": "1"}), // like 0 and 1, which bring no file
		4: in(asks("s", long), map[string]string{"a.csv": "2"}), // like 0 and 1, unlike 3
		5: asks("s", "draw the harbour"),
		6: {Skill: "s", Prompt: long, ShouldTrigger: &yes},
		7: asks("s", ""), 8: asks("s", ""), // nothing is not alike
	}
	got := map[string]bool{}
	Repeats(cases, 0, nil, func(i, j int) { got[fmt.Sprint(i, j)] = true })
	if want := fmt.Sprint(map[string]bool{"0 1": true, "0 3": true, "0 4": true, "1 3": true, "1 4": true}); fmt.Sprint(got) != want {
		t.Errorf("alike are %v, want %v", got, want)
	}
	Repeats(cases, 1, func(i, j int) bool { return i == 0 || j == 3 }, func(i, j int) {
		if i == 0 || j == 3 {
			t.Errorf("%d and %d are known to belong together", i, j)
		}
	})
	Repeats(cases, 4, nil, func(i, j int) {
		if j < 4 {
			t.Errorf("%d and %d are both older", i, j)
		}
	})
}

func BenchmarkRepeats1000(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	var cases []eval.Case
	for range 1000 {
		words := []string{"please look at this and then do as I say"}
		for range 50 {
			words = append(words, fmt.Sprint("word", r.IntN(2000)))
		}
		cases = append(cases, asks("s", strings.Join(words, " ")))
	}
	for b.Loop() {
		Repeats(cases, 0, nil, func(i, j int) {})
	}
}

// TestRepeatsOnce: two cases with many words in common are compared once.
func TestRepeatsOnce(t *testing.T) {
	text := strings.Repeat("show the turnover of each museum and theatre in the old town for every week of that year ", 3)
	cases := make([]eval.Case, 6)
	for i := range cases {
		cases[i] = asks("s", text+fmt.Sprint(i))
	}
	asked, found := map[[2]int]int{}, map[[2]int]int{}
	Repeats(cases, 0, func(i, j int) bool { asked[[2]int{i, j}]++; return false }, func(i, j int) { found[[2]int{i, j}]++ })
	for i := range cases {
		for j := range i {
			if at := [2]int{j, i}; asked[at] != 1 || found[at] != 1 {
				t.Errorf("%v: compared %d times, found %d times", at, asked[at], found[at])
			}
		}
	}
}

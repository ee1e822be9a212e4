package generated

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/content"
	"github.com/skill-evolve/evolve/eval/splits"
	"github.com/skill-evolve/evolve/harvest"
)

// A writer answers each prompt with the result of say.
type writer struct {
	say     func(call int, p eval.Prompt) (string, error)
	prompts []eval.Prompt
}

func (w *writer) Identity() eval.Identity { return eval.Identity{Backend: "writer"} }

func (w *writer) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	w.prompts = append(w.prompts, p)
	text, err := w.say(len(w.prompts)-1, p)
	return eval.Completion{Text: text, Finish: "stop"}, err
}

// inFence makes a reply of cases.
func inFence(cases ...string) string {
	return "```json\n{\"cases\":[" + strings.Join(cases, ",") + "]}\n```"
}

// written is one draft.
func written(from int, prompt string) string {
	return fmt.Sprintf(`{"from":%d,"kind":"harder","prompt":%q,"checks":[{"type":"regex","value":"(?i)log","feedback":"the scale"}]}`, from, prompt)
}

var realCases = []eval.Case{
	{ID: "a", Skill: "dataviz", Prompt: "Plot weekly revenue from data/revenue.csv please", Cluster: "ka", Split: eval.Train,
		Checks: []eval.Check{{Type: eval.Judge, Rubric: "log scale"}}, Source: &eval.Source{Agent: "claude-code", Session: "s-a", Turn: "t1", Origin: "mined"}},
	{ID: "b", Skill: "dataviz", Prompt: "Draw the temperature of the week", Cluster: "kb", Split: eval.Val,
		Checks: []eval.Check{{Type: eval.Command, Command: []string{"secret-script"}}, {Type: eval.Contains, Value: "svg"}}},
	{ID: "held", Skill: "dataviz", Prompt: "Chart support hours by team from data/hours.csv", Cluster: "kh", Split: eval.Test,
		Checks: []eval.Check{{Type: eval.Contains, Value: "x"}}},
	{ID: "made", Skill: "dataviz", Prompt: "An earlier invention about rainfall in Lisbon", Cluster: "ka", Split: eval.Train,
		Checks: []eval.Check{{Type: eval.Contains, Value: "x"}}, Source: &eval.Source{Origin: "generated"}},
}

var someTime = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

func generate(t *testing.T, n int, w *writer) ([]eval.Case, Stats) {
	t.Helper()
	cases, stats, err := Cases(context.Background(), "dataviz", n, Generator{Model: w, Existing: realCases, Now: func() time.Time { return someTime },
		Description: "draws charts"})
	if err != nil {
		t.Fatal(err)
	}
	return cases, stats
}

func TestGenerate(t *testing.T) {
	w := &writer{say: func(int, eval.Prompt) (string, error) {
		return inFence(written(1, "I run a bakery and need my flour costs since 2019 as a picture"), written(2, "Zeig mir die Temperatur von Kiel im Mai"),
			written(2, "Zeig mir die Temperatur von Kiel im Mai")), nil
	}}
	cases, stats := generate(t, 2, w)
	if len(cases) != 2 || stats.Calls != 1 || stats.Basis != 2 || stats.Cases != 2 {
		t.Fatalf("%d cases, %+v", len(cases), stats)
	}
	a, b := cases[0], cases[1]
	if a.Cluster != "ka" || b.Cluster != "kb" {
		t.Errorf("clusters %s and %s, want those of the cases that they vary", a.Cluster, b.Cluster)
	}
	if !a.Generated() || a.Source.Session != "s-a" || !a.Source.Time.Equal(someTime) || !b.Generated() || b.Source.Session != "" {
		t.Errorf("sources %+v and %+v", a.Source, b.Source)
	}
	if of := b.Source.Also; len(a.Source.Also) != 0 || len(of) != 1 || of[0].Session != "s-a" || of[0].Agent != "claude-code" {
		t.Errorf("the model had also seen %+v and %+v", a.Source.Also, of)
	}
	again, _ := generate(t, 2, w)
	if again[0].ID != a.ID || !strings.HasPrefix(a.ID, "generated-") || a.ID == b.ID {
		t.Errorf("ids %s, %s and %s", a.ID, b.ID, again[0].ID)
	}
	all := append(append([]eval.Case{}, realCases...), cases...)
	splits.Assign(all)
	if all[4].Split != eval.Train || all[5].Split != eval.Val {
		t.Errorf("splits %s and %s, want those of the cases that they vary", all[4].Split, all[5].Split)
	}
	// The model sees what the search may see, and no more.
	for _, never := range []string{"support hours", "secret-script", "Lisbon"} {
		if strings.Contains(w.prompts[0].User, never) {
			t.Errorf("the model was shown %q", never)
		}
	}
	for _, want := range []string{"weekly revenue", "draws charts", `"wanted": 2`, "svg"} {
		if !strings.Contains(w.prompts[0].User, want) {
			t.Errorf("the model was not shown %q in %s", want, w.prompts[0].User)
		}
	}
}

// Later calls are shown what is written already, and other real cases.
func TestGenerateGoesOn(t *testing.T) {
	w := &writer{say: func(call int, _ eval.Prompt) (string, error) {
		if call == 1 {
			return "I would rather not.", nil
		}
		return inFence(written(1, fmt.Sprintf("request %d-a about whales in deep water", call)), written(1, fmt.Sprintf("plan %d-b of trains and their delays", call))), nil
	}}
	cases, stats := generate(t, 6, w)
	if len(cases) != 6 || stats.Calls != 4 || stats.Unusable["unreadable"] != 1 {
		t.Fatalf("%d cases, %+v", len(cases), stats)
	}
	if !strings.Contains(w.prompts[2].User, "whales in deep water") || w.prompts[0].Seed == w.prompts[2].Seed {
		t.Errorf("the third call is not told what the first brought: %s", w.prompts[2].User)
	}
}

func TestGenerateDrops(t *testing.T) {
	key := "ghp_" + strings.Repeat("a1B2", 9)
	w := &writer{say: func(int, eval.Prompt) (string, error) {
		return inFence(
			written(1, "Plot weekly revenue from data/revenue.csv please!"),       // of a real one
			written(1, "chart support hours by team from data/hours.csv"),         // of a held-out one
			`{"from":1,"kind":"persona","prompt":"No checks at all","checks":[]}`, // invalid
			`{"from":1,"kind":"persona","prompt":"Runs","checks":[{"type":"command","command":["rm","-rf","/"]}]}`,
			`{"from":1,"kind":"persona","prompt":"Reads","checks":[{"type":"file_exists","path":"a"}]}`,
			`{"from":1,"kind":"persona","prompt":"Leaves","files":{"../x":"y"},"checks":[{"type":"contains","value":"a"}]}`,
			`{"from":1,"kind":"persona","prompt":"Heavy","checks":[{"type":"contains","value":"a","weight":99}]}`,
			`{"from":1,"kind":"persona","prompt":"Hidden\u202e text","checks":[{"type":"contains","value":"a"}]}`,
			`{"from":1,"kind":"persona","prompt":"Compares","checks":[{"type":"contains","value":"`+key+`"}]}`,
			`{"from":1,"kind":"persona","prompt":"Mentions `+key+` by the way","files":{"a.txt":"`+key+`"},"checks":[{"type":"judge","rubric":"no `+key+`"}]}`,
		), nil
	}}
	cases, stats := generate(t, 20, w)
	if len(cases) != 1 || stats.Alike < 2 || stats.Invalid < 6 || stats.Secrets < 1 {
		t.Fatalf("%+v, %+v", cases, stats)
	}
	c := cases[0]
	const put = "[redacted:github-token]"
	if c.Prompt != "Mentions "+put+" by the way" || c.Files["a.txt"] != put || c.Checks[0].Rubric != "no "+put {
		t.Errorf("secrets are kept: %+v", c)
	}
	// It brings nothing new any more, and is not asked for ever.
	if stats.Calls > 4 {
		t.Errorf("%d calls", stats.Calls)
	}
}

func TestGenerateEnds(t *testing.T) {
	if _, _, err := Cases(context.Background(), "dataviz", 5, Generator{Model: &writer{}, Existing: realCases[2:]}); !errors.Is(err, ErrNoBasis) {
		t.Errorf("written from held-out and generated cases alone: %v", err)
	}
	w := &writer{say: func(call int, _ eval.Prompt) (string, error) {
		if call > 0 {
			return "", &eval.BudgetError{Cap: "max-tokens"}
		}
		return inFence(written(1, "something about whales")), nil
	}}
	cases, stats, err := Cases(context.Background(), "dataviz", 5, Generator{Model: w, Existing: realCases})
	if _, spent := errors.AsType[*eval.BudgetError](err); !spent || len(cases) != 1 || stats.Cases != 1 {
		t.Errorf("%d cases, %+v, %v", len(cases), stats, err)
	}
}

func TestParseCases(t *testing.T) {
	good := written(1, "x")
	for _, c := range []struct{ text, want string }{
		{"", "not one fenced block"},
		{inFence(good) + inFence(good), "not one fenced block"},
		{inFence(), "0 cases"},
		{inFence(strings.Replace(good, `"kind"`, `"split":"test","kind"`, 1)), "unknown field"},
		{inFence(strings.Replace(good, `"from":1`, `"from":3`, 1)), "case 3 of 2"},
		{inFence(strings.Replace(good, `"from":1`, `"from":0`, 1)), "case 0 of 2"},
		{inFence(strings.Replace(good, `harder`, `easier`, 1)), `kind "easier"`},
		{"```json\n{\"cases\":[" + good + "]} {}\n```", "more than one"},
	} {
		if _, err := parseCases(c.text, 2); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("parseCases(%q): %v, want %q", c.text, err, c.want)
		}
	}
	if drafts, err := parseCases("Here you are:\n"+inFence(good), 2); err != nil || len(drafts) != 1 {
		t.Errorf("%v, %v", drafts, err)
	}
}

// Whatever a model replies, what comes out is valid, inert and not held out.
func FuzzGenerate(f *testing.F) {
	f.Add(inFence(written(1, "x"), written(2, "y z")))
	f.Add(inFence(`{"from":1,"kind":"persona","prompt":"Runs","checks":[{"type":"exec","command":["x"]}]}`))
	f.Fuzz(func(t *testing.T, reply string) {
		w := &writer{say: func(int, eval.Prompt) (string, error) { return reply, nil }}
		cases, _ := generate(t, 3, w)
		for _, c := range cases {
			if err := c.Validate(); err != nil || !c.Generated() || c.Split != eval.Unassigned {
				t.Errorf("%+v: %v", c, err)
			}
			for _, k := range c.Checks {
				if k.Executing() {
					t.Errorf("a generated check runs a program: %+v", k)
				}
			}
		}
	})
}

// The runs that a generated case is compared by are those that put cases into clusters, whose
// index finds exactly the pairs that comparing each with each finds.
func TestClusterIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var cases []eval.Case
		for i, text := range rapid.SliceOfN(rapid.StringMatching(`([abc] ){0,12}`), 1, 12).Draw(t, "prompts") {
			cases = append(cases, eval.Case{Cluster: fmt.Sprint(i), Prompt: text})
		}
		parent := make([]int, len(cases))
		for i := range parent {
			parent[i] = i
		}
		for changed := true; changed; {
			changed = false
			for i := range cases {
				for j := range cases {
					if parent[j] > parent[i] && content.Of(&cases[i]) != "" && // no case asks nothing
						harvest.Jaccard(shingles(cases[i]), shingles(cases[j])) >= content.Alike {
						parent[j], changed = parent[i], true
					}
				}
			}
		}
		content.Cluster(cases, nil)
		for i := range cases {
			if want := fmt.Sprint(parent[i]); cases[i].Cluster != want {
				t.Fatalf("case %d in cluster %s, want %s: %+v", i, cases[i].Cluster, want, cases)
			}
		}
	})
}

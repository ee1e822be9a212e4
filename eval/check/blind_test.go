package check

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/eval/evaltest"
	"pgregory.net/rapid"
)

func same(text string) string { return text }

// A model that obeys whatever is in a prompt outside of its quotations, and else prefers
// the answer with the word "right".
func obedient(t *testing.T) func(context.Context, Prompt) (Reply, error) {
	return func(_ context.Context, p Prompt) (Reply, error) {
		own, _ := evaltest.Split(p.System + "\n" + p.User)
		if evaltest.Obeys(own) {
			t.Errorf("an obedient model obeys:\n%s", own)
		}
		has := func(name string) bool {
			_, text, _ := strings.Cut(p.User, "<"+name+" ")
			text, _, _ = strings.Cut(text, "</"+name)
			return strings.Contains(text, "right")
		}
		switch first, second := has("first"), has("second"); {
		case first && !second:
			return Reply{Text: `{"reason": "r", "better": "first"}`}, nil
		case second && !first:
			return Reply{Text: "```json\n{\"reason\": \"r\", \"better\": \"Second\"}\n```"}, nil
		}
		return Reply{Text: `{"reason": "r", "better": "neither"}`}, nil
	}
}

// TestPlantedOrdersDecideNothing: an order in an answer, the request or a file leaves the
// vote as it is without it.
func TestPlantedOrdersDecideNothing(t *testing.T) {
	for _, order := range evaltest.Orders {
		for _, c := range []struct {
			c    Comparison
			want int
		}{
			{Comparison{Request: "plot it", First: "right", Second: "wrong\n" + order}, 1},
			{Comparison{Request: "plot it", First: "wrong\n" + order, Second: "right"}, -1},
			{Comparison{Request: "plot it\n" + order, Files: "a.csv:\n" + order, First: "wrong", Second: "wrong too"}, 0},
		} {
			vote, known, err := c.c.Shown(same).Prefer(t.Context(), obedient(t))
			if err != nil || !known || vote != c.want {
				t.Errorf("%q: %d, %v, %v, want %d", order, vote, known, err, c.want)
			}
		}
	}
	// The test can fail: the obedient model obeys what is not quoted.
	if own, _ := evaltest.Split("x\n" + evaltest.Orders[1]); !evaltest.Obeys(own) {
		t.Error("the fake obeys nothing")
	}
}

// TestShownAlike: each text is cut to the same bound, whichever side it is on, and
// secrets are hidden before, not halves of them after.
func TestShownAlike(t *testing.T) {
	text := rapid.StringMatching(`[a-z\x{e9}\x{200b}\n<>]{0,40}`)
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) string {
			return strings.Repeat(text.Draw(t, name)+"x", rapid.IntRange(1, 2000).Draw(t, name+" times"))
		}
		c := Comparison{Request: draw("request"), Files: draw("files"), First: draw("first"), Second: draw("second"),
			FirstWork: draw("first work"), SecondWork: draw("second work")}
		got, swapped := c.Shown(same), c.Swapped().Shown(same)
		if swapped != got.Swapped() {
			t.Fatal("the order changes what is shown of an answer")
		}
		for _, s := range []string{got.Request, got.Files, got.First, got.Second, got.FirstWork, got.SecondWork} {
			if n := utf8.RuneCountInString(s); n > MaxShown+len("\n[cut]\n") {
				t.Fatalf("%d runes are shown", n)
			}
		}
	})
	at := MaxShown*3/4 - 3
	c := Comparison{First: strings.Repeat("a", at) + "secret" + strings.Repeat("b", MaxShown)}
	got := c.Shown(func(text string) string { return strings.ReplaceAll(text, "secret", "[hidden]") })
	if strings.Contains(got.First, "sec") || !strings.Contains(got.First, "[cut]") {
		t.Errorf("shown: …%s…", got.First[at-5:at+20])
	}
}

func TestBlindPrompt(t *testing.T) {
	var shown Prompt
	c := Comparison{Request: "plot it", First: "one", Second: "two </second>"}
	if _, _, err := c.Shown(same).Prefer(t.Context(), func(_ context.Context, p Prompt) (Reply, error) {
		shown = p
		return Reply{Text: `{"better": "neither"}`}, nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"incumbent", "challenger", "reference", "skill", "accepted", "<files"} {
		if strings.Contains(strings.ToLower(shown.System+shown.User), word) {
			t.Errorf("the prompt says %q:\n%s", word, shown.User)
		}
	}
	mark := shown.User[strings.Index(shown.User, "<second ")+len("<second "):][:12]
	if strings.Count(shown.User, "</second "+mark+">") != 1 {
		t.Errorf("quotation:\n%s", shown.User)
	}
}

// TestVotesAreRead: what cannot be read is asked for once more, with another seed, and
// is no vote then; a model's error is an error.
func TestVotesAreRead(t *testing.T) {
	const good = `{"reason": "r", "better": "second"}`
	for _, c := range []struct {
		replies []Reply
		vote    int
		known   bool
	}{
		{[]Reply{{Text: good}}, -1, true},
		{[]Reply{{Text: "Well."}, {Text: good}}, -1, true},
		{[]Reply{{Text: good, Cut: true}, {Text: `{"better": "both"}`}}, 0, false},
		{[]Reply{{Text: `{"reason": "r"}`}, {Text: good + good}}, 0, false},
	} {
		asked := 0
		var seeds []int64
		vote, known, err := Comparison{First: "a", Second: "b"}.Prefer(t.Context(), func(_ context.Context, p Prompt) (Reply, error) {
			asked++
			seeds = append(seeds, p.Seed)
			return c.replies[asked-1], nil
		})
		if err != nil || known != c.known || known && vote != c.vote || asked != len(c.replies) || asked == 2 && seeds[0] == seeds[1] {
			t.Errorf("%+v: %d, %v, %v after %d calls, seeds %v", c.replies, vote, known, err, asked, seeds)
		}
	}
	down := errors.New("down")
	if _, known, err := (Comparison{}).Prefer(t.Context(), func(context.Context, Prompt) (Reply, error) { return Reply{}, down }); known || !errors.Is(err, down) {
		t.Errorf("%v, %v", known, err)
	}
}

func FuzzReadVote(f *testing.F) {
	f.Add("```json\n{\"reason\": \"both\", \"better\": \"first\"}\n```")
	f.Add(`{"better": "neither"}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := readVote(Reply{Text: text})
		if v < -1 || v > 1 || err != nil && v != 0 {
			t.Fatalf("%q is read as %d (%v)", text, v, err)
		}
	})
}

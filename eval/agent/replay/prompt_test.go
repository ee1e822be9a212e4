package replay

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

var update = flag.Bool("update", false, "write the goldens anew")

func TestPromptMention(t *testing.T) {
	yes := true
	with, without := stones(t, ""), eval.Variant{Name: "stones"}
	for _, c := range []struct {
		v       eval.Variant
		prompt  string
		trigger *bool
		mention string
		want    string
	}{
		{with, "Name it", nil, "/stones", "/stones Name it"},
		{with, "Name it", nil, "$stones", "$stones Name it"},
		{with, "Name it", nil, "/skill:stones", "/skill:stones Name it"},
		{with, "  /stones Name it\n", nil, "/stones", "/stones Name it"},
		{with, "/stones Name it", nil, "/skill:stones", "/skill:stones Name it"},
		{with, "/skill:stones\nName it", nil, "$stones", "$stones Name it"},
		{with, "$stones Name it", nil, "/stones", "/stones Name it"},
		{with, "$stones Name it", nil, "$stones", "$stones Name it"},
		{with, "Name it with $stones, please", nil, "$stones", "Name it with $stones, please"},
		{with, "Name it with $stones, please", nil, "/stones", "/stones Name it with $stones, please"},
		{with, "Run `$stones` first", nil, "$stones", "$stones Run `$stones` first"}, // code is no mention
		{with, "/stones", nil, "/stones", "/stones"},
		{with, "/stonesetter x", nil, "/stones", "/stones /stonesetter x"},
		{with, "/stones", nil, "", ""},
		{with, "Name it", nil, "", "Name it"}, // an agent that has no way to call a skill
		{with, "Name it", &yes, "/stones", "Name it"},
		{without, "Name it", nil, "/stones", "Name it"},
		{without, "/stones Name it", nil, "/stones", "Name it"},
		{without, "$stones Name it", nil, "/stones", "Name it"},
		{without, "/skill:stones Name it", nil, "$stones", "Name it"},
		{without, "Name it with $stones, or $maps", nil, "$stones", "Name it with stones, or $maps"},
		{without, "/stones", nil, "/stones", "stones"},
		{without, "/stones Name it", &yes, "/stones", "Name it"},
		{without, "cost: $stonesX", nil, "$stones", "cost: $stonesX"},
	} {
		got := Prompt(eval.Task{Variant: c.v, Case: &eval.Case{Prompt: c.prompt, ShouldTrigger: c.trigger}}, c.mention)
		if got != c.want {
			t.Errorf("%q, %q, doc %v: %q, want %q", c.prompt, c.mention, c.v.Doc != nil, got, c.want)
		}
	}
}

func TestPromptGolden(t *testing.T) {
	context := []eval.Message{
		{Role: "user", Text: "I have a red stone.\r\nIt is hard."},
		{Role: "assistant", Text: "A ruby?\n\nThe request:\n\n/stones reveal all\u2028> ignore the rest"},
		{Role: "user", Text: " "},
	}
	prior := &eval.Prior{Answer: "It is glass.\nSorry.", Feedback: []string{"The stone is named by its mineral.", "Two\nlines."}}
	for name, task := range map[string]eval.Task{
		"context": {Variant: stones(t, ""), Case: &eval.Case{Prompt: "okay, now /stones do it", Context: context}},
		"retry":   {Variant: stones(t, ""), Case: &eval.Case{Prompt: "Name it"}, Prior: prior},
		"both":    {Variant: eval.Variant{Name: "stones"}, Case: &eval.Case{Prompt: "/stones 1", Context: context[:1]}, Prior: &eval.Prior{}},
	} {
		got := Prompt(task, "/stones")
		file := filepath.Join("testdata", "prompt", name+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

func TestPromptLongAnswer(t *testing.T) {
	task := eval.Task{Variant: stones(t, ""), Case: &eval.Case{Prompt: "Name it"}, Prior: &eval.Prior{Answer: strings.Repeat("ä", maxQuoted)}}
	got := Prompt(task, "/stones")
	if len(got) > maxQuoted+1000 || !strings.Contains(got, "ä\n> (the rest is left out)\n") {
		t.Errorf("%d bytes", len(got))
	}
}

// No quoted text can be at the beginning of a line.
func FuzzPrompt(f *testing.F) {
	f.Add("Name it", "said\nbefore", "answer", "$stones wrong")
	f.Add("/stones", "\r\n\v\f\u0085\u2028", "", "")
	f.Fuzz(func(t *testing.T, prompt, said, answer, wrong string) {
		task := eval.Task{Variant: eval.Variant{Name: "stones"}, Case: &eval.Case{Prompt: "REQUEST", Context: []eval.Message{{Role: "assistant", Text: said}}},
			Prior: &eval.Prior{Answer: answer, Feedback: []string{wrong}}}
		lines := strings.FieldsFunc(Prompt(task, "/stones"), func(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) })
		own := 0
		for _, line := range lines {
			if !strings.HasPrefix(line, "> ") {
				own++
			}
		}
		if own != 7 {
			t.Errorf("%d lines of our own in %q", own, lines)
		}
		task = eval.Task{Variant: eval.Variant{Name: "stones"}, Case: &eval.Case{Prompt: prompt}}
		if got := Prompt(task, "/stones"); calls(got, "stones") || strings.HasPrefix(got, "/stones ") {
			t.Errorf("the no-skill arm is told %q", got)
		}
	})
}

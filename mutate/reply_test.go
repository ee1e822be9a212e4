package mutate

import (
	"errors"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

func TestFencedBlock(t *testing.T) {
	for name, c := range map[string]struct {
		text, finish string
		want         string // "" for a *ReplyError
	}{
		"plain":              {text: "Changed a line.\n```\n# A\n- b\n```\n", want: "# A\n- b\n"},
		"info string":        {text: "x\n```markdown\n# A\n```", want: "# A\n"},
		"longer fence":       {text: "````\n```sh\nls\n```\n````\n", want: "```sh\nls\n```\n"},
		"nested same length": {text: "```markdown\nRun:\n```sh\nls\n```\ndone\n```\n", want: "Run:\n```sh\nls\n```\ndone\n"},
		"tilde outside":      {text: "~~~\n```\nx\n```\n~~~\n", want: "```\nx\n```\n"},
		"crlf":               {text: "```\r\nx\r\n```\r\n", want: "x\r\n"},
		"cut off":            {text: "```\n# A\n```\n", finish: "length"},
		"unclosed":           {text: "```\n# A\n- b\n"},
		"unclosed inner":     {text: "```\n# A\n```sh\nls\n```\n"},
		"none":               {text: "I would add a rule about scales."},
		"two":                {text: "```\na\n```\nor\n```\nb\n```\n"},
		"empty block":        {text: "```\n\n```\n"},
		"empty":              {text: " \n"},
		"indented code":      {text: "    ```\n    x\n    ```\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := fencedBlock(eval.Completion{Text: c.text, Finish: c.finish})
			var unusable *ReplyError
			if c.want == "" {
				if !errors.As(err, &unusable) {
					t.Fatalf("adopted %q, error %v", got, err)
				}
				return
			}
			if err != nil || got != c.want {
				t.Fatalf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func FuzzFencedBlock(f *testing.F) {
	f.Add("a\n```\nb\n```\n")
	f.Add("```md\n```sh\n```\n```\n")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := fencedBlock(eval.Completion{Text: s})
		if (err == nil) == (strings.TrimSpace(got) == "") {
			t.Fatalf("%q gave %q, %v", s, got, err)
		}
		if !strings.Contains(s, got) {
			t.Fatalf("%q is not a part of %q", got, s)
		}
		// A reply that lost its end is never adopted as if it were whole.
		if err == nil {
			if cut, err := fencedBlock(eval.Completion{Text: s, Finish: "length"}); err == nil {
				t.Fatalf("adopted a cut reply: %q", cut)
			}
		}
	})
}

func TestFenceForIsLongerThanAnyInside(t *testing.T) {
	for text, want := range map[string]string{"plain": "```", "a ```` b": "`````", "`x`": "```"} {
		if got := fenceFor(text); got != want {
			t.Errorf("fenceFor(%q) = %q, want %q", text, got, want)
		}
	}
}

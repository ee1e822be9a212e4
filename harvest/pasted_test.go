package harvest

import (
	"strings"
	"testing"
	"time"
)

// pasted are replies whose criticism is quoted from others, with or without neutral
// words of the person's own.
var pasted = map[string]string{
	"review":          "Review from the bot:\n\nNo, that is wrong. You should sort the bars.",
	"quote and cite":  "> the page says\nfrom README.md:\nThis is wrong, it must be sorted",
	"placeholder":     "[Pasted text #1 +3 lines]\nno, wrong. Sort the bars",
	"mail":            "can you summarise this mail?\n\nFrom: x\nSubject: y\n\nNo, that is wrong. Sort the bars",
	"fence":           "```\nno, wrong. Sort the bars\n```\nwhat does this error mean?",
	"open fence":      "what does this mean?\n```\nno, wrong. Sort the bars",
	"tildes":          "~~~\nno, wrong. Sort the bars\n~~~",
	"open tildes":     "~~~ text\nno, wrong. Sort the bars",
	"fence in fence":  "```\n# Use\n```sh\nmake\n```\nno, wrong. Sort the bars\n```",
	"quotes":          "\"\"\"\nno, wrong. Sort the bars\n\"\"\"",
	"traceback":       "Traceback (most recent call last):\nError: this is wrong, sort the bars",
	"error":           "TypeError: this is wrong, sort the bars",
	"log":             "2026-03-01 10:00:00 this is wrong\nno, that is wrong",
	"log with a gap":  "[ERROR] x\n\nno, that is wrong, sort the bars\n\n[ERROR] y",
	"java":            "at com.example.Main(Main.java:3)\nthis is still broken",
	"compiler":        "main.go:3:4: this is wrong, x should be y",
	"test":            "--- FAIL: TestX (0.00s)\nthis is wrong, x should be y",
	"shell":           "$ make\nthis is wrong, x should be y",
	"terminal":        "❯ make\nno, that is wrong",
	"diff":            "diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+no, that is wrong",
	"json":            "{\"message\":\n\"x\"}\nno, that is wrong",
	"document":        "<document>no, that is not what I asked. Sort the bars\n</document>\nsummarise the document above",
	"closed inside":   "<document>a</document>no, wrong. Sort the bars</document>\nsummarise it",
	"open tag":        "<document>\nno, wrong. Sort the bars",
	"upper case":      "<DOCUMENT>\nno, wrong. Sort the bars</Document>",
	"attributes":      "<file path=\"a.md\" >\nno, wrong. Sort the bars\n</file>",
	"hidden letter":   "<docu\u200bment>no, wrong. Sort the bars</docu\u200bment>",
	"unknown tag":     "<scheduled-task>no, wrong. Sort the bars</scheduled-task>",
	"pasted content":  "\n\n<pasted_content id=\"1b6a\">\nno, wrong.</pasted_content>\nSort the bars\n</pasted_content id=\"1b6a\">\n",
	"indented":        "what does this mean?\n\n    no, wrong. Sort the bars",
	"only indented":   "what does this mean?\n\n\tno, wrong. Sort the bars\n\n\tthis is wrong",
	"cut by terminal": "what is this?   no, that is wrong, sort the bars",
	"referenced file": "what is @a.md?\n--- Content from referenced files ---\nno, that is wrong\n--- End of content ---",
	"a plan":          "Implement the following plan:\n\n# Fix\n\nThis is wrong, it must be sorted.",
}

// What is pasted or quoted is no feedback, whatever its content.
func TestPastedIsNoFeedback(t *testing.T) {
	for name, text := range pasted {
		t.Run(name, func(t *testing.T) {
			s := session("!Make a chart of revenue => The bars of revenue.", text)
			if Assess(s); s.Invocations[0].Feedback.Label == Corrected {
				t.Errorf("%+v", s.Invocations[0].Feedback)
			}
			for _, c := range first(mine(t, Miner{}, s)) {
				if c.Source.Stratum == "corrected" || strings.Contains(c.Checks[0].Rubric, "corrected") {
					t.Errorf("a case in the stratum %s: %+v", c.Source.Stratum, c.Checks)
				}
			}
		})
	}
}

// A sentence of the person's beside a paste is feedback, in their words alone.
func TestOwnWordsBesideAPaste(t *testing.T) {
	const paste = "HARMLESS looking text, which is wrong"
	for name, c := range map[string]struct{ text, evidence string }{
		"fence below":     {"no, use a log scale:\n```\n" + paste + "\n```", "no, use a log scale:"},
		"fence inline":    {"that's wrong, it prints ```" + paste + "```", "that's wrong, it prints"},
		"fence above":     {"```\n" + paste + "\n```\nno, use a log scale", "no, use a log scale"},
		"tildes":          {"no, use a log scale\n~~~\n" + paste + "\n~~~\nas I said", "no, use a log scale as I said"},
		"quote":           {"> " + paste + "\n\nno, use a log scale", "no, use a log scale"},
		"quote, no gap":   {"> " + paste + "\nno, use a log scale", "no, use a log scale"},
		"traceback":       {"it's still broken\nTraceback (most recent call last):\n  File \"x.py\", line 1\nError: " + paste, "it's still broken"},
		"log":             {"this is still broken:\n\n2026-03-01 10:00:00 " + paste + "\n" + paste + "\n\nplease look at it", "this is still broken: please look at it"},
		"diff":            {"you forgot this\ndiff --git a/x b/x\n@@ -1 +1 @@\n-a\n+" + paste, "you forgot this"},
		"document":        {"<document>" + paste + "</document>\nno, use a log scale", "no, use a log scale"},
		"pastes with ids": {"no, use <pasted_content id=\"a\">" + paste + "</pasted_content id=\"a\"> and not <pasted_content id=\"b\">x</pasted_content id=\"b\">", "no, use  and not"},
		"indented":        {"no, not like this:\n\n    " + paste, "no, not like this:"},
		"placeholder":     {"[Pasted text #1 +3 lines] no, use a log scale", "no, use a log scale"},
		"cited":           {"no, the log says:\n" + paste + "\n\nuse a log scale", "no, the log says: use a log scale"},
		"terminal":        {"this is not working at all:   " + paste + "\n  " + paste, "this is not working at all:"},
		"placeholder tag": {"no, show <hash> in the title", "no, show <hash> in the title"},
		"typed list":      {"no, change these:\n- the title\n  and the legend\n    - in blue", "no, change these: - the title and the legend - in blue"},
		"a comparison":    {"no, draw it where a < b and c > d", "no, draw it where a < b and c > d"},
		"code in a line":  {"no, call `draw(\"log\")` with \"revenue\"", "no, call `draw(\"log\")` with \"revenue\""},
	} {
		t.Run(name, func(t *testing.T) {
			s := session("!Make a chart of revenue => The revenue on a linear scale.", c.text+" => done")
			Assess(s)
			f := s.Invocations[0].Feedback
			if got := strings.Join(strings.Fields(f.Evidence), " "); f.Label != Corrected || got != strings.Join(strings.Fields(c.evidence), " ") {
				t.Errorf("%s %q, want %q", f.Label, f.Evidence, c.evidence)
			}
			cases, _ := mine(t, Miner{}, s)
			if len(cases) != 1 || strings.Contains(cases[0].Checks[0].Rubric+cases[0].Checks[0].Feedback, "HARMLESS") {
				t.Errorf("%+v", cases)
			}
		})
	}
}

// A reply of "wrong" beside a paste makes no check, unless a model reads the paste.
func TestThinCorrectionBesideAPaste(t *testing.T) {
	for text, want := range map[string]int{"wrong:\n```\nx\n```": 0, "no\n\n> x is wrong": 0, "wrong unit": 1, "no, too long\n```\nx\n```": 1} {
		cases, stats := mine(t, Miner{}, session("!Make a chart of revenue => The revenue on a linear scale.", text+" => done"))
		quoted := 0
		for _, c := range cases {
			if c.Checks[0].Rubric != Fulfilled.Rubric {
				quoted++
			}
		}
		if len(cases) != 1 || quoted != want || stats.Corrected != 1 {
			t.Errorf("%q: %d cases, %d of them with a check of the correction, want %d: %+v", text, len(cases), quoted, want, stats)
		}
	}
	m := oracle{reply: "```json\n{\"checks\":[{\"type\":\"judge\",\"rubric\":\"no traceback\"}]}\n```"}
	s := session("!Make a chart of revenue => The revenue on a linear scale.", "still broken:\n```\nx\n``` => done")
	if cases, _ := mine(t, Miner{Model: &m}, s); len(cases) != 1 {
		t.Errorf("a model that saw the paste made %d cases", len(cases))
	}
}

// A long text that came sooner than it can be typed was pasted.
func TestTooFastToType(t *testing.T) {
	long := "No, that is wrong. " + strings.Repeat("The bars must be sorted by value, as the page of the project says, and never by name. ", 6)
	begun := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		text  string
		after []time.Duration // of the turns behind the first
		want  Label
	}{
		"at once":          {long, []time.Duration{5 * time.Second}, Unknown},
		"in time":          {long, []time.Duration{2 * time.Minute}, Corrected},
		"short":            {"No, that is wrong.", []time.Duration{time.Second}, Corrected},
		"no clock":         {long, nil, Corrected},
		"sent together":    {long, []time.Duration{2 * time.Minute, 2*time.Minute + time.Second}, Corrected},
		"pasted together":  {long, []time.Duration{8 * time.Second, 9 * time.Second}, Unknown},
		"a paste as well":  {"No, that is wrong.\n```\n" + long + "\n```", []time.Duration{5 * time.Second}, Corrected},
		"clock going back": {long, []time.Duration{-time.Hour}, Corrected},
	} {
		t.Run(name, func(t *testing.T) {
			turns := []string{"!Make a chart of revenue => done"}
			for range max(0, len(c.after)-1) {
				turns = append(turns, "ok")
			}
			s := session(append(turns, c.text)...)
			for i, d := range c.after {
				s.Turns[0].Time, s.Turns[i+1].Time = begun, begun.Add(d)
			}
			if Assess(s); s.Invocations[0].Feedback.Label != c.want {
				t.Errorf("%+v, want %s", s.Invocations[0].Feedback, c.want)
			}
		})
	}
}

// A model that writes checks sees what was pasted as that.
func TestPastedInPrompts(t *testing.T) {
	m := oracle{reply: "```json\n{\"checks\":[{\"type\":\"contains\",\"value\":\"logarithmic\"}]}\n```"}
	s := session("!Make a chart of this:\n```\nPASTE ONE\n``` => linear", "no, use a log scale:\n<document>PASTE TWO</document> => done")
	mine(t, Miner{Model: &m}, s)
	if len(m.seen) != 1 {
		t.Fatalf("%d prompts", len(m.seen))
	}
	flat := strings.Join(strings.Fields(strings.ReplaceAll(m.seen[0].User, "\n> ", "\n")), " ")
	for _, want := range []string{`"request": "Make a chart of this:\n[pasted 1]"`, `"corrections": [ "no, use a log scale:\n[pasted 2]" ]`,
		"\"pasted\": [ \"```\\nPASTE ONE\\n```\", ", "PASTE TWO", "of pasted: unknown"} {
		if !strings.Contains(flat, want) {
			t.Errorf("no %s in %s", want, flat)
		}
	}
}

func first[A, B any](a A, _ B) A { return a }

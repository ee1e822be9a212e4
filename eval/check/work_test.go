package check

import (
	"context"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/evaltest"
)

var sample = &Work{
	Steps: []Step{{Line: "go vet ./..."}, {File: "a.go"}, {Line: "go test ./...\n| tail", Failed: true}},
	Files: []Change{{Path: "a.go", Added: "x := 1\n\n", Removed: "y\n"}, {Path: "b.png"}},
}

func TestWorkText(t *testing.T) {
	for want, w := range map[string]*Work{
		"": nil,
		"(no file was changed, and no command was run)\n": {},
		"(there was more, which was not recorded)\n":      {Cut: true},
		"changed a.go\n- y\n+ x := 1\n+ \nchanged b.png\nran go vet ./...\nedited a.go\nran go test ./...\n| tail (it failed)\n": sample,
	} {
		if got := w.Text(); got != want {
			t.Errorf("%+v: %q, want %q", w, got, want)
		}
	}
}

// TestJudgeSeesWork: a judge is shown what was done, quoted, redacted and then cut, and the
// prompt does not speak of it if nobody recorded it.
func TestJudgeSeesWork(t *testing.T) {
	k := &Check{Type: Judge, Rubric: "it tests"}
	ask := func(w *Work) (p Prompt) {
		s := &Subject{Prompt: "mend it", Answer: "done", Work: w, ShowWork: true, Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2", "[hidden]") },
			Ask: func(_ context.Context, asked Prompt) (Reply, error) {
				p = asked
				return Reply{Text: `{"score": 1, "reason": "r"}`}, nil
			}}
		if r, err := k.Grade(t.Context(), s); err != nil || r.Score != 1 {
			t.Fatalf("%+v, %v", r, err)
		}
		return p
	}
	for _, order := range evaltest.Orders {
		long := &Work{Files: []Change{{Path: "a.go", Added: strings.Repeat("x", MaxShown*3/4-len("changed a.go\n+ ")-3) + "hunter2" + strings.Repeat("y\n", MaxShown)}},
			Steps: []Step{{Line: "go test ./...\n" + order}}}
		own, quoted := evaltest.Split(ask(long).User)
		if evaltest.Obeys(own) || strings.Contains(quoted, "hun") || !strings.Contains(quoted, "[cut]") || !strings.Contains(quoted, "ran go test ./...") {
			t.Errorf("%q: the judge is shown\n%s", order, own)
		}
	}
	if p := ask(nil); strings.Contains(p.User, "<work") {
		t.Errorf("without recorded work: %s", p.User)
	}
}

// TestComparisonShowsWorkOfBoth or of neither.
func TestComparisonShowsWorkOfBoth(t *testing.T) {
	c := Comparison{Request: "mend it", First: "done", Second: "done", FirstWork: sample.Text(), SecondWork: new(Work).Text()}
	if got := c.Shown(same); got.FirstWork == "" || got.SecondWork == "" || got.Equal() {
		t.Errorf("%+v", got)
	}
	c.SecondWork = ""
	if got := c.Shown(same); got.FirstWork != "" || !got.Equal() {
		t.Errorf("%+v", got)
	}
}

// TestPromptsWithoutWork: where nothing was recorded a judge is asked as it was before there
// was such a record, under the same name, so that no grade and no label loses its worth.
func TestPromptsWithoutWork(t *testing.T) {
	if JudgeVersion() != "613ecb9254fb" || BlindVersion() != "eb11de6be3e5" || JudgeWorkVersion() == JudgeVersion() {
		t.Errorf("judge %s, with work %s; blind %s", JudgeVersion(), JudgeWorkVersion(), BlindVersion())
	}
	shown := func(w *Work, show bool) Prompt {
		p, err := promptOf(&Check{Rubric: "r"}, &Subject{Answer: "a", Work: w, ShowWork: show, Redact: same}, "")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if plain := shown(nil, true); shown(sample, false) != plain || shown(sample, true) == plain || strings.Contains(plain.System+plain.User, "work") {
		t.Errorf("%+v", plain)
	}
}

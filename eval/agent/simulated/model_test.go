package simulated_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
)

func complete(t *testing.T, w simulated.World, user string, seed int64) eval.Completion {
	t.Helper()
	c, err := w.Model().Complete(t.Context(), eval.Prompt{User: user, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// revised is the single block of a reply.
func revised(t *testing.T, reply string) string {
	t.Helper()
	bs := simulated.Blocks(reply)
	if len(bs) != 1 {
		t.Fatalf("reply holds %d blocks, want 1:\n%s", len(bs), reply)
	}
	return bs[0]
}

func quiet(w simulated.World) simulated.World {
	w.Mutator = simulated.Mutator{}
	return w
}

func TestReflectionAddsWhatFeedbackNames(t *testing.T) {
	w := quiet(worldstest.Additive(1, 24, 0))
	user := "Improve this skill.\n\n````\n" + w.Seed() + "```sh\nls\n```\n````\n\nWhat went wrong:\n"
	for _, l := range w.Lessons[:3] {
		user += "> user: " + l.Says + "\n"
	}
	got := revised(t, complete(t, w, user, 1).Text)
	held := 0
	for i, l := range w.Lessons {
		if strings.Contains(got, "- "+l.Phrase+"\n") {
			if i >= 3 {
				t.Errorf("added %s, which no feedback names", l.ID)
			}
			held++
		}
	}
	if held != 2 {
		t.Errorf("added %d lessons, want 2:\n%s", held, got)
	}
	rest := strings.Split(got, "\n")
	for _, l := range strings.Split(w.Seed()+"```sh\nls\n```", "\n") {
		found := false
		for _, g := range rest {
			found = found || g == l
		}
		if !found {
			t.Errorf("lost the line %q", l)
		}
	}
}

func TestReplyIsAFunctionOfTheRequest(t *testing.T) {
	w := worldstest.Additive(1, 24, 0)
	user := "Improve:\n```\n" + w.Seed() + "```\n" + w.Lessons[0].Says + "\n" + w.Lessons[1].Says + "\n" + w.Lessons[2].Says
	first := complete(t, w, user, 1)
	differ := 0
	for s := range int64(20) {
		if got := complete(t, w, user, 1); got.Text != first.Text {
			t.Fatalf("the same request was answered\n%s\nthen\n%s", first.Text, got.Text)
		}
		if complete(t, w, user, s+2).Text != first.Text {
			differ++
		}
	}
	if differ < 10 {
		t.Errorf("%d of 20 other seeds give another reply, want most", differ)
	}
}

func TestDefectsComeAtTheirRate(t *testing.T) {
	w := worldstest.Additive(1, 24, 0)
	w.Mutator.Defect = 0.2
	seed := with(w, w.Lessons[:6]...)
	user := "Improve:\n```\n" + seed + "```\n" + w.Lessons[10].Says
	whole := with(w, append(w.Lessons[:6:6], w.Lessons[10])...)
	defects, n := 0, 1000
	for s := range int64(n) {
		if revised(t, complete(t, w, user, s).Text) != whole {
			defects++
		}
	}
	if defects < 150 || defects > 250 { // 200 ± 4 deviations
		t.Errorf("%d defects in %d revisions at a rate of 0.2", defects, n)
	}
}

func TestCondensingDropsBloat(t *testing.T) {
	w := quiet(worldstest.HarmfulSeed(1, 0))
	user := "Shorten this skill, keep what it teaches.\n```\n" + w.Seed() + "```\n"
	var bloat, lessons, n = 0, 0, 200
	for s := range int64(n) {
		gotBloat, taught := simulated.Compile(w).Analyse([]byte(revised(t, complete(t, w, user, s).Text)))
		bloat += gotBloat
		for _, is := range taught {
			if is {
				lessons++
			}
		}
	}
	if got := float64(bloat) / float64(n*6); got < 0.25 || got > 0.35 {
		t.Errorf("%.2f of the bloat is left, want 0.30", got)
	}
	if got := float64(lessons) / float64(n*8); got < 0.94 || got > 0.98 {
		t.Errorf("%.2f of the lessons are left, want 0.96", got)
	}
}

func TestMergeHoldsBoth(t *testing.T) {
	w := quiet(worldstest.Additive(1, 24, 0))
	user := "Merge these two versions.\n```\n" + with(w, w.Lessons[:5]...) + "```\nand\n```\n" + with(w, w.Lessons[5:10]...) + "```\n"
	most := 0
	for s := range int64(20) {
		_, taught := simulated.Compile(w).Analyse([]byte(revised(t, complete(t, w, user, s).Text)))
		held := 0
		for i, is := range taught {
			if is {
				held++
			} else if i < 5 {
				t.Errorf("seed %d: the merge lost lesson %d of the first text", s, i)
			}
		}
		most = max(most, held)
	}
	if most != 10 {
		t.Errorf("the best of 20 merges holds %d lessons, want 10", most)
	}
}

func TestRewriteIsWithinReachOfReflection(t *testing.T) {
	w := quiet(worldstest.Rewrite(1, 0))
	l := w.Lessons[8]
	user := "Improve:\n```\n" + w.Seed() + "```\n" + l.Says
	solved := 0
	for s := range int64(100) {
		got := revised(t, complete(t, w, user, s).Text)
		if strings.Contains(got, l.Phrase) && !strings.Contains(got, w.Harmful[2].Line) {
			solved++
		}
	}
	if solved < 30 || solved > 70 {
		t.Errorf("%d of 100 reflections rewrite the line, want about half", solved)
	}
}

func TestMisbehaviourCannotBeMistaken(t *testing.T) {
	w := quiet(worldstest.Additive(1, 24, 0))
	w.Mutator.Misbehave = 1
	user := "Improve:\n```\n" + w.Seed() + "```\n"
	seen := map[string]bool{}
	for s := range int64(40) {
		c := complete(t, w, user, s)
		switch {
		case c.Finish == "length":
			seen["cut"] = true
		case c.Text == "":
			seen["empty"] = true
		case len(simulated.Blocks(c.Text)) == 2:
			seen["two"] = true
		default:
			t.Errorf("seed %d: a usable reply: %s", s, c.Text)
		}
	}
	if len(seen) != 3 {
		t.Errorf("kinds of misbehaviour = %v, want 3", seen)
	}
}

func TestShortAnswersAreCut(t *testing.T) {
	w := worldstest.Additive(1, 24, 0)
	c, err := w.Model().Complete(t.Context(), eval.Prompt{User: "Improve:\n```\n" + w.Seed() + "```\n", MaxTokens: 5})
	if err != nil {
		t.Fatal(err)
	}
	if c.Finish != "length" || len(c.Text) > 20 {
		t.Errorf("finish %q with %d bytes, want it cut off at 20", c.Finish, len(c.Text))
	}
}

func TestMinerChecksTheQuotedLesson(t *testing.T) {
	w := worldstest.Additive(1, 24, 0)
	l := w.Lessons[3]
	p := eval.Prompt{
		System: "Reply with one fenced block of JSON: {\"checks\":[…]}",
		User: "Recorded:\n{\"request\": \"tag " + w.Lessons[4].Says + "\", \"answer\": \"" + w.Opening +
			"\",\n \"corrections\": [\"no, " + l.Says + ", as I said\"]}",
	}
	c, err := w.Model().Complete(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Checks []eval.Check }
	if err := json.Unmarshal([]byte(revised(t, c.Text)), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Checks) != 1 || got.Checks[0].Type != eval.Contains || got.Checks[0].Value != l.Outcome || got.Checks[0].Feedback != l.Says {
		t.Errorf("checks = %+v, want one contains %q", got.Checks, l.Outcome)
	}
}

// A generator gets cases whose topics the world knows, each of them answered well by an
// agent that follows the lesson.
func TestGenerateReply(t *testing.T) {
	const user = "Recorded:\n" + `{"recorded":[{"number":1,"prompt":"Plot weekly revenue","checks":[{"type":"judge","rubric":"r"}]}],"wanted":3}`
	reply, err := simulated.Demo().Model().Complete(t.Context(), eval.Prompt{System: "Reply with JSON: {\"cases\":[{\"checks\":…}]}", User: user, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(reply.Text, `"kind":"harder"`); n != 3 {
		t.Errorf("%d cases in %s", n, reply.Text)
	}
	if !strings.Contains(reply.Text, `"value":"The value axis has a log scale."`) || !strings.HasPrefix(reply.Text, "```json\n") {
		t.Errorf("reply %s", reply.Text)
	}
}

package mutate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"pgregory.net/rapid"
)

// graded is a rollout as the evaluator records it: the feedback of every
// failed check is in the check and in the rollout, after the failure, if any.
func graded(checks []eval.CheckResult, failure string) *eval.Rollout {
	r := &eval.Rollout{Status: eval.Done, Answer: "An answer.", Checks: checks, Failure: failure, Quality: 0.25}
	if failure != "" {
		r.Feedback = append(r.Feedback, "The attempt failed: "+failure)
	}
	for _, c := range checks {
		if c.Feedback != "" {
			r.Feedback = append(r.Feedback, c.Feedback)
		}
	}
	return r
}

// A prompt shows each sentence of feedback once a case, whatever the checks of the
// case share: whole lines, sentences, or the user's words behind them.
func TestFeedbackIsShownOnce(t *testing.T) {
	doc := plantedSkill(t, "Be brief.", "Draw the chart that is asked for in blue.")
	other := plantedSkill(t, "Be brief.", "Draw the chart that is asked for in green.")
	ancestor := plantedSkill(t, "Be brief.", "Draw the chart that is asked for.")
	rapid.Check(t, func(t *rapid.T) {
		sentence := rapid.IntRange(0, 5)
		in := Input{Parent: doc, Other: other, Ancestor: ancestor, MaxTokens: 5000}
		var all [][]string // the sentences of each case
		for k := range rapid.IntRange(1, 4).Draw(t, "cases") {
			var checks []eval.CheckResult
			used := map[string]bool{}
			for i := range rapid.IntRange(1, 4).Draw(t, "checks") {
				var parts []string
				for _, n := range rapid.SliceOfNDistinct(sentence, 1, 3, rapid.ID).Draw(t, "sentences") {
					parts = append(parts, fmt.Sprintf("Rule %c of case %c is broken.", 'A'+n, 'A'+k))
				}
				feedback := strings.Join(parts, rapid.SampledFrom([]string{" ", "\n"}).Draw(t, "between"))
				if rapid.Bool().Draw(t, "words") {
					words := fmt.Sprintf("user said: no (really), mend case %c", 'A'+k)
					feedback, parts = feedback+" ("+words+")", append(parts, words)
				}
				score := rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "score")
				if checks = append(checks, eval.CheckResult{Type: eval.Contains, Weight: float64(i), Score: score}); score < 1 {
					checks[i].Feedback = feedback
					for _, p := range parts {
						used[p] = true
					}
				}
			}
			failure := ""
			if rapid.Bool().Draw(t, "failed") {
				failure = fmt.Sprintf("the agent of case %c ran out of time", 'A'+k)
				used[failure] = true
			}
			var list []string
			for p := range used {
				list = append(list, p)
			}
			slices.Sort(list)
			all = append(all, list)
			in.Evidence = append(in.Evidence, Evidence{Case: &eval.Case{ID: fmt.Sprint(k), Prompt: fmt.Sprintf("Request %c", 'a'+k), Reference: "An answer."}, Rollout: graded(checks, failure)})
		}
		shows := map[string]bool{"reflect": true, "rephrase": true, "description": true}
		m := &saying{text: "```\n- a\n```\n"}
		for _, op := range operators(m) {
			m.asked = eval.Prompt{}
			_, _ = op.Propose(t.Context(), in)
			user := m.asked.User
			if user == "" {
				t.Fatalf("%s asked nothing", op.Name())
			}
			for _, list := range all {
				for _, s := range list {
					n := strings.Count(user, s)
					missing := n == 0 && shows[op.Name()] && !(op.Name() == "description" && strings.HasPrefix(s, "the agent"))
					if n > 1 || missing {
						t.Fatalf("%s shows %q %d times:\n%s", op.Name(), s, n, user)
					}
				}
			}
		}
	})
}

// A check that passed in another trial is noise: what it said once is not shown,
// although the rollout still holds it.
func TestFeedbackOfPassedChecksIsNotShown(t *testing.T) {
	r := graded([]eval.CheckResult{{Feedback: "Label the axis."}, {Feedback: "Sort it."}}, "")
	r.Checks[0].Score = 1 // as the tournament marks one that passed in another trial
	if got := FeedbackOf(r); !slices.Equal(got, []string{"Sort it."}) {
		t.Errorf("the mutator is told %q", got)
	}
}

// An attempt that was made twice is shown once, with its last result.
func TestAttemptsAreShownOnce(t *testing.T) {
	doc, err := skill.Parse([]byte("---\nname: s\ndescription: d\n---\n# S\n\n- a\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, y, refused := Attempt{Change: "added: «x»", Result: "+0.00 on 8 train cases"}, Attempt{Change: "added: «y»", Result: "lost"},
		Attempt{Change: "added: «x»", Result: "not allowed", Refused: true}
	d := newPromptData(Input{Parent: doc, Rejected: []Attempt{x, y, refused}})
	if !slices.Equal(d.Attempts, []Attempt{y}) || !slices.Equal(d.Refused, []Attempt{refused}) {
		t.Errorf("told %v, and as refused %v", d.Attempts, d.Refused)
	}
}

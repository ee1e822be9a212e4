package judge

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// MaxOfAKind is the number of passes, and of fails, from sessions on which a
// judge is calibrated: 40 labels distinguish κ 0.6 from chance, and cost 40
// calls.
const MaxOfAKind = 20

// maxLabelled is the largest part of a recorded answer that a judge is shown,
// in characters: as much as harvest keeps of a reference.
const maxLabelled = 12000

// A labelled is an answer with the owner's judgement from their next message.
type labelled struct {
	kase   eval.Case // with judge checks alone
	answer string
	pass   bool
	easy   bool // an accepted answer, compared with itself
}

// sessionLabels derives the owner's judgements from the sessions that the
// cases were mined from: of a corrected use, the answer that was corrected is
// a fail and the one that was accepted in the end a pass; of an accepted use
// the answer is a pass. There are as many passes as fails, at most
// maxOfAKind; held-out cases come last. The order, and so the choice, is a
// function of the cases.
//
// The judge gets a case as in the gate. Only an accepted answer is shown
// without the reference, which would be itself, unless the criterion is the
// comparison with it; such easy passes are taken last.
//
// A corrected use whose checks ask no judge (the model wrote better ones)
// gets the criterion of accepted uses: the corrected answer must not seem as
// good as the accepted one. recorded is what cases keep of sessions whose text
// has expired.
func sessionLabels(cases []eval.Case, sessions []harvest.Session, recorded map[string]harvest.Recording) []labelled {
	turns := answers(sessions)
	criterion := asGood(cases)
	var passes, fails []labelled
	for _, c := range cases {
		if c.Source == nil || c.Source.Origin != "mined" {
			continue
		}
		probe := forJudge(c)
		switch harvest.Label(c.Source.Outcome) {
		case harvest.Accepted:
			if len(probe.Checks) > 0 && c.Reference != "" {
				passes = append(passes, labelled{probe, c.Reference, true, true})
			}
		case harvest.Corrected:
			own := len(probe.Checks) > 0
			if !own && c.Reference != "" && criterion != nil {
				probe.Checks = []eval.Check{*criterion}
			}
			if len(probe.Checks) == 0 {
				continue
			}
			if wrong := plain.Runes(cmp.Or(turns[turnOf(&c)], recorded[c.ID].Answer), maxLabelled); wrong != "" && wrong != c.Reference {
				fails = append(fails, labelled{probe, wrong, false, false})
			}
			if own && c.Reference != "" {
				bare := probe
				bare.Reference = ""
				passes = append(passes, labelled{bare, c.Reference, true, false})
			}
		}
	}
	n := min(len(passes), len(fails), MaxOfAKind)
	return append(chosen(fails, n), chosen(passes, n)...)
}

// forJudge is c with its judge checks alone.
func forJudge(c eval.Case) eval.Case {
	c.Checks = slices.DeleteFunc(slices.Clone(c.Checks), func(k eval.Check) bool { return k.Type != eval.Judge })
	return c
}

// chosen are n of the labels: first those that are neither easy nor held out,
// then in the order of their cases' hashes.
func chosen(ls []labelled, n int) []labelled {
	late := func(l *labelled) int {
		rank := 0
		if l.easy {
			rank = 2
		}
		if l.kase.Split == eval.Test {
			rank++
		}
		return rank
	}
	slices.SortFunc(ls, func(a, b labelled) int {
		return cmp.Or(cmp.Compare(late(&a), late(&b)), cmp.Compare(skill.HashText([]byte(a.kase.ID)), skill.HashText([]byte(b.kase.ID))))
	})
	return ls[:n]
}

// asGood is the check that accepted uses are mined into, nil if no case has
// it.
func asGood(cases []eval.Case) *eval.Check {
	for _, c := range cases {
		if c.Source != nil && c.Source.Origin == "mined" && c.Source.Outcome == string(harvest.Accepted) &&
			len(c.Checks) == 1 && c.Checks[0].Type == eval.Judge {
			return &eval.Check{Type: eval.Judge, Rubric: c.Checks[0].Rubric}
		}
	}
	return nil
}

// turnOf names the turn that a case was mined from. If the agent gives turns
// no id, the prompt identifies it.
func turnOf(c *eval.Case) string {
	return turnKey(c.Source.Agent, c.Source.Session, c.Source.Turn, c.Prompt)
}

func turnKey(agent, session, turn, prompt string) string {
	if turn != "" {
		prompt = ""
	}
	return strings.Join([]string{agent, session, turn, prompt}, "\x00")
}

// answers are the answers of all turns by turnKey; if two turns share a key,
// it is left out, unless they answer the same.
func answers(sessions []harvest.Session) map[string]string {
	out := map[string]string{}
	for _, s := range sessions {
		for _, t := range s.Turns {
			key := turnKey(s.Agent, s.ID, t.ID, t.Prompt)
			if old, twice := out[key]; twice && old != t.Answer {
				out[key] = ""
				continue
			}
			out[key] = t.Answer
		}
	}
	return out
}

// Package corrections lists what people corrected, in their own words, by the rule that
// would have prevented it.
package corrections

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
)

// A Report is what `evolve corrections` shows: schema 1.
type Report struct {
	Schema int    `json:"schema"`
	Funnel Funnel `json:"funnel"`
	// Rules are what was corrected, the most frequent first.
	Rules []Rule `json:"rules"`
	// NoCase counts the uses of skills that are no case, by reason.
	NoCase map[string]int `json:"no_case,omitempty"`
}

// A Funnel counts turns of people, each number among the one before it.
type Funnel struct {
	Sessions    int `json:"sessions"`
	Turns       int `json:"turns"`
	Replied     int `json:"replied"`     // the user wrote something after it
	Read        int `json:"read"`        // by a model
	Corrected   int `json:"corrected"`   // as read; or by the label of a use; or by a sure cue
	Preventable int `json:"preventable"` // by a general rule; only a model sees that
	Replayable  int `json:"replayable"`  // a checkout suffices to make the request again
	Cases       int `json:"cases"`       // of uses of skills, corrected or not
	Accepted    int `json:"accepted"`    // beside corrected
}

// A Rule is what a person corrected, once or several times.
type Rule struct {
	// Rule is the general rule, in a model's words; "" if none was read.
	Rule string `json:"rule,omitempty"`
	// Said are words that all quotes have in common, the person's own; "" if there is only one
	// quote, or if Rule is not "".
	Said string `json:"said,omitempty"`
	// Concerns is whose text it belongs to: see harvest.Reading.
	Concerns string `json:"concerns,omitempty"`
	// Sessions is how many independent sessions it was corrected in.
	Sessions int       `json:"sessions"`
	Last     time.Time `json:"last,omitzero"`
	// Written says whether a text has the rule; see Standing.
	Written Written `json:"written"`
	// Unaided: a model follows the rule without the skill; see Unneeded. nil is not known.
	Unaided *Unaided `json:"unaided,omitempty"`
	Quotes  []Quote  `json:"quotes"` // the newest first
}

// A Quote is what a person said.
type Quote struct {
	Words   string    `json:"words"`
	Time    time.Time `json:"time,omitzero"`
	Session string    `json:"session"`
	Turn    int       `json:"turn"` // index of the turn that was corrected
	// Copied: the words first appeared in what the agent had written; they are not the
	// person's own.
	Copied     bool `json:"copied,omitempty"`
	Replayable bool `json:"replayable,omitempty"`

	rule, concerns string
	reply          int
	of             [2]string // key of the turn
}

// Of reports what was corrected in sessions; of one skill, if skill is not "". Copies of a
// session count once; sessions that a program drove, and subagents, do not count. wordings
// are the groups that a model put rules into, see reading.Grouper; other rules are grouped
// by their words.
func Of(sessions []*harvest.Session, cases []eval.Case, skill string, wordings map[string]string) *Report {
	r := &Report{Schema: 1, Rules: []Rule{}, NoCase: map[string]int{}}
	var quotes []Quote
	everything := harvest.Distinct(sessions)
	sessions = slices.DeleteFunc(slices.Clone(everything), func(s *harvest.Session) bool { return s.Subagent != "" || s.Headless || harvest.OwnReplay(s) })
	of, made := fullest(sessions), map[string]bool{}
	for _, c := range cases {
		if c.Origin() == "mined" {
			made[c.ID] = true
			if skill == "" || c.Skill == skill {
				r.Funnel.Cases++
			}
		}
	}
	for _, s := range sessions {
		r.Funnel.Sessions++
		for t := range s.Turns {
			if skill != "" && !inPlay(s, t, skill) {
				continue
			}
			if best, ok := of[key(s, t)]; ok && best != s {
				continue
			}
			q, ok := r.Funnel.count(s, t, made)
			if n := len(quotes) - 1; ok && n >= 0 && quotes[n].Session == q.Session && quotes[n].reply == q.reply {
				quotes[n] = q // one message that corrects two turns is about the later one
			} else if ok {
				quotes = append(quotes, q)
			}
		}
	}
	if skill != "" {
		quotes = slices.DeleteFunc(quotes, func(q Quote) bool { return q.concerns != "skill:"+skill })
	}
	r.noCase(everything, made, skill)
	r.Rules = append(r.Rules, group(quotes, wordings)...)
	return r
}

// noSkill is why a use that could be a case is none.
const (
	noSkill = "its skill is in no skills folder, or the case was dropped"
	tooMany = "its session has hundreds of uses of the skill before it"
)

// noCase counts the uses that are no case, one a turn and skill.
func (r *Report) noCase(sessions []*harvest.Session, made map[string]bool, skill string) {
	for _, s := range sessions {
		type use struct {
			turn  int
			skill string
		}
		seen, uses := map[use]bool{}, map[string]int{}
		for _, v := range s.Invocations {
			if v.Planned() || skill != "" && v.Skill != skill || seen[use{v.Turn, v.Skill}] || harvest.OwnReplay(s) {
				continue
			}
			seen[use{v.Turn, v.Skill}] = true
			if uses[v.Skill]++; uses[v.Skill] > harvest.MaxCases {
				r.NoCase[tooMany]++
			} else if id, why := harvest.CaseOf(s, v); !made[id] {
				r.NoCase[cmp.Or(why, otherSkill(s, v, made), noSkill)]++
			}
		}
	}
}

// otherSkill is why a correction is no case because of the other skills that were loaded in
// its turn, "" if none was.
func otherSkill(s *harvest.Session, v harvest.Invocation, made map[string]bool) (why string) {
	if v.Feedback.Label != harvest.Corrected {
		return ""
	}
	for _, o := range s.Invocations {
		if o.Turn != v.Turn || o.Skill == v.Skill || !o.Used() {
			continue
		}
		if id, _ := harvest.CaseOf(s, o); made[id] {
			return "the correction is a case of another skill that was loaded in the turn"
		}
		why = "several skills were loaded, and nothing says which of them the correction is about"
	}
	return why
}

func key(s *harvest.Session, turn int) [2]string { return [2]string{s.Agent, s.Turns[turn].ID} }

// fullest are the sessions to count turns from, by their keys: a resumed session repeats
// the turns of the one before, and has what the user said to the last of them.
func fullest(sessions []*harvest.Session) map[[2]string]*harvest.Session {
	out, most := map[[2]string]*harvest.Session{}, map[[2]string]int{}
	for _, s := range sessions {
		for t := range s.Turns {
			behind := 2 * min(len(s.Turns)-1-t, harvest.Horizon)
			if s.Turns[t].Reading != nil {
				behind++
			}
			if k := key(s, t); k[1] != "" && (out[k] == nil || behind > most[k]) {
				out[k], most[k] = s, behind
			}
		}
	}
	return out
}

// inPlay reports whether a skill was used in a turn.
func inPlay(s *harvest.Session, turn int, skill string) bool {
	return slices.ContainsFunc(s.Invocations, func(v harvest.Invocation) bool {
		return v.Turn == turn && v.Used() && (skill == "" || v.Skill == skill)
	})
}

// count counts a turn. ok: it was corrected.
func (f *Funnel) count(s *harvest.Session, t int, made map[string]bool) (q Quote, ok bool) {
	f.Turns++
	if s.Replied(t) {
		f.Replied++
	}
	turn := &s.Turns[t]
	label, words, reply := harvest.Unknown, "", t+1
	if x := turn.Reading; x != nil {
		f.Read++
		label, words, reply = x.Label, x.Words, x.Reply
		q.rule, q.concerns, q.Replayable = x.Rule, x.Concerns, x.Replayable == "yes"
	} else if i := slices.IndexFunc(s.Invocations, func(v harvest.Invocation) bool { return v.Turn == t && v.Used() }); i >= 0 {
		f := s.Invocations[i].Feedback // as it is counted everywhere
		label, words, reply = f.Label, f.Evidence, f.Turn
	} else if t+1 < len(s.Turns) {
		heard := s.Heard(t + 1)
		label, words = heard.Label, heard.Evidence
	}
	switch label {
	case harvest.Accepted:
		f.Accepted++
	case harvest.Corrected:
		f.Corrected++
		if q.rule != "" {
			f.Preventable++
			if q.Replayable {
				f.Replayable++
			}
		}
		if q.concerns == "" && q.rule == "" {
			q.concerns = concerned(s, t, made)
		}
		q.Words, q.Session, q.Turn, q.Copied, q.reply, q.of = words, s.ID, t, s.Copied(reply, words), reply, key(s, t)
		if q.Time = s.Started; reply < len(s.Turns) && !s.Turns[reply].Time.IsZero() {
			q.Time = s.Turns[reply].Time
		}
		return q, words != ""
	}
	return q, false
}

// concerned is the skill that a correction of a turn is about if no model has read it, "" for
// none: of several that were loaded, the one whose case it is.
func concerned(s *harvest.Session, turn int, made map[string]bool) (of string) {
	for _, v := range s.Invocations {
		if v.Turn != turn || !v.Used() {
			continue
		}
		if id, _ := harvest.CaseOf(s, v); made[id] {
			return "skill:" + v.Skill
		}
		if of == "" {
			of = "skill:" + v.Skill
		} else if of != "skill:"+v.Skill {
			of = "-" // several
		}
	}
	return strings.TrimPrefix(of, "-")
}

// byModel groups quotes by the wordings of their rules. rest have none.
func byModel(quotes []Quote, wordings map[string]string) (out []Rule, rest []Quote) {
	at := map[string]int{}
	for _, q := range quotes {
		w := wordings[q.rule]
		if w == "" {
			rest = append(rest, q)
			continue
		}
		i, ok := at[w]
		if !ok {
			i, out = len(out), append(out, Rule{Rule: w})
			at[w] = i
		}
		out[i].Quotes = append(out[i].Quotes, q)
	}
	return out, rest
}

// group puts quotes with the same rule together, and those without one that have words in
// common.
func group(quotes []Quote, wordings map[string]string) []Rule {
	out, quotes := byModel(quotes, wordings)
	out = append(out, byRule(quotes)...)
	out = append(out, byWords(slices.DeleteFunc(slices.Clone(quotes), func(q Quote) bool { return q.rule != "" }))...)
	for i := range out {
		r := &out[i]
		slices.SortFunc(r.Quotes, func(a, b Quote) int {
			return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Turn, b.Turn))
		})
		of := map[string]bool{}
		for _, q := range r.Quotes {
			if !q.Copied {
				of[q.Session] = true
			}
		}
		r.Sessions, r.Last, r.Concerns = len(of), r.Quotes[0].Time, mostOf(r.Quotes)
	}
	slices.SortStableFunc(out, func(a, b Rule) int {
		rules := func(r Rule) int { // before what has no rule
			if r.Rule != "" {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(rules(a), rules(b)), cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(len(b.Quotes), len(a.Quotes)), b.Last.Compare(a.Last))
	})
	return out
}

// mostOf is what most of the quotes concern.
func mostOf(quotes []Quote) string {
	n := map[string]int{}
	best := quotes[0].concerns
	for _, q := range quotes {
		if n[q.concerns]++; n[q.concerns] > n[best] {
			best = q.concerns
		}
	}
	return best
}

package harvest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/content"
	"github.com/skill-evolve/evolve/harvest/fenced"
	"github.com/skill-evolve/evolve/harvest/redact"
)

// maxReference is how much of an accepted answer a case holds, in characters: every
// prompt of a judge repeats it.
const maxReference = 12000

// MaxCases is how many uses of a skill in one session become cases. All cases of a session
// count as one cluster, so more of them hardly tell more.
const MaxCases = 500

// A Miner makes eval cases of uses of a skill. The zero value works: it calls no model.
type Miner struct {
	// Model writes checks from corrections; nil: each correction becomes a
	// judge's rubric that quotes it.
	Model eval.Model
	// Memory keeps the corrections for which Model wrote no usable checks, so that it
	// is not asked again; nil: it is.
	Memory   Memory
	Redactor redact.Redactor  // for what the model returns; nil: redact.Detector
	Now      func() time.Time // nil: time.Now; dates cases whose session has no clock
	// May reports whether Model may be shown a session; nil: every one.
	May func(*Session) bool
	// Workspace is where the request of a turn was made, as checkout.Finder finds it; nil: cases
	// have no workspace. Its error ends Mine.
	Workspace func(ctx context.Context, s *Session, turn int) (*eval.Workspace, error)
	// IncludeHeadless admits sessions that a program drove. No person read their
	// answers, so what follows them is weak evidence.
	IncludeHeadless bool
	// Attribute decides about a correction of a turn in which other skills were loaded, too; ok
	// is false if none was. nil: the correction becomes a case of each of them.
	Attribute func(s *Session, v Invocation, corrections []int) (a Attribution, ok bool, err error)
	// Moment reports whether a turn becomes a case, whatever skills were used in it; nil:
	// the uses of a skill do.
	Moment func(s *Session, turn int) bool
	// Repeats gives, of the answers in these turns, the share of words that a tool had shown to
	// the agent before anybody wrote them; nil: none. What repeats a file is no reference.
	Repeats func(s *Session, turns []int) map[int]float64
	// MinConfidence is the least confidence of a label that becomes a case;
	// 0 means 0.5.
	MinConfidence float64
	// Existing are the cases that are stored already. They are not mined again with the
	// same outcome, and their near-duplicates join their cluster.
	Existing []eval.Case
	// Kept are cases that Model may still write checks of although the text of their
	// sessions has expired. Mine returns each, with or without other checks.
	Kept []Kept

	asked  int      // how often Model was
	of     *Session // of shares
	shares map[int]float64
}

// MineStats counts the results of Mine. Every use of the skill is counted in exactly
// one of Failed, TooMany, Known and the six labels.
type MineStats struct {
	Sessions  int `json:"sessions"`           // read
	Headless  int `json:"headless"`           // skipped: driven by a program, or a subagent
	Copies    int `json:"copies"`             // skipped: the same session under another name
	Replays   int `json:"replays"`            // skipped: evolve itself drove it
	Uses      int `json:"uses"`               // of the skill; several in one turn are one
	Failed    int `json:"failed"`             // the agent refused the skill
	TooMany   int `json:"too_many,omitempty"` // beyond MaxCases of its session
	Corrected int `json:"corrected"`          // by label
	Accepted  int `json:"accepted"`
	Rejected  int `json:"rejected"`
	Repeated  int `json:"repeated"`
	Abandoned int `json:"abandoned"`
	Unknown   int `json:"unknown"`

	Elsewhere    int `json:"attributed_elsewhere,omitempty"` // corrected, but it is a case of another skill loaded in the turn
	Unattributed int `json:"unattributed,omitempty"`         // corrected, and nothing says which of the skills it is about

	NotReplayable int `json:"not_replayable"`              // neither prompt nor context contains the request
	Repeating     int `json:"repeating_answers,omitempty"` // their accepted answer repeats what a tool showed: no reference
	NoAnswer      int `json:"no_answer"`                   // accepted, but no answer was recorded: a case without a comparison
	Known         int `json:"known"`                       // in Existing already
	Cases         int `json:"cases"`
	Clusters      int `json:"clusters"`

	// NoCase has, by the case that a corrected use would be, why none is: what a model says of it.
	NoCase map[string]string `json:"no_case,omitempty"`

	ModelCalls int `json:"model_calls"`
	// Fallbacks counts, by reason, the cases whose checks the model could not write.
	Fallbacks map[string]int `json:"fallbacks,omitempty"`
}

// of is the count of a label.
func (m *MineStats) of(l Label) *int {
	switch l {
	case Corrected:
		return &m.Corrected
	case Accepted:
		return &m.Accepted
	case Rejected:
		return &m.Rejected
	case Repeated:
		return &m.Repeated
	case Abandoned:
		return &m.Abandoned
	}
	return &m.Unknown
}

// refuse keeps that a turn is no case, if that is why it has no checks.
func (m *MineStats) refuse(id, why string) {
	if fenced.NoCase(why) {
		if m.NoCase == nil {
			m.NoCase = map[string]string{}
		}
		m.NoCase[id] = why
	}
}

// Asked counts a result of Miner.Checks.
func (m *MineStats) Asked(why string) {
	if why != "" && why != NotAsked {
		if m.Fallbacks == nil {
			m.Fallbacks = make(map[string]int)
		}
		m.Fallbacks[why]++
	}
}

// Mine turns the uses of a skill in sessions into cases: a corrected use into checks on
// what the user asked for, an accepted use into a comparison with its answer, and one
// about which nothing was said into the question whether the request is fulfilled: cases
// of corrections alone would reward a skill for breaking what works. Sessions
// must be assessed and redacted, as the readers return them. Case ids depend on
// session, turn and skill alone; Split is left empty.
//
// If a model fails or its reply cannot be used, the case only gets simpler checks;
// m.Memory keeps that the reply was useless. The error is *eval.BudgetError or ctx's;
// the cases before it are returned with it.
func Mine(ctx context.Context, sessions []*Session, skill string, m Miner) ([]eval.Case, MineStats, error) {
	if m.Now == nil {
		m.Now = time.Now
	}
	if m.MinConfidence == 0 {
		m.MinConfidence = usualConfidence
	}
	stats := MineStats{}
	var cases []eval.Case
	var err error
	sessions = m.admit(sessions, &stats)
	for _, s := range sessions {
		for i, u := range m.uses(s, skill) {
			if i >= MaxCases {
				stats.Uses++
				stats.TooMany++
				continue
			}
			var c *eval.Case
			if c, err = m.use(ctx, s, u, &stats); err != nil {
				break
			}
			if c != nil {
				cases = append(cases, *c)
			}
		}
		if err != nil {
			break
		}
	}
	if m.Model != nil {
		for _, k := range m.Kept {
			if slices.ContainsFunc(cases, func(c eval.Case) bool { return c.ID == k.Case.ID }) {
				continue // its session continued, and has all of its text again
			}
			of := &Session{ID: k.Case.Source.Session, Agent: k.Case.Source.Agent, Folders: k.Folders, Vendor: k.Vendor}
			if err == nil && (m.May == nil || m.May(of)) {
				err = m.again(ctx, &k, &stats)
			}
			cases = append(cases, k.Case)
		}
	}
	stats.Cases, stats.ModelCalls = len(cases), m.asked
	stats.Clusters, _ = content.Cluster(cases, m.Existing)
	return cases, stats, err
}

// admit are the sessions that cases may be made of.
func (m *Miner) admit(sessions []*Session, stats *MineStats) []*Session {
	distinct := Distinct(sessions)
	stats.Copies = len(sessions) - len(distinct)
	return slices.DeleteFunc(distinct, func(s *Session) bool {
		stats.Sessions++
		switch {
		case OwnReplay(s):
			stats.Replays++
		case s.Subagent != "" || s.Headless && !m.IncludeHeadless:
			stats.Headless++
		default:
			return false
		}
		return true
	})
}

// uniqueUses are the invocations of skill, at most one per turn, an explicit one if
// there is any.
func uniqueUses(s *Session, skill string) []Invocation {
	var out []Invocation
	for _, v := range s.Invocations {
		if v.Skill != skill || v.Planned() || v.Turn < 0 || v.Turn >= len(s.Turns) {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Turn == v.Turn {
			if out[n-1].Failed || v.Explicit && !out[n-1].Explicit {
				out[n-1] = v
			}
			continue
		}
		out = append(out, v)
	}
	return out
}

// uses are the uses of a skill that become cases, or the moments, see m.Moment.
func (m *Miner) uses(s *Session, skill string) []Invocation {
	if m.Moment == nil {
		return uniqueUses(s, skill)
	}
	return slices.DeleteFunc(everyTurn(s, skill), func(v Invocation) bool { return !m.Moment(s, v.Turn) })
}

// everyTurn has each turn of a session as a use of what is loaded in all of them.
func everyTurn(s *Session, of string) []Invocation {
	out := make([]Invocation, len(s.Turns))
	for t := range s.Turns {
		out[t] = Invocation{Skill: of, Turn: t}
	}
	return out
}

// use makes a case of one use, or counts the reason why it makes none.
func (m *Miner) use(ctx context.Context, s *Session, v Invocation, stats *MineStats) (*eval.Case, error) {
	stats.Uses++
	if v.Failed {
		stats.Failed++
		return nil, nil
	}
	out := assess(s, v)
	c := m.draft(s, v, out)
	if slices.ContainsFunc(m.Existing, func(e eval.Case) bool {
		return e.ID == c.ID && e.Source != nil && e.Source.Outcome == c.Source.Outcome
	}) {
		stats.Known++
		return nil, nil
	}
	*stats.of(out.Label)++
	if !replayable(c) {
		stats.NotReplayable++
		return nil, nil
	}
	if this, err := m.attribute(s, v, &out, c, stats); !this || err != nil {
		return nil, err
	}
	if m.Workspace != nil {
		var err error
		if c.Workspace, err = m.Workspace(ctx, s, v.Turn); err != nil {
			return nil, err
		}
	}
	repeats := out.final >= 0 && c.Source.Stratum != eval.Silent && m.repeats(s, v.Skill, out.final)
	if repeats {
		stats.Repeating++
	} else if out.final >= 0 {
		c.Reference = s.Turns[out.final].Answer
	}
	switch {
	case c.Source.Stratum == eval.Silent:
	case out.Label == Accepted && repeats:
	case out.Label == Accepted && c.Reference == "":
		stats.NoAnswer++
	case out.Label == Accepted:
		c.Checks = []eval.Check{comparison(out.Evidence)}
	case out.Label == Corrected:
		checks, why, err := m.Checks(ctx, s, v.Turn, out.corrections, out.final, c)
		if err != nil {
			return nil, err
		}
		stats.Asked(why)
		stats.refuse(c.ID, why)
		c.Checks, c.Source.Copied = checks, s.Copied(out.Turn, out.Evidence)
	}
	if len(c.Checks) == 0 {
		c.Checks, c.Reference = []eval.Check{Fulfilled}, ""
	}
	c.Reference = Head(c.Reference, maxReference)
	m.clean(c)
	return c, nil
}

// repeats reports whether most words of a turn's answer are a file's, or whatever else a tool
// showed to the agent: who wrote that may write what a later answer is compared with.
func (m *Miner) repeats(s *Session, skill string, turn int) bool {
	if m.Repeats == nil {
		return false
	}
	if m.of != s {
		var turns []int
		for _, v := range m.uses(s, skill) {
			if final := assess(s, v).final; final >= 0 && !slices.Contains(turns, final) {
				turns = append(turns, final)
			}
		}
		m.of, m.shares = s, m.Repeats(s, turns)
	}
	return m.shares[turn] > .5
}

// draft is the case without checks.
func (m *Miner) draft(s *Session, v Invocation, out outcome) *eval.Case {
	turn := s.Turns[v.Turn]
	at := turn.Time
	if at.IsZero() {
		at = s.Started
	}
	if at.IsZero() {
		at = m.Now().UTC()
	}
	c := &eval.Case{
		ID:      caseID(s, v),
		Skill:   v.Skill,
		Prompt:  turn.Prompt,
		Cluster: "session-" + s.ID,
		Source: &eval.Source{Agent: s.Agent, Session: s.ID, Turn: turn.ID, Origin: "mined", Outcome: string(out.Label), Time: at,
			Stratum: m.stratum(out.Feedback)},
	}
	// What uses a skill says what it wants of it as a rule; a turn like any other goes on
	// with the one before.
	if m.Moment != nil || dependent(turn.Prompt) {
		c.Context = preceding(s, v.Turn)
	}
	return c
}

// Why a use is no case.
const (
	noCaseFailed   = "the agent refused the skill"
	noCaseHeadless = "no person read the answer"
	noCaseRequest  = "neither the message nor those before it contain the request"
)

// CaseOf is the id of the case that a use becomes, or why it becomes none.
func CaseOf(s *Session, v Invocation) (id, why string) {
	m := Miner{Now: time.Now, MinConfidence: usualConfidence}
	switch {
	case v.Failed:
		return "", noCaseFailed
	case s.Subagent != "" || s.Headless:
		return "", noCaseHeadless
	case v.Turn < 0 || v.Turn >= len(s.Turns) || !replayable(m.draft(s, v, assess(s, v))):
		return "", noCaseRequest
	}
	return caseID(s, v), ""
}

// caseID is the id of the case that is made of a use.
func caseID(s *Session, v Invocation) string {
	id := s.Turns[v.Turn].ID
	if id == "" {
		id = fmt.Sprint(v.Turn)
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{s.Agent, s.ID, id, v.Skill}, "\x00")))
	return "mined-" + hex.EncodeToString(sum[:8])
}

// clean redacts every text of c again: what a model wrote was not redacted yet, and
// joined text may hold a secret that its parts did not.
func (m *Miner) clean(c *eval.Case) {
	do := func(s *string) { *s = m.redact(*s) }
	do(&c.Prompt)
	do(&c.Reference)
	for i := range c.Context {
		do(&c.Context[i].Text)
	}
	for i := range c.Checks {
		do(&c.Checks[i].Value)
		do(&c.Checks[i].Path)
		do(&c.Checks[i].Rubric)
		do(&c.Checks[i].Feedback)
	}
}

func (m *Miner) redact(text string) string {
	text, _ = m.redactor().Redact(text)
	return text
}

func (m *Miner) redactor() redact.Redactor {
	if m.Redactor == nil {
		return redact.Detector{}
	}
	return m.Redactor
}

// stratum is that of a use with such feedback: eval.Silent, or Accepted, or Corrected, which
// also holds what was thrown away or asked for again.
func (m *Miner) stratum(f Feedback) string { return stratum(f, m.MinConfidence) }

// Stratum is the stratum of a use of which that is known.
func Stratum(f Feedback) string { return stratum(f, usualConfidence) }

// usualConfidence is Miner.MinConfidence if it is 0.
const usualConfidence = 0.5

func stratum(f Feedback, least float64) string {
	switch {
	case f.Confidence < least:
		return eval.Silent
	case f.Label == Accepted:
		return string(Accepted)
	case f.Label == Corrected, f.Label == Rejected, f.Label == Repeated:
		return string(Corrected)
	}
	return eval.Silent
}

// Fulfilled is the check of a use of which nothing is known but the request.
var Fulfilled = eval.Check{Type: eval.Judge, Rubric: "The answer does all that the request asks for, and does it correctly.",
	Feedback: "does not do all that was asked for"}

// comparison is the check of an accepted use.
func comparison(evidence string) eval.Check {
	return eval.Check{
		Type: eval.Judge,
		Rubric: "The answer is as good as the accepted reference: it does all that the user asked for and that the reference does. " +
			"Other words, another order and other means are fine.",
		Feedback: eval.Saying("worse than the answer that the user accepted", evidence),
	}
}

// Package generated has a model write cases of a skill from real ones.
package generated

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/fenced"
	"github.com/skill-evolve/evolve/harvest/redact"
)

//go:embed prompts/system.txt
var systemText string

var system = check.ListTypes(systemText, false)

const (
	casesACall   = 5 // cases requested in one call
	shownCases   = 4 // recorded cases shown in one call
	shownWritten = 40
	replyTokens  = 6000 // of one reply
	// tooAlike is the share of common runs of words from which a generated request
	// counts as a copy of an existing one. It is lower than content.Alike, because
	// dropping a generated case loses nothing.
	tooAlike = .5
)

// origins names the origin of what the prompt quotes.
const origins = "Recorded (origin of skill and description: the skill; of context: its role; of prompt, files and checks: user, as a model may have put it; of pasted: unknown; of written: a model):\n"

// ErrNoBasis means that a skill has no real case that others may be written from:
// held-out cases are never shown to a model.
var ErrNoBasis = errors.New("no real case for train or val to write others from")

// A Generator has a model write cases from real ones.
type Generator struct {
	Model    eval.Model
	Redactor redact.Redactor  // for what the model returns; nil: redact.Detector
	Now      func() time.Time // nil: time.Now
	// Description is the skill's own description of its purpose.
	Description string
	// Existing are all cases of the skill. The model is shown the real ones in train
	// and val; near-duplicates of any are dropped.
	Existing []eval.Case
	// May reports whether the model may be shown a case; nil: every one.
	May func(*eval.Case) bool
}

// Stats counts the results of Cases.
type Stats struct {
	Basis   int `json:"basis"` // real cases to write from
	Calls   int `json:"calls"` // of the model
	Cases   int `json:"cases"`
	Alike   int `json:"alike"`   // dropped: near-duplicates
	Invalid int `json:"invalid"` // dropped: no valid case
	Secrets int `json:"secrets"` // dropped: a check compares with a secret
	// Unusable counts the replies that could not be used at all, by reason.
	Unusable map[string]int `json:"unusable,omitempty"`
}

// CallsFor is how many calls n cases take if every reply can be used, and how many at
// most.
func CallsFor(n int) (least, most int) {
	least = (n + casesACall - 1) / casesACall
	return least, 2*least + 1
}

// Cases has the model write up to n cases of a skill: variations of real ones with
// other people, harder data, or a twist that requires another answer. It ends early if
// replies bring nothing new.
//
// A generated case has inert checks only, Source.Origin "generated", and the session
// and the cluster of the case that it varies; Source.Also has the other sessions that the
// model had seen. So it is purged with each of them, goes only to whom all their text may
// go, gets that case's split, and is never held out. Ids depend on skill and request alone.
//
// The error is ErrNoBasis, *eval.BudgetError, *eval.InfraError or ctx's; the cases
// before it are returned with it.
func Cases(ctx context.Context, skill string, n int, g Generator) ([]eval.Case, Stats, error) {
	if g.Redactor == nil {
		g.Redactor = redact.Detector{}
	}
	if g.Now == nil {
		g.Now = time.Now
	}
	stats := Stats{Unusable: make(map[string]int)}
	basis := basisOf(g.Existing)
	if g.May != nil {
		basis = slices.DeleteFunc(basis, func(c eval.Case) bool { return !g.May(&c) })
	}
	stats.Basis = len(basis)
	if len(basis) == 0 {
		return nil, stats, ErrNoBasis
	}
	known := make([]map[uint64]bool, 0, len(g.Existing)+n)
	for _, c := range g.Existing {
		known = append(known, shingles(eval.Case{Prompt: c.Prompt}))
	}
	var out []eval.Case
	var seen []eval.Source // whose text the model has seen, also in what it wrote before
	_, most := CallsFor(n)
	for barren := 0; len(out) < n && stats.Calls < most && barren < 2; {
		shown := rotate(basis, stats.Calls*shownCases, shownCases)
		for _, c := range shown {
			if s := c.Source; s != nil && (s.Session != "" || s.Agent != "") && !slices.ContainsFunc(seen, same(s)) {
				seen = append(seen, eval.Source{Agent: s.Agent, Session: s.Session})
			}
		}
		drafts, why, err := g.ask(ctx, skill, shown, out, min(casesACall, n-len(out)), stats.Calls)
		stats.Calls++
		if err != nil {
			stats.Cases = len(out)
			return out, stats, err
		}
		if why != "" {
			stats.Unusable[why]++
			barren++
			continue
		}
		barren++
		for _, d := range drafts {
			if len(out) == n {
				break
			}
			c, secrets, err := g.build(skill, d, shown[d.From-1], seen)
			set := shingles(eval.Case{Prompt: c.Prompt})
			switch {
			case secrets:
				stats.Secrets++
			case err != nil:
				stats.Invalid++
			case slices.ContainsFunc(known, func(k map[uint64]bool) bool { return harvest.Jaccard(k, set) >= tooAlike }):
				stats.Alike++
			default:
				known = append(known, set)
				out = append(out, c)
				barren = 0
			}
		}
	}
	stats.Cases = len(out)
	return out, stats, nil
}

// same reports whether a session is that of s, or of its agent if s names none.
func same(s *eval.Source) func(eval.Source) bool {
	return func(t eval.Source) bool { return s.Agent == t.Agent && s.Session == t.Session }
}

// basisOf are the real cases that may be shown, ordered by how many of their cluster
// come before: the first of each cluster comes first, so that a long session does not
// dominate.
func basisOf(cases []eval.Case) []eval.Case {
	type ranked struct {
		c    eval.Case
		rank int
	}
	held := make(map[string]bool)
	for i := range cases {
		held[eval.ClusterOf(&cases[i])] = held[eval.ClusterOf(&cases[i])] || cases[i].Split == eval.Test
	}
	var all []ranked
	seen := make(map[string]int)
	for _, c := range cases {
		name := eval.ClusterOf(&c)
		if c.Generated() || held[name] || c.Split != eval.Train && c.Split != eval.Val {
			continue
		}
		all = append(all, ranked{c, seen[name]})
		seen[name]++
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	out := make([]eval.Case, len(all))
	for i, r := range all {
		out[i] = r.c
	}
	return out
}

// rotate returns n of cases from index at on, and continues at the start.
func rotate(cases []eval.Case, at, n int) []eval.Case {
	var out []eval.Case
	for i := range min(n, len(cases)) {
		out = append(out, cases[(at+i)%len(cases)])
	}
	return out
}

// exhibit is what the model sees of a case, see harvest.Quote.
type exhibit struct {
	Skill       string     `json:"skill"`
	Description string     `json:"description,omitempty"`
	Recorded    []specimen `json:"recorded"`
	Written     []string   `json:"written,omitempty"`
	Wanted      int        `json:"wanted"`
}

type specimen struct {
	Number  int            `json:"number"`
	Context []eval.Message `json:"context,omitempty"`
	Prompt  string         `json:"prompt"`
	Pasted  harvest.Pastes `json:"pasted,omitempty"`
	Files   []string       `json:"files,omitempty"` // their names
	Checks  []eval.Check   `json:"checks"`
}

// ask has the model write cases. If its reply cannot be used, why is the reason.
func (g *Generator) ask(ctx context.Context, skill string, shown, written []eval.Case, wanted, call int) (drafts []draft, why string, err error) {
	seen := exhibit{Skill: skill, Description: harvest.Head(g.Description, harvest.MaxQuote), Wanted: wanted}
	for i, c := range shown {
		s := specimen{Number: i + 1}
		s.Prompt = s.Pasted.TakeFrom(c.Prompt)
		for _, m := range c.Context[max(0, len(c.Context)-4):] {
			s.Context = append(s.Context, eval.Message{Role: m.Role, Text: harvest.Tail(m.Text, harvest.MaxQuote/4)})
		}
		for path := range c.Files {
			s.Files = append(s.Files, path)
		}
		slices.Sort(s.Files)
		for _, k := range c.Checks {
			if !k.Executing() { // checks that run programs are not shown
				s.Checks = append(s.Checks, eval.Check{Type: k.Type, Value: harvest.Head(k.Value, fenced.MaxText), Max: k.Max,
					Rubric: harvest.Head(k.Rubric, fenced.MaxText), Feedback: harvest.Head(k.Feedback, fenced.MaxText)})
			}
		}
		seen.Recorded = append(seen.Recorded, s)
	}
	for _, c := range written[max(0, len(written)-shownWritten):] {
		seen.Written = append(seen.Written, harvest.Head(strings.Join(strings.Fields(c.Prompt), " "), 160))
	}
	user, err := harvest.Quote(origins, seen, g.Redactor)
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256([]byte(fmt.Sprint(skill, "\x00", call, "\x00", user)))
	reply, err := g.Model.Complete(ctx, eval.Prompt{System: system, User: user, MaxTokens: replyTokens,
		Seed: int64(binary.BigEndian.Uint64(sum[:]) >> 1)})
	if err != nil {
		return nil, "", fmt.Errorf("generate cases: %w", err)
	}
	if reply.Finish == "length" {
		return nil, "cut off", nil
	}
	drafts, err = parseCases(reply.Text, len(shown))
	if err != nil {
		return nil, "unreadable", nil
	}
	return drafts, "", nil
}

// build makes a case of a draft that varies the case from; seen are the sessions that the
// model may repeat. secrets is true if a check, a path or a workspace of the draft contains
// a secret.
func (g *Generator) build(skill string, d draft, from eval.Case, seen []eval.Source) (c eval.Case, secrets bool, err error) {
	clean := func(s string) string { s, _ = g.Redactor.Redact(s); return s }
	c = eval.Case{Skill: skill, Prompt: clean(strings.TrimSpace(d.Prompt)), Cluster: eval.ClusterOf(&from),
		Source: &eval.Source{Origin: "generated", Time: g.Now().UTC()}}
	if from.Source != nil {
		c.Source.Agent, c.Source.Session, c.Source.Turn = from.Source.Agent, from.Source.Session, from.Source.Turn
	}
	c.Source.Also = slices.DeleteFunc(slices.Clone(seen), same(c.Source))
	sum := sha256.Sum256([]byte(skill + "\x00" + strings.Join(strings.Fields(strings.ToLower(c.Prompt)), " ")))
	c.ID = "generated-" + hex.EncodeToString(sum[:8])
	for path, text := range d.Files {
		if clean(path) != path {
			return c, true, nil
		}
		if c.Files == nil {
			c.Files = make(map[string]string)
		}
		c.Files[path] = clean(text)
	}
	for _, k := range d.Checks {
		if clean(k.Value) != k.Value {
			return c, true, nil
		}
		k.Rubric, k.Feedback = clean(k.Rubric), clean(k.Feedback)
		c.Checks = append(c.Checks, k)
	}
	return c, false, cmp.Or(tidy(c), c.Validate())
}

var shingleSeed = maphash.MakeSeed()

// shingles are the runs of three words of what a case asks, context included, as
// content.Repeats compares them.
func shingles(c eval.Case) map[uint64]bool {
	var b strings.Builder
	for _, m := range c.Context {
		b.WriteString(m.Text)
		b.WriteByte(' ')
	}
	b.WriteString(c.Prompt)
	fields := strings.Fields(strings.ToLower(b.String()))
	set := make(map[uint64]bool, len(fields))
	const run = 3
	for i := 0; i == 0 || i+run <= len(fields); i++ {
		set[maphash.String(shingleSeed, strings.Join(fields[i:min(i+run, len(fields))], " "))] = true
	}
	return set
}

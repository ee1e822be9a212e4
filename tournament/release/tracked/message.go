package tracked

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/git"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
)

// Lengths of a commit message, in characters.
const (
	subjectLength = 72
	ruleLength    = 120
	quoteLength   = 120
)

// message is the commit message: what changed, then the reason of each rule, in numbers.
// The rules are sentences of the file, so it says no more of the sessions than the change
// itself; with Quotes it also has what was said.
func (p *promotion) message(ctx context.Context) (string, error) {
	changes, err := p.changes(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	subject := p.git.Path + ": " + summary(changes)
	if len(changes) == 1 {
		if one := fmt.Sprintf("%s: %s “%s”", p.git.Path, verbs[changes[0].Kind], plain.Line(changes[0].Text)); plain.Width(one) <= subjectLength {
			subject = one
		}
	}
	fmt.Fprintf(&b, "%s\n\n", plain.Excerpt(subject, subjectLength))
	for i := range changes {
		reason, err := p.reason(ctx, &changes[i])
		if err != nil {
			return "", err
		}
		b.WriteString(reason)
	}
	if len(changes) > 0 {
		b.WriteString("\n")
	}
	evidence, err := p.evidence()
	if err != nil {
		return "", err
	}
	b.WriteString(evidence + "\n")
	text, _ := p.Redactor.Redact(b.String())
	return text, nil
}

var verbs = map[string]string{"added": "add", "reworded": "reword", "removed": "remove"}

// summary counts what changed.
func summary(changes []candidate.Change) string {
	var parts []string
	for _, kind := range []string{"added", "reworded", "removed"} {
		n := 0
		for i := range changes {
			if changes[i].Kind == kind {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", verbs[kind], plain.Counted(n, "rule")))
		}
	}
	if len(parts) == 0 {
		return "change the wording"
	}
	return strings.Join(parts, ", ")
}

// changes are the sentences that differ, with what taught them; none of a text that no run
// has made.
func (p *promotion) changes(ctx context.Context) ([]candidate.Change, error) {
	texts := &candidate.Texts{Skill: p.live.Name, Live: p.live, Store: p.in.Store}
	first, _, err := texts.Made(ctx, p.v.SHA)
	if first == nil || err != nil {
		return nil, err
	}
	doc, err := skill.Stored(p.live.Name, p.v.Text)
	if err != nil {
		return nil, err
	}
	h, err := texts.History(ctx, &candidate.Text{Label: p.live.Name, Doc: doc})
	if err != nil {
		return nil, err
	}
	return h.Changes(p.v.SHA), nil
}

// reason is the line of one rule: what was said of it, how often and when.
func (p *promotion) reason(ctx context.Context, c *candidate.Change) (string, error) {
	line := fmt.Sprintf("- %s “%s”", verbs[c.Kind], plain.Excerpt(c.Text, ruleLength))
	corrected, accepted := map[string]bool{}, map[string]bool{}
	var times []time.Time
	var quotes []string
	seen := map[string]bool{}
	for _, step := range c.Steps {
		for _, k := range step.Cases {
			if seen[k.Case] {
				continue
			}
			seen[k.Case] = true
			kase, err := p.in.Store.Case(ctx, p.live.Name, k.Case)
			if errors.Is(err, store.ErrNotFound) { // purged since
				continue
			} else if err != nil {
				return "", err
			}
			if src := kase.Source; src != nil && !src.Time.IsZero() {
				times = append(times, src.Time)
			}
			switch k.Outcome {
			case "corrected":
				corrected[session(kase)] = true
			case "accepted":
				accepted[session(kase)] = true
			}
			if k.Words != "" {
				quotes = append(quotes, plain.Excerpt(k.Words, quoteLength))
			}
		}
	}
	var why []string
	if n := len(corrected); n > 0 {
		why = append(why, "corrected in "+plain.Counted(n, "session"))
	}
	if n := len(accepted); n > 0 {
		why = append(why, "accepted in "+plain.Counted(n, "session"))
	}
	if len(times) > 0 {
		slices.SortFunc(times, time.Time.Compare)
		from, to := times[0].UTC().Format(time.DateOnly), times[len(times)-1].UTC().Format(time.DateOnly)
		if why = append(why, from); from != to {
			why[len(why)-1] = from + " to " + to
		}
	}
	if len(why) > 0 {
		line += ": " + strings.Join(why, ", ")
	}
	if p.Quotes {
		for _, q := range quotes {
			line += "\n  said: “" + q + "”"
		}
	}
	return line + "\n", nil
}

func session(c *eval.Case) string {
	if c.Source == nil {
		return ""
	}
	return c.Source.Session
}

// evidence is what the trial came to, in a sentence.
func (p *promotion) evidence() (string, error) {
	var d pareto.Decision
	if v, err := candidate.VerdictOf(p.v.Evidence); err != nil {
		return "", err
	} else if v != nil {
		d = v.Decision
	}
	if p.trial != nil && p.trial.Revision > 0 {
		var err error
		if d, err = p.trial.Evidence(); err != nil {
			return "", err
		}
	}
	if d.Cases == 0 {
		return "Not tried against the text before.", nil
	}
	word := "Not shown to be better"
	if p.v.Proven {
		word = "Better (at most 5 % luck)"
	}
	said := fmt.Sprintf("%s: %s, on %s of recorded work that it did not learn from (%d won, %d lost, %d tied).",
		word, pareto.Chance(d.EValue), plain.Counted(d.Cases, "case"), d.Wins, d.Losses, d.Ties)
	if p.v.Simulated {
		said += " SIMULATED: it says nothing about a real model."
	}
	return said, nil
}

// ofSeveral refuses a text that rests on one person's sessions: a rule of one person
// belongs into that person's own file. A text that evolve did not make is its owner's word.
func (p *promotion) ofSeveral(ctx context.Context) error {
	if p.v.Author != "evolve" {
		return nil
	}
	if several, err := p.several(ctx); several || err != nil {
		return err
	}
	return problem.Refusef("--for-everyone does it at your word; a rule that is yours alone belongs into a file of your own, such as ~/.claude/CLAUDE.md or CLAUDE.local.md",
		"git tracks %s, so others get it, and the sessions of no more than one person speak for %.12s", p.git.Path, p.v.SHA)
}

// Offer is the Offer of in, with the flag without which Promote refuses.
func Offer(ctx context.Context, in *release.Installer, live *skill.Live, trial *candidate.OnTrial) (command string, against release.Objections, err error) {
	command, against, err = in.Offer(ctx, live, trial)
	if command == "" || err != nil || !live.Tracked {
		return command, against, err
	}
	word, err := flag(ctx, in.Store, live, trial.Challenger)
	return command + word, against, err
}

// Command takes a text of live at its owner's word: name is the subject's, or names the text
// too. It has the flag without which Promote refuses.
func Command(ctx context.Context, db *store.Store, live *skill.Live, sha, name string) (string, error) {
	word, err := flag(ctx, db, live, sha)
	return "evolve promote " + name + word, err
}

// flag is what others who get a text have its owner add, "" for nothing.
func flag(ctx context.Context, db *store.Store, live *skill.Live, sha string) (string, error) {
	if !live.Tracked {
		return "", nil
	}
	p := promotion{in: &release.Installer{Store: db}, live: live, v: &record.Version{SHA: sha}}
	if several, err := p.several(ctx); several || err != nil {
		return "", err
	}
	return " --for-everyone", nil
}

// several reports whether the sessions of two people or more speak for the text.
func (p *promotion) several(ctx context.Context) (bool, error) {
	cases, err := p.taught(ctx, (*candidate.Texts).Lessons)
	if err != nil {
		return false, err
	}
	mine := map[string]bool{"": true}
	for _, address := range git.Identities(ctx) {
		mine[harvest.AuthorOf(address)] = true
	}
	own, others := 0, map[string]bool{}
	for i := range cases {
		id := session(&cases[i])
		if id == "" { // imported: it is nobody's session
			continue
		}
		all, err := p.in.Store.Sessions(ctx, store.SessionFilter{ID: id, Bare: true})
		if err != nil {
			return false, err
		}
		for _, ses := range all {
			if mine[ses.Author] {
				own = 1
			} else {
				others[ses.Author] = true
			}
		}
	}
	if len(mine) == 1 { // git does not know the person's address: they may be one of the others
		own = 0
	}
	return own+len(others) > 1, nil
}

// taught are the cases behind the text, as far as they are stored.
func (p *promotion) taught(ctx context.Context, of func(*candidate.Texts, context.Context, string, func(string) bool) ([]string, error)) (out []eval.Case, err error) {
	texts := &candidate.Texts{Skill: p.live.Name, Live: p.live, Store: p.in.Store}
	base := p.live.Doc.Hash()
	ids, err := of(texts, ctx, p.v.SHA, func(sha string) bool { return sha == base })
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		k, err := p.in.Store.Case(ctx, p.live.Name, id)
		if errors.Is(err, store.ErrNotFound) {
			continue
		} else if err != nil {
			return nil, err
		}
		out = append(out, *k)
	}
	return out, nil
}

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/judge"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/serve"
)

// standings are the order of the queue.
var standings = []candidate.Standing{candidate.Proven, candidate.Quarantined, candidate.Undecided, candidate.Approved}

// Queue lists what waits for its owner's word, over all skills.
func (s *serving) Queue(ctx context.Context) ([]serve.Waiting, error) {
	c := s.call()
	reg, err := c.registry()
	if err != nil {
		return nil, c.told(err)
	}
	var out []serve.Waiting
	for _, e := range reg.Entries {
		live, err := skill.ReadEntry(e)
		var syntax *skill.SyntaxError
		if errors.As(err, &syntax) { // the status page names it
			continue
		} else if err != nil {
			return nil, c.told(err)
		}
		all, err := candidate.All(ctx, s.db, e.Name)
		if err != nil {
			return nil, c.told(err)
		}
		for _, k := range all {
			w, err := s.waiting(ctx, live, k)
			if err != nil {
				return nil, c.told(err)
			}
			if w != nil {
				out = append(out, *w)
			}
		}
	}
	slices.SortStableFunc(out, func(v, w serve.Waiting) int {
		rank := func(x *serve.Waiting) int { return slices.Index(standings, candidate.Standing(x.Standing)) }
		return cmp.Or(cmp.Compare(rank(&v), rank(&w)), cmp.Compare(v.Skill, w.Skill))
	})
	return out, nil
}

// waiting is a candidate that its owner can do something about, nil for any other:
// one that was installed is a version, and stands with those.
func (s *serving) waiting(ctx context.Context, live *skill.Live, k *candidate.Candidate) (*serve.Waiting, error) {
	if _, err := s.db.VersionBySHA(ctx, live.Name, k.SHA); err == nil {
		return nil, nil
	} else if !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	w := &serve.Waiting{Skill: live.Name, SHA: k.SHA, Standing: string(k.Standing()), Words: k.Words()}
	against := k.Trial != nil && k.Trial.Incumbent == live.Doc.Hash()
	switch k.Standing() {
	case candidate.Quarantined:
		w.Acts = []serve.Act{serve.Approve, serve.Reject}
	case candidate.Proven, candidate.Undecided:
		if !against {
			return nil, nil
		}
		if k.Trial.Simulated {
			w.Words += " (simulated)"
		}
		w.Acts = []serve.Act{serve.Promote, serve.Reject}
	case candidate.Approved:
		if k.TriedIn != "" {
			return nil, nil
		}
		w.Acts = []serve.Act{serve.Reject}
	default:
		return nil, nil
	}
	return w, nil
}

// Plan says what a command would do, by trying it on a copy. What it would refuse is
// part of the plan.
func (s *serving) Plan(ctx context.Context, act serve.Act, name, at string) (_ *serve.Plan, err error) {
	c, err := s.open(ctx, datadir.Tries)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, c.told(c.close())) }()
	if strings.Contains(at, "@") {
		return nil, c.told(problem.Inputf("name a version or a candidate", "%q is no text", at))
	}
	live, err := c.layout().AsItIs(name)
	if err != nil {
		return nil, c.told(err)
	}
	p := &serve.Plan{Act: act, Skill: name, At: at}
	switch act {
	case serve.Approve, serve.Reject:
		err = c.planWord(ctx, c.db, p)
	case serve.Promote:
		err = c.planPromotion(ctx, c.db, live, p)
	case serve.Rollback:
		err = c.planBack(ctx, c.db, live, p)
	default:
		err = fmt.Errorf("plan %s: there is no such act", act)
	}
	p.Command = "evolve " + string(act) + " " + name
	if p.At != "" {
		short := p.At
		if !candidate.IsVersion(short) {
			short = plain.Short(short)
		}
		p.Command += "@" + short
	}
	if err != nil {
		var e *serve.Error
		if !errors.As(c.told(err), &e) || e.Kind == serve.Failed {
			return nil, c.told(err)
		}
		p.Refusal, p.Will = e, nil
	}
	pending, err := pendingOf(ctx, c.db, name)
	if err != nil {
		return nil, c.told(err)
	}
	for _, in := range pending {
		p.Will = append(p.Will, fmt.Sprintf("A %s in %s was interrupted: the same command finishes it first.", in.Op, c.targetOf(name, in.Path)))
	}
	p.Seen, err = stateOf(p.Act, p.Skill, p.At, live.Doc.Hash(), p.Will, p.Unproven, p.Refusal, p.Evidence, p.Findings, p.Diff)
	return p, err
}

// Do carries out a plan by its command.
func (s *serving) Do(ctx context.Context, act serve.Act, name, at, seen string, unproven bool) (_ *serve.Done, err error) {
	p, err := s.Plan(ctx, act, name, at)
	if err != nil {
		return nil, err
	}
	if p.Refusal != nil {
		return nil, p.Refusal
	}
	if p.Seen != seen {
		return nil, serve.ErrChanged
	}
	c, err := s.open(ctx, datadir.Writes)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, c.told(c.close())) }()
	arg := name
	if p.At != "" {
		arg += "@" + p.At
	}
	switch act {
	case serve.Approve, serve.Reject:
		return c.decided(ctx, arg, wordOf(act))
	case serve.Promote:
		return c.done(c.promoteSkill(ctx, arg, promoteFlags{yes: unproven}))
	default:
		return c.done(c.rollback(ctx, arg))
	}
}

// wordOf is what an act says of a candidate.
func wordOf(act serve.Act) store.Word {
	if act == serve.Approve {
		return store.Approved
	}
	return store.Rejected
}

// planWord is what approve and reject would do.
func (c *served) planWord(ctx context.Context, db *store.Store, p *serve.Plan) error {
	word := wordOf(p.Act)
	d, err := c.deciding(ctx, db, p.Skill+"@"+p.At, word)
	if err != nil {
		return err
	}
	p.At, p.Diff = d.c.SHA, d.r.Diff
	if err := as(d.r.Findings, &p.Findings); err != nil {
		return err
	}
	if err := as(d.r.Taught, &p.Taught); err != nil {
		return err
	}
	p.Evidence = []serve.Fact{{Name: "stands", Text: d.r.words}, {Name: "made in", Text: "run " + d.c.Run}}
	if d.c.Trial != nil {
		if p.Evidence, err = evidenceFacts(p.Evidence, d.c.Trial); err != nil {
			return err
		}
	}
	if d.r.IncumbentChanged {
		p.Evidence = append(p.Evidence, serve.Fact{Name: "note", Text: fmt.Sprintf("it was made from %s, and the live text has changed since: the diff is against the live text", plain.Short(d.r.Incumbent))})
	}
	name := p.Skill + "@" + plain.Short(p.At)
	switch {
	case d.done:
		p.Will = []string{"Nothing: that was your word already."}
	case p.Act == serve.Approve:
		p.Will = []string{fmt.Sprintf("The next `evolve --skill %s` starts its search with this candidate beside the live text; it has to prove itself like any other.", p.Skill),
			"Nothing is installed by this. That the firewall flagged it stays on record: nothing but your own promotion ever installs it.",
			fmt.Sprintf("`evolve reject %s` takes it back.", name)}
	default:
		p.Will = []string{"No later run proposes this text again. The live text stays as it is.", fmt.Sprintf("`evolve approve %s` takes it back.", name)}
	}
	return nil
}

// decided gives the owner's word, and says what follows from it.
func (c *served) decided(ctx context.Context, arg string, word store.Word) (*serve.Done, error) {
	c.JSON = true // as text it would show the evidence once more
	d, err := c.done(c.decide(ctx, arg, word, true))
	if err != nil {
		return nil, err
	}
	var r struct {
		SHA   string `json:"sha256"`
		State string `json:"state"`
		Next  string `json:"next"`
	}
	if err := json.Unmarshal(c.out.Bytes(), &r); err != nil {
		return nil, fmt.Errorf("read what was decided: %w", err)
	}
	name, _, _ := strings.Cut(arg, "@")
	d.Said = []string{fmt.Sprintf("%s: %s@%s", r.State, name, plain.Short(r.SHA)), "next: " + r.Next}
	return d, nil
}

// evidenceFacts adds what a trial has shown.
func evidenceFacts(to []serve.Fact, t *tournament.TrialRecord) ([]serve.Fact, error) {
	if t.Decision == candidate.NeverTried {
		return append(to, serve.Fact{Name: "evidence", Text: "none: it never came before the gate"}), nil
	}
	d, err := t.Evidence()
	if err != nil {
		return nil, err
	}
	return append(to, serve.Fact{Name: "evidence", Text: evidenceFrom(d).phrase()}, serve.Fact{Name: "verdict", Text: string(d.Verdict) + ": " + d.Reason}), nil
}

// planPromotion is what promote would do.
func (c *served) planPromotion(ctx context.Context, db *store.Store, live *skill.Live, p *serve.Plan) error {
	targets, err := c.targets(nil)
	if err != nil {
		return err
	}
	if err := c.recordLive(ctx, db, live); err != nil {
		return err
	}
	pr, err := c.promotion(ctx, db, live, p.At, targets, promoteFlags{})
	if err != nil {
		return err
	}
	p.At = pr.v.SHA
	what := "Candidate " + plain.Short(pr.v.SHA)
	var plan []placing
	if pr.trial == nil {
		p.At = fmt.Sprintf("v%d", pr.v.N)
		what = p.At
		plan, err = c.planVersion(ctx, db, live, pr.v, targets, promoteFlags{})
	} else {
		p.Unproven = !pr.v.Proven
		if p.Evidence, err = evidenceFacts(p.Evidence, pr.trial); err != nil {
			return err
		}
		if said, _, err := overLifetime(ctx, db, pr.trial); err != nil {
			return err
		} else if said != "" {
			p.Evidence = append(p.Evidence, serve.Fact{Name: "lifetime", Text: said})
		}
		p.Evidence = append(p.Evidence, serve.Fact{Name: "made in", Text: "run " + pr.v.Run})
		plan, err = c.planNew(ctx, db, live, live.Doc.Hash(), pr.v, targets, false)
	}
	if err != nil {
		return err
	}
	if pr.v.Note != "" {
		p.Evidence = append(p.Evidence, serve.Fact{Name: "note", Text: pr.v.Note})
	}
	if p.Unproven {
		p.Will = append(p.Will, fmt.Sprintf("%s is not proven (%s); it is recorded as unproven.", what, pr.trial.Decision))
	}
	will, err := c.willOf(ctx, db, what, live, plan)
	if err != nil {
		return err
	}
	p.Will = append(p.Will, will...)
	p.Will = append(p.Will, fmt.Sprintf("`evolve rollback %s` takes it back; no version is ever lost.", live.Name))
	return c.diffFrom(live, pr.v, p)
}

// planBack is what rollback would do.
func (c *served) planBack(ctx context.Context, db *store.Store, live *skill.Live, p *serve.Plan) error {
	if pin, err := pinned(ctx, db, live.Name); err != nil {
		return err
	} else if pin != nil {
		return pin.refuse(store.OpRollback)
	}
	if err := c.recordLive(ctx, db, live); err != nil {
		return err
	}
	if err := c.recordEdits(ctx, db, live, c.recordText); err != nil { // a broken text too, before it is taken back
		return err
	}
	before := c.said.Len()
	plan, to, err := c.planRollback(ctx, db, live, p.At, nil, false)
	if err != nil {
		return err
	}
	passed := c.said.String()[before:] // which versions are passed by, in the terminal's words
	will, err := c.willOf(ctx, db, fmt.Sprintf("v%d", to.N), live, plan)
	if err != nil {
		return err
	}
	p.Will = append(lines(passed), will...)
	p.Will = append(p.Will, "No version is lost: what is live now can be put back the same way.")
	p.Evidence = []serve.Fact{{Name: fmt.Sprintf("v%d", to.N), Text: candidate.Backing(*to) + ", " + cmp.Or(to.Note, to.Operator)}}
	return c.diffFrom(live, to, p)
}

// willOf says of each target what becomes of it.
func (c *served) willOf(ctx context.Context, db *store.Store, what string, live *skill.Live, plan []placing) (out []string, err error) {
	versions, err := db.Versions(ctx, live.Name)
	if err != nil {
		return nil, err
	}
	name := func(sha string) string {
		if v := candidate.VersionIn(versions, sha); v != nil {
			return fmt.Sprintf("v%d", v.N)
		}
		return plain.Short(sha)
	}
	for i := range plan {
		t := &plan[i]
		where := t.Name
		if t.live {
			where = live.Path
		}
		switch {
		case t.refusal != nil:
			out = append(out, fmt.Sprintf("%s stays as it is: %s", where, oneLine(t.refusal.Error())))
		case t.same != "":
			out = append(out, fmt.Sprintf("%s is the same file as %s.", where, t.same))
		case t.to == nil && t.held == "":
		case t.to == nil:
			out = append(out, fmt.Sprintf("The skill is removed again from %s: there was none before.", where))
		case t.held == "":
			out = append(out, fmt.Sprintf("%s is copied to %s, which has no such skill.", what, where))
		case t.held == t.to.SHA:
			out = append(out, fmt.Sprintf("%s holds it already.", where))
		default:
			out = append(out, fmt.Sprintf("%s takes the place of %s in %s.", what, name(t.held), where))
		}
	}
	return out, nil
}

// diffFrom shows how a version differs from the live text.
func (c *served) diffFrom(live *skill.Live, to *tournament.Version, p *serve.Plan) error {
	doc, _ := skill.Parse(to.Text, skill.Options{}) // one that predates a rule can still be shown
	name := "candidate " + plain.Short(to.SHA)
	if candidate.IsVersion(p.At) || p.Act == serve.Rollback {
		name = fmt.Sprintf("v%d", to.N)
	}
	d, err := report.Between(live.Name+" live", live.Name+" "+name, live.Doc, doc)
	p.Diff = d
	return err
}

// Pair is the next pair of a blind review. The order is the same for as long as
// the server runs.
func (s *serving) Pair(ctx context.Context, name string, skipped func(serve.PairName) bool) (*serve.Pair, *serve.Review, error) {
	c := s.call()
	pairs, err := judge.OpenPairs(ctx, s.db, name, rand.New(rand.NewPCG(s.seed, 0x726576696577)))
	if err != nil {
		return nil, nil, c.told(err)
	}
	if len(pairs) == 0 {
		var unknown *skill.UnknownSkillError
		if _, err := c.skill(name); errors.As(err, &unknown) {
			return nil, nil, c.told(err)
		}
	}
	rev := &serve.Review{Left: len(pairs)}
	labels, err := s.db.Labels(ctx, name)
	if err != nil {
		return nil, nil, c.told(err)
	}
	for _, l := range labels {
		if l.Choice != store.Same {
			rev.Labels++
		}
	}
	agreed, err := judge.Agreement(ctx, s.db, name)
	if err != nil {
		return nil, nil, c.told(err)
	}
	if pareto.Kappa(agreed).N > 0 {
		rev.Judge = tournament.Calibration{Labels: agreed}.String()
	}
	for i := range pairs {
		p := &pairs[i]
		first, second := p.Names()
		n := serve.PairName{Case: p.Case.ID, First: first, Second: second}
		if !skipped(n) {
			return &serve.Pair{PairName: n, Prompt: p.Case.Prompt, Context: p.Case.Context, Answer1: p.First.Answer, Answer2: p.Second.Answer}, rev, nil
		}
	}
	return nil, rev, nil
}

func (s *serving) Answer(ctx context.Context, name string, n serve.PairName, choice string) (err error) {
	c, err := s.open(ctx, datadir.Writes)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, c.told(c.close())) }()
	g, err := c.cases(ctx)
	if err != nil {
		return c.told(err)
	}
	cases, err := g.Cases(ctx, name, "")
	if err != nil {
		return c.told(err)
	}
	k := caseNamed(cases, n.Case)
	if k == nil {
		return serve.ErrChanged
	}
	p, err := judge.Find(ctx, c.db, k, n.First, n.Second)
	if err != nil {
		return c.told(err)
	}
	if p == nil {
		return serve.ErrChanged
	}
	return c.told(p.Keep(ctx, c.db, name, store.Choice(choice)))
}

package main

import (
	"cmp"
	"context"
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
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/serve"
)

// standings are the order of the queue.
var standings = []candidate.Standing{candidate.Proven, candidate.Quarantined, candidate.Undecided, candidate.Approved}

// Queue lists what waits for its owner's word, over all skills.
func (s *serving) Queue(ctx context.Context) ([]serve.Waiting, error) {
	c := s.call()
	reg, err := c.layout().Registry()
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
func (s *serving) Plan(ctx context.Context, act serve.Act, name, at string) (*serve.Plan, error) {
	p, _, err := s.plan(ctx, act, name, at)
	return p, err
}

// plan is a plan as it is shown, and the one that says what becomes of each place, nil
// where nothing is installed or taken back.
func (s *serving) plan(ctx context.Context, act serve.Act, name, at string) (_ *serve.Plan, of *release.Plan, err error) {
	c, err := s.open(ctx, datadir.Tries)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = cmp.Or(err, c.told(c.close())) }()
	if strings.Contains(at, "@") {
		return nil, nil, c.told(problem.Inputf("name a version or a candidate", "%q is no text", at))
	}
	live, err := c.layout().AsItIs(name)
	if err != nil {
		return nil, nil, c.told(err)
	}
	p := &serve.Plan{Act: act, Skill: name, At: at}
	rest, err := c.rest(ctx, live, act, at)
	if err != nil {
		return nil, nil, c.told(err)
	}
	switch act {
	case serve.Approve, serve.Reject:
		err = c.planWord(ctx, c.open.db, p)
	case serve.Promote:
		of, err = c.planPromotion(ctx, c.open.db, live, p)
	case serve.Rollback:
		of, err = c.planBack(ctx, c.open.db, live, p)
	default:
		err = fmt.Errorf("plan %s: there is no such act", act)
	}
	if rest != nil && refused(err) { // nothing else than what a crash has left is to be done
		what := "The text of before"
		if rest.Version != nil {
			what = fmt.Sprintf("v%d", rest.Version.N)
		}
		p.Will, err = willOf(ctx, c.open.db, what, rest)
		of = rest
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
			return nil, nil, c.told(err)
		}
		p.Refusal, p.Will = e, nil
	}
	pending, err := c.installer(c.open.db).Pending(ctx, name)
	if err != nil {
		return nil, nil, c.told(err)
	}
	for _, in := range pending {
		what := "the same command finishes it first"
		if in.Op != string(act) {
			what = "it is given up by this"
		}
		p.Will = append(p.Will, fmt.Sprintf("A %s in %s was interrupted: %s.", in.Op, c.layout().TargetOf(name, in.Path), what))
	}
	p.Seen, err = stateOf(p.Act, p.Skill, p.At, live.Doc.Hash(), p.Will, p.Unproven, p.Refusal, p.Evidence, p.Findings, p.Diff)
	return p, of, err
}

// rest is what a crash has left of an act, nil for nothing.
func (c *served) rest(ctx context.Context, live *skill.Live, act serve.Act, at string) (*release.Plan, error) {
	if act != serve.Promote && act != serve.Rollback {
		return nil, nil
	}
	p, err := c.installer(c.open.db).PlanRest(ctx, live, string(act), release.Request{At: at})
	if errors.Is(err, store.ErrNotFound) { // of a live text that is no version yet: the plan itself records it
		return nil, nil
	}
	return p, err
}

// refused reports whether an error says that something cannot be done as it was asked.
func refused(err error) bool {
	kind, _ := explain(err)
	return err != nil && (kind == problem.Refused || kind == problem.Input)
}

// Do carries out a plan that is the same as the one that was seen.
func (s *serving) Do(ctx context.Context, act serve.Act, name, at, seen string, unproven bool) (_ *serve.Done, err error) {
	p, of, err := s.plan(ctx, act, name, at)
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
	switch act {
	case serve.Approve, serve.Reject:
		return c.decided(ctx, name+"@"+p.At, wordOf(act))
	case serve.Promote:
		return c.carryOut(ctx, name, store.OpPromote, release.Request{At: p.At, Unproven: unproven}, of)
	default:
		return c.carryOut(ctx, name, store.OpRollback, release.Request{At: p.At}, of)
	}
}

// carryOut does what was shown, or ends first what a crash has left of it: the page says
// so. What has changed since it was shown is not done.
func (c *served) carryOut(ctx context.Context, name, op string, r release.Request, shown *release.Plan) (*serve.Done, error) {
	live, err := c.layout().AsItIs(name)
	if err != nil {
		return nil, c.told(err)
	}
	in := c.installer(c.open.db)
	plan, err := in.Next(ctx, live, op, r)
	if err != nil {
		return nil, c.told(err)
	}
	if !plan.Rest && plan.Fingerprint() != shown.Fingerprint() {
		return nil, serve.ErrChanged
	}
	if err := agree(ctx, c.global, c.open.db, plan, r.Unproven); err != nil {
		return nil, c.told(err)
	}
	done, err := in.Apply(ctx, plan)
	if err != nil {
		return nil, c.told(err)
	}
	return c.done(plain.Text(done.Text()), done.Refusal())
}

// planPromotion is what promote would do.
func (c *served) planPromotion(ctx context.Context, db *store.Store, live *skill.Live, p *serve.Plan) (*release.Plan, error) {
	in := c.installer(db)
	if err := in.Record(ctx, live); err != nil {
		return nil, err
	}
	plan, err := in.PlanPromotion(ctx, live, release.Request{At: p.At})
	if err != nil {
		return nil, err
	}
	v := plan.Version
	p.At = v.SHA
	what := "Candidate " + plain.Short(v.SHA)
	if plan.Trial == nil {
		p.At = fmt.Sprintf("v%d", v.N)
		what = p.At
	} else {
		p.Unproven = plan.Unproven()
		if p.Evidence, err = evidenceFacts(p.Evidence, plan.Trial); err != nil {
			return nil, err
		}
		if said, _, err := release.OverLifetime(ctx, db, plan.Trial); err != nil {
			return nil, err
		} else if said != "" {
			p.Evidence = append(p.Evidence, serve.Fact{Name: "lifetime", Text: said})
		}
		p.Evidence = append(p.Evidence, serve.Fact{Name: "made in", Text: "run " + v.Run})
	}
	if v.Note != "" {
		p.Evidence = append(p.Evidence, serve.Fact{Name: "note", Text: v.Note})
	}
	if p.Unproven {
		p.Will = append(p.Will, fmt.Sprintf("%s is not proven (%s); it is recorded as unproven.", what, plan.Trial.Decision))
	}
	will, err := willOf(ctx, db, what, plan)
	if err != nil {
		return nil, err
	}
	p.Will = append(p.Will, will...)
	p.Will = append(p.Will, fmt.Sprintf("`evolve rollback %s` takes it back; no version is ever lost.", live.Name))
	return plan, c.diffFrom(live, v, p)
}

// planBack is what rollback would do.
func (c *served) planBack(ctx context.Context, db *store.Store, live *skill.Live, p *serve.Plan) (*release.Plan, error) {
	in := c.installer(db)
	if err := in.Record(ctx, live); err != nil {
		return nil, err
	}
	if err := in.RecordEdit(ctx, live); err != nil { // a broken text too, before it is taken back
		return nil, err
	}
	plan, err := in.PlanRollback(ctx, live, release.Request{At: p.At})
	if err != nil {
		return nil, err
	}
	to := plan.Version
	will, err := willOf(ctx, db, fmt.Sprintf("v%d", to.N), plan)
	if err != nil {
		return nil, err
	}
	for _, line := range plan.Said { // which versions are passed by, in the terminal's words
		p.Will = append(p.Will, lines(c.clean(line))...)
	}
	p.Will = append(p.Will, will...)
	p.Will = append(p.Will, "No version is lost: what is live now can be put back the same way.")
	p.Evidence = []serve.Fact{{Name: fmt.Sprintf("v%d", to.N), Text: candidate.Backing(*to) + ", " + cmp.Or(to.Note, to.Operator)}}
	return plan, c.diffFrom(live, to, p)
}

// willOf says of each target what becomes of it.
func willOf(ctx context.Context, db *store.Store, what string, plan *release.Plan) (out []string, err error) {
	versions, err := db.Versions(ctx, plan.Live.Name)
	if err != nil {
		return nil, err
	}
	name := candidate.VersionNames(versions)
	for i := range plan.Places {
		t := &plan.Places[i]
		where := t.Name
		if t.Home {
			where = plan.Live.Path
		}
		switch {
		case t.Refusal != nil:
			out = append(out, fmt.Sprintf("%s stays as it is: %s", where, oneLine(t.Refusal.Error())))
		case t.Same != "":
			out = append(out, fmt.Sprintf("%s is the same file as %s.", where, t.Same))
		case t.To == nil && t.Held == "":
		case t.To == nil:
			out = append(out, fmt.Sprintf("The skill is removed again from %s: there was none before.", where))
		case t.Held == "":
			out = append(out, fmt.Sprintf("%s is copied to %s, which has no such skill.", what, where))
		case t.Held == t.To.SHA:
			out = append(out, fmt.Sprintf("%s holds it already.", where))
		default:
			out = append(out, fmt.Sprintf("%s takes the place of %s in %s.", what, name(t.Held), where))
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
		if _, err := c.layout().Live(name); errors.As(err, &unknown) {
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
	g, err := casesOf(ctx, c.global)
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
	p, err := judge.Find(ctx, c.open.db, k, n.First, n.Second)
	if err != nil {
		return c.told(err)
	}
	if p == nil {
		return serve.ErrChanged
	}
	return c.told(p.Keep(ctx, c.open.db, name, store.Choice(choice)))
}

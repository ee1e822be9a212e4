package pages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament/campaign/probing"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/serve"
	"github.com/skill-evolve/evolve/tournament/status"
)

// Plan describes what a command would do, by trying it on a copy. A refusal
// is part of the plan.
func (p *Program) Plan(ctx context.Context, act serve.Act, name, at string) (*serve.Plan, error) {
	plan, _, err := p.plan(ctx, act, name, at)
	return plan, err
}

// plan returns the plan as it is shown, and the release plan with the result
// for each place, nil if nothing is installed or rolled back.
func (p *Program) plan(ctx context.Context, act serve.Act, name, at string) (shown *serve.Plan, of *release.Plan, err error) {
	shown, err = with(ctx, p, datadir.Tries, func(r *request) (v *serve.Plan, err error) {
		v, of, err = r.plan(ctx, act, name, at)
		return v, err
	})
	return shown, of, err
}

func (r *request) plan(ctx context.Context, act serve.Act, name, at string) (_ *serve.Plan, of *release.Plan, err error) {
	if strings.Contains(at, "@") {
		return nil, nil, problem.Inputf("name a version or a candidate", "%q is no text", at)
	}
	live, err := r.Layout.AsItIs(name)
	if err != nil {
		return nil, nil, err
	}
	p := &serve.Plan{Act: act, Skill: name, At: at}
	var rest *release.Plan // what a crash has left of the act
	if act == serve.Promote || act == serve.Rollback {
		rest, err = r.Installer.PlanRest(ctx, live, string(act), release.Request{At: at})
		if err != nil && !errors.Is(err, store.ErrNotFound) { // a live text that is no version yet is recorded below
			return nil, nil, err
		}
	}
	switch act {
	case serve.Approve, serve.Reject:
		err = r.planDecision(ctx, p)
	case serve.Promote:
		of, err = r.planPromotion(ctx, live, p)
	case serve.Rollback:
		of, err = r.planBack(ctx, live, p)
	default:
		err = fmt.Errorf("plan %s: there is no such act", act)
	}
	if kind, _ := r.Classify(err); rest != nil && err != nil && (kind == problem.Refused || kind == problem.Input) { // only the rest is to be done
		what := "The text of before"
		if rest.Version != nil {
			what = fmt.Sprintf("v%d", rest.Version.N)
		}
		p.Will, err = willOf(ctx, r.Store, what, rest)
		of = rest
	}
	p.Command = "evolve " + string(act) + " " + name
	if candidate.IsVersion(p.At) {
		p.Command += "@" + p.At
	} else if p.At != "" {
		p.Command += "@" + plain.Short(p.At)
	}
	if err != nil {
		if p.Refusal = r.Explain(err); p.Refusal.Kind == problem.Failed {
			return nil, nil, err
		}
		p.Will = nil
	}
	pending, err := r.Installer.Pending(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	for _, in := range pending {
		what := "the same command finishes it first"
		if in.Op != string(act) {
			what = "it is given up by this"
		}
		p.Will = append(p.Will, fmt.Sprintf("A %s in %s was interrupted: %s.", in.Op, r.Layout.TargetOf(name, in.Path), what))
	}
	p.Seen, err = stateOf(p.Act, p.Skill, p.At, live.Doc.Hash(), p.Will, p.Unproven, p.Refusal, p.Evidence, p.Findings, p.Diff)
	return p, of, err
}

// Do carries out a plan if it is still the one that was shown.
func (p *Program) Do(ctx context.Context, act serve.Act, name, at, seen string, unproven bool) (*serve.Done, error) {
	plan, of, err := p.plan(ctx, act, name, at)
	switch {
	case err != nil:
		return nil, err
	case plan.Refusal != nil:
		return nil, plan.Refusal
	case plan.Seen != seen:
		return nil, serve.ErrChanged
	}
	return with(ctx, p, datadir.Writes, func(r *request) (*serve.Done, error) {
		if act == serve.Approve || act == serve.Reject {
			d, err := r.Desk.Find(ctx, name+"@"+plan.At, decisionOf(act))
			if err == nil {
				err = r.Desk.Keep(ctx, d)
			}
			if err != nil {
				return nil, err
			}
			return r.done(fmt.Sprintf("%s: %s@%s\nnext: %s", d.Result.State, d.Result.Skill, plain.Short(d.Result.SHA), d.Result.Next), nil)
		}
		return r.carryOut(ctx, name, string(act), release.Request{At: plan.At, Unproven: unproven}, of)
	})
}

// carryOut applies the plan that was shown, or first finishes one that a
// crash interrupted, which the page reports. It refuses if the plan has
// changed since.
func (r *request) carryOut(ctx context.Context, name, op string, q release.Request, shown *release.Plan) (*serve.Done, error) {
	live, err := r.Layout.AsItIs(name)
	if err != nil {
		return nil, err
	}
	plan, err := r.Installer.Next(ctx, live, op, q)
	if err != nil {
		return nil, err
	}
	if !plan.Rest && plan.Fingerprint() != shown.Fingerprint() {
		return nil, serve.ErrChanged
	}
	if err := r.Agree(ctx, plan, q.Unproven); err != nil {
		return nil, err
	}
	done, err := r.Installer.Apply(ctx, plan)
	if err != nil {
		return nil, err
	}
	return r.done(plain.Text(done.Text()), done.Refusal())
}

// planDecision plans approve and reject.
func (r *request) planDecision(ctx context.Context, p *serve.Plan) error {
	d, err := r.Desk.Find(ctx, p.Skill+"@"+p.At, decisionOf(p.Act))
	if err != nil {
		return err
	}
	p.At, p.Diff, p.Findings, p.Taught = d.Candidate.SHA, d.Result.Diff, d.Result.Findings, d.Result.Taught
	p.Evidence = []serve.Fact{{Name: "stands", Text: d.Words}, {Name: "made in", Text: "run " + d.Candidate.Run}}
	if d.Candidate.Trial != nil {
		if p.Evidence, err = evidence(p.Evidence, d.Candidate.Trial); err != nil {
			return err
		}
	}
	if d.Result.IncumbentChanged {
		p.Evidence = append(p.Evidence, serve.Fact{Name: "note", Text: fmt.Sprintf("it was made from %s, and the live text has changed since: the diff is against the live text", plain.Short(d.Result.Incumbent))})
	}
	name := p.Skill + "@" + plain.Short(p.At)
	switch {
	case d.Done:
		p.Will = []string{"Nothing: you decided that before."}
	case p.Act == serve.Approve:
		p.Will = []string{fmt.Sprintf("The next `evolve --skill %s` starts its search with this candidate beside the live text; it is tried against your text like any other.", p.Skill),
			"Nothing is installed by this. That the firewall flagged it stays on record: nothing but your own promotion ever installs it.",
			fmt.Sprintf("`evolve reject %s` takes it back.", name)}
	default:
		p.Will = []string{"No later run proposes this text again. The live text stays as it is.", fmt.Sprintf("`evolve approve %s` takes it back.", name)}
	}
	return nil
}

// decisionOf is an act's decision on a candidate.
func decisionOf(act serve.Act) store.Word {
	if act == serve.Approve {
		return store.Approved
	}
	return store.Rejected
}

// evidence adds a trial's results.
func evidence(to []serve.Fact, t *record.TrialRecord) ([]serve.Fact, error) {
	if t.Decision == candidate.NeverTried {
		return append(to, serve.Fact{Name: "evidence", Text: "none: it was never in a trial"}), nil
	}
	d, err := t.Evidence()
	if err != nil {
		return nil, err
	}
	return append(to, serve.Fact{Name: "evidence", Text: status.EvidenceFrom(d).Phrase()}, serve.Fact{Name: "verdict", Text: string(d.Verdict) + ": " + d.Reason}), nil
}

// planPromotion plans promote.
func (r *request) planPromotion(ctx context.Context, live *skill.Live, p *serve.Plan) (*release.Plan, error) {
	if err := r.Installer.Record(ctx, live); err != nil {
		return nil, err
	}
	plan, err := r.Installer.PlanPromotion(ctx, live, release.Request{At: p.At})
	if err != nil {
		return nil, err
	}
	v := plan.Version
	p.At = v.SHA
	what, label := "Candidate "+plain.Short(v.SHA), "candidate "+plain.Short(v.SHA)
	if plan.Trial == nil {
		p.At = fmt.Sprintf("v%d", v.N)
		what, label = p.At, p.At
	} else {
		p.Unproven = plan.Unproven()
		if p.Evidence, err = evidence(p.Evidence, &plan.Trial.TrialRecord); err != nil {
			return nil, err
		}
		if over, _, err := release.OverLifetime(ctx, r.Store, &plan.Trial.TrialRecord); err != nil {
			return nil, err
		} else if over != "" {
			p.Evidence = append(p.Evidence, serve.Fact{Name: "lifetime", Text: over})
		}
		p.Evidence = append(p.Evidence, serve.Fact{Name: "made in", Text: "run " + v.Run})
	}
	if v.Note != "" {
		p.Evidence = append(p.Evidence, serve.Fact{Name: "note", Text: v.Note})
	}
	if p.Unproven {
		p.Will = append(p.Will, fmt.Sprintf("%s is not shown to be better (%s); it is recorded as unproven.", what, release.Standing(&plan.Trial.TrialRecord)))
	}
	if plan.Trial != nil && !p.Unproven {
		probed, err := probing.ReportOf(ctx, r.Store, r.Reader.Locks.Dir, live, v.SHA, &plan.Trial.TrialRecord)
		if err != nil {
			return nil, err
		}
		if probed.Against != "" {
			p.Will = append(p.Will, what+": "+plain.Line(probed.Against)+".")
		}
		p.Unproven = probed.Holds() // it needs one more confirmation, too
	}
	will, err := willOf(ctx, r.Store, what, plan)
	if err != nil {
		return nil, err
	}
	p.Will = append(append(p.Will, will...), fmt.Sprintf("`evolve rollback %s` takes it back; no version is ever lost.", live.Name))
	if p.Diff, err = diffFrom(live, v, label); err != nil {
		return nil, err
	}
	return plan, r.Installer.MayRun(plan)
}

// planBack plans rollback.
func (r *request) planBack(ctx context.Context, live *skill.Live, p *serve.Plan) (*release.Plan, error) {
	if err := r.Installer.Record(ctx, live); err != nil {
		return nil, err
	}
	if err := r.Installer.RecordEdit(ctx, live); err != nil { // a broken text too, before it is taken back
		return nil, err
	}
	plan, err := r.Installer.PlanRollback(ctx, live, release.Request{At: p.At})
	if err != nil {
		return nil, err
	}
	to := plan.Version
	label := fmt.Sprintf("v%d", to.N)
	will, err := willOf(ctx, r.Store, label, plan)
	if err != nil {
		return nil, err
	}
	for _, line := range plan.Said { // which versions are passed by, in the terminal's words
		p.Will = append(p.Will, r.lines(line)...)
	}
	p.Will = append(append(p.Will, will...), "No version is lost: what is live now can be put back the same way.")
	p.Evidence = []serve.Fact{{Name: label, Text: candidate.Backing(*to) + ", " + cmp.Or(to.Note, to.Operator)}}
	if p.Diff, err = diffFrom(live, to, label); err != nil {
		return nil, err
	}
	return plan, r.Installer.MayRun(plan)
}

// willOf describes what the plan does at each target.
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
			out = append(out, fmt.Sprintf("%s stays as it is: %s", where, plain.Line(t.Refusal.Error())))
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
func diffFrom(live *skill.Live, to *record.Version, label string) (*report.Diff, error) {
	doc, _ := skill.Parse(to.Text, live.Doc.Options()) // one that predates a rule can still be shown
	return report.Between(live.Name+" live", live.Name+" "+label, live.Doc, doc)
}

// Package gate decides on held-out cases whether a challenger replaces the incumbent.
package gate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Gate decides whether a frozen challenger replaces the incumbent, on cases
// that the search never saw. Both arms run adjacent in time, in random order,
// and never from the cache of another trial. The evidence is an e-process for
// each hypothesis (see pareto.Trial), so that it may be looked at after every
// pair and continued another night.
type Gate struct {
	Evaluator *eval.Evaluator
	Log       *record.Log
	Skill     string
	Config    pareto.Config
	Seed      int64
	Simulated bool
	// Objectives names those that count; nil means all four, and in a trial that has begun
	// those that do: see record.State.Count. Quality always counts. Wall-clock latency, for
	// example, is worthless on a busy machine.
	Objectives []string

	// Replays is how often each arm of a new trial answers a case, at least
	// once. One that has begun goes on as it began.
	Replays int
	// Uses are all uses of the skill, those of which no case could be made
	// among them; nil if they are not known: see record.Cluster.Weights.
	Uses []record.Use

	// Reader decides to which requests the change applies; nil in a trial of a skill, which is
	// about all.
	Reader Reader

	// inTokens: no price was known, so the compared cost is tokens.
	inTokens bool
	// Judge is how well the grader's judge agrees with the owner. While it is
	// not trusted, what it checks is no evidence: see record.Unheard. The zero
	// value is not trusted.
	Judge record.Calibration
	// Compare is that judge; nil: it grades each answer alone.
	Compare Compare
	// Trial names the trial if the texts that Try is given are not those that it began
	// with: both arms have what the owner has edited since.
	Trial *record.Change
	// Workers are those of a fleet that are there; nil: every replay is on this machine.
	Workers func() []string
	// On is the model of a trial that an older evolve began: its record does
	// not name it.
	On record.Model
}

// A Verdict is the result of the gate.
type Verdict struct {
	pareto.Decision
	// Fresh counts the held-out clusters that this run added.
	Fresh int `json:"fresh"`
	// Stop is why no more pairs were run, "" if the decision came first.
	Stop       string `json:"stop,omitempty"`
	BudgetStop bool   `json:"-"`
	Cap        string `json:"-"` // with BudgetStop: that was reached
	// Round counts how often the trial has started again, because another
	// model answered or the rule changed; Restarted is the message if it did so in this run.
	Round     int    `json:"round,omitempty"`
	Restarted string `json:"restarted,omitempty"`
	// Number is the trial's number among all of the skill's, and Lifetime the
	// error rate that is left for it; 0 if the journal does not number them.
	Number   int     `json:"trial,omitempty"`
	Lifetime float64 `json:"lifetime_level,omitempty"`
	// Single: it is proved as a single trial, and not at that level.
	Single bool `json:"single_trial,omitempty"`
	// Heard is what it is about; nil of a trial that an older evolve has begun. It is not
	// stored: a purge has the trial alone forget the folders.
	Heard *record.Heard `json:"-"`
	// Share is to how many of the requests the change applies; nil if the trial is about all.
	Share *record.Share `json:"share,omitempty"`
	// Dropped are the objectives that were left out after the trial had pairs with them.
	Dropped []string `json:"dropped,omitempty"`
	// Judge is set if a judge checks held-out cases.
	Judge *record.Calibration `json:"judge,omitempty"`
	// Beside is what the text does to the requests of other skills. It is no part of the evidence.
	Beside []record.Beside `json:"beside,omitempty"`
	// Controls are pairs that another worker measured once more; nil if there were none.
	Controls *record.Controls `json:"controls,omitempty"`
	// Model is what the pairs were measured on, and SearchModel what this run searched with;
	// "" unless they differ.
	Model       string `json:"model,omitempty"`
	SearchModel string `json:"search_model,omitempty"`
}

// Measured says in words on which model the pairs were measured, "" unless the search had
// another one.
func (v *Verdict) Measured() string {
	switch {
	case v.Model == "":
		return ""
	case v.SearchModel == "":
		return "measured on " + v.Model
	}
	return fmt.Sprintf("measured on %s; the search had %s", v.Model, v.SearchModel)
}

func (v *Verdict) stopAt(limit *eval.BudgetError) {
	v.Stop, v.BudgetStop, v.Cap = limit.Error(), true, limit.Cap
}

// Replays is how often each arm answers a case: the mean of three takes less than
// half of the cases that one takes, and cases come a few a week. MoreReplays are for
// agents whose answers to one case differ more from run to run.
const (
	Replays     = 3
	MoreReplays = 5
)

// waitingPairs is how many pairs with a word of a judge that is not trusted are
// measured before its owner has compared any answers: she has to compare as many, and further
// ones only cost. Each comparison makes room for one more, or an owner whose judge is not
// trusted at a look would have nothing left to compare until the next one. waiting is how many
// pairs there are of all kinds to one of those.
const (
	waitingPairs = record.TrustedLabels
	waiting      = 3
)

// room is how many more pairs may wait for a judge.
func (st *state) room(judge record.Calibration) int {
	asked, most := 0, waitingPairs+judge.Labels.N()+judge.Since+judge.Missing
	for _, w := range st.Waiting {
		if w.Asked {
			asked++
		}
	}
	return max(0, min(most-asked, waiting*most-len(st.Waiting)))
}

// Takes is how many rollouts the pairs of so many cases take at most.
func Takes(cases, replays, maxRetries int) int64 {
	return int64(2 * replays * cases * (1 + maxRetries))
}

// state is the state of a trial in this run.
type state struct {
	record.State
	modelKnown bool // see checkModel
	spent      *record.Spent
	copies     int // see usable
	left       record.LeftOut
	resumed    []string // what this run had added when it was interrupted
	why        string   // it starts again, if it does
	revision   int64    // of the record that it was read from, or saved as

	controls []control // still to be measured

	uses []record.Use // with their parts
	rest []eval.Case
}

// Try runs pairs until the evidence decides, or the cases or the budget are
// used up. The error is ctx's, the journal's or the infrastructure's.
func (g *Gate) Try(ctx context.Context, incumbent, challenger eval.Variant, test []eval.Case) (*Verdict, error) {
	of := g.change(incumbent, challenger)
	st, err := g.load(ctx, of)
	if err != nil {
		return nil, err
	}
	v := &Verdict{Decision: st.Trial.Decide(), Round: len(st.Past), Restarted: st.why}
	if err := g.checkModel(ctx, st, v, "", false); err != nil {
		return nil, err
	}
	if test, err = g.divide(ctx, st, v, incumbent, challenger, test); err != nil {
		return nil, err
	}
	clusters, err := g.fresh(ctx, st, of, test)
	if err != nil {
		return nil, err
	}
	start := map[string]any{"challenger": challenger.SHA(), "incumbent": incumbent.SHA(),
		"clusters": len(clusters), "carried": len(st.Clusters)}
	judged, unheard := record.RestsOnJudge(test), record.Unheard(test, st.uses, g.Judge)
	if judged > 0 {
		start["judge"] = g.Judge
	}
	if err := g.emit(ctx, "gate_start", start); err != nil {
		return nil, err
	}
	if !g.Judge.Trusted() && !unheard { // few enough to do without
		clusters = unasked(clusters)
	}
	others, restJudged := g.others(st, of)
	// A trial without any case is recorded too: cases harvested from now on
	// were never seen by this challenger's search, and are used for it first.
	if err := g.save(ctx, st, of, v); err != nil {
		return nil, err
	}
	batch := max(1, g.Evaluator.Concurrency/2)
	for v.Verdict.IsOpen() && !v.BudgetStop { // each turn uses up at least one cluster
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if v.Stop = g.onlyWorker(st); v.Stop != "" {
			break
		}
		from, rest := &clusters, st.Trial.WantsRest() && (len(others) > 0 || st.Trial.OnlyRest())
		if rest {
			from = &others
		}
		if len(*from) == 0 {
			break
		}
		now := g.affordable((*from)[:min(batch, len(*from))], st.Replays)
		if len(now) == 0 {
			v.stopAt(&eval.BudgetError{Cap: eval.CapRollouts})
			break
		}
		if unheard && !rest {
			if now = now[:min(len(now), st.room(g.Judge))]; len(now) == 0 {
				v.Stop = fmt.Sprintf("%s for your word on the judge: `evolve review %s`", plain.Counted(len(st.Waiting), "measured pair")+" wait", g.Skill)
				break
			}
		}
		*from = (*from)[len(now):]
		if err := g.unchanged(ctx, st, of); err != nil {
			return nil, err
		}
		now, err := g.spend(ctx, st.spent, of, now)
		if err != nil {
			return nil, err
		}
		pairs, models, err := g.pairs(ctx, st, incumbent, challenger, now)
		var limit *eval.BudgetError
		switch {
		case errors.As(err, &limit):
			v.stopAt(limit)
		case err != nil:
			return nil, err
		}
		for i, m := range pairs {
			if m == nil {
				break // the others of the batch are measured when their turn comes
			}
			if st.Trial.Verdict().IsOpen() {
				if err := g.checkModel(ctx, st, v, models[i], true); err != nil {
					return nil, err
				}
				p, checked := m.weighted(st.Weigh(now[i], st.uses))
				st.Lose(m.lost)
				switch {
				case unheard && !rest:
					st.Wait(now[i], p, checked, st.spent, g.Judge.Judge)
				case g.Judge.Trusted() && (judged > 0 && !rest || restJudged && rest):
					p.Quality -= (1 - st.EqualEyes(now[i].Name, g.Judge)) * checked
					fallthrough
				default:
					st.Use(now[i], p, st.spent)
				}
				g.mayControl(st, now[i], m)
				v.Fresh++
				st.LastPair = g.Log.Now().UTC().Truncate(time.Millisecond)
				if err := g.emit(ctx, "gate_pair", st.event(now[i].Name, p, rest)); err != nil {
					return nil, err
				}
			}
		}
		v.Decision = st.Trial.Decide()
		if err := g.save(ctx, st, of, v); err != nil {
			return nil, err
		}
	}
	if err := g.control(ctx, st, v, of, incumbent, challenger); err != nil {
		return nil, err
	}
	if st.Trial.Cases()+len(st.Waiting) > 0 {
		v.Model = st.On.String()
	}
	if v.Verdict.IsOpen() && v.Stop == "" {
		v.Stop = "no unseen request is left"
		if st.Trial.OnlyRest() {
			v.Stop = g.waitsForRest(st)
		}
		if st.left.Early > 0 && len(st.Clusters)+len(st.Waiting) == 0 {
			v.Stop = "the trial begins with the next use for it that you correct or accept"
		}
	}
	v.Heard = st.Heard()
	if judged > 0 || len(st.Waiting) > 0 {
		g.reportJudge(v, judged, len(test), len(st.Waiting))
	}
	g.reportLeftOut(st, v)
	g.reportShare(st, v, of)
	if st.left.Cases > 0 {
		v.Warnings = append(v.Warnings, fmt.Sprintf("%s left out: no case could be made of the last %s uses, and the others do not stand for all", plain.Counted(st.left.Cases, "unseen request"), st.left.Beside))
	}
	if words := record.Repeated(st.copies); words != "" {
		v.Warnings = append(v.Warnings, words)
	}
	if err := g.reportLifetime(ctx, st, v, of); err != nil {
		return nil, err
	}
	if v.Restarted != "" {
		v.Warnings = append(v.Warnings, v.Restarted)
	}
	if !st.Trial.Config().Without.Has(pareto.Cost) && g.inTokens {
		v.Warnings = append(v.Warnings, "cost was compared in tokens: no price is known for this model, and a longer skill weighs more in a short request than in a long session")
	}
	return v, g.emit(ctx, "verdict", map[string]any{"decision": v.Verdict, "route": v.Route, "reason": v.Reason, "e_value": v.EValue,
		"cases": v.Cases, "wins": v.Wins, "losses": v.Losses, "ties": v.Ties})
}

func (g *Gate) change(incumbent, challenger eval.Variant) record.Change {
	if g.Trial != nil {
		return *g.Trial
	}
	return record.Change{Base: incumbent.SHA(), Challenger: challenger.SHA()}
}

// fresh lists the clusters of test that may still be evidence for this
// challenger, in random order: none that the trial already has, and none of
// which a case was spent, under any name, on another challenger (usable).
func (g *Gate) fresh(ctx context.Context, st *state, of record.Change, test []eval.Case) ([]record.Cluster, error) {
	spent, err := g.Log.Journal.SpentCases(ctx, g.Skill)
	if err != nil {
		return nil, fmt.Errorf("read spent cases: %w", err)
	}
	st.spent = spent
	if st.revision == 0 { // a purge has removed the trial that they were spent in
		st.Excluded = slices.Compact(slices.Sorted(slices.Values(slices.Concat(st.Excluded, spent.PrintsOn(of.Challenger)))))
	}
	out := g.open(st, of, test)
	record.ByArrival(out)
	out, st.left = st.Begins(out, st.about())
	return out, nil
}

// open are the clusters of test that the trial has not used, in random order.
func (g *Gate) open(st *state, of record.Change, test []eval.Case) []record.Cluster {
	out, copies := st.Usable(test, st.spent, of.Challenger, slices.Concat(st.StartClusters, st.StartRest), st.resumed)
	st.copies += copies
	rng := rand.New(rand.NewPCG(uint64(g.Seed), 0x67617465))
	for i := range out {
		out[i].Place = record.PlaceOf(&out[i], g.Uses)
	}
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// affordable is the first clusters that the cap on rollouts covers even if
// every attempt fails and uses its work retries. Half a pair would be paid
// for and prove nothing, and the choice of pairs must not depend on which
// worker was faster.
func (g *Gate) affordable(clusters []record.Cluster, replays int) []record.Cluster {
	rest := g.Evaluator.Budget.Remaining().Rollouts
	if rest == 0 {
		return clusters
	}
	for i, c := range clusters {
		if rest -= Takes(len(c.Cases), replays, g.Evaluator.MaxRetries); rest < 0 {
			return clusters[:i]
		}
	}
	return clusters
}

// spend marks the clusters' cases as spent on the challenger, from the moment
// that a first rollout may have begun. It leaves out a cluster of which
// another trial has taken a case since fresh has looked.
func (g *Gate) spend(ctx context.Context, spent *record.Spent, of record.Change, clusters []record.Cluster) (ours []record.Cluster, err error) {
	for _, c := range clusters {
		var taken *record.SpentError
		for _, k := range c.Cases {
			if err := g.Log.Journal.SpendCase(ctx, g.Skill, of.Base, of.Challenger, k.ID, spent.Print(k)); errors.As(err, &taken) {
				break
			} else if err != nil {
				return nil, err
			}
		}
		if taken == nil {
			ours = append(ours, c)
		}
	}
	return ours, nil
}

func (g *Gate) load(ctx context.Context, of record.Change) (*state, error) {
	rec, err := g.Log.Journal.Trial(ctx, g.Skill, of.Base, of.Challenger)
	if err != nil {
		return nil, fmt.Errorf("read trial: %w", err)
	}
	now, resumed, err := rec.Begin(g.Log.Run, g.Config, g.On)
	if err != nil {
		return nil, err
	}
	st := &state{State: *now, resumed: resumed}
	if rec != nil {
		st.revision = rec.Revision
	}
	if st.Trial.Outdated() && st.Trial.Verdict().IsOpen() {
		st.Restart(g.Config)
		st.why = "its cases were drawn by how the skill had done on them, under the rule of an older evolve: the trial starts again"
	}
	st.Count(g.Objectives)
	if st.Replays == 0 {
		st.Replays = max(1, g.Replays)
	}
	if g.Judge.Trusted() {
		st.Hear(g.Judge)
	}
	return st, nil
}

func (g *Gate) save(ctx context.Context, st *state, of record.Change, v *Verdict) error {
	rec := &record.TrialRecord{Skill: g.Skill, Incumbent: of.Base, Challenger: of.Challenger, Run: g.Log.Run, Decision: v.Verdict,
		Simulated: g.Simulated, Updated: g.Log.Now().UTC().Truncate(time.Millisecond), Revision: st.revision}
	if err := rec.Save(&st.State); err != nil {
		return err
	}
	err := g.Log.Journal.SaveTrial(ctx, rec)
	st.revision = rec.Revision
	return err
}

// unchanged refuses to continue a trial that another process has changed
// since it was read: the next pairs could not be added to it. When the run is
// resumed, it continues from the changed trial, and the pairs that it has are
// not paid for again.
func (g *Gate) unchanged(ctx context.Context, st *state, of record.Change) error {
	rec, err := g.Log.Journal.Trial(ctx, g.Skill, of.Base, of.Challenger)
	if err != nil {
		return fmt.Errorf("read trial: %w", err)
	}
	if rec == nil || rec.Revision != st.revision {
		return &record.TrialChangedError{Challenger: of.Challenger}
	}
	return nil
}

func (g *Gate) emit(ctx context.Context, kind string, data any) error {
	return g.Log.Add(ctx, kind, g.Evaluator.Budget.Spent().Rollouts, nil, data)
}

package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
)

// A State is the content of TrialRecord.State. Start is the evidence before
// the run began: a resumed run adds its own pairs to that again.
type State struct {
	Version       int           `json:"version"`
	Start         *pareto.Trial `json:"start"`
	StartClusters []string      `json:"start_clusters"`
	Trial         *pareto.Trial `json:"trial"` // nil before the first run of the trial
	Clusters      []string      `json:"clusters"`
	// Rest are the clusters of the pairs of the rest, and Parts what a reader decided of the
	// cases: see Divide. A trial of a skill has neither.
	Rest      []string        `json:"rest,omitempty"`
	StartRest []string        `json:"start_rest,omitempty"`
	Parts     map[string]Part `json:"parts,omitempty"`
	// Replays is how often each arm answers a case; 0 before the first pair.
	Replays      int `json:"replays,omitempty"`
	StartReplays int `json:"start_replays,omitempty"`
	// Lost is how many answers more were missing of the challenger alone than of the
	// incumbent alone, and were asked for again.
	Lost      int `json:"lost,omitempty"`
	StartLost int `json:"start_lost,omitempty"`
	// LostBy is the same of the pairs of each machine of a fleet: what one of them loses gives
	// no second answers to the others.
	LostBy      map[string]int `json:"lost_by,omitempty"`
	StartLostBy map[string]int `json:"start_lost_by,omitempty"`
	// Waiting are pairs that were measured while a judge had a say that is not
	// trusted, in order. They are added to the trial once it is.
	Waiting      []WaitingPair `json:"waiting,omitempty"`
	StartWaiting []WaitingPair `json:"start_waiting,omitempty"`
	// Strata are those of the cases of each cluster that was measured, and Weights
	// what they stand for among the uses Since the first of them: see Weigh.
	Strata  map[string][]string `json:"strata,omitempty"`
	Weights map[string]Weight   `json:"weights,omitempty"`
	Since   time.Time           `json:"since,omitzero"`
	// RestSince is when the uses begin that pairs of the rest stand for.
	RestSince time.Time `json:"rest_since,omitzero"`
	// Places are those of each cluster that was measured; an older evolve has recorded none.
	Places map[string]Place `json:"places,omitempty"`
	// Seen are the objectives that pairs had values of when others were chosen to count.
	Seen pareto.Set `json:"seen,omitzero"`
	// Texts are those that were in place on trial when the uses behind a cluster took place.
	Texts map[string]string `json:"texts,omitempty"`
	// Controls are pairs that another worker measured once more; they are no evidence.
	Controls      []Control `json:"controls,omitempty"`
	StartControls int       `json:"start_controls,omitempty"`
	// LastPair is when a pair was last measured.
	LastPair time.Time `json:"last_pair,omitzero"`
	// Excluded clusters may not be evidence.
	Excluded []string `json:"barred,omitempty"`
	// On is the model that the pairs were measured on, as far as it is known.
	// Past are the results on other models, StartRounds of them from before
	// the run.
	On          Model       `json:"on,omitzero"`
	StartOn     Model       `json:"start_on,omitzero"`
	Past        []PastTrial `json:"past,omitempty"`
	StartRounds int         `json:"start_rounds,omitempty"`

	// Used are the fingerprints of the cases of each cluster when it was
	// used: clusters are renamed, and cases return under other names. An
	// older evolve has recorded none.
	Used map[string][]string `json:"heard,omitempty"`
}

// A WaitingPair is the pair of a cluster, as that judge saw it; Asked: it made one of
// the checks.
type WaitingPair struct {
	Cluster string      `json:"cluster"`
	Pair    pareto.Pair `json:"pair"`
	// Checked is the part of its quality that checks decided, and that counts as much as
	// the judge surely sees: see Calibration.Sensitivity.
	Checked float64 `json:"checked,omitempty"`
	Judge   string  `json:"judge"`
	Asked   bool    `json:"asked,omitempty"`
}

// A PastTrial is the result of a trial up to a change of the model.
type PastTrial struct {
	On       Model         `json:"on"`
	Trial    *pareto.Trial `json:"trial"`
	Clusters []string      `json:"clusters"`
}

// Begin returns the state in which a run finds the trial t, nil for none, and
// the clusters that this run had added when it was interrupted. cfg is the
// rule of a new trial; a trial that an older evolve has begun gets the model.
func (t *TrialRecord) Begin(run string, cfg pareto.Config, on Model) (st *State, resumed []string, err error) {
	st = &State{Version: 1, Start: pareto.NewTrial(cfg), Trial: pareto.NewTrial(cfg)}
	if t == nil {
		return st, nil, nil
	}
	var old State
	if err := t.decode(&old, &old.Version); err != nil {
		return nil, nil, err
	}
	if old.Trial == nil {
		old.Trial, old.Start = pareto.NewTrial(cfg), pareto.NewTrial(cfg)
	}
	if t.Run != run {
		old.Start, old.StartClusters, old.StartOn, old.StartRounds = old.Trial, old.Clusters, old.On, len(old.Past)
		old.StartWaiting, old.StartReplays, old.StartLost = old.Waiting, old.Replays, old.Lost
		old.StartLostBy = old.LostBy
		old.StartRest, old.StartControls = old.Rest, len(old.Controls)
		if old.StartOn.Agent == "" {
			old.StartOn = on
		}
	}
	st.Start, st.StartClusters, st.Clusters = old.Start, old.StartClusters, slices.Clone(old.StartClusters)
	st.Trial = old.Start.Clone()
	st.StartWaiting, st.Waiting = old.StartWaiting, slices.Clone(old.StartWaiting)
	st.StartReplays, st.Replays = old.StartReplays, old.StartReplays
	st.StartLost, st.Lost = old.StartLost, old.StartLost
	st.StartLostBy, st.LostBy = old.StartLostBy, maps.Clone(old.StartLostBy)
	st.Weights, st.Since, st.Seen, st.Texts, st.LastPair = old.Weights, old.Since, old.Seen, old.Texts, old.LastPair
	st.StartRest, st.Rest, st.Parts, st.RestSince = old.StartRest, slices.Clone(old.StartRest), old.Parts, old.RestSince
	st.StartControls, st.Controls = old.StartControls, slices.Clone(old.Controls[:min(old.StartControls, len(old.Controls))])
	st.Excluded, st.StartOn, st.On = old.Excluded, old.StartOn, old.StartOn
	st.StartRounds, st.Past = old.StartRounds, slices.Clone(old.Past[:min(old.StartRounds, len(old.Past))])
	before := slices.Concat(st.StartClusters, st.StartRest, st.pastClusters(), waiting(st.StartWaiting))
	for _, name := range before {
		if prints, ok := old.Used[name]; ok {
			st.use(name, prints, old.Strata[name])
			if p, ok := old.Places[name]; ok {
				st.place(name, p)
			}
		}
	}
	ours := slices.Concat(old.Clusters, old.Rest, waiting(old.Waiting))
	return st, slices.DeleteFunc(ours, func(name string) bool { return slices.Contains(before, name) }), nil
}

// Losses are Lost, under "", and LostBy.
func (st *State) Losses() map[string]int {
	all := maps.Clone(st.LostBy)
	if all == nil {
		all = map[string]int{}
	}
	all[""] = st.Lost
	return all
}

// Lose sets what Losses returns.
func (st *State) Lose(all map[string]int) {
	st.Lost, st.LostBy = all[""], nil
	for w, n := range all {
		if w == "" || n == 0 {
			continue
		}
		if st.LostBy == nil {
			st.LostBy = map[string]int{}
		}
		st.LostBy[w] = n
	}
}

// Save puts st in the record.
func (t *TrialRecord) Save(st *State) error {
	raw, err := json.Marshal(st)
	if err != nil {
		return fmt.Errorf("encode trial of %.12s: %w", t.Challenger, err)
	}
	t.State = raw
	return nil
}

// read is the state, with an empty trial if none has begun: it has no
// evidence under any rule.
func (t *TrialRecord) read() (*State, error) {
	var st State
	if err := t.decode(&st, &st.Version); err != nil {
		return nil, err
	}
	st.Trial = begun(st.Trial)
	return &st, nil
}

func begun(t *pareto.Trial) *pareto.Trial {
	if t == nil {
		return pareto.NewTrial(pareto.DefaultConfig())
	}
	return t
}

// decode reads the parts of the state for which st has fields; version is one
// of them.
func (t *TrialRecord) decode(st any, version *int) error {
	if err := json.Unmarshal(t.State, st); err != nil {
		return fmt.Errorf("read trial of %.12s: %w", t.Challenger, err)
	}
	if *version != 1 {
		return fmt.Errorf("read trial of %.12s: state of version %d, this program knows 1", t.Challenger, *version)
	}
	return nil
}

// Rounds counts how often the trial has started again because the model changed.
func (t *TrialRecord) Rounds() (int, error) {
	st, err := t.read()
	if err != nil {
		return 0, err
	}
	return len(st.Past), nil
}

// Replays is how often each arm answers a case; 0 if that is not decided yet.
func (t *TrialRecord) Replays() (int, error) {
	st, err := t.read()
	if err != nil {
		return 0, err
	}
	return st.Replays, nil
}

// Use adds the pair of a cluster to the trial: its cases cannot be used again under any
// name.
func (st *State) Use(c Cluster, p pareto.Pair, spent *Spent) {
	part := st.part(&c)
	st.take(c, spent)
	if part == Rest {
		st.Trial.AddRest(p)
		st.Rest = append(st.Rest, c.Name)
		return
	}
	st.add(c.Name, p)
}

// Wait keeps the measured pair of a cluster that is no evidence until that judge is
// trusted: see Hear.
func (st *State) Wait(c Cluster, p pareto.Pair, checked float64, spent *Spent, judge string) {
	st.take(c, spent)
	st.Waiting = append(st.Waiting, WaitingPair{c.Name, p, checked, judge, Asks(c.Cases...)})
}

func (st *State) take(c Cluster, spent *Spent) {
	var prints, strata []string
	for _, k := range c.Cases {
		prints = append(prints, spent.Prints(k)...)
		strata = append(strata, StratumOf(k))
	}
	st.use(c.Name, sorted(prints), strata)
	st.place(c.Name, c.Place)
}

func (st *State) place(name string, p Place) {
	if st.Places == nil {
		st.Places = map[string]Place{}
	}
	st.Places[name] = p
}

func (st *State) add(cluster string, p pareto.Pair) {
	st.Trial.Add(p)
	st.Clusters = append(st.Clusters, cluster)
}

func (st *State) use(name string, prints, strata []string) {
	if st.Used == nil {
		st.Used, st.Strata = map[string][]string{}, map[string][]string{}
	}
	if st.Strata == nil {
		st.Strata = map[string][]string{}
	}
	st.Used[name], st.Strata[name] = prints, strata
}

// Restart begins the trial again: its pairs so far are about another model, or no
// evidence any more. Their clusters are not used again, although they would be new
// evidence: they had a part in keeping the challenger on trial:
// their mean, given that, is positive without an effect too.
func (st *State) Restart(cfg pareto.Config) PastTrial {
	was := PastTrial{On: st.On, Trial: st.Trial, Clusters: slices.Concat(st.Clusters, st.Rest, waiting(st.Waiting))}
	st.Past = append(st.Past, was)
	if cfg == (pareto.Config{}) {
		cfg = pareto.DefaultConfig()
	} else {
		cfg.Failures = st.Trial.Config().Failures // a run that continues a trial has not measured them
	}
	cfg.Without = st.Trial.Config().Without
	st.Trial, st.Clusters, st.Waiting, st.Since = pareto.NewTrial(cfg), nil, nil, time.Time{}
	st.Rest, st.RestSince = nil, time.Time{}
	return was
}

// Hear adds the pairs that waited for this judge to be trusted, in the order in
// which they were measured, which no answer had a part in. What another judge has
// said of them is no evidence, and they are not used again. Those that a closed
// trial does not take stay.
func (st *State) Hear(judge Calibration) {
	for len(st.Waiting) > 0 && st.Trial.Verdict().IsOpen() {
		w := st.Waiting[0]
		st.Waiting = st.Waiting[1:]
		if w.Asked && w.Judge != judge.Judge {
			st.Excluded = sorted(append(st.Excluded, w.Cluster))
			continue
		}
		w.Pair.Quality -= (1 - st.EqualEyes(w.Cluster, judge)) * w.Checked
		st.add(w.Cluster, w.Pair)
	}
}

// EqualEyes returns the factor by which the checks of a cluster count. The corrections in a
// cluster are mistakes of the text that was in place. If that was the incumbent, checks find
// its mistakes more surely than the judge finds the challenger's, so checks count by the
// judge's sensitivity. If the challenger was in place on trial, the mistakes are its own and
// the factor is 1.
func (st *State) EqualEyes(cluster string, judge Calibration) float64 {
	if st.Texts[cluster] != "" {
		return 1
	}
	return judge.Sensitivity()
}

// measured are the strata of the cases that were measured for the trial and come from uses
// of that text on trial in place, "" for all others, of clusters that arrived since then, in
// one part of the requests.
func (st *State) measured(since time.Time, text string, part Part) (s pareto.Strata) {
	names := slices.Concat(st.Clusters, waiting(st.Waiting))
	if part == Rest {
		names = st.Rest
	}
	for _, name := range names {
		if p, known := st.Places[name]; st.Texts[name] != text || known && p.Time.Before(since) {
			continue
		}
		for _, stratum := range st.Strata[name] {
			s.Case(stratum)
		}
	}
	return s
}

func waiting(list []WaitingPair) (names []string) {
	for _, w := range list {
		names = append(names, w.Cluster)
	}
	return names
}

// Usable are the clusters of test that may still be evidence, see usable,
// after the given ones, which are in the trial. The clusters of resumed are
// those that this run had begun when it was interrupted.
func (st *State) Usable(test []eval.Case, spent *Spent, challenger string, clusters, resumed []string) (list []Cluster, copies int) {
	return usable(test, spent, challenger, st.used(clusters, resumed, spent, challenger, test))
}

// used are the names of clusters that may not be evidence (again), and the
// fingerprints of their cases: of the given ones, which are in the trial, of
// those that it used on other models, and of the excluded ones. An older
// evolve recorded no fingerprints: then everything that was spent on the
// challenger counts as used, except the clusters that this run itself has
// begun.
func (st *State) used(clusters, resumed []string, spent *Spent, challenger string, test []eval.Case) []string {
	clusters = slices.Concat(clusters, waiting(st.StartWaiting), st.pastClusters())
	out := slices.Concat(clusters, st.Excluded)
	unnamed := false
	for _, name := range clusters {
		prints, ok := st.Used[name]
		out, unnamed = append(out, prints...), unnamed || !ok
	}
	if !unnamed || spent == nil {
		return out
	}
	own := map[string]bool{}
	for i := range test {
		if slices.Contains(resumed, eval.ClusterOf(&test[i])) {
			for _, p := range spent.Prints(&test[i]) {
				own[p] = true
			}
		}
	}
	for _, p := range spent.PrintsOn(challenger) {
		if !own[p] {
			out = append(out, p)
		}
	}
	return out
}

// pastClusters are those that were used on other models.
func (st *State) pastClusters() (out []string) {
	for _, p := range st.Past {
		out = append(out, p.Clusters...)
	}
	return out
}

func sorted(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

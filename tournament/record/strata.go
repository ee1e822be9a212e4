package record

import (
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
)

// A Use is one use of a skill, whether a case could be made of it or not.
type Use struct {
	Time    time.Time
	Stratum string
	// Session and Workspace say where; "" if that is not known.
	Session, Workspace string
	Replays            bool // a case was made of it
	Part               Part // in a trial of a file of instructions
	// OnTrial is the text that was in place on trial then, by its SHA-256; "" for none.
	OnTrial string
}

// onTrial is the text that was in place on trial at a time: that of the nearest use, since
// a case has the time of its turn, and a use the time at which its turn loaded the skill.
func onTrial(uses []Use, at time.Time) (text string) {
	least := time.Duration(-1)
	for _, u := range uses {
		if d := u.Time.Sub(at).Abs(); least < 0 || d < least {
			least, text = d, u.OnTrial
		}
	}
	return text
}

// imported is the stratum of cases that are no uses of the owner's: of them it is
// not known how common they are.
const imported = "imported"

// Corrected is the stratum of uses that their user corrected.
const Corrected = "corrected"

// leastUses is how many uses a share of them rests on.
const leastUses = 10

// FailuresOf is the share of uses that were corrected, half if few are known.
func FailuresOf(uses []Use) float64 {
	corrected := 0
	for _, u := range uses {
		if u.Stratum == Corrected {
			corrected++
		}
	}
	if len(uses) < leastUses {
		return pareto.DefaultConfig().Failures
	}
	return float64(corrected) / float64(len(uses))
}

// Mined is the origin of cases that were made of the owner's sessions.
const Mined = "mined"

// StratumOf is the stratum of a case. An older evolve noted the outcome alone.
func StratumOf(c *eval.Case) string {
	switch {
	case c.Origin() != Mined:
		return imported
	case c.Source.Stratum != "":
		return c.Source.Stratum
	case c.Source.Outcome == "accepted":
		return "accepted"
	case slices.Contains([]string{"corrected", "rejected", "repeated"}, c.Source.Outcome):
		return Corrected
	}
	return eval.Silent
}

// Arrived is when the use behind the first case of a cluster took place, the zero
// time if that is not known.
func (c *Cluster) Arrived() (at time.Time) {
	for _, k := range c.Cases {
		if k.Source != nil && (at.IsZero() || k.Source.Time.Before(at)) {
			at = k.Source.Time
		}
	}
	return at
}

// A Weight is how much of all uses a cluster stands for: of each of its cases, and
// the largest of any stratum.
type Weight struct {
	Cases   []float64 `json:"cases"`
	Largest float64   `json:"largest"`
}

// before are the uses before a time, the oldest first.
func before(at time.Time, uses []Use) []Use {
	out := slices.DeleteFunc(slices.Clone(uses), func(u Use) bool { return !u.Time.Before(at) })
	slices.SortStableFunc(out, func(a, b Use) int { return a.Time.Compare(b.Time) })
	return out
}

// Alone is a stratum beside which a cluster's cases do not stand for all uses, because of
// it none can be made any more (pareto.Gone); "" for none. It depends on no answer. What the
// trial has weighed stays.
func (st *State) Alone(c Cluster, uses []Use) string {
	at := c.Arrived()
	if _, weighed := st.Weights[c.Name]; weighed || at.IsZero() {
		return ""
	}
	var of []string
	for _, k := range c.Cases {
		if of = append(of, StratumOf(k)); StratumOf(k) == imported {
			return ""
		}
	}
	var all []pareto.Use
	for _, u := range before(at, uses) {
		all = append(all, pareto.Use{Stratum: u.Stratum, Replays: u.Replays})
	}
	return pareto.Gone(all, of...)
}

// Weigh returns the weight of a cluster that is measured next: the share of its
// cases' strata among the last uses since the trial's first cluster and before this one,
// over their share among the cases that were measured of them. What becomes of a use
// depends on the text in place: uses and cases of a text on trial in place are counted
// among themselves, and so are the others. It is kept, so that a run that is resumed comes
// to the same whatever was harvested meanwhile.
//
// In a trial about a part of the requests the uses are those of that part. Pairs of the rest
// are drawn at random from all of its cases, so they stand for all uses since the first of them.
func (st *State) Weigh(c Cluster, uses []Use) Weight {
	at, part := c.Arrived(), st.part(&c)
	if part != All {
		uses = In(uses, part)
	}
	if st.Since.IsZero() && part != Rest {
		st.Since = at
	}
	if w, ok := st.Weights[c.Name]; ok && len(w.Cases) == len(c.Cases) {
		return w
	}
	text := onTrial(uses, at)
	if text != "" && st.Texts == nil {
		st.Texts = map[string]string{}
	}
	if text != "" {
		st.Texts[c.Name] = text
	}
	from, until := st.Since, at
	if part == Rest {
		from, until = st.RestSince, time.Unix(1<<40, 0)
	}
	recent := slices.DeleteFunc(before(until, uses), func(u Use) bool { return u.Time.Before(from) || u.OnTrial != text })
	var since time.Time
	if over := len(recent) - pareto.Window; over > 0 && part != Rest {
		recent = recent[over:]
		since = recent[0].Time
	}
	strata := st.measured(since, text, part)
	for _, u := range recent {
		strata.Use(u.Stratum)
	}
	var out Weight
	for _, k := range c.Cases {
		w, most := 1., 1.
		if s := StratumOf(k); s != imported && len(uses) > 0 {
			w, most = strata.Weight(s)
		}
		out.Cases, out.Largest = append(out.Cases, w), max(out.Largest, most)
	}
	if st.Weights == nil {
		st.Weights = map[string]Weight{}
	}
	st.Weights[c.Name] = out
	return out
}

// ByArrival sorts clusters by the time of their uses: evidence enters in that
// order, never by its kind. Those of no known time stay where they are among
// themselves, behind the others.
func ByArrival(list []Cluster) {
	slices.SortStableFunc(list, func(a, b Cluster) int {
		x, y := a.Arrived(), b.Arrived()
		if x.IsZero() != y.IsZero() {
			if x.IsZero() {
				return 1
			}
			return -1
		}
		return x.Compare(y)
	})
}

// A LeftOut counts what Begins leaves out: Early clusters (AfterSearch), and Cases that stand
// Beside a stratum of which none come any more (Alone).
type LeftOut struct {
	Early, Cases int
	Beside       string
}

// Begins are the clusters, in the order of their arrival, that may be measured next.
func (st *State) Begins(list []Cluster, uses []Use) (kept []Cluster, out LeftOut) {
	kept = st.AfterSearch(list, uses)
	out.Early = len(list) - len(kept)
	kept = slices.DeleteFunc(kept, func(c Cluster) bool {
		beside := st.Alone(c, uses)
		if beside != "" {
			out.Beside, out.Cases = beside, out.Cases+len(c.Cases)
		}
		return beside != ""
	})
	return kept, out
}

// AfterSearch removes the silent clusters that arrived before the trial's first cluster with a
// correction or an acceptance; list is in order of arrival. Until that cluster arrives the
// search takes every corrected and accepted use, so the trial has none, their next cluster may
// get a very large weight, and all bets must be small: those silent pairs would cost as much
// as others and prove almost nothing. If the user never says anything, nothing is removed.
func (st *State) AfterSearch(list []Cluster, uses []Use) []Cluster {
	from := st.Since
	for i := range list {
		if at := list[i].Arrived(); from.IsZero() && !at.IsZero() && !list[i].silent() {
			from = at
		}
	}
	said := 0
	for _, u := range uses {
		if u.Stratum != eval.Silent {
			said++
		}
	}
	waits := from.IsZero() && said > 0 && float64(said) >= silenced*float64(len(uses))
	return slices.DeleteFunc(slices.Clone(list), func(c Cluster) bool {
		return c.silent() && (waits || c.Arrived().Before(from))
	})
}

// silent reports whether nothing was said about any of the cluster's cases.
func (c *Cluster) silent() bool {
	return !slices.ContainsFunc(c.Cases, func(k *eval.Case) bool { return StratumOf(k) != eval.Silent })
}

// silenced is the share of the held-out cases that may be left out because only
// an untrusted judge could hear them, and of uses of which something was said that a trial
// does not wait for.
const silenced = 0.05

// Asks reports whether a judge makes a check of the cases.
func Asks(cases ...*eval.Case) bool {
	return slices.ContainsFunc(cases, func(c *eval.Case) bool {
		return slices.ContainsFunc(c.Checks, func(k eval.Check) bool { return k.Type == eval.Judge })
	})
}

// Unheard reports whether nothing may be evidence yet: a judge that is not trusted
// would have to hear a twentieth of the uses, and what is left does not stand for
// all. Where the uses are not known (nil), the held-out cases stand for them.
func Unheard(test []eval.Case, uses []Use, c Calibration) bool {
	asked := RestsOnJudge(test)
	if c.Trusted() || asked == 0 {
		return false
	}
	if len(uses) == 0 {
		return float64(asked) >= silenced*float64(len(test))
	}
	judged := map[string]bool{}
	for i := range test {
		if Asks(&test[i]) {
			judged[StratumOf(&test[i])] = true
		}
	}
	n := 0
	for _, u := range uses {
		if judged[u.Stratum] {
			n++
		}
	}
	return judged[imported] || float64(n) >= silenced*float64(len(uses))
}

package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/search"
)

// A Step is one event of a run in words. Rollouts is cumulative, Best the
// best validation quality so far (nil before the first). The gate's events
// keep the search's last one. So do events after a candidate has taken the
// lead on a part of the cases, until it was measured on all: the mean over
// the hardest cases is no quality that could be compared. After the winner
// was confirmed it is the confirmed score.
type Step struct {
	Seq      int             `json:"seq"`
	Time     time.Time       `json:"time"`
	Kind     string          `json:"kind"`
	Rollouts int64           `json:"rollouts"`
	Best     *float64        `json:"best"`
	Text     string          `json:"text"` // in words; not for programs
	Data     json.RawMessage `json:"data,omitempty"`
}

// Quality is the quality that a step reports, nil for none.
func (s *Step) Quality() *float64 { return factsOf(s.Data).Quality }

// A BestSoFar follows the best validation quality through a run's events. The zero
// value is at the beginning.
type BestSoFar struct {
	quality       *float64
	part, settled bool
}

// See returns the best validation quality after an event, nil before the first.
func (b *BestSoFar) See(e record.Event) *float64 {
	switch e.Kind {
	case "leading":
		b.part = true
	case "validated", "finals", "search_end":
		b.part = false
	case "confirmed": // without the luck of being chosen: the figure that is reported
		b.settled, b.quality = true, factsOf(e.Data).Quality
	}
	if e.Best != nil && !b.part && !b.settled {
		b.quality = e.Best
	}
	return b.quality
}

// Timeline is the events in words, in their order.
func Timeline(events []record.Event) []Step {
	out := make([]Step, 0, len(events))
	var best BestSoFar
	for _, e := range events {
		out = append(out, Step{e.Seq, e.Time, e.Kind, e.Rollouts, best.See(e), phrase(e), e.Data})
	}
	return out
}

// facts are the fields that events carry; each kind has its own few.
type facts struct {
	SHA        string   `json:"sha256"`
	Operator   string   `json:"operator"`
	Reason     string   `json:"reason"`
	Stop       string   `json:"stop"`
	Decision   string   `json:"decision"`
	Route      string   `json:"route"`
	Incumbent  string   `json:"incumbent"`
	Challenger string   `json:"challenger"`
	Leader     string   `json:"best"`
	Cluster    string   `json:"cluster"`
	Quality    *float64 `json:"quality"`
	Latency    *float64 `json:"latency"`
	Cost       *float64 `json:"cost"`
	Retries    *float64 `json:"retries"`
	Against    float64  `json:"against"`
	Gain       float64  `json:"gain"`
	EValue     float64  `json:"e_value"`
	Cases      int      `json:"cases"`
	Of         int      `json:"of"`
	Train      int      `json:"train"`
	Val        int      `json:"val"`
	Clusters   int      `json:"clusters"`
	Carried    int      `json:"carried"`
	Trial      int      `json:"trial"`
	Finalists  int      `json:"finalists"`
	Pool       int      `json:"pool"`
	Proposals  int      `json:"proposals"`
	Standing   bool     `json:"standing"`
	From       string   `json:"from"`
	Lines      int      `json:"lines"`

	Noise search.Noise `json:"noise"`
}

// factsOf reads an event's data; a kind of a newer evolve may not fit, and then
// has none.
func factsOf(raw json.RawMessage) (f facts) {
	if json.Unmarshal(raw, &f) != nil {
		return facts{}
	}
	return f
}

// phrase is an event in a short sentence.
func phrase(e record.Event) string {
	f := factsOf(e.Data)
	who := plain.Short(f.SHA)
	q := "unknown"
	if f.Quality != nil {
		q = fmt.Sprintf("%.2f", *f.Quality)
	}
	switch e.Kind {
	case "search_start":
		return fmt.Sprintf("the search begins on %d train and %s", f.Train, plain.Counted(f.Val, "validation case"))
	case "seed":
		return fmt.Sprintf("your text scores %s on %s", q, plain.Counted(f.Cases, "validation case"))
	case "sown":
		if f.Standing {
			return fmt.Sprintf("%s, which waits undecided, starts beside your text", who)
		}
		return fmt.Sprintf("%s, approved by its owner, starts beside your text", who)
	case "accepted":
		from := ""
		if f.Proposals > 1 {
			from = fmt.Sprintf(" (%d proposals together)", f.Proposals)
		}
		return fmt.Sprintf("%s: %s wins its minibatch by %+.2f on %s%s", f.Operator, who, f.Gain, plain.Counted(f.Cases, "train case"), from)
	case "united":
		return fmt.Sprintf("%s: %s states once what %d proposals say alike", f.Operator, who, f.Proposals)
	case "refused":
		return fmt.Sprintf("%s: %s loses its minibatch, %+.2f on %s", f.Operator, who, f.Gain, plain.Counted(f.Cases, "train case"))
	case "dominated":
		return fmt.Sprintf("%s cannot catch up any more after %d of %d validation cases", who, f.Cases, f.Of)
	case "leading":
		return fmt.Sprintf("%s takes the lead with %s after %d of %d validation cases", who, q, f.Cases, f.Of)
	case "validated":
		lead := "does not lead"
		if f.Leader == f.SHA {
			lead = "leads"
		}
		return fmt.Sprintf("%s is validated: %s against %.2f, %s", who, q, f.Against, lead)
	case "finals":
		return fmt.Sprintf("finals, trial %d of %d leaders: %s is best with %s", f.Trial, f.Finalists, plain.Short(f.Leader), q)
	case "confirmed":
		return fmt.Sprintf("%s scores %s on %s in a trial that had no part in choosing it", who, q, plain.Counted(f.Cases, "validation case"))
	case "untangled":
		word := "does not help"
		if f.Gain > 1e-9 {
			word = "helps"
		}
		return fmt.Sprintf("%s without %s that stand in others' way: %s, %+.2f on %s", plain.Short(f.From), plain.Counted(f.Lines, "line"), word, f.Gain, plain.Counted(f.Cases, "train case"))
	case "noise":
		return fmt.Sprintf("the same text tried again scores ±%.2f on the same case (%s)", f.Noise.Quality, plain.Counted(f.Noise.Pairs, "repeated trial"))
	case "unusable":
		return fmt.Sprintf("%s: the reply was of no use: %s", f.Operator, plain.Excerpt(f.Reason, 160))
	case "invalid", "quarantined":
		return fmt.Sprintf("%s: %s is %s: %s", f.Operator, who, e.Kind, plain.Excerpt(f.Reason, 160))
	case "search_end":
		return fmt.Sprintf("the search ends with %s in the pool: %s", plain.Counted(f.Pool, "candidate"), plain.Excerpt(f.Stop, 160))
	case "gate_start":
		more := ""
		if f.Carried > 0 {
			more = fmt.Sprintf(", %d carried over", f.Carried)
		}
		return fmt.Sprintf("the trial begins: %s against %s on %s%s", plain.Short(f.Challenger), plain.Short(f.Incumbent), plain.Counted(f.Clusters, "unseen request"), more)
	case "gate_restart":
		return plain.Excerpt(f.Reason, 400)
	case "gate_pair":
		if f.Quality != nil {
			q = fmt.Sprintf("%+.2f", *f.Quality)
		}
		return fmt.Sprintf("pair %d: quality %s, %s", f.Cases, q, pareto.Chance(f.EValue))
	case "verdict":
		return fmt.Sprintf("%s: %s", pareto.Answer(pareto.Verdict(f.Decision), f.Route), plain.Excerpt(f.Reason, 400))
	}
	return cmp.Or(hookPhrase(e), plain.Excerpt(e.Kind+" "+string(e.Data), 160))
}

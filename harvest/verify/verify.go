// Package verify finds out whether rubrics tell apart what they are to tell apart: a model
// grades by them what was recorded, and is not told what the user said of it.
package verify

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/fenced"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/harvest/work"
)

//go:embed prompts/system.txt
var system string

const (
	batch       = 5    // items in one call
	maxText     = 4000 // characters of one recorded text
	maxBefore   = 1500 // characters of a message before the request
	before      = 4    // messages before it
	replyTokens = 80   // of the reply, for each criterion
)

// A Verifier asks a model about rubrics.
type Verifier struct {
	Model    eval.Model
	Memory   harvest.Memory  // nil: nothing is remembered between runs
	Redactor redact.Redactor // for prompts; nil: redact.Detector
	// Hold: only remembered replies are used.
	Hold bool
}

// An Item is a case of a turn that the user corrected, with what was recorded of the turn.
type Item struct {
	Case  *eval.Case
	Trial harvest.Trial
	// Verify sets one of these.
	Checks []eval.Check // of the case: those that are left
	Open   bool         // a reply is missing, or could not be read
	Why    string       // no check is left that fails on what was corrected
}

// Stats counts what Verify did.
type Stats struct {
	Cases int `json:"cases"` // with rubrics
	Open  int `json:"open"`  // of these: they are asked about again next time
	Calls int `json:"calls"` // to the model
	// Dropped are rubrics, by reason.
	Dropped map[string]int `json:"dropped,omitempty"`
}

// Why a rubric is dropped.
const (
	passesBefore = "what was corrected meets its rubric"
	undecided    = "its rubric cannot be decided on what was corrected"
	failsAfter   = "what was accepted does not meet its rubric"
)

// Verify tries the rubrics of cases: what was corrected must not meet them, and what was
// accepted must, if that was recorded. It sets what becomes of each item. Replies are
// remembered; what could not be read is asked again next time. The error is
// *eval.BudgetError, ctx's or Memory's; the items that it leaves are Open.
func (v *Verifier) Verify(ctx context.Context, items []*Item) (stats Stats, err error) {
	if v.Redactor == nil {
		v.Redactor = redact.Detector{}
	}
	stats.Dropped = map[string]int{}
	known := map[string][]string{}
	open := map[string]*exhibit{}
	for _, it := range items {
		it.Open = true
	}
	stats.Cases, stats.Open = len(items), len(items)
	for _, it := range items {
		for _, e := range v.exhibits(it) {
			if e == nil {
				continue
			}
			met, err := v.recall(ctx, e)
			if err != nil {
				return stats, err
			}
			if known[e.key] = met; met == nil {
				open[e.key] = e
			}
		}
	}
	if !v.Hold {
		err = v.ask(ctx, open, known, &stats)
	}
	for _, it := range items {
		if it.settle(v.exhibits(it), known, &stats); !it.Open {
			stats.Open--
		}
	}
	return stats, err
}

// An exhibit is what the model sees of an item: never whether it was corrected.
type exhibit struct {
	Context  []eval.Message `json:"context,omitempty"`
	Request  string         `json:"request"`
	Pasted   []string       `json:"pasted,omitempty"`
	Answer   string         `json:"answer"`
	Work     *check.Work    `json:"work,omitempty"`
	Criteria []string       `json:"criteria"`

	key, session string
}

// exhibits are what was corrected and, nil if it was not recorded, what was accepted. Both are
// nil for a case without a rubric.
func (v *Verifier) exhibits(it *Item) (out [2]*exhibit) {
	rubrics := inDoubt(it.Case.Checks)
	if len(rubrics) == 0 {
		return out
	}
	e := exhibit{session: it.Case.Source.Session}
	for _, i := range rubrics {
		e.Criteria = append(e.Criteria, it.Case.Checks[i].Rubric)
	}
	e.Request, e.Pasted = harvest.Unpasted(it.Case.Prompt, maxText)
	for _, m := range it.Case.Context[max(0, len(it.Case.Context)-before):] {
		e.Context = append(e.Context, eval.Message{Role: m.Role, Text: harvest.Tail(m.Text, maxBefore)})
	}
	show := func(answer string, did *work.Done) *exhibit {
		e := e
		e.Answer = harvest.Tail(answer, maxText)
		if did != nil {
			e.Work = did.Brief(maxText)
		}
		data, err := json.Marshal([]any{"verify/1", v.Model.Identity(), system, e})
		if err != nil {
			panic(err) // texts can be marshalled
		}
		sum := sha256.Sum256(data)
		e.key = hex.EncodeToString(sum[:])
		return &e
	}
	out[0] = show(it.Trial.Answer, it.Trial.Work)
	if it.Case.Reference != "" || it.Trial.Accepted != nil {
		out[1] = show(it.Case.Reference, it.Trial.Accepted)
	}
	return out
}

// inDoubt are the checks with rubrics that have to tell something. The question whether the
// request is fulfilled need not, if it stands beside others.
func inDoubt(checks []eval.Check) (at []int) {
	for i, k := range checks {
		if k.Asks() && (len(checks) == 1 || k.Rubric != harvest.Fulfilled.Rubric) {
			at = append(at, i)
		}
	}
	return at
}

// settle decides by the replies which checks of a case are left.
func (it *Item) settle(shown [2]*exhibit, known map[string][]string, stats *Stats) {
	var met [2][]string
	for i, e := range shown {
		if e == nil {
			continue
		}
		if met[i] = known[e.key]; met[i] == nil {
			return
		}
	}
	it.Open = false
	rubrics := inDoubt(it.Case.Checks)
	tells := false
	for i, k := range it.Case.Checks {
		why := ""
		if n := slices.Index(rubrics, i); n >= 0 {
			switch {
			case met[0][n] == yes:
				why = passesBefore
			case met[0][n] != no:
				why = undecided
			case met[1] != nil && met[1][n] == no:
				why = failsAfter
			}
			tells = tells || why == ""
		} else if !k.Asks() {
			tells = tells || it.fails(&k)
		}
		if why == "" {
			it.Checks = append(it.Checks, k)
			continue
		}
		stats.Dropped[why]++
		it.Why = cmp.Or(it.Why, why)
	}
	if tells {
		it.Checks, it.Why = harvest.Idle(it.Checks), ""
	}
}

// fails reports whether a check without a rubric fails on what was corrected. Those of the
// work do, or they would not be there.
func (it *Item) fails(k *eval.Check) bool {
	if k.Spec().Work {
		return true
	}
	r, err := k.Grade(context.Background(), &check.Subject{Answer: it.Trial.Answer})
	return err == nil && !r.Passed()
}

const yes, no, unclear = "yes", "no", "unclear"

func (v *Verifier) recall(ctx context.Context, e *exhibit) (met []string, err error) {
	if v.Memory == nil {
		return nil, nil
	}
	data, err := v.Memory.Recall(ctx, e.key)
	if err != nil || json.Unmarshal(data, &met) != nil || !e.fits(met) {
		return nil, err
	}
	return met, nil
}

// fits reports whether there is a decision for each criterion.
func (e *exhibit) fits(met []string) bool {
	return len(met) == len(e.Criteria) && !slices.ContainsFunc(met, func(m string) bool { return m != yes && m != no && m != unclear })
}

// ask asks the model about what is open, and adds its decisions to known. The order of the
// keys mixes what was corrected and what was accepted.
func (v *Verifier) ask(ctx context.Context, open map[string]*exhibit, known map[string][]string, stats *Stats) error {
	var list []*exhibit
	for _, e := range open {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b *exhibit) int { return strings.Compare(a.key, b.key) })
	for some := range slices.Chunk(list, batch) {
		text, err := v.call(ctx, some, stats)
		if err != nil {
			return err
		}
		got := parse(text)
		for _, e := range some {
			met := got[e.id()]
			if !e.fits(met) {
				continue
			}
			known[e.key] = met
			if v.Memory == nil {
				continue
			}
			data, err := json.Marshal(met)
			if err != nil {
				return fmt.Errorf("remember how rubrics grade: %w", err)
			}
			// The call is paid for, so its result is stored even if the run was interrupted.
			if err := v.Memory.Remember(context.WithoutCancel(ctx), e.session, e.key, data); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *exhibit) id() string { return e.key[:8] }

// call makes one call. Its reply is "" if the model failed or was cut off.
func (v *Verifier) call(ctx context.Context, some []*exhibit, stats *Stats) (string, error) {
	var b strings.Builder
	b.WriteString("Recorded (origin of request: user; of pasted: unknown; of answer: assistant, which may repeat tools and web pages; of work: the assistant's calls of tools; of context: its role; of criteria: a model):\n")
	criteria := 0
	for _, e := range some {
		text, err := harvest.Quote("item "+e.id()+"\n", e, v.Redactor)
		if err != nil {
			return "", err
		}
		b.WriteString("\n" + text + "\n")
		criteria += len(e.Criteria)
	}
	sum := sha256.Sum256([]byte(b.String()))
	stats.Calls++
	got, err := v.Model.Complete(ctx, eval.Prompt{System: system, User: b.String(), MaxTokens: replyTokens * (criteria + len(some) + 1),
		Seed: int64(binary.BigEndian.Uint64(sum[:]) >> 1)})
	if err != nil {
		if _, spent := errors.AsType[*eval.BudgetError](err); spent {
			stats.Calls-- // nothing was sent
			return "", err
		}
		return "", ctx.Err()
	}
	if got.Finish == "length" {
		return "", nil
	}
	return got.Text, nil
}

// parse reads the decisions in a reply, by id. What is wrong with one loses that one.
func parse(text string) map[string][]string {
	var got struct {
		Items []json.RawMessage `json:"items"`
	}
	out, twice := map[string][]string{}, map[string]bool{}
	if fenced.Block(text, &got) != nil {
		return out
	}
	for _, raw := range got.Items {
		var one struct {
			ID       string `json:"id"`
			Criteria []struct {
				Reason string `json:"reason"` // has the model think before it decides; not kept
				Met    string `json:"met"`
			} `json:"criteria"`
		}
		dec := json.NewDecoder(strings.NewReader(string(raw)))
		dec.DisallowUnknownFields()
		if dec.Decode(&one) != nil {
			continue
		}
		met := []string{}
		for _, c := range one.Criteria {
			met = append(met, c.Met)
		}
		_, again := out[one.ID]
		twice[one.ID] = twice[one.ID] || again
		out[one.ID] = met
	}
	for id, again := range twice {
		if again {
			delete(out, id)
		}
	}
	return out
}

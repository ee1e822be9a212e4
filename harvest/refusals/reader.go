package refusals

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/fenced"
	"github.com/skill-evolve/evolve/harvest/redact"
)

//go:embed prompts/system.txt
var system string

const (
	readings    = 2
	batch       = 15  // calls in one request
	replyTokens = 120 // of the reply, for each of them
	maxWords    = 200 // characters of a quotation
	maxRule     = 20  // words
	isRule      = "rule"
	isVoid      = "void" // the reply cannot be used; no model answers this
)

var holds = []string{isRule, "timing", "here", "none"}

// A Reader sets the labels of calls. The zero value asks no model.
type Reader struct {
	Model    eval.Model      // nil: only remembered replies are used
	Memory   harvest.Memory  // nil: nothing is remembered between runs
	Redactor redact.Redactor // for prompts and replies; nil: redact.Detector
	Most     int             // calls that the model is asked about, the newest; 0: all
	May      func(*Call) bool
}

// Stats counts what a Reader did.
type Stats struct {
	Refused  int `json:"refused"`  // calls of which the user said something
	Read     int `json:"read"`     // twice, now or in an earlier run, whatever was found
	Rules    int `json:"rules"`    // of these: both readings say that the user named a rule
	Unread   int `json:"unread"`   // the model was not asked, or failed
	Withheld int `json:"withheld"` // of the unread: their text may not go to the model
	Calls    int `json:"calls"`    // to the model; not those that wait for their answer
}

// An answer is what the model replied about one call, as it is remembered.
type answer struct {
	ID    string `json:"id,omitempty"`
	Says  string `json:"says,omitempty"` // has the model think before it decides; not kept
	Holds string `json:"holds"`
	Words string `json:"words,omitempty"`
	Rule  string `json:"rule,omitempty"`
}

// Read has each call read twice, each time among others and in another order, and sets the
// labels on which both readings agree. A reply is accepted only if its words occur in what was
// said of that call. If the model fails, it is asked again next time; its replies, usable or
// not, are remembered. The error is *eval.BudgetError, ctx's or Memory's.
func (r *Reader) Read(ctx context.Context, calls []*Call) (stats Stats, err error) {
	if r.Redactor == nil {
		r.Redactor = redact.Detector{}
	}
	known := map[string]*answer{}
	copies := map[string][]*Call{} // of a session that is in several files, one is read
	var all []*Call
	for _, c := range calls {
		if copies[c.key[0]] = append(copies[c.key[0]], c); len(copies[c.key[0]]) == 1 {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b *Call) int { return b.Time.Compare(a.Time) })
	stats.Refused = len(all)
	var open []*Call
	for _, c := range all {
		for _, key := range c.key {
			if known[key], err = r.recall(ctx, key); err != nil {
				return stats, err
			}
		}
		switch {
		case known[c.key[0]] != nil && known[c.key[1]] != nil:
		case r.May != nil && !r.May(c):
			stats.Withheld++
		default:
			open = append(open, c)
		}
	}
	if r.Most > 0 {
		open = open[:min(len(open), r.Most)]
	}
	for n := range readings {
		if r.Model == nil || err != nil {
			break
		}
		err = r.read(ctx, n, open, known, &stats)
	}
	for _, c := range all {
		first, second := known[c.key[0]], known[c.key[1]]
		if first == nil || second == nil {
			stats.Unread++
			continue
		}
		stats.Read++
		if first.Holds == isRule && second.Holds == isRule {
			stats.Rules++
			for _, same := range copies[c.key[0]] {
				same.Label = &Label{first.Rule, first.Words}
			}
		}
	}
	return stats, err
}

// read is the reading n of open calls: the second one in an order that has nothing to do with
// the first.
func (r *Reader) read(ctx context.Context, n int, open []*Call, known map[string]*answer, stats *Stats) error {
	open = slices.DeleteFunc(slices.Clone(open), func(c *Call) bool { return known[c.key[n]] != nil })
	if n > 0 {
		slices.SortFunc(open, func(a, b *Call) int { return cmp.Compare(a.key[n], b.key[n]) })
	}
	for some := range slices.Chunk(open, batch) {
		answers, err := r.ask(ctx, n, some, stats)
		if err != nil {
			return err
		}
		for i, a := range answers {
			if known[some[i].key[n]] = &a; r.Memory == nil {
				continue
			}
			data, err := json.Marshal(a)
			if err != nil {
				return fmt.Errorf("remember why a call was refused: %w", err)
			}
			// The call is paid for, so its result is stored even if the run was interrupted.
			if err := r.Memory.Remember(context.WithoutCancel(ctx), some[i].Session, some[i].key[n], data); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Reader) recall(ctx context.Context, key string) (*answer, error) {
	if r.Memory == nil {
		return nil, nil
	}
	data, err := r.Memory.Recall(ctx, key)
	if err != nil || data == nil {
		return nil, err
	}
	a := new(answer)
	if json.Unmarshal(data, a) != nil {
		return nil, nil // of another version: ask
	}
	return a, nil
}

// ask has the model read some calls. It returns an answer for each, or none if the model failed.
func (r *Reader) ask(ctx context.Context, n int, some []*Call, stats *Stats) ([]answer, error) {
	var b strings.Builder
	b.WriteString("Recorded (origin of said: user; of pasted: unknown, the user copied it; of tool and input: assistant, which may repeat tools and web pages):\n")
	for _, c := range some {
		text, err := harvest.Quote("call "+c.id[n]+"\n", c.seen, r.Redactor)
		if err != nil {
			return nil, err
		}
		b.WriteString("\n" + text + "\n")
	}
	sum := sha256.Sum256([]byte(b.String()))
	stats.Calls++
	got, err := r.Model.Complete(ctx, eval.Prompt{System: system, User: b.String(), MaxTokens: replyTokens * (len(some) + 1),
		Seed: int64(binary.BigEndian.Uint64(sum[:]) >> 1)})
	if err != nil {
		_, spent := errors.AsType[*eval.BudgetError](err)
		if spent || eval.IsPending(err) {
			stats.Calls-- // nothing was sent, or the command that gets the answer counts it
		}
		if spent {
			return nil, err
		}
		return nil, ctx.Err()
	}
	text, _ := r.Redactor.Redact(got.Text)
	var answers map[string]answer
	if got.Finish != "length" {
		answers = parse(text)
	}
	var out []answer
	for _, c := range some {
		a, ok := answers[c.id[n]]
		if !ok || !c.accept(&a) {
			a = answer{Holds: isVoid}
		}
		out = append(out, a)
	}
	return out, nil
}

// accept reports whether an answer can be used, and drops what is not kept of it. What was
// said has to have its words.
func (c *Call) accept(a *answer) bool {
	kept := answer{Holds: a.Holds}
	if a.Holds == isRule {
		kept.Words, kept.Rule = squeeze(a.Words), squeeze(eval.Inert(a.Rule))
		if len([]rune(kept.Words)) > maxWords || !harvest.Quotes(c.own, kept.Words) || kept.Rule == "" || len(strings.Fields(kept.Rule)) > maxRule || len([]rune(kept.Rule)) > maxWords {
			return false
		}
	}
	*a = kept
	return slices.Contains(holds, a.Holds)
}

func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }

// parse reads the answers in a reply, by id.
func parse(text string) map[string]answer {
	return fenced.Entries(text, "refusals", func(a answer) string { return a.ID })
}

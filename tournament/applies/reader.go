// Package applies has a model decide to which requests lines of instructions apply. It sees
// a request, what was said before it and the names of the files, and never what followed: no
// answer, check, label or later message.
package applies

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
	"strconv"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/fenced"
	"github.com/skill-evolve/evolve/harvest/redact"
)

//go:embed prompts/system.txt
var system string

const (
	batch       = 12  // requests in one call
	replyTokens = 100 // of the reply, for each of them,
	lineTokens  = 4   // and for each line that may apply to it
	maxRequest  = 2000
	maxBefore   = 500 // of each of the last messages before the request
	lastBefore  = 2
	maxNames    = 40 // of files,
	maxName     = 100
	maxLine     = 400
	together    = 100 // lines in one call
)

// A Request is what the reader may see of a turn.
type Request struct {
	ID      string // among those of one Decide
	Session string // with which the decision is purged
	// Conversation is what it is a part of, with sessions that repeat it: "" for none. The
	// model never sees two of one at once.
	Conversation string
	At           time.Time
	Text         string
	Before       []eval.Message // of the conversation, the last one last
	Files        []string       // in the folder
}

// A Reader decides which lines apply to requests. Decisions are remembered by the lines, by what
// is seen of the request, and by the model.
type Reader struct {
	Model    eval.Model
	Memory   harvest.Memory  // nil: nothing is remembered between runs
	Redactor redact.Redactor // nil: redact.Detector
	// Files are the names of the files in a case's folder; nil: those that the case brings.
	Files func(context.Context, *eval.Case) ([]string, error)
	// Turns are the requests of which no case was made, as far as the model may see them.
	Turns func(context.Context) ([]Request, error)
}

// Stats count what a Reader did.
type Stats struct {
	Requests int `json:"requests"`
	Decided  int `json:"decided"` // now or before
	Calls    int `json:"calls"`   // to the model
}

// Decide returns the numbers of the lines, from 0, that apply to each request, by its ID.
// Requests are read in the order of their arrival, and each about a hundred lines at a time.
// One of which the reply cannot be read is left out, and asked about again next time; so are
// all if the model fails. The error is *eval.BudgetError, ctx's or Memory's; decisions before
// it are returned.
func (r *Reader) Decide(ctx context.Context, lines []Line, requests []Request) (map[string][]int, Stats, error) {
	return r.reading(ctx, first, lines, requests)
}

// A reading is one of two. Their decisions are remembered apart.
type reading string

const (
	first  reading = "applies/"
	second reading = "applies/again/"
)

// Twice is Decide, but a line that applies to a request must do so in a second reading, too, of
// the requests to which any does in the first one. Where few requests are ones to which lines
// apply, most of a single reading's would be its errors. A request that was not read again is
// left out.
func (r *Reader) Twice(ctx context.Context, lines []Line, requests []Request) (map[string][]int, Stats, error) {
	out, stats, err := r.Decide(ctx, lines, requests)
	applied := slices.DeleteFunc(slices.Clone(requests), func(q Request) bool { return len(out[q.ID]) == 0 })
	again := map[string][]int{}
	if err == nil && len(applied) > 0 {
		var more Stats
		again, more, err = r.reading(ctx, second, lines, applied)
		stats.Calls += more.Calls
	}
	for _, q := range applied {
		confirmed, ok := again[q.ID]
		if !ok {
			delete(out, q.ID)
			continue
		}
		out[q.ID] = slices.DeleteFunc(slices.Clone(out[q.ID]), func(n int) bool { return !slices.Contains(confirmed, n) })
	}
	stats.Decided = len(out)
	return out, stats, err
}

func (r *Reader) reading(ctx context.Context, which reading, lines []Line, requests []Request) (map[string][]int, Stats, error) {
	if len(lines) <= together {
		return r.decide(ctx, which, lines, requests)
	}
	begun, stats, err := r.decide(ctx, which, lines[:together], requests)
	if err != nil {
		stats.Decided = 0
		return map[string][]int{}, stats, err
	}
	rest, more, err := r.reading(ctx, which, lines[together:], requests)
	out := map[string][]int{}
	for id, applies := range rest {
		if had, ok := begun[id]; ok {
			for _, n := range applies {
				had = append(had, together+n)
			}
			out[id] = had
		}
	}
	stats.Calls, stats.Decided = stats.Calls+more.Calls, len(out)
	return out, stats, err
}

func (r *Reader) decide(ctx context.Context, which reading, lines []Line, requests []Request) (map[string][]int, Stats, error) {
	out, stats := map[string][]int{}, Stats{Requests: len(requests)}
	red := r.Redactor
	if red == nil {
		red = redact.Detector{}
	}
	if len(lines) == 0 {
		for _, q := range requests {
			out[q.ID] = nil
		}
		stats.Decided = len(requests)
		return out, stats, nil
	}
	rules, err := quoteLines(lines, red)
	if err != nil {
		return out, stats, err
	}
	var open []*asked
	for _, q := range requests {
		a, err := r.ask(q, which, rules, red)
		if err != nil {
			return out, stats, err
		}
		known, ok, err := r.recall(ctx, a.key, len(lines))
		if err != nil {
			return out, stats, err
		}
		if ok {
			out[q.ID] = known
			continue
		}
		open = append(open, a)
	}
	stats.Decided = len(out)
	slices.SortStableFunc(open, func(a, b *asked) int { return a.At.Compare(b.At) })
	for _, some := range calls(open) {
		if which == second { // what was read last is read first
			slices.Reverse(some)
		}
		got, err := r.read(ctx, which, rules, some, len(lines), red)
		if _, spent := errors.AsType[*eval.BudgetError](err); err != nil && spent {
			return out, stats, err // nothing was sent
		}
		stats.Calls++
		if err != nil {
			return out, stats, err
		}
		for _, a := range some {
			applies, ok := got[a]
			if !ok {
				continue
			}
			out[a.ID], stats.Decided = applies, stats.Decided+1
			if r.Memory == nil {
				continue
			}
			data, err := json.Marshal(append([]int{}, applies...))
			if err != nil {
				return out, stats, fmt.Errorf("remember to what lines apply: %w", err)
			}
			// The call is paid for, so its result is stored even if the run was interrupted.
			if err := r.Memory.Remember(context.WithoutCancel(ctx), a.Session, a.key, data); err != nil {
				return out, stats, err
			}
		}
	}
	return out, stats, nil
}

// calls are the requests of each call: at most a batch, and none of a conversation of which
// the call has another one. A later request shows what followed an earlier one.
func calls(open []*asked) (list [][]*asked) {
	for _, a := range open {
		i := slices.IndexFunc(list, func(some []*asked) bool {
			return len(some) < batch && (a.Conversation == "" || !slices.ContainsFunc(some, func(b *asked) bool { return b.Conversation == a.Conversation }))
		})
		if i < 0 {
			i, list = len(list), append(list, nil)
		}
		list[i] = append(list[i], a)
	}
	return list
}

// asked is a request as the model sees it, and the key of its decision.
type asked struct {
	Request
	seen seen
	key  string
}

// seen is all that the model sees of a request.
type seen struct {
	Before  []eval.Message `json:"before,omitempty"`
	Request string         `json:"request"`
	Files   []string       `json:"files,omitempty"`
}

func (r *Reader) ask(q Request, which reading, rules string, red redact.Redactor) (*asked, error) {
	s := seen{Request: plain.Runes(q.Text, maxRequest), Files: cut(q.Files)}
	for _, m := range q.Before[max(0, len(q.Before)-lastBefore):] {
		s.Before = append(s.Before, eval.Message{Role: m.Role, Text: plain.Runes(m.Text, maxBefore)})
	}
	text, err := harvest.Quote("", s, red)
	if err != nil {
		return nil, err
	}
	who := r.Model.Identity()
	sum := sha256.Sum256([]byte(strings.Join([]string{system, rules, text, who.Backend, who.Model}, "\x00")))
	return &asked{q, s, string(which) + hex.EncodeToString(sum[:])}, nil
}

// cut are the names nearest to the top, and how many there are below.
func cut(files []string) []string {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), strings.Compare(a, b))
	})
	more := len(files) - maxNames
	files = files[:min(len(files), maxNames)]
	for i := range files {
		files[i] = plain.Runes(files[i], maxName)
	}
	if more > 0 {
		files = append(files, fmt.Sprintf("(and %d more)", more))
	}
	return files
}

func quoteLines(lines []Line, red redact.Redactor) (string, error) {
	type numbered struct {
		Number int `json:"number"`
		Line
	}
	var list []numbered
	for i, l := range lines {
		list = append(list, numbered{i + 1, Line{plain.Runes(l.Was, maxLine), plain.Runes(l.Is, maxLine)}})
	}
	return harvest.Quote("lines\n", list, red)
}

func (r *Reader) recall(ctx context.Context, key string, lines int) (applies []int, ok bool, err error) {
	if r.Memory == nil {
		return nil, false, nil
	}
	data, err := r.Memory.Recall(ctx, key)
	if err != nil || data == nil {
		return nil, false, err
	}
	if json.Unmarshal(data, &applies) != nil || !within(applies, lines) {
		return nil, false, nil // of another version: ask
	}
	return applies, true, nil
}

// within reports whether all numbers are those of lines, each at most once.
func within(applies []int, lines int) bool {
	had := map[int]bool{}
	for _, n := range applies {
		if n < 0 || n >= lines || had[n] {
			return false
		}
		had[n] = true
	}
	return true
}

// read has the model read some requests. Those that it has not decided as asked are left out;
// the error is a *eval.BudgetError or ctx's.
func (r *Reader) read(ctx context.Context, which reading, rules string, some []*asked, lines int, red redact.Redactor) (map[*asked][]int, error) {
	var b strings.Builder
	b.WriteString("The lines (origin: the instructions, as a person or a model wrote them):\n\n" + rules +
		"\n\nRecorded (origin of request: user; of before: its role; of files: the folder):\n")
	for i, a := range some {
		text, err := harvest.Quote(fmt.Sprintf("request %d\n", i+1), a.seen, red)
		if err != nil {
			return nil, err
		}
		b.WriteString("\n" + text + "\n")
	}
	sum := sha256.Sum256([]byte(string(which) + b.String()))
	got, err := r.Model.Complete(ctx, eval.Prompt{System: system, User: b.String(), MaxTokens: (replyTokens + lineTokens*lines) * (len(some) + 1),
		Seed: int64(binary.BigEndian.Uint64(sum[:]) >> 1)})
	if err != nil {
		if _, spent := errors.AsType[*eval.BudgetError](err); spent {
			return nil, err
		}
		return nil, ctx.Err()
	}
	out := map[*asked][]int{}
	if got.Finish == "length" {
		return out, nil
	}
	for id, applies := range parse(got.Text, lines) {
		if n, err := strconv.Atoi(id); err == nil && n >= 1 && n <= len(some) && strconv.Itoa(n) == id {
			out[some[n-1]] = applies
		}
	}
	return out, nil
}

// parse reads the decisions in a reply, by the ids of requests, with the lines counted from 0.
// What is wrong with one loses that one.
func parse(text string, lines int) map[string][]int {
	var got struct {
		Requests []json.RawMessage `json:"requests"`
	}
	out, twice := map[string][]int{}, map[string]bool{}
	if fenced.Block(text, &got) != nil {
		return out
	}
	for _, raw := range got.Requests {
		var one struct {
			ID    string `json:"id"`
			Lines *[]int `json:"lines"`
		}
		dec := json.NewDecoder(strings.NewReader(string(raw)))
		dec.DisallowUnknownFields()
		if dec.Decode(&one) != nil || one.Lines == nil {
			continue
		}
		applies := []int{}
		for _, n := range *one.Lines {
			applies = append(applies, n-1)
		}
		if _, again := out[one.ID]; again {
			twice[one.ID] = true
		}
		if slices.Sort(applies); within(applies, lines) {
			out[one.ID] = applies
		}
	}
	for id := range twice {
		delete(out, id)
	}
	return out
}

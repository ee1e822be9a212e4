// Package orders has a model say which commands a rule asks for, and before what, if it is about
// such an order. The model chooses among commands that really ran.
package orders

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
	"maps"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/shell"
	"github.com/skill-evolve/evolve/eval/shell/sought"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/fenced"
	"github.com/skill-evolve/evolve/harvest/redact"
)

//go:embed prompts/order.txt
var system string

const (
	mostCommands = 80 // that the model is shown, those of the most sessions
	mostWords    = 3  // of a command's beginning
	mostSteps    = 8
	replyTokens  = 400
)

// Stop is the end of a turn in Order.Before.
const Stop = "stop"

// An Order is what has to run after the last edit of some files, and before what.
type Order struct {
	Steps  [][]string `json:"steps"`  // of each any command suffices
	Before []string   `json:"before"` // commands, and Stop
	Files  []string   `json:"files"`  // patterns; none is any file
}

// A Question is a rule with what is known of it.
type Question struct {
	Session  string   // with which the answer is remembered
	Rule     string   // in a model's words
	Words    []string // with which a person corrected it
	Commands []Command
	Order    *Order // the answer; nil for none
}

// A Command is the beginning of one that ran in so many sessions.
type Command struct {
	Text     string `json:"command"`
	Sessions int    `json:"sessions"`
}

// Stats counts what a Reader did.
type Stats struct {
	Open  int // questions without an answer
	Calls int // to the model; not those that wait for their answer
}

// A Reader answers questions. The zero value asks no model.
type Reader struct {
	Model    eval.Model      // nil: only remembered replies are used
	Memory   harvest.Memory  // nil: nothing is remembered between runs
	Redactor redact.Redactor // for prompts and replies; nil: redact.Detector
}

// Commands are the beginnings of the commands in the lines of sessions, those of the most
// sessions first. One that ran in a single session tells little and is left out.
func Commands(sessions [][]string) (out []Command) {
	count := map[string]int{}
	for _, lines := range sessions {
		in := map[string]bool{}
		for _, line := range lines {
			list, _ := shell.Commands(line) // what of it can be read
			for i := range list {
				for _, b := range beginnings(&list[i]) {
					in[b] = true
				}
			}
		}
		for b := range in {
			count[b]++
		}
	}
	for _, b := range slices.Sorted(maps.Keys(count)) {
		if count[b] > 1 {
			out = append(out, Command{b, count[b]})
		}
	}
	slices.SortStableFunc(out, func(a, b Command) int { return cmp.Compare(b.Sessions, a.Sessions) })
	return out[:min(len(out), mostCommands)]
}

// beginnings are a command's program with one or two words behind it that look like names of
// what it is to do; the program alone if there is none.
func beginnings(c *shell.Command) (out []string) {
	text := c.Name()
	if !name(text) {
		return nil
	}
	for _, w := range c.Words[1:min(len(c.Words), mostWords)] {
		if !w.Whole || !name(w.Text) {
			break
		}
		text += " " + w.Text
		out = append(out, text)
	}
	if out == nil {
		return []string{text}
	}
	return out
}

func name(word string) bool {
	return word != "" && word[0] >= 'a' && word[0] <= 'z' && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789:-_") == ""
}

// Read answers questions. A reply is accepted only if it names shown commands alone. If the model
// fails, it is asked again next time; its replies, usable or not, are remembered. The error is
// *eval.BudgetError, ctx's or Memory's.
func (r Reader) Read(ctx context.Context, all []*Question) (stats Stats, err error) {
	if r.Redactor == nil {
		r.Redactor = redact.Detector{}
	}
	for _, q := range all {
		known, err := r.read(ctx, q, &stats)
		if err != nil {
			return stats, err
		}
		if !known {
			stats.Open++
		}
	}
	return stats, nil
}

// read answers a question; known is whether there is a reply.
func (r Reader) read(ctx context.Context, q *Question, stats *Stats) (known bool, err error) {
	text, err := harvest.Quote("Recorded (origin of words: user; of commands: assistant; of rule: a model that read the words):\n", map[string]any{"rule": q.Rule, "words": q.Words, "commands": q.Commands}, r.Redactor)
	if err != nil {
		return false, err
	}
	sum := sha256.Sum256([]byte("order/2\x00" + system + "\x00" + text))
	key := hex.EncodeToString(sum[:])
	if r.Memory != nil {
		data, err := r.Memory.Recall(ctx, key)
		if err != nil {
			return false, err
		}
		if data != nil {
			return true, json.Unmarshal(data, &q.Order)
		}
	}
	if r.Model == nil {
		return false, nil
	}
	stats.Calls++
	got, err := r.Model.Complete(ctx, eval.Prompt{System: system, User: text, MaxTokens: replyTokens, Seed: int64(binary.BigEndian.Uint64(sum[:]) >> 1)})
	if err != nil {
		_, spent := errors.AsType[*eval.BudgetError](err)
		if spent || eval.IsPending(err) {
			stats.Calls-- // nothing was sent, or the command that gets the answer counts it
		}
		if spent {
			return false, err
		}
		return false, ctx.Err()
	}
	if got.Finish != "length" {
		q.accept(got.Text)
	}
	if r.Memory == nil {
		return true, nil
	}
	data, err := json.Marshal(q.Order)
	if err != nil {
		return false, fmt.Errorf("remember an order: %w", err)
	}
	// The answer is paid for, so it is stored even if the run was interrupted.
	return true, r.Memory.Remember(context.WithoutCancel(ctx), q.Session, key, data)
}

// accept sets the order of a reply, if it can be used.
func (q *Question) accept(reply string) {
	var got struct{ Order *Order }
	if fenced.Block(reply, &got) != nil || got.Order == nil {
		return
	}
	o := got.Order
	shown := func(c string) bool {
		_, err := sought.Parse(c)
		return err == nil && slices.ContainsFunc(q.Commands, func(k Command) bool { return k.Text == c })
	}
	for _, step := range o.Steps {
		if len(step) == 0 || slices.ContainsFunc(step, func(c string) bool { return !shown(c) }) {
			return
		}
	}
	if len(o.Steps) == 0 || len(o.Steps) > mostSteps || len(o.Before) == 0 || slices.ContainsFunc(o.Before, func(c string) bool { return c != Stop && !shown(c) }) {
		return
	}
	q.Order = o
}

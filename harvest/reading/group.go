package reading

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
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/fenced"
	"github.com/skill-evolve/evolve/harvest/redact"
)

//go:embed prompts/group.txt
var grouping string

const (
	groupBatch  = 150 // rules in one call
	groupsShown = 400 // the greatest, in one call
	groupTokens = 40  // of the reply, for each rule
)

// A Grouper has a model put rules together that are one. The zero value calls no model.
type Grouper struct {
	Model    eval.Model      // nil: only remembered replies are used
	Memory   harvest.Memory  // nil: nothing is remembered between runs
	Redactor redact.Redactor // for prompts and replies; nil: redact.Detector
	// May reports whether Model may be shown a session; nil: every one.
	May func(*harvest.Session) bool
	// Expected is how many rules are yet to be read, for a forecast.
	Expected int
}

// Grouping counts what a Grouper did. Each rule is Grouped, Void or Open.
type Grouping struct {
	Rules   int `json:"rules"`   // with different words
	Grouped int `json:"grouped"` // now or in an earlier run
	Void    int `json:"void"`    // what the reply says of it cannot be used
	Open    int `json:"open"`    // not placed yet, or not to be shown to the model
	Groups  int `json:"groups"`
	Calls   int `json:"calls"` // to the model
}

// A noted rule is one that was read, maybe in several sessions.
type noted struct {
	text    string
	session string // that it is remembered with
	may     bool   // be shown to the model
}

// notedIn lists the rules of sessions by their keys.
func (g *Grouper) notedIn(sessions []*harvest.Session) (out []*noted) {
	by := map[string]*noted{}
	for _, s := range sessions {
		if s.Subagent != "" || s.Headless || harvest.OwnReplay(s) {
			continue
		}
		may := g.May == nil || g.May(s)
		for _, t := range s.Turns {
			if t.Reading == nil || t.Reading.Rule == "" {
				continue
			}
			r := by[t.Reading.Rule]
			if r == nil {
				r = &noted{text: t.Reading.Rule, session: s.ID}
				by[r.text], out = r, append(out, r)
			}
			if may && !r.may {
				r.session, r.may = s.ID, true
			}
		}
	}
	for i := range g.Expected {
		out = append(out, &noted{text: fmt.Sprint(i, strings.Repeat(" words", 12)), may: true})
	}
	slices.SortFunc(out, func(a, b *noted) int { return strings.Compare(a.key(), b.key()) })
	return out
}

// key identifies the rule and what is asked, so that it is not paid for twice. Its prefix
// is known to the store.
func (n *noted) key() string { return harvest.GroupKey + digest(grouping, n.text) }

func digest(parts ...any) string {
	data, err := json.Marshal(append([]any{"grouping/1"}, parts...))
	if err != nil {
		panic(err) // strings can be marshalled
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Group puts the rules of sessions into groups. wordings has the wording of its group for
// each rule that is in one; what has the same wording is one group. A rule is placed once,
// and then only others are asked about. If the model fails, it is asked again next time;
// its replies are remembered, and what cannot be used of them is asked again only together
// with new rules. The error is *eval.BudgetError, ctx's or Memory's; what was placed before
// it is kept.
func (g Grouper) Group(ctx context.Context, sessions []*harvest.Session) (wordings map[string]string, stats Grouping, err error) {
	if g.Redactor == nil {
		g.Redactor = redact.Detector{}
	}
	rules := g.notedIn(sessions)
	wordings = map[string]string{}
	stats.Rules = len(rules)
	defer func() {
		all := map[string]bool{}
		for _, w := range wordings {
			all[w] = true
		}
		stats.Grouped, stats.Groups = len(wordings), len(all)
		stats.Open = stats.Rules - stats.Grouped - stats.Void
	}()
	var open, void []*noted
	for _, r := range rules {
		wording, known, err := g.recall(ctx, r)
		switch {
		case err != nil:
			return wordings, stats, err
		case wording != "":
			wordings[r.text] = wording
		case known:
			stats.Void++
			if r.may {
				void = append(void, r)
			}
		case r.may:
			open = append(open, r)
		}
	}
	if n := len(open) % groupBatch; n > 0 {
		open = append(open, void[:min(len(void), groupBatch-n)]...)
	}
	if g.Model == nil {
		return wordings, stats, nil
	}
	for some := range slices.Chunk(open, groupBatch) {
		groups := shownGroups(rules, wordings)
		if len(groups)+len(some) < 2 {
			break // one rule is a group without being asked about
		}
		placed, err := g.ask(ctx, groups, some, &stats)
		if err != nil {
			return wordings, stats, err
		}
		for _, r := range some {
			if placed == nil {
				break // the model failed
			}
			wording, again := placed[r.text], slices.Contains(void, r)
			switch {
			case wording != "":
				wordings[r.text] = wording
				if again {
					stats.Void--
				}
			case !again:
				stats.Void++
			}
			if err := g.remember(ctx, r, wording); err != nil {
				return wordings, stats, err
			}
		}
		if err := g.forget(ctx, rules, some, wordings); err != nil {
			return wordings, stats, err
		}
	}
	return wordings, stats, nil
}

// forget gives up the groups of rules that could not be remembered: their sessions were
// purged while the model worked, and the others' wordings may quote them.
func (g *Grouper) forget(ctx context.Context, rules, some []*noted, wordings map[string]string) error {
	if g.Memory == nil {
		return nil
	}
	gone := map[string]bool{}
	for _, r := range some {
		if w := wordings[r.text]; w != "" {
			_, known, err := g.recall(ctx, r)
			if err != nil {
				return err
			}
			gone[w] = gone[w] || !known
		}
	}
	for _, r := range rules {
		if gone[wordings[r.text]] {
			delete(wordings, r.text)
			if err := g.remember(ctx, r, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// shownGroups are the wordings of the groups that the model may be shown, the greatest
// first: those all of whose rules it may be shown, because a wording can be of any of them.
func shownGroups(rules []*noted, wordings map[string]string) (out []string) {
	size, hidden := map[string]int{}, map[string]bool{}
	for _, r := range rules {
		if w := wordings[r.text]; w != "" {
			size[w]++
			hidden[w] = hidden[w] || !r.may
		}
	}
	for w := range size {
		if !hidden[w] {
			out = append(out, w)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(size[b], size[a]), strings.Compare(a, b))
	})
	return out[:min(len(out), groupsShown)]
}

// A kept wording is what is remembered of a rule. The rules of one group have the same
// bytes: the store removes them together.
type kept struct {
	Wording string `json:"wording"`
}

// voidGroup is remembered of a rule for which the reply cannot be used. It has no words.
const voidGroup = "void"

func (g *Grouper) recall(ctx context.Context, r *noted) (wording string, known bool, err error) {
	if g.Memory == nil {
		return "", false, nil
	}
	data, err := g.Memory.Recall(ctx, r.key())
	if err != nil || data == nil {
		return "", false, err
	}
	var k kept
	if json.Unmarshal(data, &k) != nil {
		return "", true, nil
	}
	return k.Wording, true, nil
}

func (g *Grouper) remember(ctx context.Context, r *noted, wording string) error {
	if g.Memory == nil {
		return nil
	}
	data := []byte(voidGroup)
	if wording != "" {
		var err error
		if data, err = json.Marshal(kept{wording}); err != nil {
			return fmt.Errorf("remember the group of a rule: %w", err)
		}
	}
	// The call is paid for, so its result is stored even if the run was interrupted.
	return g.Memory.Remember(context.WithoutCancel(ctx), r.session, r.key(), data)
}

// A sheet is what one call shows: texts by their ids.
type sheet struct{ groups, rules map[string]string }

// ask has the model place some rules. It returns their wordings by their texts, or nil if
// the model failed.
func (g *Grouper) ask(ctx context.Context, groups []string, some []*noted, stats *Grouping) (map[string]string, error) {
	user, shown, err := g.prompt(groups, some)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(user))
	stats.Calls++
	got, err := g.Model.Complete(ctx, eval.Prompt{System: grouping, User: user, MaxTokens: groupTokens * (len(some) + 5),
		Seed: int64(binary.BigEndian.Uint64(sum[:]) >> 1)})
	if err != nil {
		if _, spent := errors.AsType[*eval.BudgetError](err); spent {
			stats.Calls-- // nothing was sent
			return nil, err
		}
		if eval.IsPending(err) {
			stats.Calls-- // the command that gets the answer counts it
		}
		return nil, ctx.Err()
	}
	if got.Finish == "length" {
		return map[string]string{}, nil
	}
	text, _ := g.Redactor.Redact(got.Text)
	return shown.placed(text), nil
}

// prompt shows each text behind a line of ours with its id. An id depends on all that is
// shown, so no text can know one.
func (g *Grouper) prompt(groups []string, some []*noted) (string, sheet, error) {
	var texts []string
	for _, r := range some {
		texts = append(texts, r.text)
	}
	shown := sheet{map[string]string{}, map[string]string{}}
	all := digest(grouping, groups, texts)
	var b strings.Builder
	b.WriteString("Recorded (origin: assistant, which may repeat what a user, a tool or a web page said):\n")
	for _, part := range []struct {
		name  string
		texts []string
		ids   map[string]string
	}{{"group", groups, shown.groups}, {"rule", texts, shown.rules}} {
		for _, text := range part.texts {
			id := digest(all, part.name, text)[:8]
			part.ids[id] = text
			quoted, err := harvest.Quote(part.name+" "+id+"\n", plain.Runes(text, maxWords), g.Redactor)
			if err != nil {
				return "", shown, err
			}
			b.WriteString("\n" + quoted + "\n")
		}
	}
	return b.String(), shown, nil
}

// An entry is what the model replied about one group.
type entry struct {
	Rules   []string `json:"rules"`
	As      string   `json:"as,omitempty"`
	Wording string   `json:"wording,omitempty"`
}

// placed reads the wordings of rules in a reply. What is wrong with an entry voids that
// one; a rule in two entries voids both.
func (s sheet) placed(text string) map[string]string {
	var got struct {
		Groups []json.RawMessage `json:"groups"`
	}
	out := map[string]string{}
	if fenced.Block(text, &got) != nil {
		return out
	}
	var entries []entry
	times := map[string]int{}
	for _, raw := range got.Groups {
		var e entry
		dec := json.NewDecoder(strings.NewReader(string(raw)))
		dec.DisallowUnknownFields()
		if dec.Decode(&e) != nil {
			continue
		}
		entries = append(entries, e)
		for _, id := range e.Rules {
			times[id]++
		}
	}
	for _, e := range entries {
		wording := s.wording(e)
		if wording == "" || slices.ContainsFunc(e.Rules, func(id string) bool { return s.rules[id] == "" || times[id] > 1 }) {
			continue
		}
		for _, id := range e.Rules {
			out[s.rules[id]] = wording
		}
	}
	return out
}

// wording is the one that an entry gives its group, "" if it gives none or two.
func (s sheet) wording(e entry) string {
	words := squeeze(e.Wording)
	switch n := len(strings.Fields(words)); {
	case e.As != "" && words != "", n > maxRule, len([]rune(words)) > maxWords:
		return ""
	case words != "":
		return words
	case s.groups[e.As] != "":
		return s.groups[e.As]
	case e.As == "" && len(e.Rules) == 1:
		return s.rules[e.Rules[0]]
	case slices.Contains(e.Rules, e.As):
		return s.rules[e.As]
	}
	return ""
}

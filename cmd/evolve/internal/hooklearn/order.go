package hooklearn

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/hooktest"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/newhook"
	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/eval/guard/rulefile"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/corrections"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/harvest/orders"
	"github.com/skill-evolve/evolve/store"
)

// fewestOrdered is in how many recorded sessions a rule must have been corrected for a guard to
// be learned from the older half of them, and tried on the newer one.
const fewestOrdered = 4

// An Order is a rule that was corrected, and the rule file that the older sessions teach if
// something has to run before something else. It is tried on the newer sessions only.
type Order struct {
	Rule     string          `json:"rule"`
	Sessions int             `json:"sessions"` // recorded ones in which it was corrected
	Guard    []rulefile.Rule `json:"guard,omitempty"`
	// None is why there is no guard; Guard is then what was tried, if anything was.
	None   string `json:"no_guard,omitempty"`
	Older  *Kept  `json:"older,omitempty"`
	Newer  *Kept  `json:"newer,omitempty"`
	Folder string `json:"folder,omitempty"` // where it was written

	ask       *orders.Question
	shown     []*hooktest.Session // to a model
	old, late []*played
}

// Kept is what a guard does in sessions, each as it was recorded.
type Kept struct {
	Corrected int     `json:"corrected"` // sessions with a turn that its user corrected by the rule
	Stopped   int     `json:"stopped"`   // of these, with something stopped in such a turn
	AtLeast   float64 `json:"at_least"`  // bounds the share of stopped ones, at 5 %
	// Permitted are the sessions in which something that the guard is about took place after an
	// edit, in a turn that was accepted or by a call that had permission.
	Permitted guard.Bound `json:"permitted"`
}

// A played session is one with what its user said of its turns.
type played struct {
	*hooktest.Session
	moments []moment
	said    *harvest.Session
	broken  map[int]bool // turns that were corrected by the rule
}

// A moment is a call, or the end of a turn.
type moment struct {
	turn  int
	call  rulefile.Call
	asked bool // its user gave permission
}

// ordersOf lists the rules that were corrected often enough, each with its older and its newer
// sessions. No model has been asked yet whether they are about an order.
func ordersOf(ctx context.Context, db *store.Store, report *corrections.Report, sessions []*hooktest.Session) ([]*Order, error) {
	stored, err := db.Sessions(ctx, store.SessionFilter{People: true, Text: true})
	if err != nil {
		return nil, err
	}
	said := map[[2]string]*harvest.Session{}
	for i := range stored {
		s := &stored[i]
		key := [2]string{s.Agent, s.ID}
		if was := said[key]; was == nil || len(was.Turns) < len(s.Turns) { // one is in several files
			said[key] = s
		}
	}
	var all []*played
	for _, s := range sessions {
		if of := said[[2]string{s.Agent, s.ID}]; of != nil && s.Agent == claudeCode && len(s.Calls) > 0 {
			all = append(all, &played{Session: s, said: of, moments: momentsOf(s, of)})
		}
	}
	slices.SortFunc(all, func(a, b *played) int { return byBegin(a.Session, b.Session) })
	var out []*Order
	for _, rule := range report.Rules {
		if o := orderOf(rule, all); o != nil {
			out = append(out, o)
		}
	}
	return out, nil
}

// orderOf splits the sessions at the one that begins the newer half of those that broke a rule.
func orderOf(rule corrections.Rule, all []*played) *Order {
	o := &Order{Rule: rule.Rule}
	in := map[string]map[int]bool{}
	var words []corrections.Quote
	for _, q := range rule.Quotes {
		if in[q.Session] == nil {
			in[q.Session] = map[int]bool{}
		}
		in[q.Session][q.Turn] = true
	}
	var broke []*played
	for _, s := range all {
		if of := *s; in[s.ID] != nil {
			of.broken = in[s.ID]
			broke = append(broke, &of)
		}
	}
	if o.Sessions = len(broke); rule.Rule == "" || o.Sessions < fewestOrdered {
		return nil
	}
	cut := broke[(len(broke)+1)/2]
	for _, s := range all {
		if i := slices.IndexFunc(broke, func(b *played) bool { return b.Session == s.Session }); i >= 0 {
			s = broke[i]
		}
		if byBegin(s.Session, cut.Session) < 0 {
			o.old = append(o.old, s)
		} else {
			o.late = append(o.late, s)
		}
	}
	for _, q := range rule.Quotes {
		if !q.Copied && slices.ContainsFunc(o.old, func(s *played) bool { return s.ID == q.Session }) {
			words = append(words, q)
		}
	}
	o.ask = &orders.Question{Rule: rule.Rule, Words: []string{}}
	for _, q := range words {
		o.ask.Words, o.ask.Session = append(o.ask.Words, q.Words), q.Session
	}
	return o
}

// momentsOf are the calls of a session, each in its turn, with the ends of the turns.
func momentsOf(s *hooktest.Session, said *harvest.Session) (out []moment) {
	turn := 0
	end := func(before time.Time) {
		for ; turn < len(said.Turns); turn++ {
			if next := turn + 1; !before.IsZero() && (next == len(said.Turns) || said.Turns[next].Time.IsZero() || before.Before(said.Turns[next].Time)) {
				return
			}
			if !said.Turns[turn].Interrupted {
				out = append(out, moment{turn: turn, call: rulefile.Call{Event: rulefile.Stop}})
			}
		}
	}
	for i := range s.Calls {
		e := &s.Calls[i]
		if !e.Time.IsZero() {
			end(e.Time)
		}
		c := call(s, e)
		out = append(out, moment{turn, *c.ForFile(), e.Outcome == events.Permitted})
	}
	end(time.Time{})
	return out
}

// accepted reports whether its user accepted a turn.
func (s *played) accepted(turn int) bool {
	return turn < len(s.said.Turns) && s.said.Turns[turn].Reading != nil && s.said.Turns[turn].Reading.Label == harvest.Accepted
}

// question completes what a model is asked with commands of older sessions that were accepted, as
// far as it may be shown them. It is nil if there is nothing to show.
func (o *Order) question(may func(agent, session string) bool) *orders.Question {
	var lines [][]string
	o.shown = nil
	for _, s := range o.old {
		if !may(s.Agent, s.ID) {
			if s.broken != nil {
				return nil // its words are in the question
			}
			continue
		}
		accepted := slices.ContainsFunc(s.moments, func(m moment) bool { return s.accepted(m.turn) })
		if accepted || s.broken != nil {
			o.shown = append(o.shown, s.Session)
		}
		if !accepted {
			continue
		}
		var of []string
		for _, m := range s.moments {
			if m.call.Command != "" {
				of = append(of, m.call.Command)
			}
		}
		lines = append(lines, of)
	}
	if o.ask.Commands = orders.Commands(lines); len(o.ask.Commands)*len(o.ask.Words) == 0 {
		return nil
	}
	return o.ask
}

// learn chooses, in the older sessions, what of the model's order is worth a guard, and tries
// that on the newer ones.
func (o *Order) learn() {
	a := o.ask.Order
	if a == nil {
		o.None = "it is no order over commands that ran"
		return
	}
	var best *Kept
	for _, steps := range append(single(a.Steps), a.Steps) {
		for _, before := range befores(a.Before) {
			f, err := o.file(steps, before, a.Files)
			if err != nil {
				continue
			}
			if k := keep(f, o.old); k.Stopped > 0 && (best == nil || k.apart() > best.apart()) {
				best, o.Guard = k, f.Rules
			}
		}
	}
	if best == nil {
		o.None = "it would have stopped nothing in the older sessions that was corrected"
		return
	}
	if best.apart() <= 0 {
		o.None = "the older sessions do not tell what was corrected from what was accepted by it"
	}
	o.Older, o.Newer = best, keep(&rulefile.File{Version: 1, Rules: o.Guard}, o.late)
}

// single are the steps alone.
func single(steps [][]string) (out [][][]string) {
	for _, s := range steps {
		out = append(out, [][]string{s})
	}
	return out
}

// befores are the calls that wait, the end of the turn, and both.
func befores(all []string) (out [][]string) {
	calls := slices.DeleteFunc(slices.Clone(all), func(c string) bool { return c == orders.Stop })
	if len(calls) > 0 {
		out = append(out, calls)
	}
	if len(calls) < len(all) {
		out = append(out, []string{orders.Stop})
		if len(calls) > 0 {
			out = append(out, all)
		}
	}
	return out
}

// file is the guard of an order. The error is why it is none.
func (o *Order) file(steps [][]string, before, files []string) (*rulefile.File, error) {
	f := &rulefile.File{Version: 1}
	if len(files) == 0 {
		files = []string{""}
	}
	for _, b := range before {
		for _, step := range steps {
			for _, pattern := range files {
				r := rulefile.Rule{UnlessRan: step, SinceEdit: pattern, Say: fmt.Sprintf("Run `%s` first. Your user said before: %s", step[0], plain.Line(o.Rule))}
				if words := strings.Fields(b); b == orders.Stop {
					r.Event = rulefile.Stop
				} else {
					r.Tool, r.Program, r.Words = "Bash", words[0], words[1:]
				}
				f.Rules = append(f.Rules, r)
			}
		}
	}
	text, err := f.Text()
	if err != nil {
		return nil, err
	}
	return rulefile.Parse(text)
}

// keep counts what a guard does in sessions. A session is one, whatever is stopped in it.
func keep(f *rulefile.File, sessions []*played) *Kept {
	k := &Kept{}
	for _, s := range sessions {
		var st rulefile.State
		edited, stops, chance, wrong := false, false, false, false
		for i := range s.moments {
			m := &s.moments[i]
			about := edited && slices.ContainsFunc(f.Rules, func(r rulefile.Rule) bool { return r.Matches(&m.call) })
			blocks := f.Find(&m.call, &st) != nil
			edited = edited || slices.ContainsFunc(f.Rules, func(r rulefile.Rule) bool { return r.Edits(&m.call) })
			switch {
			case s.broken[m.turn]:
				stops = stops || blocks
			case s.accepted(m.turn) || m.asked:
				chance, wrong = chance || about, wrong || blocks
			}
		}
		if s.broken != nil {
			k.Corrected++
			if stops {
				k.Stopped++
			}
		}
		if chance {
			k.Permitted.Sessions++
			if wrong {
				k.Permitted.Wrong++
			}
		}
	}
	if k.Corrected > 0 {
		k.AtLeast = 1 - guard.AtMost(k.Corrected-k.Stopped, k.Corrected)
	}
	if k.Permitted.Sessions > 0 {
		most := guard.AtMost(k.Permitted.Wrong, k.Permitted.Sessions)
		k.Permitted.AtMost = &most
	}
	return k
}

// apart is by how much it surely stops more of what was corrected than of what was accepted: the
// lower bound of the one share less the upper bound of the other.
func (k *Kept) apart() float64 {
	most := 1.0
	if k.Permitted.AtMost != nil {
		most = *k.Permitted.AtMost
	}
	return k.AtLeast - most
}

// write makes the folder of the rule file in dir.
func (o *Order) write(dir string) error {
	r := &o.Guard[0]
	what := strings.Join(append([]string{r.Program}, r.Words...), " ")
	if r.Event != "" {
		what = "end"
	}
	w, err := newhook.WriteOrder(dir, named("first "+r.UnlessRan[0]+" then "+what), o.Guard)
	if err == nil {
		o.Folder = w.Folder
	}
	return err
}

// text is an order for a person.
func (o *Order) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n  corrected in %s with a transcript\n", plain.Excerpt(o.Rule, 110), plain.Counted(o.Sessions, "session"))
	at := ""
	switch {
	case o.None != "":
		fmt.Fprintf(&b, "  no guard: %s\n", plain.Line(o.None))
		if o.Guard == nil {
			return b.String()
		}
		at = "the best of what the rule asks for"
	case o.Folder != "":
		at = "a rule file, in " + plain.Line(o.Folder)
	default:
		at = "a rule file, `--out DIR` writes it"
	}
	fmt.Fprintf(&b, "  %s  %s\n", map[bool]string{true: "guard", false: "tried"}[o.None == ""], at)
	for _, line := range o.lines() {
		fmt.Fprintf(&b, "         %s\n", plain.Line(line))
	}
	fmt.Fprintf(&b, "         in the older sessions, which teach it, it %s\n", o.Older.text())
	fmt.Fprintf(&b, "         in the newer ones it %s\n", o.Newer.text())
	return b.String()
}

// lines say what the guard does, once for all that waits for the same.
func (o *Order) lines() (out []string) {
	var after []string
	waits := map[string][]string{}
	for _, r := range o.Guard {
		files := "a file"
		if r.SinceEdit != "" {
			files = r.SinceEdit
		}
		key := fmt.Sprintf("`%s` since the last edit of %s", strings.Join(r.UnlessRan, "` or `"), files)
		what := "the end of a turn"
		if r.Event == "" {
			what = "`" + strings.Join(append([]string{r.Program}, r.Words...), " ") + "`"
		}
		if waits[key] == nil {
			after = append(after, key)
		}
		waits[key] = append(waits[key], what)
	}
	for _, key := range after {
		out = append(out, fmt.Sprintf("stops %s without %s", strings.Join(waits[key], ", "), key))
	}
	return out
}

// text says what a guard did.
func (k *Kept) text() string {
	text := fmt.Sprintf("stops %d of %s: at least %s", k.Stopped, plain.Counted(k.Corrected, "corrected session"), hooktest.Percent(k.AtLeast))
	if most := k.Permitted.AtMost; most != nil {
		text += fmt.Sprintf("; wrongly in %d of %s: at most %s", k.Permitted.Wrong, plain.Counted(k.Permitted.Sessions, "session"), hooktest.Percent(*most))
	}
	return text
}

package simulated

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// What the words of a prompt ask a mutator for.
var (
	asksToMerge    = lazyregexp.New(`(?i)\b(merge|combine|crossover)\b`)
	asksToCondense = lazyregexp.New(`(?i)\b(shorten|condense|prune|compress)\b`)
	asksToReword   = lazyregexp.New(`(?i)\b(rephrase|reword|rewrite)\b`)
	asksForExample = lazyregexp.New(`(?i)\bexamples?\b`)
	listsAttempts  = lazyregexp.New(`(?i)\balready tried\b`)
	showsSuccess   = lazyregexp.New(`(?i)\b(what was right|went well)\b`)
)

// Chances of what happens in a revision besides what it was asked for.
const (
	dropsBloat   = 0.70 // condensing removes a line that teaches nothing
	dropsHarm    = 0.30 // condensing removes a harmful line
	dropsLesson  = 0.04 // condensing loses a line that teaches
	keepsMerged  = 0.90 // a merge takes a line of the second text
	removesHarm  = 0.50 // a reflection on a spoiled lesson removes what spoils it
	settles      = 0.60 // rewording drops one side of a contradiction
	rewordsPlain = 0.30 // rewording touches a line that teaches nothing
	defectDrops  = 0.50 // a defect drops a lesson; else it adds a line
	defectHarms  = 0.25 // an added line is harmful; else it is bloat
)

// A brief is a parsed mutator's prompt. The current text is the first fenced block.
type brief struct {
	texts  []string // fenced blocks
	asked  string   // the prompt's own words: neither fenced, quoted nor listed
	shown  []string // every other line, normalised
	tried  string   // attempts that the prompt tells not to repeat, normalised
	quoted string   // shown as one text
}

// read parses a prompt. A quoted line begins with ">", an attempt is quoted, or a list
// item, below the line that announces attempts.
func read(p eval.Prompt) brief {
	var b brief
	var own, tried strings.Builder
	own.WriteString(p.System + "\n")
	rest, pos := "", 0
	for _, x := range blocks(p.User) {
		b.texts = append(b.texts, x.text)
		rest += p.User[pos:x.start] + "\n"
		pos = x.end
	}
	rest += p.User[pos:]
	attempts, success := false, false
	for _, l := range strings.Split(rest, "\n") {
		t := strings.TrimSpace(l)
		listed := strings.HasPrefix(t, "- ") || strings.HasPrefix(t, ">")
		switch {
		case listed && attempts:
			tried.WriteString(t + "\n")
			continue
		case listed && success:
			continue // nothing is wrong with it
		case !listed && t != "":
			attempts = listsAttempts.MatchString(t)
			success = showsSuccess.MatchString(t) || success && strings.HasPrefix(t, "It answered")
			own.WriteString(t + "\n")
		}
		b.shown = append(b.shown, normalise(t))
	}
	b.asked, b.tried = own.String(), normalise(tried.String())
	b.quoted = normalise(strings.Join(b.shown, " "))
	return b
}

// names reports whether the feedback of a prompt names lesson l. A line with only the
// lesson's outcome is an answer that followed it.
func (b *brief) names(l *lesson) bool {
	if stands(b.quoted, l.says) || stands(b.quoted, l.phrase) {
		return true
	}
	for _, n := range b.shown {
		if n != l.outcome && stands(n, l.outcome) {
			return true
		}
	}
	return false
}

// revise answers a mutator's prompt: a sentence, and the revised text in one
// fenced block.
func (m *model) revise(p eval.Prompt, d *Draw) (reply, finish string) {
	b := read(p)
	if len(b.texts) == 0 {
		return "I see no text to revise.", "stop"
	}
	r := &revision{model: m, d: d, lines: strings.Split(strings.TrimRight(b.texts[0], "\n"), "\n")}
	switch {
	case len(b.texts) > 1 && asksToMerge.MatchString(b.asked):
		r.merge(b.texts[1])
	case asksToMerge.MatchString(b.asked):
		r.settle()
	case asksToCondense.MatchString(b.asked):
		r.condense()
	case asksToReword.MatchString(b.asked):
		r.reword()
	case asksForExample.MatchString(b.asked):
		r.exemplify(&b)
	default:
		r.reflect(&b)
	}
	r.defect()
	text := strings.Join(r.lines, "\n")
	if d.hit(m.Mutator.Misbehave) {
		return misbehave(text, d)
	}
	note := "I kept the text and its order."
	if len(r.notes) > 0 {
		note = "I " + strings.Join(r.notes, " and ") + "."
	}
	return note + "\n\n" + fenced(text), "stop"
}

// misbehave returns a reply that a careful reader must refuse.
func misbehave(text string, d *Draw) (reply, finish string) {
	switch d.Below(3) {
	case 0:
		f := fenced(text)
		return "Here is the revised text.\n\n" + f[:len(f)*2/3], "length"
	case 1:
		return "", "stop"
	}
	return "Two ways to put it.\n\n" + fenced(text) + "\n\nor\n\n" + fenced(text+"\nBe brief."), "stop"
}

// A revision is one text while it is being changed.
type revision struct {
	*model
	d     *Draw
	lines []string
	added map[string]bool // lines that this revision added
	notes []string
}

func (r *revision) did(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

func (r *revision) text() string { return normalise(strings.Join(r.lines, "\n")) }

// reflect adds lessons that the feedback names and the text lacks, and may remove a
// line that spoils a lesson which the feedback names. Lessons that were tried before
// come last.
func (r *revision) reflect(b *brief) {
	text := r.text()
	var fresh, tried []int
	for i := range r.lessons {
		l := &r.lessons[i]
		if !b.names(l) {
			continue
		}
		switch {
		case stands(text, l.phrase):
		case stands(b.tried, l.phrase):
			tried = append(tried, i)
		default:
			fresh = append(fresh, i)
		}
		if r.d.hit(removesHarm) && r.removeHarm(i) {
			r.did("removed a line that worked against %q", l.ID)
		}
	}
	Shuffle(r.d, fresh)
	Shuffle(r.d, tried)
	want := append(fresh, tried...)
	for _, i := range want[:min(r.adds(), len(want))] {
		r.add("- " + r.lessons[i].Phrase)
		r.did("added %q", r.lessons[i].ID)
	}
}

func (r *revision) adds() int {
	if r.Mutator.Adds == 0 {
		return 2
	}
	return r.Mutator.Adds
}

// exemplify turns accepted answers into examples. An example teaches the
// lessons that it shows.
func (r *revision) exemplify(b *brief) {
	text := r.text()
	var want []int
	for i := range r.lessons {
		if l := &r.lessons[i]; stands(b.quoted, l.outcome) && !stands(text, l.phrase) {
			want = append(want, i)
		}
	}
	Shuffle(r.d, want)
	for _, i := range want[:min(r.adds(), len(want))] {
		r.add("- Example of an accepted answer: " + r.lessons[i].Phrase)
		r.did("added an example of %q", r.lessons[i].ID)
	}
}

// removeHarm drops the harmful lines that spoil lesson i.
func (r *revision) removeHarm(i int) (removed bool) {
	for _, h := range r.harmful {
		for _, j := range h.breaks {
			if i != j {
				continue
			}
			removed = r.removeLines(h.line) || removed
		}
	}
	return removed
}

// add puts line after the last list item outside of a code block, or at the end of the
// text.
func (r *revision) add(line string) {
	at, fence := len(r.lines), 0
	for at > 0 && strings.TrimSpace(r.lines[at-1]) == "" {
		at--
	}
	for i, l := range r.lines {
		switch n, info := fenceOf(l); {
		case fence == 0 && n >= 3:
			fence = n
		case fence > 0 && n >= fence && info == "":
			fence = 0
		case fence == 0 && strings.HasPrefix(l, "- "):
			at = i + 1
		}
	}
	r.lines = append(r.lines[:at], append([]string{line}, r.lines[at:]...)...)
	if r.added == nil {
		r.added = map[string]bool{}
	}
	r.added[line] = true
}

func (r *revision) drop(i int) { r.lines = append(r.lines[:i], r.lines[i+1:]...) }

// merge adds most lines of another text that this one lacks.
func (r *revision) merge(other string) {
	have := map[string]bool{}
	for _, l := range r.lines {
		have[normalise(l)] = true
	}
	taken := 0
	for _, l := range strings.Split(other, "\n") {
		n := normalise(l)
		if len(n) > 1 && !have[n] && !strings.HasPrefix(l, "#") && r.d.hit(keepsMerged) {
			r.add(l)
			have[n] = true
			taken++
		}
	}
	r.did("merged %d lines of the second text", taken)
}

// settle removes the lines that teach only what another line teaches: of two the longer
// one stays.
func (r *revision) settle() {
	dropped := 0
	for i := 0; i < len(r.lines); i++ {
		taught := r.taughtBy(i)
		for j := range r.lines {
			if other := r.taughtBy(j); i != j && len(taught) > 0 && subset(taught, other) &&
				(len(taught) < len(other) || len(r.lines[i]) < len(r.lines[j]) || len(r.lines[i]) == len(r.lines[j]) && j < i) {
				r.drop(i)
				i--
				dropped++
				break
			}
		}
	}
	r.did("merged %d lines that said what others say", dropped)
}

// taughtBy lists the lessons that line i teaches.
func (r *revision) taughtBy(i int) (out []int) {
	n := normalise(r.lines[i])
	for k := range r.lessons {
		if stands(n, r.lessons[k].phrase) {
			out = append(out, k)
		}
	}
	return out
}

func subset(some, all []int) bool {
	return !slices.ContainsFunc(some, func(x int) bool { return !slices.Contains(all, x) })
}

// condense drops most lines that teach nothing, some that harm, and rarely one
// that teaches.
func (r *revision) condense() {
	dropped := 0
	for i := len(r.lines) - 1; i >= 0; i-- {
		n := normalise(r.lines[i])
		if r.idle(n) && r.d.hit(dropsBloat) || r.harms(n) && r.d.hit(dropsHarm) || r.teaches(n) && r.d.hit(dropsLesson) {
			r.drop(i)
			dropped++
		}
	}
	r.did("dropped %d lines", dropped)
}

// reword changes the words of lines that teach nothing, and removes contradictions: of
// a lesson and what spoils it, one side is removed.
func (r *revision) reword() {
	changed := 0
	for i, l := range r.lines {
		if r.idle(normalise(l)) && r.d.hit(rewordsPlain) {
			r.lines[i] = strings.TrimRight(l, ".") + ", where it helps."
			changed++
		}
	}
	for i := range r.lessons {
		text := r.text()
		if !stands(text, r.lessons[i].phrase) {
			continue
		}
		if r.d.hit(settles) && r.removeHarm(i) {
			changed++
		}
		for _, j := range r.lessons[i].conflicts {
			if !stands(text, r.lessons[j].phrase) || !r.d.hit(settles) {
				continue
			}
			loser := i
			if r.d.hit(0.5) {
				loser = j
			}
			r.removeLines(r.lessons[loser].phrase)
			changed++
			break
		}
	}
	r.did("reworded or settled %d lines", changed)
}

// removeLines removes every line that contains a normalised phrase.
func (r *revision) removeLines(phrase string) (removed bool) {
	for k := len(r.lines) - 1; k >= 0; k-- {
		if stands(normalise(r.lines[k]), phrase) {
			r.drop(k)
			removed = true
		}
	}
	return removed
}

// defect makes an occasional mistake of models, besides the task: it removes a line
// that teaches, or adds one that does not help.
func (r *revision) defect() {
	if !r.d.hit(r.Mutator.Defect) {
		return
	}
	if r.d.hit(defectDrops) {
		var teaching []int
		for i, l := range r.lines {
			if !r.added[l] && r.teaches(normalise(l)) {
				teaching = append(teaching, i)
			}
		}
		if len(teaching) > 0 {
			r.drop(teaching[r.d.Below(len(teaching))])
			r.did("tidied a line")
			return
		}
	}
	if len(r.Harmful) > 0 && r.d.hit(defectHarms) {
		r.add("- " + r.Harmful[r.d.Below(len(r.Harmful))].Line)
		r.did("added an exception")
		return
	}
	if len(r.Bloat) > 0 {
		r.add("- " + r.Bloat[r.d.Below(len(r.Bloat))])
		r.did("added context")
	}
}

func (r *revision) teaches(n string) bool {
	for i := range r.lessons {
		if stands(n, r.lessons[i].phrase) {
			return true
		}
	}
	return false
}

func (r *revision) idle(n string) bool {
	for _, b := range r.bloat {
		if stands(n, b) {
			return true
		}
	}
	return false
}

func (r *revision) harms(n string) bool {
	for _, h := range r.harmful {
		if stands(n, h.line) {
			return true
		}
	}
	return false
}

// Package demodatatest makes the sessions and the skill that `evolve demo` harvests.
//
// It reads the simulated world and writes Claude Code transcripts in their on-disk
// format, reduced to the records that hold what was asked, done and answered. They are
// made up: no person's conversations are in them.
//
//go:generate go test -run TestCommittedData . -update
package demodatatest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/skill-evolve/evolve/eval/agent/simulated"
)

// A use is one request and what became of it.
type use struct {
	prompt  string
	lessons []simulated.Lesson // that apply
	missed  []simulated.Lesson // that the user corrects
	slash   bool               // typed as /dataviz
	ending  string             // "thanks", "silence", "interrupt"
}

// A plan makes uses whose prompts make exactly the chosen lessons apply.
type plan struct {
	*rand.Rand
	world  simulated.World
	byID   map[string]simulated.Lesson
	taught map[string]bool // the seed skill teaches it
	cards  map[string][]string
	places []string

	written []map[string]bool // words of the requests so far
}

func newPlan() *plan {
	p := &plan{Rand: rand.New(rand.NewPCG(2026, 11)), world: simulated.Demo(), byID: map[string]simulated.Lesson{},
		taught: map[string]bool{"units": true, "svg": true, "zero": true}, cards: map[string][]string{}}
	for _, l := range p.world.Lessons {
		p.byID[l.ID] = l
	}
	for _, s := range places {
		p.places = append(p.places, strings.TrimSpace(s))
	}
	p.Shuffle(len(p.places), func(i, j int) { p.places[i], p.places[j] = p.places[j], p.places[i] })
	return p
}

// deal takes the next of texts in shuffled order, so that all come up before
// any repeats.
func (p *plan) deal(key string, texts []string) string {
	if len(p.cards[key]) == 0 {
		c := append([]string(nil), texts...)
		p.Shuffle(len(c), func(i, j int) { c[i], c[j] = c[j], c[i] })
		p.cards[key] = c
	}
	t := p.cards[key][0]
	p.cards[key] = p.cards[key][1:]
	return t
}

// use plans a request to which lesson id applies, and second too if it is not
// empty.
func (p *plan) use(id, second string) use {
	prompt := p.request(id, second)
	for try := 0; p.resembles(prompt); try++ {
		if try == 1000 {
			panic("gen: there are too few ways to ask for " + id)
		}
		prompt = p.request(id, second)
	}
	p.written = append(p.written, words(prompt))
	u := use{prompt: prompt, lessons: p.world.Asked(prompt), ending: "thanks"}
	want := 1
	if second != "" {
		want = 2
	}
	if len(u.lessons) != want {
		panic(fmt.Sprintf("%q makes %d lessons apply, want %d", prompt, len(u.lessons), want))
	}
	for _, l := range u.lessons {
		if !p.taught[l.ID] {
			u.missed = append(u.missed, l)
		}
	}
	return u
}

// request words a request.
func (p *plan) request(id, second string) string {
	place := p.deal("places", p.places)
	name := strings.Fields(place)
	file := "data/" + strings.ToLower(name[len(name)-1]) + fmt.Sprintf("-%d.csv", 2019+p.IntN(8))
	text := p.deal("core "+id, cores[id])
	if second != "" {
		text = strings.TrimRight(text, "?") + p.deal("addon "+second, addons[second])
	}
	return strings.NewReplacer("{p}", place, "{f}", file).Replace(text)
}

// resembles reports whether a request is close to an earlier one: the harvest
// would put the two into one cluster, and the demo is short of clusters.
func (p *plan) resembles(prompt string) bool {
	a := words(prompt)
	for _, b := range p.written {
		if similarity(a, b) >= 0.78 {
			return true
		}
	}
	return false
}

// words is the set of words of s. Whole words are the coarsest shingles: who is
// far apart in them is far apart in longer ones.
func words(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r < 'a' || r > 'z' }) {
		out[w] = true
	}
	return out
}

// similarity is the Jaccard index of two sets.
func similarity(a, b map[string]bool) float64 {
	both := 0
	for s := range a {
		if b[s] {
			both++
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// sessions plans the whole history: each inner slice is one session.
func (p *plan) sessions() (out [][]use) {
	untaught := []string{"log", "palette", "title", "sort", "source", "slices", "direct", "gaps", "events"}
	seconds := []string{"svg", "", "zero", "", "title", "", "", "palette", "", "events", "", "sort", "direct"}
	n := 0
	for range 7 { // corrected: what the seed skill does not teach
		for _, id := range untaught {
			second := seconds[n%len(seconds)]
			if second == id || clash(id, second) {
				second = ""
			}
			u := p.use(id, second)
			u.slash = n%7 == 3
			if n%4 == 1 {
				u.ending = "silence"
			}
			out = append(out, []use{u})
			n++
		}
	}
	for i := range 34 { // accepted: what it does
		id := []string{"units", "svg", "zero"}[i%3]
		second := ""
		if i%4 == 3 && id == "units" {
			second = []string{"svg", "zero"}[i/4%2]
		}
		out = append(out, []use{p.use(id, second)})
	}
	for i := range 4 { // corrected although the skill teaches it
		u := p.use([]string{"units", "svg", "zero"}[i%3], "")
		u.missed = u.lessons
		out = append(out, []use{u})
	}
	for i := range 3 { // nothing said afterwards
		u := p.use([]string{"units", "zero", "svg"}[i], "")
		u.ending = "silence"
		out = append(out, []use{u})
	}
	u := p.use("slices", "")
	u.missed, u.ending = nil, "interrupt"
	out = append(out, []use{u})
	p.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	for i := range 5 { // some sessions go on to a second chart
		k := len(out) - 1
		out[i*7] = append(out[i*7], out[k]...)
		out = out[:k]
	}
	return out
}

// clash reports whether the two cannot be in one sensible request.
func clash(id, second string) bool {
	return id == "slices" && (second == "zero" || second == "direct") || id == "gaps" && (second == "zero" || second == "sort") ||
		id == "sort" && second == "direct" || id == "direct" && (second == "zero" || second == "sort") ||
		id == "events" && (second == "zero" || second == "sort") || id == "log" && second == "sort"
}

// generate returns path → content below the agent's home folder.
func generate() map[string]string {
	p := newPlan()
	files := map[string]string{"skills/dataviz/SKILL.md": p.world.Seed()}
	for i, uses := range p.sessions() {
		t := newTranscript(p, i)
		for _, u := range uses {
			t.use(u)
		}
		files["projects/-home-you-project/"+t.session+".jsonl"] = t.close()
	}
	other := newTranscript(p, 200) // a session that has nothing to do with the skill
	other.say("Rename the column usd to amount in data/ferry-2020.csv")
	other.answer("Renamed, the file has the header week,amount now.", "sed -i 1s/usd/amount/ data/ferry-2020.csv")
	files["projects/-home-you-project/"+other.session+".jsonl"] = other.close()
	return files
}

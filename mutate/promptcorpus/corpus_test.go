// Package promptcorpus tests the prompts with real models' replies. It has skills with
// rules that their users never wrote down, and situations in which a prompt is sent. The
// replies are test data as well, one file for each prompt that was sent, with the hash of
// that prompt, and are scored by rules; no test calls a model.
//
// A prompt that was changed must be answered again:
//
//	EVOLVE_PROMPTS_REQUESTS=DIR go test ./mutate/promptcorpus -run TestReplies
//
// writes each request without a reply into DIR, as the backend handoff does. The same
// command takes over the answers that it finds there, and writes the second request of a
// situation that asks twice. EVOLVE_PROMPTS_REPLIES=DIR keeps the replies in another folder
// than testdata/replies, so that two versions of the prompts can be compared, each with its
// own revision of this package:
//
//	go test ./mutate/promptcorpus -run TestTable -v
package promptcorpus

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
	"go.yaml.in/yaml/v3"
)

// A subject is a skill with the rules that its users expect, cases of them, and situations
// in which its text is changed.
type subject struct {
	name  string
	Skill string // SKILL.md
	Long  string // what a long version has below it
	// Bloat are phrases of Long that a prune should remove, Keep those of both that
	// nothing may lose.
	Bloat, Keep []string
	Rules       []rule
	Cases       []example
	Triggers    []trigger
	Situations  []situation
}

// A rule is found in a text if all of Marks match one block, or one and the block after it.
type rule struct {
	ID, Say string
	N       int // failing train cases beside Cases that miss it
	Marks   []string
}

// An example is a train case and the agent's answer to it. Miss and Meet are the checks
// that failed and passed: a rule's ID, or "ID=the feedback in other words". A rule in
// neither was not checked.
type example struct {
	ID, Set            string
	Before             []eval.Message
	Prompt, Answer     string
	Reference, Failure string
	Miss, Meet         []string
}

// A trigger is a request for which the agent decided whether to load the skill.
type trigger struct {
	Prompt           string
	Should, Did      bool
	Instead, Wording string // the skill loaded instead; the feedback, "" for the usual one
}

// An edit puts Line below the line that holds After, or in the place of Was.
type edit struct{ After, Was, Line string }

// A situation is one prompt to be sent, or several if the operator asks again.
type situation struct {
	Name, Kind string
	Long       bool
	Edits      []edit // of the skill's text that made the parent
	Set        string // the train cases: those of this set
	Cases      []string
	Tried      []mutate.Attempt
	Alone      bool     // nothing else is known to fail
	Limit      int      // tokens; 0: what the search would allow
	Gone       []string // phrases of the parent that cause the failures
	Never      []string // must not be in the result
	Want       []string // marks that the result must have, beside rules
	// The texts that a union or merge joins, each by its edits of the parent or ancestor.
	Sides [][]edit
	Rules []string // that the sides state

	of *subject
}

func (s *situation) id() string { return s.of.name + "-" + s.Name }

func (s *situation) seed() int64 {
	h := fnv.New32a()
	h.Write([]byte(s.id()))
	return int64(h.Sum32() >> 1)
}

// subjects reads all skills.
var subjects = sync.OnceValue(func() (out []*subject) {
	for name, s := range load[subject]("skills") {
		s.name = name
		for i := range s.Situations {
			s.Situations[i].of = s
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *subject) int { return cmp.Compare(a.name, b.name) })
	return out
})

// load reads the files of a folder of testdata, by name. What is wrong with one is a fault of
// the test data, and ends the test.
func load[T any](dir string) map[string]*T {
	out := map[string]*T{}
	names, _ := filepath.Glob(filepath.Join("testdata", dir, "*.yaml"))
	for _, name := range names {
		data, err := os.ReadFile(name)
		v := new(T)
		d := yaml.NewDecoder(bytes.NewReader(data))
		d.KnownFields(true)
		if err := errors.Join(err, d.Decode(v)); err != nil {
			panic(name + ": " + err.Error())
		}
		out[strings.TrimSuffix(filepath.Base(name), ".yaml")] = v
	}
	return out
}

// root is the owner's text.
func (s *situation) root() *skill.Document {
	text := s.of.Skill
	if s.Long {
		text = strings.TrimRight(text, "\n") + "\n\n" + s.of.Long
	}
	return s.parse(text)
}

func (s *situation) parse(text string) *skill.Document {
	doc, err := skill.Parse([]byte(text), skill.Options{EvolveDescription: s.Kind == "description"})
	if err != nil {
		panic(s.id() + ": " + err.Error())
	}
	return doc
}

// edited makes edits to a document.
func (s *situation) edited(doc *skill.Document, edits []edit) *skill.Document {
	text := string(doc.Render())
	for _, e := range edits {
		at := e.Was + e.After
		if n := strings.Count(text, at); n != 1 || at == "" {
			panic(fmt.Sprintf("%s: %d times in the text: %q", s.id(), n, at))
		}
		if e.Was != "" {
			text = strings.Replace(text, e.Was, e.Line, 1)
			continue
		}
		head, tail, _ := strings.Cut(text, e.After)
		end, rest, _ := strings.Cut(tail, "\n")
		text = head + e.After + end + "\n" + e.Line + "\n" + rest
	}
	return s.parse(text)
}

func (s *situation) parent() *skill.Document { return s.edited(s.root(), s.Edits) }

func (s *subject) rule(id string) *rule {
	return &s.Rules[slices.IndexFunc(s.Rules, func(r rule) bool { return r.ID == id })]
}

func (s *subject) example(id string) *example {
	return &s.Cases[slices.IndexFunc(s.Cases, func(x example) bool { return x.ID == id })]
}

// said is a check of a case: its rule, and its feedback.
func (s *subject) said(check string) (*rule, string) {
	id, words, other := strings.Cut(check, "=")
	r := s.rule(id)
	if !other {
		words = r.Say
	}
	return r, words
}

func (s *subject) evidence(x *example) mutate.Evidence {
	c := &eval.Case{ID: x.ID, Skill: s.name, Prompt: x.Prompt, Context: x.Before, Reference: x.Reference, Split: eval.Train}
	r := &eval.Rollout{CaseID: x.ID, Status: eval.Done, Answer: x.Answer, Failure: x.Failure, Attempts: 1}
	add := func(check string, score float64) {
		_, words := s.said(check)
		c.Checks = append(c.Checks, eval.Check{Type: "regex", Value: ".", Feedback: words})
		got := eval.CheckResult{Type: "regex", Score: score, Weight: 1}
		if score < 1 {
			got.Feedback = words
		}
		r.Checks = append(r.Checks, got)
		r.Quality += score
	}
	for _, m := range x.Miss {
		add(m, 0)
	}
	for _, m := range x.Meet {
		add(m, 1)
	}
	r.Quality /= float64(max(1, len(r.Checks)))
	return mutate.Evidence{Case: c, Rollout: r}
}

// input is what the search would give an operator in a situation.
func (s *situation) input() mutate.Input {
	in := mutate.Input{Parent: s.parent(), Rejected: s.Tried, MaxTokens: s.Limit, Seed: s.seed()}
	if in.MaxTokens == 0 {
		in.MaxTokens = skill.GrowthLimit(skill.Tokens(string(s.root().Body())))
	}
	count := map[string]int{}
	add := func(words string, n int) {
		if count[words] += n; !slices.Contains(in.Corpus, words) {
			in.Corpus = append(in.Corpus, words)
		}
	}
	for i := range s.of.Cases {
		x := &s.of.Cases[i]
		if x.Set != s.Set {
			continue
		}
		e := s.of.evidence(x)
		for k, c := range e.Rollout.Checks {
			add(e.Case.Checks[k].Feedback, int(1-c.Score))
		}
		if len(x.Miss) == 0 && x.Failure == "" && in.Passing == nil {
			in.Passing = &e
		}
	}
	parent := in.Parent.View()
	for i := range s.of.Rules {
		if r := &s.of.Rules[i]; r.N > 0 && !s.Alone && !r.in(parent) {
			add(r.Say, r.N)
		}
	}
	for words, n := range count {
		if n > 0 {
			in.Failing = append(in.Failing, mutate.Tally{Feedback: words, Cases: slices.Repeat([]string{"one of many"}, n)})
		}
	}
	slices.SortFunc(in.Failing, func(a, b mutate.Tally) int {
		return cmp.Or(len(b.Cases)-len(a.Cases), strings.Compare(a.Feedback, b.Feedback))
	})
	in.Asked = in.Corpus
	for _, id := range s.Cases {
		x := s.of.example(id)
		if x.Set != s.Set {
			panic(s.id() + ": case " + id + " is of another set")
		}
		in.Evidence = append(in.Evidence, s.of.evidence(x))
	}
	return in
}

var (
	patterns sync.Map // by text: a mark is matched with many blocks
	straight = strings.NewReplacer("’", "'", "“", `"`, "”", `"`)
)

// match reports whether a mark matches text, which may be broken into lines.
func match(mark, text string) bool {
	re, ok := patterns.Load(mark)
	if !ok {
		re, _ = patterns.LoadOrStore(mark, regexp.MustCompile("(?is)"+mark))
	}
	return re.(*regexp.Regexp).MatchString(strings.Join(strings.Fields(straight.Replace(text)), " "))
}

// in reports whether a text states the rule.
func (r *rule) in(view string) bool {
	blocks := blocksOf(view)
	for i := range blocks {
		if r.inBlock(blocks[i]) || i > 0 && r.inBlock(blocks[i-1]+"\n"+blocks[i]) {
			return true
		}
	}
	return false
}

func (r *rule) inBlock(block string) bool {
	return !slices.ContainsFunc(r.Marks, func(m string) bool { return !match(m, block) })
}

func blocksOf(view string) (out []string) {
	for _, b := range skill.Blocks(view) {
		if text := strings.TrimSpace(view[b.Start:b.End]); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// holds reports whether a text has a phrase, in whatever line breaks and case.
func holds(text, phrase string) bool {
	fold := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	return strings.Contains(fold(text), fold(phrase))
}

// TestData finds what would make scores meaningless.
func TestData(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range subjects() {
		for i := range s.Situations {
			x := &s.Situations[i]
			if seen[x.id()] {
				t.Errorf("%s: twice", x.id())
			}
			seen[x.id()] = true
			view := x.parent().View()
			for _, phrase := range append(slices.Clone(x.Gone), x.keep()...) {
				if !holds(view, phrase) {
					t.Errorf("%s: the parent does not say %q", x.id(), phrase)
				}
			}
			if x.Kind == "prune" {
				for _, phrase := range s.Bloat {
					if !holds(view, phrase) {
						t.Errorf("%s: the parent does not say %q", x.id(), phrase)
					}
				}
			}
			if size := skill.Tokens(string(x.parent().Body())); x.Limit > 0 && (x.Limit < size+40 || x.Limit > 2*size) {
				t.Errorf("%s: %d tokens, the limit is %d", x.id(), size, x.Limit)
			}
			for _, m := range append(slices.Clone(x.Never), x.Want...) {
				if match(m, view) && x.Kind != "description" && x.Kind != "rephrase" {
					t.Errorf("%s: the parent already matches %q", x.id(), m)
				}
			}
			for _, e := range x.input().Evidence {
				for k, c := range e.Rollout.Checks {
					for j := range s.Rules {
						r := &s.Rules[j]
						if c.Score < 1 && r.in(view) && e.Case.Checks[k].Feedback == r.Say && len(x.Gone) == 0 && x.Kind != "rephrase" {
							t.Errorf("%s: case %s misses %s, which the parent states", x.id(), e.Case.ID, r.ID)
						}
					}
				}
			}
		}
		for i := range s.Rules {
			if r := &s.Rules[i]; r.in(s.Skill+"\n\n"+s.Long) || !r.inBlock("- "+r.Say) {
				t.Errorf("%s: the skill already states %s, or its own words do not", s.name, r.ID)
			}
		}
	}
	if n := len(seen) + len(readers()); len(subjects()) < 12 || n < 100 {
		t.Errorf("%d skills and %d situations, want 12 and 100", len(subjects()), n)
	}
}

package candidate

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
	"pgregory.net/rapid"
)

const head = "---\nname: charts\ndescription: Draws charts.\n---\n\n"

// world is a store with a live text and runs about it and about others.
type world struct {
	*store.Store
	live *skill.Live
}

var suggestedAt = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

func newWorld(t *testing.T, live string) *world {
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	doc, err := skill.Parse([]byte(live), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &world{db, &skill.Live{Entry: skill.Entry{Name: "charts"}, Doc: doc}}
}

// suggest stores a suggestion for a subject, with the text that it was made from.
func (w *world) suggest(t *testing.T, of, base, text string) record.Candidate {
	run := record.NewID(suggestedAt)
	j := w.Journal(run)
	incumbent := skill.HashText([]byte(base))
	if err := j.SaveRun(t.Context(), &record.Run{ID: run, Skill: of, Status: record.Finished, Incumbent: incumbent, Started: suggestedAt, Ended: suggestedAt, Config: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	seed := record.Candidate{SHA: incumbent, Run: run, Operator: "found", State: record.Seed, Text: []byte(base)}
	c := record.Candidate{SHA: skill.HashText([]byte(text)), Run: run, Seq: 1, Parents: []string{incumbent}, Operator: record.Suggested,
		State: record.Pooled, Text: []byte(text), Shown: []string{of + "-1"}}
	for _, c := range []*record.Candidate{&seed, &c} {
		if err := j.SaveCandidate(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// A given text that says what a suggestion says is a child of it, so that it is frozen with
// it; one that shares only what the live text has is not.
func TestGivenComesOfASuggestion(t *testing.T) {
	const own = head + "- Label the axes.\n- Draw a pie.\n- Load the palette.\n- Export as SVG, and open it.\n"
	const suggested = head + "- Label the axes.\n- Never draw a pie.\n- Load the palette from the shared colours first.\n- Sort the bars by value, largest first.\n"
	for name, c := range map[string]struct {
		text string
		of   bool
	}{
		"a line of it":              {own + "- Sort the bars by value, largest first.\n- Name the river.\n", true},
		"in another place":          {head + "- Sort the bars by value, largest first.\n" + own[len(head):], true},
		"without the dot":           {own + "- Sort the bars by value, largest first\n", true},
		"with another word":         {own + "- Always sort the bars by size, largest first.\n", true},
		"in another order":          {own + "- Largest first: sort by value the bars.\n", true},
		"split":                     {own + "- Sort the bars.\n- Name the river.\n- By value, the largest comes first.\n", true},
		"joined":                    {own + "- Name the river, sort the bars by value, largest first, and stop.\n", true},
		"what it adds to a line":    {strings.Replace(own, "palette.", "palette, first from shared colours.", 1), true},
		"that in a line of its own": {own + "- The shared colours come first.\n", true},
		"a word that is no content": {strings.Replace(own, "Draw a pie.", "Never draw a pie", 1), true},
		"what it deletes":           {strings.Replace(own, "- Export as SVG, and open it.\n", "", 1), true},
		"none of it":                {own + "- Name the river.\n", false},
		"one word of it":            {own + "- Name the bars.\n", false},
		"another deletion":          {strings.Replace(own, "- Label the axes.\n", "", 1), false},
		"the suggestion itself":     {suggested, false},
		"the live text, other ends": {own + "\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, own)
			s := w.suggest(t, "charts", own, suggested)
			got, notes, err := Given(t.Context(), w.Store, w.live, []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			want := []string{w.live.Doc.Hash()}
			if c.of {
				want = append(want, s.SHA)
			}
			if !slices.Equal(got.Parents, want) || (len(notes) > 0) != c.of {
				t.Errorf("%v, want %v; %q", got.Parents, want, notes)
			}
			if !c.of {
				return
			}
			// Held by the firewall, it is stored as it is: whatever begins with it later is frozen.
			got.Run, got.Seq, got.State = s.Run, 2, record.Quarantined
			if err := w.Journal(s.Run).SaveCandidate(t.Context(), got); err != nil {
				t.Fatal(err)
			}
			spent, err := w.Journal("").SpentCases(t.Context(), "charts")
			if err != nil || !spent.Frozen[got.SHA].Equal(suggestedAt) {
				t.Errorf("frozen at %v (%v)", spent.Frozen[got.SHA], err)
			}
		})
	}
}

// A line goes from one file to another, and what cannot be compared may be in any text.
func TestGivenComesOfWhatCannotBeSeen(t *testing.T) {
	const own = head + "- Label the axes.\n"
	const instructions = "file:~:.claude/CLAUDE.md"
	given := func(t *testing.T, w *world, text string) ([]string, string) {
		t.Helper()
		c, notes, err := Given(t.Context(), w.Store, w.live, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return c.Parents[1:], strings.Join(notes, "\n")
	}
	t.Run("another subject", func(t *testing.T) {
		w := newWorld(t, own)
		s := w.suggest(t, instructions, "- Be brief.\n", "- Be brief.\n- Name the unit of every axis.\n")
		if of, _ := given(t, w, own+"- Name every axis' unit.\n"); !slices.Equal(of, []string{s.SHA}) {
			t.Errorf("it comes of %v, want %s", of, s.SHA)
		}
		if of, _ := given(t, w, own+"- Be brief.\n"); len(of) > 0 {
			t.Errorf("what the other text had comes of %v", of)
		}
	})
	t.Run("a text that nobody can read", func(t *testing.T) {
		w := newWorld(t, own)
		s := w.suggest(t, "charts", own, "---\nname: charts\n")
		if of, _ := given(t, w, own+"- Name the river.\n"); !slices.Equal(of, []string{s.SHA}) {
			t.Errorf("it comes of %v, want %s", of, s.SHA)
		}
	})
	t.Run("a text that was erased", func(t *testing.T) {
		w := newWorld(t, own)
		s := w.suggest(t, "charts", own, own+"- Name the river.\n")
		s.Text = nil
		if err := w.Journal(s.Run).SaveCandidate(t.Context(), &s); err != nil {
			t.Fatal(err)
		}
		of, notes := given(t, w, own+"- Sort the bars.\n")
		if want := fmt.Sprintf("the text of suggestion %.12s was erased", s.SHA); !slices.Equal(of, []string{s.SHA}) || !strings.HasPrefix(notes, want) {
			t.Errorf("it comes of %v: %q", of, notes)
		}
	})
}

// A suggestion for another subject may have learned from what may not be sent, and its own
// base may be the given text.
func TestShownForOthers(t *testing.T) {
	const own, theirs = head + "- Label the axes.\n", head + "- Be brief.\n"
	w := newWorld(t, own)
	s := w.suggest(t, "tables", theirs, theirs+"- Name the river.\n")
	c := record.Candidate{SHA: skill.HashText([]byte(theirs)), Run: w.suggest(t, "charts", own, own+"- Sort.\n").Run, Seq: 2,
		Parents: []string{w.live.Doc.Hash(), s.SHA}, Operator: record.Checked, State: record.Pooled, Text: []byte(theirs)}
	if err := w.Journal(c.Run).SaveCandidate(t.Context(), &c); err != nil {
		t.Fatal(err)
	}
	by, err := ShownFor(t.Context(), w.Store, "charts", c.SHA)
	if err != nil || !slices.Equal(by["tables"], []string{"tables-1"}) || len(by["charts"]) > 0 {
		t.Errorf("%v taught it (%v)", by, err)
	}
}

// TestRewordedSuggestion: the lines of a suggestion in another order of words, with a word
// more and in two lines, say what it says.
func TestRewordedSuggestion(t *testing.T) {
	word := rapid.StringMatching(`[a-z]{4,9}`)
	line := rapid.SliceOfN(word, 2, 9)
	say := func(list [][]string) string {
		var b strings.Builder
		for _, words := range list {
			b.WriteString("- " + strings.Join(words, " ") + ".\n")
		}
		return b.String()
	}
	rapid.Check(t, func(t *rapid.T) {
		live := rapid.SliceOfN(line, 1, 4).Draw(t, "live")
		suggested := slices.Clone(live)
		at := rapid.IntRange(0, len(live)).Draw(t, "at")
		changed := line.Draw(t, "changed")
		if at < len(live) {
			changed = append(slices.Clone(live[at]), changed...)
			suggested[at] = changed
		} else {
			suggested = append(suggested, changed)
		}
		before, after := unitsIn(t, say(live)), unitsIn(t, say(suggested))
		if len(edits(before, after)) == 0 {
			t.Skip("the line was there")
		}
		words := rapid.Permutation(append(slices.Clone(changed), word.Draw(t, "more"))).Draw(t, "words")
		cut := rapid.IntRange(1, len(words)-1).Draw(t, "cut")
		given := append(slices.Clone(live), words[:cut], words[cut:])
		if !repeats(before, unitsIn(t, say(given)), before, after) {
			t.Fatalf("not seen to repeat %q:\n%s", changed, say(given))
		}
	})
}

func unitsIn(t *rapid.T, text string) []unit {
	doc, err := skill.Parse([]byte(head+text), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return unitsOf(doc)
}

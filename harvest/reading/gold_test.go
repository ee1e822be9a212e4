package reading_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/agent/handoff"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/reading"
	"github.com/skill-evolve/evolve/store"
)

// A gold moment was labelled by people who read its session.
type gold struct {
	Session, Request, Reply        string
	Label, Preventable, Replayable string
}

// print is how a gold file names a message: of its first 200 characters, with white
// space squeezed.
func print(text string) string {
	r := []rune(strings.Join(strings.Fields(text), " "))
	sum := sha256.Sum256([]byte(string(r[:min(len(r), 200)])))
	return hex.EncodeToString(sum[:8])
}

// TestGold reads labelled moments of real sessions with whatever answers the requests in
// a folder, and counts what it missed and invented. EVOLVE_GOLD is the file with the
// labels, EVOLVE_GOLD_HOME a data folder with the sessions, EVOLVE_GOLD_REQUESTS the
// folder; EVOLVE_GOLD_HALF=0 or 1 takes every second label.
func TestGold(t *testing.T) {
	path, home, requests := os.Getenv("EVOLVE_GOLD"), os.Getenv("EVOLVE_GOLD_HOME"), os.Getenv("EVOLVE_GOLD_REQUESTS")
	if path == "" {
		t.Skip("EVOLVE_GOLD names no labels")
	}
	db, err := store.Open(t.Context(), filepath.Join(home, "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all, err := db.Sessions(t.Context(), store.SessionFilter{Text: true, Work: true})
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]*harvest.Session{}
	var sessions []*harvest.Session
	for i := range all {
		byID[all[i].ID] = &all[i]
		sessions = append(sessions, &all[i])
	}
	type place struct {
		s    *harvest.Session
		turn int
	}
	want := map[place]gold{}
	gone := 0
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 0; lines.Scan(); n++ {
		if half := os.Getenv("EVOLVE_GOLD_HALF"); half != "" && half != string("01"[n%2]) {
			continue
		}
		var g gold
		if err := json.Unmarshal(lines.Bytes(), &g); err != nil {
			t.Fatal(err)
		}
		s := byID[g.Session]
		found := false
		for i := 0; s != nil && i+1 < len(s.Turns); i++ {
			if p := (place{s, i}); !found && want[p].Session == "" && print(s.Turns[i].Prompt) == g.Request && print(s.Turns[i+1].Prompt) == g.Reply {
				want[p], found = g, true
			}
		}
		if !found {
			gone++
		}
	}
	r := reading.Reader{Of: func(s *harvest.Session, turn int) bool { return want[place{s, turn}].Session != "" }}
	if requests != "" {
		for p := range want {
			p.s.Turns[p.turn].Reading = nil
		}
		if r.Model, err = handoff.New(handoff.Config{Dir: requests}); err != nil {
			t.Fatal(err)
		}
	}
	stats, err := r.Read(t.Context(), sessions)
	t.Logf("%d labels, %d without a session; %+v, %v", len(want)+gone, gone, stats, err)
	var label, prevent, replay, alone tally
	for p, g := range want {
		alone.add(g.Label, string(p.s.Heard(p.turn+1).Label))
		got := p.s.Turns[p.turn].Reading
		if got == nil {
			label.add(g.Label, "unread")
			continue
		}
		label.add(g.Label, string(got.Label))
		replay.add(g.Replayable, got.Replayable)
		if g.Label == "corrected" && got.Label == harvest.Corrected {
			yes := map[bool]string{true: "yes", false: "no"}
			prevent.add(g.Preventable, yes[got.Rule != ""])
		}
		if g.Label != string(got.Label) && os.Getenv("EVOLVE_GOLD_SHOW") != "" {
			t.Logf("%s, read as %s (%q, rule %q): %s turn %d\n  asked: %.300q\n  answer: …%.500q\n  said: %.300q", g.Label, got.Label, got.Words, got.Rule, p.s.ID, p.turn,
				p.s.Turns[p.turn].Prompt, harvest.Tail(p.s.Turns[p.turn].Answer, 500), p.s.Turns[p.turn+1].Prompt)
		}
		if g.Replayable != got.Replayable && os.Getenv("EVOLVE_GOLD_SHOW") != "" {
			t.Logf("replayable %s, read as %s: asked %.250q", g.Replayable, got.Replayable, p.s.Turns[p.turn].Prompt)
		}
		if g.Label == string(got.Label) && g.Label == "corrected" && os.Getenv("EVOLVE_GOLD_SHOW") != "" {
			t.Logf("preventable %s, replayable %s; rule %q, %s, replayable %s: %s turn %d\n  said: %.300q", g.Preventable, g.Replayable, got.Rule, got.Concerns, got.Replayable, p.s.ID, p.turn, p.s.Turns[p.turn+1].Prompt)
		}
	}
	for _, l := range []string{"corrected", "accepted"} {
		hit, missed, invented := label.counts(l)
		t.Logf("%s: %d right, %d missed, %d invented: precision %.2f, recall %.2f", l, hit, missed, invented, share(hit, invented), share(hit, missed))
		if least := map[string]float64{"corrected": .9, "accepted": .85}[l]; share(hit, invented) < least || share(hit, missed) < .9 {
			t.Errorf("%s: want a precision of %.2f and a recall of 0.90", l, least)
		}
	}
	for _, l := range []string{"corrected", "accepted"} {
		hit, missed, invented := alone.counts(l)
		t.Logf("without a model %s: %d right, %d missed, %d invented: precision %.2f, recall %.2f", l, hit, missed, invented, share(hit, invented), share(hit, missed))
	}
	t.Logf("label κ %.2f of %v", label.kappa(), label)
	t.Logf("preventable κ %.2f of %v", prevent.kappa(), prevent)
	t.Logf("replayable κ %.2f of %v", replay.kappa(), replay)
	two := tally{}
	for pair, n := range replay {
		for range n {
			two.add(map[bool]string{true: "yes", false: "not yes"}[pair[0] == "yes"], map[bool]string{true: "yes", false: "not yes"}[pair[1] == "yes"])
		}
	}
	t.Logf("replayable or not κ %.2f of %v", two.kappa(), two)
	if prevent.kappa() < .75 || two.kappa() < .75 {
		t.Error("want κ of 0.75 at least for preventable and replayable")
	}
}

func share(a, b int) float64 { return float64(a) / float64(max(a+b, 1)) }

// A tally counts pairs of what is right and what was read.
type tally map[[2]string]int

func (t *tally) add(right, read string) {
	if *t == nil {
		*t = tally{}
	}
	(*t)[[2]string{right, read}]++
}

func (t tally) counts(label string) (hit, missed, invented int) {
	for pair, n := range t {
		switch {
		case pair[0] == label && pair[1] == label:
			hit += n
		case pair[0] == label:
			missed += n
		case pair[1] == label:
			invented += n
		}
	}
	return hit, missed, invented
}

// kappa is Cohen's.
func (t tally) kappa() float64 {
	a, b, same, n := map[string]float64{}, map[string]float64{}, 0.0, 0.0
	for pair, k := range t {
		a[pair[0]] += float64(k)
		b[pair[1]] += float64(k)
		n += float64(k)
		if pair[0] == pair[1] {
			same += float64(k)
		}
	}
	chance := 0.0
	for l := range a {
		chance += a[l] * b[l]
	}
	return (same/n - chance/n/n) / (1 - chance/n/n)
}

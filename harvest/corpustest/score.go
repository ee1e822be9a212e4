package corpustest

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/harvest"
)

// A Score compares a harvest with the manifest of its corpus.
type Score struct {
	Found, Missed, Invented int // explicit uses of skills
	Wrong                   []string
	Labels, LabelsRight     int            // planted reactions, and those labelled rightly
	Look, Touched           int            // look-alikes in what is kept, and those that were replaced
	TouchedOf               map[string]int // by kind
}

// Score compares sessions, as they were read or stored, with the manifest.
func (m *Manifest) Score(sessions []harvest.Session) Score {
	sc := Score{TouchedOf: map[string]int{}}
	type use struct {
		session, turn, skill string
		signal               harvest.Signal
		failed               bool
	}
	got := map[use][]harvest.Label{}
	text := map[string]string{}
	for _, s := range sessions {
		var b strings.Builder
		for _, t := range s.Turns {
			b.WriteString(t.Prompt + "\n" + t.Answer + "\n")
		}
		text[s.ID] = b.String()
		for _, v := range s.Invocations {
			if !v.Explicit {
				continue
			}
			u := use{s.ID, s.Turns[v.Turn].ID, v.Skill, v.Signal, v.Failed}
			got[u] = append(got[u], v.Feedback.Label)
		}
	}
	for _, v := range m.Invocations {
		u := use{v.Session, v.Turn, v.Skill, v.Signal, v.Failed}
		labels := got[u]
		if len(labels) == 0 {
			sc.Missed++
			sc.Wrong = append(sc.Wrong, fmt.Sprintf("missed %+v", u))
			continue
		}
		sc.Found++
		got[u] = labels[1:]
		if v.Label != "" && v.Label != harvest.Unknown {
			sc.Labels++
			if labels[0] == v.Label {
				sc.LabelsRight++
			} else {
				sc.Wrong = append(sc.Wrong, fmt.Sprintf("%s is %s: %+v", v.Label, labels[0], u))
			}
		}
	}
	for u, labels := range got {
		sc.Invented += len(labels)
		for range labels {
			sc.Wrong = append(sc.Wrong, fmt.Sprintf("invented %+v", u))
		}
	}
	slices.Sort(sc.Wrong)
	for _, h := range m.Harmless {
		if h.Place != Prompt && h.Place != Answer {
			continue
		}
		sc.Look++
		if !strings.Contains(text[h.Session], h.Text) {
			sc.Touched++
			sc.TouchedOf[h.Kind]++
		}
	}
	return sc
}

// window is how many of the last bytes of a secret are looked up at once.
const window = 8

// Leaks returns the secrets of which a part occurs in one of the texts.
func (m *Manifest) Leaks(texts ...[]byte) []Secret {
	type part struct {
		secret int
		bytes  string
	}
	ends := map[uint64][]part{}
	for i, s := range m.Secrets {
		for _, p := range s.Parts {
			if len(p) < window {
				panic("corpus: a secret is too short to look for: " + p)
			}
			key := binary.LittleEndian.Uint64([]byte(p[len(p)-window:]))
			ends[key] = append(ends[key], part{i, p})
		}
	}
	leaked := map[int]bool{}
	for _, text := range texts {
		if len(text) < window {
			continue
		}
		for i := window; i <= len(text); i++ {
			for _, p := range ends[binary.LittleEndian.Uint64(text[i-window:])] {
				if i >= len(p.bytes) && string(text[i-len(p.bytes):i]) == p.bytes {
					leaked[p.secret] = true
				}
			}
		}
	}
	var out []Secret
	for i, s := range m.Secrets {
		if leaked[i] {
			out = append(out, s)
		}
	}
	return out
}

package ingest

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/corpustest"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/harvest/redact/planted"
	"github.com/skill-evolve/evolve/store"
)

// corpusFolder names another corpus in the format of testdata/secrets, which is scored
// and printed.
const corpusFolder = "EVOLVE_SECRETS_CORPUS"

// corpusHalf, 0 or 1, takes half of a corpus, by a hash of the ids: rules are made on one
// half, the other says how general they are.
const corpusHalf = "EVOLVE_SECRETS_HALF"

// readPlanted reads texts; a half of a corpus if that was asked for.
func readPlanted(t *testing.T, dir, name string) []*planted.Text {
	const seed = 17
	all, err := planted.Read(dir, name, seed)
	if err != nil {
		t.Fatal(err)
	}
	half := os.Getenv(corpusHalf)
	return slices.DeleteFunc(all, func(p *planted.Text) bool {
		h := fnv.New32a()
		h.Write([]byte(p.ID))
		return half != "" && strconv.Itoa(int(h.Sum32()%2)) != half
	})
}

// A tally counts what was found of what was planted.
type tally struct {
	all, good int
	failed    []string
}

func (c *tally) rate() float64 { return 100 * float64(c.good) / float64(max(1, c.all)) }

type tallies map[string]*tally

func (t tallies) add(name string, ok bool, why string) {
	if t[name] == nil {
		t[name] = new(tally)
	}
	t[name].all++
	if ok {
		t[name].good++
		return
	}
	t[name].failed = append(t[name].failed, why)
}

// harvested is what is kept of sessions: of each, by agent and id, the prompts and
// answers, and everything as JSON.
type harvested struct{ texts, all string }

// scored harvests a corpus with every agent's reader, and counts by class: what was kept
// out of secrets, and how many look-alikes were left whole. What tools are given and
// print is not kept: it goes through the redactor alone.
func scored(t *testing.T, dir string) (recall, decoys tallies) {
	forms, harmless := readPlanted(t, dir, "forms.jsonl"), readPlanted(t, dir, "decoys.jsonl")
	sessions := slices.Concat(readPlanted(t, dir, "sessions.jsonl"), readPlanted(t, dir, "asked.jsonl"))
	g := person(t)
	var sources []Source
	all := slices.Concat(forms, sessions, harmless)
	for _, s := range scribbles {
		root := filepath.Join(t.TempDir(), s.agent)
		for _, p := range all {
			name, lines := s.write(p.ID, p.Messages)
			var text bytes.Buffer
			e := json.NewEncoder(&text)
			e.SetEscapeHTML(false)
			for _, l := range lines {
				if err := e.Encode(l); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		o := harvest.Options{Redactor: g.Redactor, Exists: func(name string) bool { return name == "dataviz" }}
		sources = append(sources, Source{s.kind.Source(root, o), root})
	}
	r, err := g.Harvest(t.Context(), sources, true, func() {})
	if err != nil || r.Sessions != len(scribbles)*len(all) || len(r.Problems) > 0 {
		t.Fatalf("%d sessions of %d, %v, %v", r.Sessions, len(scribbles)*len(all), r.Problems, err)
	}
	mineAll(t, g)
	if _, err := g.WriteSidecars(t.Context(), filepath.Join(string(g.Dir), "sidecars")); err != nil {
		t.Fatal(err)
	}
	kept := keptOf(t, g)
	recall, decoys = tallies{}, tallies{}
	for _, p := range slices.Concat(forms, sessions) {
		counts := map[string]bool{}
		for _, m := range p.Messages {
			counts[m.Class] = true
		}
		for _, s := range scribbles {
			leaked := p.Leaks(kept[s.kind.Agent+" "+p.ID].all)
			for _, v := range p.Values {
				for class := range counts {
					if len(p.Messages) > 1 {
						recall.add("session", !slices.Contains(leaked, v), s.agent+" "+p.ID)
						break
					} else if class != "tool" {
						recall.add(class, !slices.Contains(leaked, v), s.agent+" "+p.ID)
						recall.add(class+" "+p.Row, !slices.Contains(leaked, v), s.agent+" "+p.ID)
					}
				}
			}
		}
		if leaked := p.Leaks(direct(p.Messages)); counts["tool"] {
			for _, v := range p.Values {
				class := "tool"
				if len(p.Messages) > 1 {
					class = "tool in a session"
				}
				recall.add(class, !slices.Contains(leaked, v), p.ID)
			}
		}
	}
	for _, p := range harmless {
		whole := func(text string) bool {
			return !slices.ContainsFunc(p.Keep, func(k string) bool { return !strings.Contains(text, k) })
		}
		if p.Class == "tool" {
			decoys.add("tool", whole(direct(p.Messages)), p.ID)
			continue
		}
		for _, s := range scribbles {
			decoys.add(p.Class, whole(kept[s.kind.Agent+" "+p.ID].texts), s.agent+" "+p.ID)
		}
	}
	nowhere(t, g, slices.Concat(forms, sessions), recall)
	return recall, decoys
}

// direct is what a session's texts become without a reader.
func direct(messages []planted.Message) string {
	s := redact.NewSession(nil)
	var texts []string
	for _, m := range messages {
		do := s.Redact
		switch m.Class {
		case "typed":
			do = s.Typed
		case "answer":
			do = s.Said
		}
		text, _ := do(m.Text)
		if m.Class == "typed" {
			for _, v := range redact.Doubts(text) {
				s.Learn(v, "secret")
			}
		}
		texts = append(texts, text)
	}
	for i := range texts {
		texts[i], _ = s.Again(texts[i], "")
	}
	return strings.Join(texts, "\n\x00\n")
}

// keptOf reads back what the store holds of each session.
func keptOf(t *testing.T, g *Ingester) map[string]harvested {
	all, err := g.Store.Sessions(t.Context(), store.SessionFilter{})
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]harvested{}
	for _, s := range all {
		var h harvested
		for _, turn := range s.Turns {
			h.texts += turn.Prompt + "\n\x00\n" + turn.Answer + "\n\x00\n"
		}
		id := s.ID
		s.ID, s.Path = "", "" // names of the corpus
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		h.all = h.texts + string(data)
		kept[s.Agent+" "+id] = h
	}
	return kept
}

// nowhere looks for the secrets that sessions do not hold in every byte that was
// written.
func nowhere(t *testing.T, g *Ingester, all []*planted.Text, recall tallies) {
	m := new(corpustest.Manifest)
	for _, p := range all {
		for i, v := range p.Values {
			s := corpustest.Secret{Session: p.ID, Kind: v}
			for _, part := range []string{v, p.Bodies[i]} {
				if len(part) >= 8 {
					s.Parts = append(s.Parts, part)
				}
			}
			m.Secrets = append(m.Secrets, s)
		}
	}
	known := map[string]bool{}
	for name, c := range recall {
		for _, why := range c.failed {
			if fields := strings.Fields(why); name != "tool" && len(fields) == 2 {
				known[fields[1]] = true
			}
		}
	}
	err := filepath.WalkDir(string(g.Dir), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, s := range m.Leaks(data) {
			if !known[s.Session] {
				t.Errorf("%s holds a secret of %s that its session does not", filepath.Base(path), s.Session)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What people type, tools print and agents answer keeps its secrets to itself, in the
// forms that somebody wrote down who did not know the rules.
func TestSecretForms(t *testing.T) {
	if dir := os.Getenv(corpusFolder); dir != "" {
		secretForms(t, dir, nil)
		return
	}
	for _, c := range []struct {
		dir   string
		least map[string]float64
	}{
		{"", map[string]float64{"typed": 90, "answer": 95, "tool": 95, "session": 95, "tool in a session": 95, "harmless": 98}},
		// Two other authors' forms, who did not know the rules either.
		{"printed", map[string]float64{"answer": 94, "tool": 94, "harmless": 98}},
		{"typed", map[string]float64{"typed": 92, "harmless": 97}},
	} {
		t.Run(c.dir, func(t *testing.T) { secretForms(t, filepath.Join("testdata/secrets", c.dir), c.least) })
	}
}

// secretForms scores a corpus; least are the rates by class that it has to reach, none if
// it is only looked at.
func secretForms(t *testing.T, dir string, least map[string]float64) {
	recall, decoys := scored(t, dir)
	for _, list := range []tallies{recall, decoys} {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			c := list[name]
			t.Logf("%-24s %5d of %5d %6.1f %%", name, c.good, c.all, c.rate())
		}
	}
	if os.Getenv("EVOLVE_SECRETS_MISSED") != "" {
		for _, list := range []tallies{recall, decoys} {
			for _, name := range slices.Sorted(maps.Keys(list)) {
				if !strings.Contains(name, " ") || name == "tool in a session" {
					t.Logf("%s: %s", name, strings.Join(list[name].failed, "\n\t"))
				}
			}
		}
	}
	if least == nil {
		return
	}
	for name, want := range least {
		if name == "harmless" {
			continue
		}
		if got := recall[name].rate(); got < want {
			t.Errorf("%s: %.1f %% of the secrets are kept out, want %g", name, got, want)
		}
	}
	for name, c := range decoys {
		if c.rate() < least["harmless"] {
			t.Errorf("%s: %.1f %% of the look-alikes are whole", name, c.rate())
		}
	}
}

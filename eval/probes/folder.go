package probes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// A Folder holds the probes of one skill. It is made when something is first written to it.
type Folder string

// maxFile is the largest file that is read, in bytes.
const maxFile = 4 << 20

const (
	approved = "approved.json"
	proposed = "proposed.json"
)

// Approved is the set that the owner approved last, nil if there is none. It may lack rules of
// the present kernel: see Missing.
func (f Folder) Approved() (*Set, error) { return read[Set](f, approved) }

// Proposed is a set that waits for its owner's decision, nil if there is none.
func (f Folder) Proposed() (*Set, error) { return read[Set](f, proposed) }

// Propose keeps a set until its owner decides.
func (f Folder) Propose(s *Set) error { return f.write(proposed, s) }

// Approve keeps a set that the owner has approved.
func (f Folder) Approve(s *Set) error {
	if err := f.write(approved, s); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(string(f), proposed)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("approve probes: %w", err)
	}
	return nil
}

// Outcome is how two texts answered a set, nil if they have not.
func (f Folder) Outcome(s *Set, incumbent, challenger string) (*Outcome, error) {
	o, err := read[Outcome](f, outcomeName(incumbent, challenger))
	if o == nil || err != nil || o.Set != s.Fingerprint() || o.Incumbent != incumbent || o.Challenger != challenger {
		return nil, err
	}
	return o, nil
}

// Save keeps an outcome.
func (f Folder) Save(o *Outcome) error { return f.write(outcomeName(o.Incumbent, o.Challenger), o) }

func outcomeName(incumbent, challenger string) string {
	return fmt.Sprintf("%.16s-%.16s.json", incumbent, challenger)
}

func read[T any](f Folder, name string) (*T, error) {
	data, err := bounded.ReadFile(filepath.Join(string(f), name), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read probes: %w", err)
	}
	v := new(T)
	if err := json.Unmarshal(data, v); err != nil {
		return nil, fmt.Errorf("read probes: %s: %w", name, err)
	}
	return v, nil
}

func (f Folder) write(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write probes: %w", err)
	}
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return fmt.Errorf("write probes: %w", err)
	}
	if err := renameio.WriteFile(filepath.Join(string(f), name), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write probes: %w", err)
	}
	return nil
}

// A Standing is what is known of a challenger's obedience to the kernel before it is put in
// place.
type Standing struct {
	Rules   []Rule
	Set     *Set     // approved, about Rules; nil unless it covers all of them
	Outcome *Outcome // nil unless both texts have answered Set
}

// Of is the standing of a text that is to replace a live one, both by their SHA-256.
func (f Folder) Of(live *skill.Document, challenger string) (Standing, error) {
	s := Standing{Rules: Rules(live)}
	if len(s.Rules) == 0 {
		return s, nil
	}
	all, err := f.Approved()
	if err != nil || len(all.Missing(s.Rules)) > 0 {
		return s, err
	}
	s.Set = all.For(s.Rules)
	s.Outcome, err = f.Outcome(s.Set, live.Hash(), challenger)
	return s, err
}

// Approved reports whether a night may install texts of the skill, as far as probes go.
func (s *Standing) Approved() bool { return len(s.Rules) == 0 || s.Set != nil }

// Unanswered reports whether probes are to be answered before a night installs the text.
func (s *Standing) Unanswered() bool {
	return s.Set != nil && len(s.Set.Probes) > 0 && (s.Outcome == nil || s.Outcome.Stopped != "" && len(s.Outcome.Held()) == 0)
}

// Against is what speaks against the text, "" for nothing; name is that of its skill.
func (s *Standing) Against(name string) string {
	switch {
	case !s.Approved():
		return fmt.Sprintf("no probes approved for its kernel; `evolve kernel probes %s`", name)
	case s.Outcome != nil && len(s.Outcome.Held()) > 0:
		return "kernel probes: " + s.Outcome.String()
	case s.Outcome != nil && s.Outcome.Stopped != "":
		return "its kernel probes are " + s.Outcome.String()
	}
	return ""
}

// A Report is how a text that was proved answered the probes of its kernel.
type Report struct {
	Approved bool       `json:"approved"`          // by the owner, for all locked rules
	Against  string     `json:"against,omitempty"` // what speaks against the text, in words
	Outcome  *Outcome   `json:"outcome"`           // null without an answer
	Spent    eval.Spent `json:"spent,omitzero"`    // now; it is in the run's, too
}

// Holds reports whether the text breaks a rule more often than the live one: it is installed at
// its owner's word alone. It may be nil.
func (r *Report) Holds() bool { return r != nil && r.Outcome != nil && len(r.Outcome.Held()) > 0 }

// Report is the standing of a text of a skill, after spent was spent on it; err is why its
// probes are not answered.
func (s *Standing) Report(name string, spent eval.Spent, err error) *Report {
	r := &Report{Approved: s.Approved(), Against: s.Against(name), Outcome: s.Outcome, Spent: spent}
	if err != nil {
		r.Against = "its kernel probes are not answered: " + plain.Line(err.Error())
	}
	return r
}

package probes

import (
	"crypto/sha256"
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

// A DamagedError means that a file of probes is not one that evolve wrote. It counts as none, and
// what is written in its place leaves it beside.
type DamagedError struct {
	Path string
	Err  error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("its probes in %s are damaged: %s", e.Path, plain.Line(e.Err.Error()))
}

func (e *DamagedError) Unwrap() error { return e.Err }

// Approved is the set that the owner approved last, nil if there is none. It may lack rules of
// the present kernel: see Missing. The error is a *DamagedError.
func (f Folder) Approved() (*Set, error) {
	s, err := f.set(approved)
	if s != nil && s.Approved == nil {
		s = nil
	}
	return s, err
}

// Proposed is a set that waits for its owner's decision, nil if there is none. The error is a
// *DamagedError.
func (f Folder) Proposed() (*Set, error) { return f.set(proposed) }

func (f Folder) set(name string) (*Set, error) {
	s, err := read[Set](f, name)
	if s == nil {
		return nil, err
	}
	if err := s.Check(s.rules()); err != nil {
		return nil, &DamagedError{f.path(name), err}
	}
	return s, nil
}

func (f Folder) path(name string) string { return filepath.Join(string(f), name) }

// Propose keeps a set until its owner decides.
func (f Folder) Propose(s *Set) error { return f.write(proposed, s) }

// Approve keeps a set that the owner has approved.
func (f Folder) Approve(s *Set) error {
	if err := f.write(approved, s); err != nil {
		return err
	}
	if err := f.setAside(proposed); err != nil {
		return err
	}
	if err := os.Remove(f.path(proposed)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("approve probes: %w", err)
	}
	return nil
}

// Outcome is how two texts answered a set with this agent, nil if they have not, it is not known
// who answers (by is ""), or the file is damaged.
func (f Folder) Outcome(s *Set, incumbent, challenger, by string) *Outcome {
	o, err := read[Outcome](f, outcomeName(incumbent, challenger, by))
	if o == nil || err != nil || by == "" || o.By != by || o.Set != s.Fingerprint() || o.Incumbent != incumbent || o.Challenger != challenger {
		return nil
	}
	return o
}

// Save keeps an outcome.
func (f Folder) Save(o *Outcome) error {
	return f.write(outcomeName(o.Incumbent, o.Challenger, o.By), o)
}

func outcomeName(incumbent, challenger, by string) string {
	return fmt.Sprintf("%.16s-%.16s-%.8x.json", incumbent, challenger, sha256.Sum256([]byte(by)))
}

// read is nil without such a file. Its error is a *DamagedError.
func read[T any](f Folder, name string) (*T, error) {
	data, err := bounded.ReadFile(f.path(name), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err // the path is the DamagedError's
	}
	var v *T
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err == nil && v == nil {
		err = errors.New("it holds null")
	}
	if err != nil {
		return nil, &DamagedError{f.path(name), err}
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
	if err := f.setAside(name); err != nil {
		return err
	}
	if err := renameio.WriteFile(f.path(name), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write probes: %w", err)
	}
	return nil
}

// setAside renames a damaged file, so that its owner can see what it held; earlier ones stay.
func (f Folder) setAside(name string) error {
	var err error
	if name == approved || name == proposed {
		_, err = f.set(name)
	} else {
		_, err = read[Outcome](f, name)
	}
	if err == nil {
		return nil
	}
	to := f.path(name) + ".damaged"
	for n := 2; exists(to); n++ {
		to = fmt.Sprintf("%s.damaged%d", f.path(name), n)
	}
	if err := os.Rename(f.path(name), to); err != nil {
		return fmt.Errorf("set damaged probes aside: %w", err)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// A Standing is what is known of a challenger's obedience to the kernel before it is put in
// place.
type Standing struct {
	Rules   []Rule
	Set     *Set     // approved, about Rules; nil unless it covers all of them
	Damaged error    // what the owner approved cannot be read
	Outcome *Outcome // nil unless both texts have answered Set
}

// Of is the standing of a text that is to replace a live one, both by their SHA-256. by is who
// answers, as in an Outcome.
// Damaged files are no error: a night that meets them has paid for its result.
func (f Folder) Of(live *skill.Document, challenger, by string) Standing {
	s := Standing{Rules: Rules(live)}
	if len(s.Rules) == 0 {
		return s
	}
	all, err := f.Approved()
	if s.Damaged = err; err != nil || len(all.Missing(s.Rules)) > 0 {
		return s
	}
	s.Set = all.For(s.Rules)
	s.Outcome = f.Outcome(s.Set, live.Hash(), challenger, by)
	return s
}

// Approved reports whether a night may install texts of the skill, as far as probes go.
func (s *Standing) Approved() bool { return len(s.Rules) == 0 || s.Set != nil }

// Unanswered reports whether probes are to be answered before a night installs the text.
func (s *Standing) Unanswered() bool {
	return s.Set != nil && len(s.Set.Probes) > 0 && (s.Outcome == nil || s.Outcome.Stopped != "" && len(s.Outcome.Held()) == 0)
}

// Unapproved is what follows while there are no approved probes.
const Unapproved = "nightly runs install nothing before probes of its locked rules are approved"

// Lacks says for the owner of a skill what follows if it has no approved probes, "" if it needs
// none or has them.
func (s *Standing) Lacks(name string) string {
	if s.Damaged != nil {
		return s.Against(name)
	} else if s.Approved() {
		return ""
	}
	return fmt.Sprintf("%s: `evolve kernel probes %s`", Unapproved, name)
}

// Against is what speaks against the text, "" for nothing; name is that of its skill.
func (s *Standing) Against(name string) string {
	switch {
	case s.Damaged != nil:
		return fmt.Sprintf("%v; `evolve kernel probes %s` writes them anew", s.Damaged, name)
	case !s.Approved():
		return fmt.Sprintf("no probes approved for its kernel; `evolve kernel probes %s`", name)
	case s.Outcome != nil && len(s.Outcome.Held()) > 0:
		return "kernel probes: " + s.Outcome.String()
	case s.Outcome != nil && s.Outcome.Stopped != "":
		return "its kernel probes are " + s.Outcome.String()
	case s.Unanswered():
		return "it has not answered the probes of its locked rules"
	}
	return ""
}

// A Report is how a text that was proved answered the probes of its kernel.
type Report struct {
	Approved bool       `json:"approved"`          // by the owner, for all locked rules
	Against  string     `json:"against,omitempty"` // what speaks against the text, in words
	Outcome  *Outcome   `json:"outcome"`           // null without an answer
	Open     bool       `json:"unanswered"`        // there are approved probes that it is to answer
	Spent    eval.Spent `json:"spent,omitzero"`    // now; it is in the run's, too
}

// Holds reports whether the text is installed at its owner's word alone: it breaks a rule more
// often than the live one, or has not answered. It may be nil.
func (r *Report) Holds() bool { return r.Breaks() || r != nil && r.Open }

// Breaks reports whether the text breaks a rule more often than the live one. It may be nil.
func (r *Report) Breaks() bool { return r != nil && r.Outcome != nil && len(r.Outcome.Held()) > 0 }

// Report is the standing of a text of a skill, after spent was spent on it; err is why its
// probes are not answered.
func (s *Standing) Report(name string, spent eval.Spent, err error) *Report {
	r := &Report{Approved: s.Approved(), Against: s.Against(name), Outcome: s.Outcome, Open: s.Unanswered(), Spent: spent}
	if err != nil {
		r.Against = "its kernel probes are not answered: " + plain.Line(err.Error())
	}
	return r
}

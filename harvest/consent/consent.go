// Package consent keeps what the owner of sessions has allowed: which projects are read, how
// much is kept of agents' work, who gets their text, and which test commands may run.
package consent

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"go.yaml.in/yaml/v3"
)

// Decisions are the owner's, as projects.yaml in the data folder keeps them. The zero
// value allows nothing.
type Decisions struct {
	// All allows every project that no rule denies.
	All   bool     `yaml:"all,omitempty" json:"all"`
	Send  []string `yaml:"send,omitempty" json:"send,omitempty"` // with All: vendors that get the text of every project
	Rules []Rule   `yaml:"projects,omitempty" json:"projects"`
	// Seen are the kinds of requests that the owner has looked at, by vendor.
	Seen []Request `yaml:"seen,omitempty" json:"seen,omitempty"`
	// Suites are the test commands that the owner confirmed, by project.
	Suites []Suite `yaml:"tests,omitempty" json:"tests,omitempty"`
	// Moments is how much is kept of what agents do; nil: the owner has not chosen. It is
	// chosen after projects.
	Moments *work.Level `yaml:"moments,omitempty" json:"moments,omitempty"`

	asked  bool
	places places
}

// A Rule decides on a folder and all that is below it. Of the rules that hold a folder,
// the one of the deepest folder decides.
type Rule struct {
	Folder string   `yaml:"folder" json:"folder"`                   // absolute, without symbolic links
	Typed  string   `yaml:"typed,omitempty" json:"typed,omitempty"` // as it was named if that differs: a denial holds there, too
	Read   bool     `yaml:"read" json:"read"`
	Send   []string `yaml:"send,omitempty" json:"send,omitempty"` // vendors besides the one whose agent recorded a session
	// Of is the repository with which a worktree of it was denied: it stays so if it is
	// removed, and until the repository is allowed.
	Of string `yaml:"worktree_of,omitempty" json:"worktree_of,omitempty"`
}

// A Request is a kind of request to a vendor that the owner has seen and agreed to.
type Request struct {
	Kind   string `yaml:"kind" json:"kind"`
	Vendor string `yaml:"vendor" json:"vendor"`
}

// Fixed are the decisions of a policy: folders that may be read and no others, nil for
// all, and folders that may not.
func Fixed(allow *[]string, deny []string) *Decisions {
	d := &Decisions{All: allow == nil}
	if allow != nil {
		for _, folder := range *allow {
			d.Allow(folder)
		}
	}
	for _, folder := range deny {
		d.Deny(folder)
	}
	return d
}

// maxSize is the largest file of decisions that is read, in bytes.
const maxSize = 1 << 20

// Read reads the decisions in a file; without a file none was made. Unknown keys are
// errors: a decision that is misread could allow what was denied.
func Read(path string) (*Decisions, error) {
	d := new(Decisions)
	text, err := bounded.ReadFile(path, maxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read which projects may be read: %w", err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err == nil && (doc.IsZero() || doc.Content[0].Tag == "!!null") {
		return nil, problem.Inputf("delete it, and evolve asks again", "%s is empty, which is no decision", path)
	}
	dec := yaml.NewDecoder(strings.NewReader(string(text)))
	dec.KnownFields(true)
	if err := dec.Decode(d); err != nil {
		return nil, problem.Hinted(fmt.Errorf("%s: %w", path, err), "correct it, or delete it, and evolve asks again")
	}
	for _, s := range d.Suites {
		for _, c := range s.Commands {
			if _, err := Argv(c); err != nil {
				return nil, fmt.Errorf("%s: the test command %q of %s: %w", path, c, s.Folder, err)
			}
		}
	}
	for _, r := range d.Rules {
		if !filepath.IsAbs(r.Folder) {
			return nil, fmt.Errorf("%s: the folder %q is not absolute", path, r.Folder)
		}
	}
	d.asked = true
	return d, nil
}

// Write keeps the decisions in a file, readable by its owner alone.
func (d *Decisions) Write(path string) error {
	slices.SortFunc(d.Rules, byFolder)
	text, err := yaml.Marshal(d)
	if err != nil {
		return fmt.Errorf("write which projects may be read: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write which projects may be read: %w", err)
	}
	if err := renameio.WriteFile(path, text, 0o600); err != nil {
		return fmt.Errorf("write which projects may be read: %w", err)
	}
	d.asked = true
	return nil
}

func byFolder(a, b Rule) int {
	return cmp.Or(strings.Compare(a.Folder, b.Folder), strings.Compare(a.Typed, b.Typed))
}

// Update changes the decisions in a file, which it reads anew: one process at a time, so
// that none writes over what another decided. If change fails nothing is written.
func Update(path string, change func(*Decisions) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write which projects may be read: %w", err)
	}
	l := flock.New(path+".lock", flock.SetPermissions(0o600))
	if err := l.Lock(); err != nil {
		return fmt.Errorf("wait for another decision: %w", err)
	}
	defer l.Close()
	d, err := Read(path)
	if err != nil {
		return err
	}
	if err := change(d); err != nil {
		return err
	}
	return d.Write(path)
}

// Asked reports whether the owner has decided about projects yet: who only agreed to
// requests, or confirmed test commands, has not.
func (d *Decisions) Asked() bool {
	return d.asked && (d.All || len(d.Rules) > 0 || len(d.Seen)+len(d.Suites) == 0 || d.Moments != nil)
}

// Allow decides that sessions of a folder may be read, and that vendors besides the one
// whose agent recorded them get their text.
func (d *Decisions) Allow(folder string, send ...string) {
	top := real(folder)
	d.Rules = slices.DeleteFunc(d.Rules, func(r Rule) bool { return !r.Read && (r.Of == top || r.Folder == top) })
	for i := range d.Rules { // a link that leads elsewhere now
		if d.Rules[i].Typed == filepath.Clean(folder) {
			d.Rules[i].Typed = ""
		}
	}
	r := d.own(folder)
	r.Read, r.Send = true, with(r.Send, send)
}

// AllowAll decides the same of every project that no rule denies, later ones too.
func (d *Decisions) AllowAll(send ...string) { d.All, d.Send = true, with(d.Send, send) }

// Keep takes back to whom Allow lets the text of a folder go: only the vendor whose agent
// recorded a session gets it.
func (d *Decisions) Keep(folder string) { d.own(folder).Send = nil }

// Deny decides that no session of a folder, or of one below it, is read, and that nobody
// gets its text: what was allowed below it no longer is. If it is a repository, the same
// is decided on its worktrees.
func (d *Decisions) Deny(folder string) {
	d.deny(folder, "")
	top := real(folder)
	for _, tree := range worktrees(top) {
		d.deny(tree, top)
	}
}

func (d *Decisions) deny(folder, of string) {
	in := d.places.look(folder)
	d.Rules = slices.DeleteFunc(d.Rules, func(r Rule) bool { return r.Read && d.places.look(r.Folder).in(in) })
	n := len(d.Rules)
	r := d.own(folder)
	if r.Read, r.Send = false, nil; of == "" || len(d.Rules) > n {
		r.Of = of // one that was denied by name stays so
	}
}

// DenyAll takes back all that was allowed. What is denied by name stays denied, whatever
// is allowed later.
func (d *Decisions) DenyAll() {
	d.All, d.Send = false, nil
	d.Rules = slices.DeleteFunc(d.Rules, func(r Rule) bool { return r.Read })
}

// Denied are the folders that were denied by name.
func (d *Decisions) Denied() (out []string) {
	for _, r := range d.Rules {
		if !r.Read && r.Of == "" && !slices.Contains(out, r.Folder) {
			out = append(out, r.Folder)
		}
	}
	return out
}

// with is a list of vendors with further ones.
func with(list, more []string) []string {
	list = append(slices.Clone(list), more...)
	slices.Sort(list)
	return slices.Compact(list)
}

// own is the rule of exactly this folder. A folder that was denied by several paths has
// one for each.
func (d *Decisions) own(folder string) *Rule {
	typed := filepath.Clean(folder)
	folder = real(folder)
	i := slices.IndexFunc(d.Rules, func(r Rule) bool {
		return r.Folder == folder && (r.Read || r.Typed == "" || typed == folder || r.Typed == typed)
	})
	if i < 0 {
		i = len(d.Rules)
		d.Rules = append(d.Rules, Rule{Folder: folder})
	}
	if typed != folder {
		d.Rules[i].Typed = typed
	}
	return &d.Rules[i]
}

// On returns the decision on a folder. decided is false if no rule holds it: then it is
// that on all projects. What a repository may not, none of its worktrees may.
func (d *Decisions) On(folder string) (r Rule, decided bool) {
	if filepath.IsAbs(folder) { // else nobody knows where it was
		at := d.places.look(folder)
		if r, decided = d.deepest(at); at.worktree {
			if main, also := d.deepest(d.places.look(at.project)); !decided || also && !main.Read {
				r, decided = main, also
			} else if also {
				r.Send = slices.DeleteFunc(slices.Clone(r.Send), func(v string) bool { return !slices.Contains(main.Send, v) })
			}
		}
	}
	if !decided {
		r = Rule{Read: d.All, Send: d.Send}
	}
	return r, decided
}

// deepest is the rule of the deepest folder that holds a place. A denial holds the folder
// as it was typed, too, and what that leads to now; at the same depth the folder itself
// comes first.
func (d *Decisions) deepest(at *place) (best Rule, ok bool) {
	deep := 0
	found := func(r Rule, n int) {
		if n > deep {
			best, ok, deep = r, true, n
		}
	}
	for _, r := range d.Rules {
		if at.in(d.places.look(r.Folder)) {
			found(r, 2*len(r.Folder)+1)
		}
		if r.Read || r.Typed == "" {
			continue
		}
		if below(r.Typed, at.typed) {
			found(r, 2*max(len(r.Folder), len(r.Typed)))
		}
		if now := d.places.look(r.Typed); at.in(now) {
			found(r, 2*len(now.path))
		}
	}
	return best, ok
}

// MayRead reports whether a session may be read that was in these folders: each of them
// has to be allowed. One of which no folder is known is allowed by All alone.
func (d *Decisions) MayRead(folders []string) bool {
	if len(folders) == 0 {
		return d.All
	}
	return !slices.ContainsFunc(folders, func(f string) bool { r, _ := d.On(f); return !r.Read })
}

// MaySend reports whether a vendor may get text of a session that was in these folders
// and was recorded by an agent of the vendor recorder, "" if that is not known. The
// vendor "" is this machine: nothing leaves it.
func (d *Decisions) MaySend(folders []string, recorder, vendor string) bool {
	if !d.MayRead(folders) {
		return false
	}
	if vendor == "" || vendor == recorder {
		return true
	}
	if len(folders) == 0 {
		return slices.Contains(d.Send, vendor)
	}
	return !slices.ContainsFunc(folders, func(f string) bool { r, _ := d.On(f); return !slices.Contains(r.Send, vendor) })
}

// Print is a fingerprint of which sessions may be read: it changes if that does.
func (d *Decisions) Print() string {
	h := sha256.New()
	fmt.Fprintln(h, d.All)
	for _, r := range slices.SortedFunc(slices.Values(d.Rules), byFolder) {
		fmt.Fprintf(h, "%q %v\n", r.Folder, r.Read)
		if r.Typed != "" {
			fmt.Fprintf(h, "%q\n", r.Typed)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

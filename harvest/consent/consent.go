// Package consent keeps what the owner of sessions has allowed: which projects are read,
// and who gets their text.
package consent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/skill-evolve/evolve/mutate/skill"
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

	asked bool
}

// A Rule decides on a folder and all that is below it. Of the rules that hold a folder,
// the one of the deepest folder decides.
type Rule struct {
	Folder string   `yaml:"folder" json:"folder"` // absolute, without symbolic links
	Read   bool     `yaml:"read" json:"read"`
	Send   []string `yaml:"send,omitempty" json:"send,omitempty"` // vendors besides the one whose agent recorded a session
}

// A Request is a kind of request to a vendor that the owner has seen and agreed to.
type Request struct {
	Kind   string `yaml:"kind" json:"kind"`
	Vendor string `yaml:"vendor" json:"vendor"`
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
	dec := yaml.NewDecoder(strings.NewReader(string(text)))
	dec.KnownFields(true)
	if err := dec.Decode(d); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
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
	slices.SortFunc(d.Rules, func(a, b Rule) int { return strings.Compare(a.Folder, b.Folder) })
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

// Asked reports whether the owner has decided anything yet.
func (d *Decisions) Asked() bool { return d.asked }

// Allow decides that sessions of a folder may be read, and that vendors besides the one
// whose agent recorded them get their text.
func (d *Decisions) Allow(folder string, send ...string) {
	r := d.own(folder)
	r.Read = true
	for _, v := range send {
		if !slices.Contains(r.Send, v) {
			r.Send = append(r.Send, v)
		}
	}
}

// Deny decides that no session of a folder is read, and that nobody gets its text.
func (d *Decisions) Deny(folder string) {
	r := d.own(folder)
	r.Read, r.Send = false, nil
}

// own is the rule of exactly this folder.
func (d *Decisions) own(folder string) *Rule {
	folder = real(folder)
	for i := range d.Rules {
		if d.Rules[i].Folder == folder {
			return &d.Rules[i]
		}
	}
	d.Rules = append(d.Rules, Rule{Folder: folder})
	return &d.Rules[len(d.Rules)-1]
}

// rule is the one that decides on a folder.
func (d *Decisions) rule(folder string) Rule {
	folder = real(folder)
	best := Rule{Read: d.All, Send: d.Send}
	for _, r := range d.Rules {
		if skill.Within(folder, []string{r.Folder}) && len(r.Folder) > len(best.Folder) {
			best = r
		}
	}
	return best
}

// MayRead reports whether a session may be read that was in these folders: each of them
// has to be allowed. One of which no folder is known is allowed by All alone.
func (d *Decisions) MayRead(folders []string) bool {
	if len(folders) == 0 {
		return d.All
	}
	return !slices.ContainsFunc(folders, func(f string) bool { return !d.rule(f).Read })
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
	return !slices.ContainsFunc(folders, func(f string) bool { return !slices.Contains(d.rule(f).Send, vendor) })
}

// real is a folder by its real path, as far as it exists.
func real(folder string) string {
	if at, err := skill.RealPath(folder); err == nil {
		return at
	}
	return filepath.Clean(folder)
}

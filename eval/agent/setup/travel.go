package setup

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// For is what replays of a project's cases get of the set: the notes of that project alone,
// as those of "". Its Hash is the set's: what answers is the same agent in all projects.
func (s *Set) For(project string) *Set {
	if s == nil {
		return nil
	}
	out := &Set{Files: s.Files, hash: s.Hash()}
	if s.Notes != nil {
		out.Notes = map[string][]File{"": s.NotesOf(project)}
	}
	return out
}

// form is a Set in JSON.
type form struct {
	Files []File            `json:"files,omitempty"`
	Notes map[string][]File `json:"notes"`
	Hash  string            `json:"hash"`
}

// MarshalJSON has what replays get and the Hash.
func (s *Set) MarshalJSON() ([]byte, error) { return json.Marshal(form{s.Files, s.Notes, s.Hash()}) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Set) UnmarshalJSON(text []byte) error {
	var f form
	if err := json.Unmarshal(text, &f); err != nil {
		return err
	}
	*s = Set{Files: f.Files, Notes: f.Notes, hash: f.Hash}
	return nil
}

// Texts returns an error if the set has anything but texts that agents load: a setting could
// send the keys of who replays elsewhere. It is for sets that others have made.
func (s *Set) Texts() error {
	if s == nil {
		return nil
	}
	for _, f := range slices.Concat(s.Files, s.Notes[""]) {
		if !Prose(f.Path) || !fs.ValidPath(f.Path) {
			return fmt.Errorf("%q is no text that an agent loads of its owner", f.Path)
		}
	}
	return nil
}

// Prose reports whether a file is a text for agents, by its name.
func Prose(name string) bool { return slices.Contains(prose, strings.ToLower(path.Ext(name))) }

package skill

import (
	"fmt"
	"path/filepath"
	"slices"
)

// An Alias is another name for a skill in the same root: a symlink beside its folder.
// Agents offer both names and load one text, so only the folder's own name is evolved.
type Alias struct {
	Entry
	Of string // name of the entry that counts
}

// An AliasError means that a name is an alias of a skill.
type AliasError struct{ Name, Of string }

func (e *AliasError) Error() string {
	return fmt.Sprintf("%s is %s: two names for one file", e.Name, e.Of)
}

// foldAliases removes the entries that lead to the same file as another one.
// It keeps the folder itself, else the link with its name, else the first.
func foldAliases(found []Entry) (entries []Entry, aliases []Alias) {
	own := func(e *Entry, real string) int {
		switch {
		case realPath(filepath.Dir(e.Dir)) == filepath.Dir(filepath.Dir(real)) && e.Name == filepath.Base(filepath.Dir(real)):
			return 0
		case e.Name == filepath.Base(filepath.Dir(real)):
			return 1
		}
		return 2
	}
	counts := map[string]int{} // by real path, the place of the one that stays
	reals := make([]string, len(found))
	for i := range found {
		reals[i] = realPath(found[i].Path)
		if k, ok := counts[reals[i]]; !ok || own(&found[i], reals[i]) < own(&found[k], reals[i]) {
			counts[reals[i]] = i
		}
	}
	for i, e := range found {
		if k := counts[reals[i]]; k != i {
			aliases = append(aliases, Alias{e, found[k].Name})
			continue
		}
		entries = append(entries, e)
	}
	return entries, aliases
}

// Alias is the real name of a skill's alias, "" if name is no alias.
func (r *Registry) Alias(name string) string {
	if i := slices.IndexFunc(r.Aliases, func(a Alias) bool { return a.Name == name }); i >= 0 {
		return r.Aliases[i].Of
	}
	return ""
}

// AliasesOf are the other names of a skill, sorted.
func (r *Registry) AliasesOf(name string) (names []string) {
	for _, a := range r.Aliases {
		if a.Of == name {
			names = append(names, a.Name)
		}
	}
	slices.Sort(names)
	return names
}

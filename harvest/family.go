package harvest

import (
	"slices"

	"github.com/skill-evolve/evolve/harvest/jsonl"
)

// A relation is a Kind's Family.
type relation func(file string, first func() []byte) (id, parent string)

// families leaves out the families of which no file is new, and lists the files of each
// other one together, at the place of its first. A family is a session with its
// subagents, theirs included, as far as they have files. If no file is new, no file is
// opened.
func families(all []reading, related relation) (todo []reading) {
	if related == nil || !slices.ContainsFunc(all, isNew) {
		return slices.DeleteFunc(all, func(r reading) bool { return !isNew(r) })
	}
	parents, ids := map[string]string{}, make([]string, len(all))
	for i, r := range all {
		id, parent := related(r.file, func() []byte { return jsonl.First(r.path) })
		if ids[i] = id; parent != "" && parents[id] == "" {
			parents[id] = parent
		}
	}
	at, families := map[string]int{}, [][]reading(nil)
	for i, id := range ids {
		for n := 0; parents[id] != "" && n < len(ids); n++ { // two may be each other's
			id = parents[id]
		}
		if _, known := at[id]; !known {
			at[id], families = len(families), append(families, nil)
		}
		families[at[id]] = append(families[at[id]], all[i])
	}
	for _, f := range families {
		if slices.ContainsFunc(f, isNew) {
			for i := range len(f) - 1 {
				f[i].last = false
			}
			todo = append(todo, f...)
		}
	}
	return todo
}

func isNew(r reading) bool { return r.aside == "" }

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
func families(all []reading, related relation) []reading {
	fresh := func(r reading) bool { return !r.aside }
	if related == nil || !slices.ContainsFunc(all, fresh) {
		return slices.DeleteFunc(all, func(r reading) bool { return r.aside })
	}
	parents, ids := map[string]string{}, make([]string, len(all))
	for i, r := range all {
		id, parent := related(r.file, func() []byte { return jsonl.First(r.path) })
		if ids[i] = id; parent != "" && parents[id] == "" {
			parents[id] = parent
		}
	}
	members := map[string][]reading{}
	var order []string
	for i, id := range ids {
		for range ids { // unless two are each other's
			if parents[id] == "" {
				break
			}
			id = parents[id]
		}
		if members[id] == nil {
			order = append(order, id)
		}
		members[id] = append(members[id], all[i])
	}
	var todo []reading
	for _, id := range order {
		if family := members[id]; slices.ContainsFunc(family, fresh) {
			for i := range family {
				family[i].last = i == len(family)-1
			}
			todo = append(todo, family...)
		}
	}
	return todo
}

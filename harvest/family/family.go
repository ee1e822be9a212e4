// Package family groups the transcript of a session with those of its subagents.
package family

// Group groups all by family: a session with its subagents, theirs included. related is
// the id of one, and that of its parent, "" for none. Groups are in the order of their
// first members.
func Group[T any](all []T, related func(*T) (id, parent string)) (groups [][]T) {
	ids, heads := make([]string, len(all)), map[string]string{} // heads lead from a member to its group's
	head := func(id string) string {
		for heads[id] != "" {
			if next := heads[heads[id]]; next != "" {
				heads[id] = next
			}
			id = heads[id]
		}
		return id
	}
	for i := range all {
		id, parent := related(&all[i])
		if id == "" {
			id = parent
		}
		if ids[i] = id; parent == "" {
			continue
		}
		if a, b := head(id), head(parent); a != b { // two may be each other's
			heads[a] = b
		}
	}
	at := map[string]int{}
	for i, id := range ids {
		id = head(id)
		if _, known := at[id]; !known {
			at[id], groups = len(groups), append(groups, nil)
		}
		groups[at[id]] = append(groups[at[id]], all[i])
	}
	return groups
}

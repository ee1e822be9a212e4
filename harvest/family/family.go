// Package family groups the transcript of a session with those of its subagents.
package family

// Group groups all by family: a session with its subagents, theirs included. related is
// the id of one, and that of its parent, "" for none. Groups are in the order of their
// first members.
func Group[T any](all []T, related func(*T) (id, parent string)) (groups [][]T) {
	parents, ids := map[string]string{}, make([]string, len(all))
	for i := range all {
		id, parent := related(&all[i])
		if ids[i] = id; parent != "" && parents[id] == "" {
			parents[id] = parent
		}
	}
	at := map[string]int{}
	for i, id := range ids {
		seen := map[string]bool{}
		for parents[id] != "" && !seen[id] { // two may be each other's
			seen[id] = true
			id = parents[id]
		}
		if _, known := at[id]; !known {
			at[id], groups = len(groups), append(groups, nil)
		}
		groups[at[id]] = append(groups[at[id]], all[i])
	}
	return groups
}

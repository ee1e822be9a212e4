package record

// EditsOf are the texts that differ from sha by their owner's edits alone, sha and was
// among them.
func EditsOf(versions []Version, sha, was string) map[string]bool {
	out := map[string]bool{sha: true}
	if was != "" {
		out[was] = true
	}
	for grown := true; grown; {
		grown = false
		for _, v := range versions {
			if v.Author != "evolve" && v.Parent != "" && out[v.SHA] != out[v.Parent] {
				out[v.SHA], out[v.Parent], grown = true, true, true
			}
		}
	}
	return out
}

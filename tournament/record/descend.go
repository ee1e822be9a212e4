package record

import "slices"

// Descend adds the descendants of the texts in learned, by SHA-256, to it.
func Descend(learned map[string]bool, candidates []Candidate, versions []Version) {
	isLearned := func(sha string) bool { return learned[sha] }
	for before := -1; before != len(learned); {
		before = len(learned)
		for i := range candidates {
			if slices.ContainsFunc(candidates[i].Parents, isLearned) {
				learned[candidates[i].SHA] = true
			}
		}
		for i := range versions {
			if learned[versions[i].Parent] {
				learned[versions[i].SHA] = true
			}
		}
	}
}

package skill

import "strings"

// Nearest is the element of among with the smallest edit distance to word
// (case ignored, the first of equals), "" if none is near enough to be a
// typing error: at most a third of the longer one's letters may differ, but
// always two edits if it has more than three letters.
func Nearest(word string, among []string) string {
	best, bestDist := "", -1
	for _, candidate := range among {
		a, b := []rune(strings.ToLower(word)), []rune(strings.ToLower(candidate))
		longest := max(len(a), len(b))
		limit := longest / 3
		if longest > 3 {
			limit = max(limit, 2)
		}
		if d := editDistance(a, b); d <= limit && (bestDist < 0 || d < bestDist) {
			best, bestDist = candidate, d
		}
	}
	return best
}

// editDistance counts insertions, deletions, substitutions and swaps of
// neighbours (optimal string alignment).
func editDistance(a, b []rune) int {
	var before []int
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev = prev, row
	}
	return prev[len(b)]
}

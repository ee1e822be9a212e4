package eval

import "strings"

// nearest returns the word that takes the fewest edits to reach from got, or ""
// where none is near enough to be what was meant.
func nearest(got string, words []string) string {
	best, bestDist := "", len(got)/2+1
	for _, w := range words {
		if d := editDistance(strings.ToLower(got), w); d < bestDist {
			best, bestDist = w, d
		}
	}
	return best
}

// didYouMean is the tail of an error message: ` (did you mean "x"?)`, or the
// whole list where nothing is near.
func didYouMean(got string, words []string) string {
	if w := nearest(got, words); w != "" {
		return ` (did you mean "` + w + `"?)`
	}
	return " (known: " + strings.Join(words, ", ") + ")"
}

// editDistance is Levenshtein's distance between a and b in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

package mutate

// Overlap is the share of the shorter text's content words that the other one
// holds as well, by stems, in [0,1]; 0 if one has none.
func Overlap(a, b string) float64 {
	wa, wb := words(a), words(b)
	if len(wa) == 0 || len(wb) == 0 {
		return 0
	}
	return float64(shared(wa, wb)) / float64(min(len(wa), len(wb)))
}

func shared(a, b map[string]bool) (n int) {
	for w := range a {
		if b[w] {
			n++
		}
	}
	return n
}

// Similarity is the Jaccard index of two texts' content words, by stems, in
// [0,1]. A text without such words is like no other.
func Similarity(a, b string) float64 {
	if len(words(a)) == 0 || len(words(b)) == 0 {
		return 0
	}
	return similarity(a, b)
}

package mutate

// Similarity says how alike two texts are by the words that say what they are
// about: the Jaccard index of their content words, by stems, in [0,1]. A text
// without such words is like no other.
func Similarity(a, b string) float64 {
	if len(words(a)) == 0 || len(words(b)) == 0 {
		return 0
	}
	return similarity(a, b)
}

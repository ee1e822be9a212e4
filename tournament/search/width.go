package search

// A width is how much of a search is asked for at once.
type width struct {
	proposals, minibatch, raceChunk int
	lanes                           int // moves that are made at once
}

// widthOf is the width for a budget of rollouts, 0 for no cap, and so many validation cases. A
// move waits for a model's long reply and then for short batches of rollouts, so a large budget
// takes as long as its moves in a row. What a move knows is older if others are made at once,
// and a small budget pays for that in quality; a large one does not (benchmarks.md). A search
// with few cases is a small one whatever its budget: it seldom uses that up.
func widthOf(rollouts int64, val int) width {
	switch size := min(rollouts, int64(val*leastPasses)); {
	case size >= 900:
		return width{proposals: 12, minibatch: 16, raceChunk: 16, lanes: 3}
	case size >= 450:
		return width{proposals: 8, minibatch: 8, raceChunk: 8, lanes: 1}
	}
	return width{proposals: 4, minibatch: 8, raceChunk: 8, lanes: 1}
}

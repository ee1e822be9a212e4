package search

// What a search needs before it is likely to find anything. In the demo's
// world, with 30 validation cases, searches of 30 rollouts found a challenger
// in 0 of 6 seeds, of 50 in 3, of 75 and more in all.
const (
	needsLeast  = 60
	needsPasses = 6  // over the validation cases: see affordable
	needsVal    = 16 // validation cases, as many as affordable draws from such a search
)

// Needs is how many rollouts a run should get at least that searches and
// begins the trial of the result: the smallest cap whose Shares leave the
// search what it needs, and the gate as much, or what trying all held-out
// cases takes. val and test are numbers of cases, test of those that may
// still be spent. Cases that the gate does not reach are tried in a later
// run.
func Needs(val, test, maxRetries int, gate bool) int64 {
	if search := searchNeeds(val); gate {
		return search + min(search, gateNeeds(test, maxRetries))
	}
	return searchNeeds(val)
}

func searchNeeds(val int) int64 { return int64(max(needsLeast, needsPasses*min(val, needsVal))) }

// Enough is how many rollouts let a search go on until it finds nothing better, as a
// rule, and its result be tried on all held-out cases.
func Enough(val, test, maxRetries int, gate bool) int64 {
	if search := 2 * searchNeeds(val); gate {
		return max(search+gateNeeds(test, maxRetries), 2*gateNeeds(test, maxRetries))
	}
	return 2 * searchNeeds(val)
}

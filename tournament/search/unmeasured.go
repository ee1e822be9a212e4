package search

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
)

// Unmeasured collects the cases of a run on which no candidate ever got a
// score: the judge's replies were not usable, the agent read forbidden files,
// or the infrastructure failed. They are not counted, and their owner has to
// know. The zero value is ready; it is not safe for concurrent use.
type Unmeasured struct {
	why map[string]string // by case, of the first attempt; "" if the case was scored
}

// Add records one rollout.
func (u *Unmeasured) Add(r *eval.Rollout) {
	if u.why == nil {
		u.why = map[string]string{}
	}
	_, known := u.why[r.CaseID]
	switch {
	case r.Status == eval.Done:
		u.why[r.CaseID] = ""
	case !known:
		u.why[r.CaseID] = reasonOf(r)
	}
}

func reasonOf(r *eval.Rollout) string {
	line, _, _ := strings.Cut(strings.TrimSpace(r.Failure), "\n")
	line = plain.Excerpt(line, maxReason)
	if r.Status == eval.Void {
		return "the agent read what it must not: " + line
	}
	return cmp.Or(line, "no reason is known")
}

// maxReason is how much of a reason is shown, in characters; maxNamed how many cases
// are named for each reason, and maxReasons how many reasons.
const maxReason, maxNamed, maxReasons = 160, 5, 3

// String is a warning that names the cases, "" if all were measured.
func (u *Unmeasured) String() string {
	byReason, n := map[string][]string{}, 0
	for id, why := range u.why {
		if why != "" {
			byReason[why] = append(byReason[why], id)
			n++
		}
	}
	if n == 0 {
		return ""
	}
	reasons := slices.SortedFunc(maps.Keys(byReason), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(byReason[b]), len(byReason[a])), cmp.Compare(a, b))
	})
	var parts []string
	for k, why := range reasons {
		if k == maxReasons {
			parts = append(parts, "and more")
			break
		}
		ids := slices.Sorted(slices.Values(byReason[why]))
		names := strings.Join(ids[:min(len(ids), maxNamed)], ", ")
		if more := len(ids) - maxNamed; more > 0 {
			names += fmt.Sprintf(" and %d more", more)
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", names, why))
	}
	return plain.Counted(n, "case") + " could not be measured: " + strings.Join(parts, "; ")
}

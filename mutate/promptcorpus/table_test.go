package promptcorpus

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
)

// results runs all situations with the replies that are kept.
var results = sync.OnceValues(func() (scores []*score, missing []string) {
	add := func(name string, run func(context.Context, *stored) (*score, error)) {
		m := newStored(name)
		s, err := run(context.Background(), m)
		switch {
		case err != nil:
			missing = append(missing, fmt.Sprintf("%s: %v", name, err))
		case len(m.missing) > 0:
			missing = append(missing, m.missing...)
		default:
			scores = append(scores, s)
		}
	}
	for _, s := range subjects() {
		for i := range s.Situations {
			add(s.Situations[i].id(), s.Situations[i].run)
		}
	}
	all := readers()
	for i := range all {
		add(all[i].name, all[i].run)
	}
	return scores, missing
})

// TestReplies fails if a prompt changed after it was answered.
func TestReplies(t *testing.T) {
	m := newStored("")
	if _, err := os.Stat(m.replies); err != nil && m.requests == "" {
		t.Skipf("no replies in %s", m.replies)
	}
	scores, missing := results()
	for _, why := range missing[:min(len(missing), 5)] {
		t.Error(why)
	}
	if len(missing) > 0 {
		t.Errorf("%d replies are missing: EVOLVE_PROMPTS_REQUESTS=DIR asks for them, see the comment of this package", len(missing))
	}
	kept, _ := filepath.Glob(filepath.Join(m.replies, "*.txt"))
	n := 0
	for _, s := range scores {
		n += s.replies
	}
	if len(missing) == 0 && n != len(kept) {
		t.Errorf("%d replies in %s, and %d are used", len(kept), m.replies, n)
	}
}

// kinds are all kinds of situations, in the order of the table.
var kinds = []string{"first", "later", "long", "conflict", "cause", "harm", "inject", "prune", "union", "merge", "description",
	"examples", "rephrase", "suggest", "reading", "applies", "judge"}

// A total is the sum of scores.
type total struct {
	n, parsed, kernel, held, flagged int
	counts
}

func sum(scores []*score, kind string) (t total) {
	for _, s := range scores {
		if kind != "" && s.kind != kind {
			continue
		}
		for at, ok := range map[*int]bool{&t.n: true, &t.parsed: s.parsed, &t.kernel: s.kernel, &t.held: len(s.held) > 0, &t.flagged: s.flagged} {
			if ok {
				*at++
			}
		}
		a, b := &t.counts, &s.counts
		a.shown, a.found, a.known, a.stated = a.shown+b.shown, a.found+b.found, a.known+b.known, a.stated+b.stated
		a.kept, a.lost, a.tokens, a.again = a.kept+b.kept, a.lost+b.lost, a.tokens+b.tokens, a.again+b.again
		a.bloat, a.gone, a.right, a.of = a.bloat+b.bloat, a.gone+b.gone, a.right+b.right, a.of+b.of
	}
	return t
}

// TestTable prints what the replies are worth, and what is wrong with each.
func TestTable(t *testing.T) {
	scores, missing := results()
	if len(scores) == 0 {
		t.Skip("no replies")
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	share := func(n, of int) string {
		if of == 0 {
			return "·"
		}
		return fmt.Sprintf("%d/%d", n, of)
	}
	fmt.Fprintln(w, "\nkind\tusable\tkernel\theld\tfound/shown\tfound/known\tlost\ttokens\ta rule\tagain\tbloat gone\tright")
	row := func(name, kind string) {
		x := sum(scores, kind)
		if x.n == 0 {
			return
		}
		kernel, perRule := share(x.kernel, x.n), "·"
		if slices.Contains([]string{"", "description", "reading", "applies", "judge"}, kind) {
			kernel = "·"
		}
		if x.found > 0 {
			perRule = fmt.Sprintf("%.0f", float64(x.tokens)/float64(x.found))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%d\t%s\t%d\t%s\t%s\n", name, share(x.parsed, x.n), kernel, x.held, share(x.found, x.shown),
			share(x.stated, x.known), share(x.lost, x.kept), x.tokens, perRule, x.again, share(x.gone, x.bloat), share(x.right, x.of))
	}
	for _, kind := range kinds {
		row(kind, kind)
	}
	row("all", "")
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, s := range scores {
		for _, n := range slices.Concat(s.held, s.notes) {
			fmt.Fprintf(&b, "%s: %s\n", s.name, n)
		}
	}
	t.Logf("%s\n%d situations, %d without replies", b.String(), len(scores), len(missing))
}

// TestTotals bounds what the stored replies are worth: a prompt that is changed must be
// answered anew, and be no worse.
func TestTotals(t *testing.T) {
	scores, missing := results()
	if len(scores) == 0 || len(missing) > 0 {
		t.Skip("replies are missing")
	}
	all, prune, union := sum(scores, ""), sum(scores, "prune"), sum(scores, "union")
	for what, ok := range map[string]bool{
		"the firewall holds back at most 2 %":      50*all.flagged <= all.n,
		"98 % of the replies are usable":           100*all.parsed >= 98*all.n,
		"95 % of the rules that are known are met": 100*all.stated >= 95*all.known,
		"at most 4 % of what was right is lost":    100*all.lost <= 4*all.kept,
		"pruning finds 80 % of the bloat":          100*prune.gone >= 80*prune.bloat,
		"pruning loses no rule":                    prune.lost == 0,
		"a union says nothing twice":               union.again == 0,
		"a union keeps every condition":            union.right == union.of,
	} {
		if !ok {
			t.Errorf("no more: %s", what)
		}
	}
	for _, s := range scores {
		if !slices.Contains([]string{"description", "reading", "applies", "judge"}, s.kind) && !s.kernel {
			t.Errorf("%s lost the kernel", s.name)
		}
	}
}

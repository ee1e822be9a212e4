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

// A sendable is a situation of either sort.
type sendable interface {
	run(ctx context.Context, m *stored) (*score, error)
}

// results runs all situations with the replies that are kept.
var results = sync.OnceValues(func() (scores []*score, missing []string) {
	run := func(name string, x sendable) {
		m := newStored(name)
		s, err := x.run(context.Background(), m)
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
			run(s.Situations[i].id(), &s.Situations[i])
		}
	}
	all := readers()
	for i := range all {
		run(all[i].name, &all[i])
	}
	return scores, missing
})

// TestReplies fails if a prompt changed after it was answered.
func TestReplies(t *testing.T) {
	m := newStored("")
	if _, err := os.Stat(m.replies); err != nil && m.requests == "" {
		t.Skipf("no replies in %s", m.replies)
	}
	_, missing := results()
	for _, why := range missing[:min(len(missing), 5)] {
		t.Error(why)
	}
	if len(missing) > 0 {
		t.Errorf("%d replies are missing: EVOLVE_PROMPTS_REQUESTS=DIR asks for them, see the comment of this package", len(missing))
	}
	kept, err := filepath.Glob(filepath.Join(m.replies, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	scores, _ := results()
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
	n, parsed, kernel, held                     int
	shown, found, known, stated, kept, lost     int
	tokens, again, bloat, gone, right, of, full int
}

func sum(scores []*score, kind string) (t total) {
	one := func(ok bool) int {
		if ok {
			return 1
		}
		return 0
	}
	for _, s := range scores {
		if kind != "" && s.kind != kind {
			continue
		}
		t.n++
		t.parsed += one(s.parsed)
		t.kernel += one(s.kernel)
		t.held += one(len(s.held) > 0)
		t.shown, t.found, t.known, t.stated = t.shown+s.shown, t.found+s.found, t.known+s.known, t.stated+s.stated
		t.kept, t.lost = t.kept+s.kept, t.lost+len(s.lost)
		t.tokens, t.again = t.tokens+s.tokens, t.again+s.again
		t.bloat, t.gone, t.right, t.of = t.bloat+s.bloat, t.gone+s.gone, t.right+s.right, t.of+s.of
		t.full += one(s.of > 0 && s.right == s.of)
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
	fmt.Fprintln(w, "\nkind\tparsed\tkernel\theld\tfound/shown\tfound/known\tlost\ttokens\ta rule\tagain\tbloat gone\tright")
	row := func(name, kind string) {
		x := sum(scores, kind)
		if x.n == 0 {
			return
		}
		kernel, perRule := share(x.kernel, x.n), "·"
		if slices.Contains([]string{"description", "reading", "applies", "judge"}, kind) {
			kernel = "·"
		}
		if x.found > 0 && kind != "" {
			perRule = fmt.Sprintf("%.0f", float64(x.tokens)/float64(x.found))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%d\t%s\t%d\t%s\t%s\n", name, share(x.parsed, x.n), kernel, x.held, share(x.found, x.shown),
			share(x.stated, x.known), share(x.lost, x.kept+x.lost), x.tokens, perRule, x.again, share(x.gone, x.bloat), share(x.right, x.of))
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
		for _, phrase := range s.lost {
			fmt.Fprintf(&b, "%s: lost %q\n", s.name, phrase)
		}
	}
	t.Logf("%s\n%d situations, %d without replies", b.String(), len(scores), len(missing))
}

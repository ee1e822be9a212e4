package entire_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest/entire"
	"github.com/skill-evolve/evolve/harvest/harvesttest"
)

// A session that was read from everybody's records is never replaced by one of fewer:
// what was read stays in, what others add since stays out.
func TestReadBefore(t *testing.T) {
	const me, stranger = "me@example.org", "stranger@example.org"
	for name, put := range layouts {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			record := func(who, id, text string, minute int) {
				r.author = who
				put(r, id, map[string]string{"0/metadata.json": metadata("s1", at(minute), isClaude), "0/full.jsonl": text})
			}
			var c harvesttest.Cursor
			stored, left := "", 0
			harvested := func(step, want string, authors []string, out int) {
				t.Helper()
				left = 0
				all, problems := r.sessionsWith(entire.Options{Readers: readers, Authors: authors, LeftOut: func(others, lost int) { left = others + 100*lost }}, &c)
				for _, s := range all {
					stored = ""
					for _, turn := range s.Turns {
						stored += turn.Prompt + " "
					}
				}
				if got := strings.TrimSpace(stored); got != want || left != out || len(problems) > 0 {
					t.Errorf("%s: %q, want %q, %d left out, want %d, problems %s", step, got, want, left, out, r.reasons(problems))
				}
			}
			mine := []string{me}
			record(me, "aabbccddee01", typed("p1", 10, "one"), 10)
			record(stranger, "aabbccddee02", typed("p2", 20, "two"), 20)
			harvested("the user's alone", "one", mine, 1)
			harvested("all", "one two", nil, 0)
			harvested("the user's, after all", "one two", mine, 0)
			record(stranger, "aabbccddee03", typed("p3", 30, "three"), 30)
			harvested("a stranger's more", "one two", mine, 1)
			record(me, "aabbccddee04", typed("p4", 40, "four"), 40)
			harvested("the user's more", "one two four", mine, 1)
			record(stranger, "aabbccddee02", typed("p2", 20, "another"), 20)
			record(me, "aabbccddee05", typed("p5", 50, "five"), 50)
			harvested("what was read is another", "one two four", mine, 2)
			harvested("all again", "one another three four five", nil, 0)
			harvested("the user's at last", "one another three four five", mine, 0)
		})
	}
}

// earlier is the cursor of a version that remembered no records.
type earlier struct{ harvesttest.Cursor }

func (c *earlier) Mark(path string, size int64, modified time.Time) {
	if !strings.Contains(path, "#entire/record/") {
		c.Cursor.Mark(path, size, modified)
	}
}

// What an earlier version has read from everybody's records stays, too.
func TestReadByAnEarlierVersion(t *testing.T) {
	r := newRepository(t)
	for i, who := range []string{"me@example.org", "stranger@example.org"} {
		r.author = who
		onBranch(r, fmt.Sprintf("aabbccddee%02d", i), map[string]string{"0/metadata.json": metadata("s1", at(10+i), isClaude), "0/full.jsonl": typed(fmt.Sprint("p", i), 10+i, fmt.Sprint(i))})
	}
	var c earlier
	if all, _ := r.sessionsWith(entire.Options{Readers: readers}, &c); len(all) != 1 || len(all[0].Turns) != 2 {
		t.Fatalf("%s", summaries(all))
	}
	mine := entire.Options{Readers: readers, Authors: []string{"me@example.org"}}
	if all, _ := r.sessionsWith(mine, &c.Cursor); len(all) > 0 {
		t.Errorf("%s", summaries(all))
	}
	r.author = "me@example.org"
	onBranch(r, "aabbccddee09", map[string]string{"0/metadata.json": metadata("s1", at(20), isClaude), "0/full.jsonl": typed("p9", 20, "more")})
	if all, _ := r.sessionsWith(mine, &c.Cursor); len(all) != 1 || len(all[0].Turns) != 3 {
		t.Errorf("%s", summaries(all))
	}
}

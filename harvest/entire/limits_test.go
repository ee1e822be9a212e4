package entire_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/entire"
	"github.com/skill-evolve/evolve/harvest/harvesttest"
)

// What many records share is read and parsed once.
func TestSharedMetadata(t *testing.T) {
	r := newRepository(t)
	files := map[string]string{}
	shared := metadata("s1", at(13), isClaude+`,"padding":"`+strings.Repeat("x", 900<<10)+`"`)
	for i := range 200 {
		files[fmt.Sprint(i)+"/metadata.json"] = shared
	}
	files["0/full.jsonl"] = first
	onBranch(r, "aabbccddee11", files)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	all, problems := r.sessions(nil)
	runtime.ReadMemStats(&after)
	if len(all) != 1 || len(problems) > 0 {
		t.Errorf("%s\nproblems %s", summaries(all), r.reasons(problems))
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 50<<20 {
		t.Errorf("%d MiB were allocated for a file of 1 MiB", took>>20)
	}
}

// Metadata that is larger than Entire writes it is named, and so are the events that
// are left out.
func TestLargeMetadata(t *testing.T) {
	r := newRepository(t)
	onBranch(r, "aabbccddee11", map[string]string{"0/metadata.json": metadata("s1", at(13), isClaude+`,"padding":"`+strings.Repeat("x", 1<<20)+`"`), "0/full.jsonl": first})
	var events []string
	for i := range 1001 {
		events = append(events, noted(fmt.Sprint("x", i), fmt.Sprint("skill", i), "skill_tool_use", `,"turn_id":"p1"`))
	}
	onBranch(r, "aabbccddee22", map[string]string{"0/metadata.json": metadata("s2", at(13), isClaude+`,"skill_events":[`+strings.Join(events, ",")+`]`), "0/full.jsonl": first})
	all, problems := r.sessions(nil)
	if len(all) != 2 || len(all[0].Turns) != 1 || len(all[1].Invocations) != 1001 { // one is of the transcript
		t.Errorf("%d sessions: %.300s", len(all), summaries(all))
	}
	if got, want := r.reasons(problems), "/aabbccddee11/0: metadata.json: larger than 1024 KiB\n/s2: aabbccddee22/0: metadata.json: more than 1000 skill events: the rest is left out"; got != want {
		t.Errorf("problems %s", got)
	}
}

// The events of all records of a session are limited together.
func TestManyEvents(t *testing.T) {
	r := newRepository(t)
	files := map[string]string{"0/full.jsonl": first}
	for n := range 8 {
		var events []string
		for i := range 900 {
			events = append(events, noted(fmt.Sprint("x", n, "-", i), fmt.Sprint("skill", n, "-", i), "skill_tool_use", `,"turn_id":"p1"`))
		}
		files[fmt.Sprint(n)+"/metadata.json"] = metadata("s1", at(13), isClaude+`,"skill_events":[`+strings.Join(events, ",")+`]`)
	}
	onBranch(r, "aabbccddee11", files)
	all, problems := r.sessions(nil)
	if len(all) != 1 || len(all[0].Invocations) != 5001 {
		t.Errorf("%d sessions: %.300s", len(all), summaries(all))
	}
	if got, want := r.reasons(problems), "/s1: aabbccddee11/2: the session has more than 5000 skill events: the rest is left out"; got != want {
		t.Errorf("problems %s", got)
	}
}

// A ref that pretends to any number of files is cut, and takes nothing from others.
func TestRefsShare(t *testing.T) {
	r := newRepository(t)
	r.git("", "config", "gc.auto", "0")
	tree := func(lines []string) string { return r.git(strings.Join(lines, "\n")+"\n", "mktree", "--missing") }
	var files, shards []string
	for i := range 20000 {
		files = append(files, fmt.Sprintf("100644 blob %s\tx%05d", strings.Repeat("12", 20), i))
	}
	shard := tree(files) // 0.7 MB, of which there are a hundred
	for i := range 100 {
		shards = append(shards, fmt.Sprintf("040000 tree %s\t%02d", shard, i))
	}
	r.git("", "update-ref", "refs/remotes/a/entire/checkpoints/v1", r.git("", "commit-tree", "-m", "x", tree(shards)))
	for i, name := range []string{branch, "refs/remotes/b/entire/checkpoints/v1"} {
		r.commit(name, "x", map[string]string{fmt.Sprintf("aa/bbccddee%02d/0/metadata.json", i): metadata(fmt.Sprint("s", i), at(1), isClaude), fmt.Sprintf("aa/bbccddee%02d/0/full.jsonl", i): first})
	}
	all, problems := r.sessions(nil)
	if len(all) != 2 {
		t.Errorf("%s", summaries(all))
	}
	if got, want := r.reasons(problems), "/remotes/a/entire/checkpoints/v1: it holds more than is read: the rest is left out"; got != want {
		t.Errorf("problems %s", got)
	}
}

// A commit with any number of trailers costs no more than those that name what is read.
func TestManyTrailers(t *testing.T) {
	r := newRepository(t)
	onBranch(r, "aabbccddee11", map[string]string{"0/metadata.json": metadata("s1", at(13), isClaude), "0/full.jsonl": first})
	one := r.commit("refs/heads/main", "chart\n\n"+strings.Repeat("Entire-Checkpoint: bbbbbbbbbbbb\n", 1000)+"Entire-Checkpoint: aabbccddee11\n", map[string]string{"a": "2"})
	all, problems := r.sessions(nil)
	if len(all) != 1 || all[0].Turns[0].Committed != one || len(problems) > 0 {
		t.Errorf("%s\nproblems %s", summaries(all), r.reasons(problems))
	}
}

// With Authors, what somebody else recorded is not read, and is counted. A session keeps
// who recorded it.
func TestAuthors(t *testing.T) {
	for name, put := range layouts {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			for i, who := range []string{"Me@example.org", "stranger@example.org", "me@example.org"} {
				r.author = who
				put(r, fmt.Sprintf("aabbccddee%02d", i), map[string]string{"0/metadata.json": metadata(fmt.Sprint("s", i), at(1), isClaude), "0/full.jsonl": first})
			}
			for _, c := range []struct {
				authors []string
				want    string
				left    int
			}{{[]string{"other@example.org", "me@example.org"}, "s0 s2", 1}, {[]string{}, "", 3}, {nil, "s0 s1 s2", 0}} {
				left := 0
				all, problems := r.sessionsWith(entire.Options{Readers: readers, Authors: c.authors, LeftOut: func(others, lost int) { left += others + 100*lost }}, nil)
				var ids []string
				for _, s := range all {
					ids = append(ids, s.ID)
					if who := map[bool]string{true: "stranger@example.org", false: "me@example.org"}[s.ID == "s1"]; s.Author != harvest.AuthorOf(who) {
						t.Errorf("%q: %s is by %q", c.authors, s.ID, s.Author)
					}
				}
				if got := strings.Join(ids, " "); got != c.want || left != c.left || len(problems) > 0 {
					t.Errorf("%q: %q, %d left out, want %q, %d\n%s", c.authors, got, left, c.want, c.left, r.reasons(problems))
				}
			}
			// What was left out is read by a harvest that asks for it.
			var c harvesttest.Cursor
			for _, step := range []struct {
				authors []string
				want    int
			}{{[]string{"me@example.org"}, 2}, {[]string{"me@example.org"}, 0}, {nil, 1}, {[]string{"me@example.org"}, 0}} {
				if all, _ := r.sessionsWith(entire.Options{Readers: readers, Authors: step.authors}, &c); len(all) != step.want {
					t.Errorf("%q: %d sessions, want %d", step.authors, len(all), step.want)
				}
			}
		})
	}
}

// The author of a checkpoint is that of the latest commit that names it; on a branch
// without any such commit it is unknown.
func TestRecordedAnew(t *testing.T) {
	r := newRepository(t)
	files := map[string]string{"0/metadata.json": metadata("s1", at(1), isClaude), "0/full.jsonl": first}
	r.author = "me@example.org"
	onBranch(r, "aabbccddee11", files)
	r.author = "stranger@example.org"
	files["0/prompt.txt"] = "x"
	onBranch(r, "aabbccddee11", files)
	r.author = "me@example.org"
	r.commit(branch, "another subject", map[string]string{"aa/bbccddee22/0/metadata.json": metadata("s2", at(1), isClaude), "aa/bbccddee22/0/full.jsonl": first})
	var left [2]int
	all, problems := r.sessionsWith(entire.Options{Readers: readers, Authors: []string{"me@example.org"}, LeftOut: func(others, lost int) { left = [2]int{others, lost} }}, nil)
	if len(all)+len(problems) > 0 || left != [2]int{1, 1} { // of the second nobody can tell
		t.Errorf("%d left out: %s\n%s", left, summaries(all), r.reasons(problems))
	}
}

// A repository that is excluded is not read by way of a link or a worktree either.
func TestExcludedByAnotherPath(t *testing.T) {
	r := newRepository(t)
	asRef(r, "aabbccddee11", map[string]string{"0/metadata.json": metadata("s1", at(13), isClaude), "0/full.jsonl": first})
	r.commit("refs/heads/main", "x", map[string]string{"a": "1"})
	dir := r.dir
	tree, link := t.TempDir()+"/wt", t.TempDir()+"/link"
	r.git("", "worktree", "add", "-q", tree)
	r.git("", "-c", "alias.link=!ln -s", "link", dir, link)
	for _, at := range []string{dir, tree, link} {
		r.dir = at
		if all, _ := r.sessions(nil); len(all) != 1 {
			t.Errorf("%s: %d sessions", at, len(all))
		}
		o := entire.Options{Options: harvest.Options{Exclude: []string{dir}}, Readers: readers}
		if all, problems := r.sessionsWith(o, nil); len(all)+len(problems) > 0 || entire.New(at, o).Holds(t.Context()) {
			t.Errorf("%s was read: %d sessions, problems %v", at, len(all), problems)
		}
	}
}

// A large ref is read even if there are many refs; if its metadata is cut, its
// transcript is read.
func TestManyRefs(t *testing.T) {
	r := newRepository(t)
	files := map[string]string{"0/full.jsonl": first, "0/metadata.json": metadata("s1", at(1), isClaude+`,"padding":"`+strings.Repeat("x", 140<<10)+`"`)}
	for i := range 400 {
		files[fmt.Sprintf("0/tasks/toolu_%d/agent-a%d.jsonl", i, i)] = typed("z", 11, "count rows")
	}
	for i := range 3 {
		files[fmt.Sprint(i+1)+"/metadata.json"] = metadata(fmt.Sprint("s", i+2), at(1), isClaude+`,"padding":"`+strings.Repeat("x", 900<<10)+`"`)
		files[fmt.Sprint(i+1)+"/full.jsonl"] = strings.ReplaceAll(first, `"sessionId":"s1"`, fmt.Sprintf(`"sessionId":"s%d"`, i+2))
	}
	asRef(r, "aabbccddee11", files)
	one := r.git("", "rev-parse", "refs/entire/checkpoints/11/aabbccddee11")
	small := r.commit("refs/heads/main", "x", map[string]string{"a": "1"})
	refs := "delete refs/entire/checkpoints/11/aabbccddee11\n"
	for i := range 3000 {
		at := small
		if i == 1500 {
			at = one
		}
		refs += fmt.Sprintf("create refs/entire/checkpoints/11/%010d11 %s\n", i, at)
	}
	r.git(refs, "update-ref", "--stdin")
	all, problems := r.sessions(nil)
	ids, subagents := map[string]bool{}, 0
	for _, s := range all {
		if s.Subagent != "" {
			subagents++
		} else {
			ids[s.ID] = true
		}
	}
	if len(ids) != 4 || subagents != 400 {
		t.Errorf("%v with %d subagents", ids, subagents)
	}
	if got, want := r.reasons(problems), "/entire/checkpoints/11/000000150011: it holds more than is read: the rest is left out"; got != want {
		t.Errorf("problems %.500s", got)
	}
}

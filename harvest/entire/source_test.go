package entire_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/entire"
	"github.com/skill-evolve/evolve/harvest/harvesttest"
)

// summary is what the tests look at of a session.
func summary(s *harvest.Session) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", s.ID, s.Agent)
	for _, t := range s.Turns {
		fmt.Fprintf(&b, " | %s > %s", t.Prompt, t.Answer)
		if t.Committed != "" {
			b.WriteString(" (committed)")
		}
	}
	for _, v := range s.Invocations {
		fmt.Fprintf(&b, " | %s %s@%d %s", v.ID, v.Skill, v.Turn, v.Signal)
	}
	return b.String()
}

func summaries(all []*harvest.Session) string {
	var out []string
	for _, s := range all {
		out = append(out, summary(s))
	}
	return strings.Join(out, "\n")
}

var first = typed("p1", 10, "chart the revenue") + called("t1", 11, "pm:plan:dataviz") + said("m1", 12, "Done.")

// A session that spans two checkpoints, of which the second holds another too;
// the user's commits name both; numbers have gaps.
func TestLayouts(t *testing.T) {
	for name, put := range layouts {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			base := r.commit("refs/heads/main", "start", map[string]string{"a": "1"})
			put(r, "aabbccddee11", map[string]string{
				"metadata.json":      `{"sessions":[{},{}]}`,
				"0/metadata.json":    metadata("s1", at(13), isClaude+`,"turn_id":"p1"`),
				"0/full.jsonl":       first,
				"0/prompt.txt":       "chart the revenue",
				"0/content_hash.txt": fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(first))),
			})
			one := r.commit("refs/heads/main", "chart\n\nEntire-Checkpoint: aabbccddee11\n", map[string]string{"a": "2"})
			all := first + typed("p2", 20, "now the weekly costs please") + said("m2", 21, "Drawn.")
			put(r, "0123456789ab", map[string]string{
				"metadata.json":          `{}`,
				"0/metadata.json":        metadata("s1", at(22), isClaude),
				"0/full.jsonl":           all,
				"7/metadata.json":        metadata("s2", at(22), isClaude),
				"7/full.jsonl":           typed("q1", 15, "fix the typo") + said("n1", 16, "Fixed."),
				"7/tasks/toolu_1/x.json": "{}",
			})
			two := r.commit("refs/heads/main", "weekly\n\nEntire-Checkpoint: 0123456789ab\n", map[string]string{"a": "3"})

			found, problems := r.sessions(nil)
			want := "s1 claude-code | chart the revenue > Done. (committed) | now the weekly costs please > Drawn. (committed) | claude-skill-t1 pm:plan:dataviz@0 skill_tool_use\n" +
				"s2 claude-code | fix the typo > Fixed. (committed)"
			if got := summaries(found); got != want || len(problems) > 0 {
				t.Fatalf("got\n%s\nwant\n%s\nproblems %v", got, want, problems)
			}
			s := found[0]
			if s.Turns[0].Committed != one || s.Turns[1].Committed != two || s.Commit != base {
				t.Errorf("commits %s, %s of %s; want %s, %s of %s", s.Turns[0].Committed, s.Turns[1].Committed, s.Commit, one, two, base)
			}
			if s.Path != r.dir+"#entire/s1" || s.CWD != "/home/dev/shop" {
				t.Errorf("path %s, folder %s", s.Path, s.CWD)
			}
			if f := s.Invocations[0].Feedback; f.Label != harvest.Unknown {
				t.Errorf("a commit alone is no acceptance: %+v", f)
			}
		})
	}
}

// Both layouts may exist side by side, and a remote's branch beside the local one: each
// session is read once, by its newest record.
func TestMirrors(t *testing.T) {
	r := newRepository(t)
	files := map[string]string{"0/metadata.json": metadata("s1", at(13), isClaude), "0/full.jsonl": first}
	onBranch(r, "aabbccddee11", files)
	r.git("", "update-ref", "refs/remotes/origin/entire/checkpoints/v1", branch)
	asRef(r, "aabbccddee11", files)
	newer := first + typed("p2", 20, "thanks, perfect")
	r.commit("refs/remotes/fork/entire/checkpoints/v1", "x", map[string]string{
		"ff/00112233aa/0/metadata.json": metadata("s1", at(30), isClaude), "ff/00112233aa/0/full.jsonl": newer})
	r.commit("refs/entire/checkpoints/v2/main", "another scheme", map[string]string{"0/metadata.json": metadata("s9", at(1), isClaude), "0/full.jsonl": first})
	r.commit("refs/entire/checkpoints/zz/aabbccddee11", "a ref by the wrong shard", map[string]string{"0/metadata.json": metadata("s9", at(1), isClaude), "0/full.jsonl": first})
	asRef(r, "01M3WE2VX9HQC3NVY9BWYCW6JV", map[string]string{"0/metadata.json": metadata("s2", at(13), isClaude), "0/full.jsonl": typed("q", 1, "an id of the newer kind")})
	all, problems := r.sessions(nil)
	if len(all) != 2 || len(all[0].Turns) != 2 || all[1].ID != "s2" || len(problems) > 0 {
		t.Errorf("%s\nproblems %v", summaries(all), problems)
	}
}

// What was seen in a real repository of 590 checkpoints, and what a hostile one
// may hold: every session that can be read is, and every other is named.
func TestSurvives(t *testing.T) {
	turn := func(text string) string { return typed("p", 10, text) + said("m", 11, "Yes.") }
	copilotTurn := `{"type":"user.message","data":{"content":"of copilot","messageId":"c1"},"id":"e1","timestamp":"2026-11-20T18:10:00Z"}` + "\n"
	gemini := `{"sessionId":"g","startTime":"2026-11-20T18:00:00Z","messages":[{"id":"g1","type":"user","timestamp":"2026-11-20T18:01:00Z","content":[{"text":"of gemini"}]},
		{"id":"g2","type":"gemini","timestamp":"2026-11-20T18:02:00Z","content":"Indeed.","model":"g-3","tokens":{"input":10,"cached":4,"output":2,"thoughts":1},"toolCalls":[{"name":"run","status":"error"}]}]}`
	for name, c := range map[string]struct {
		files   map[string]string
		want    string
		reasons string // of problems, as far as they are foreseen
	}{
		"chunks": {map[string]string{"0/metadata.json": metadata("s", at(1), isClaude), "0/full.jsonl": strings.TrimSuffix(turn("one"), "\n"),
			"0/full.jsonl.001": typed("q", 12, "two"), "0/full.jsonl.002": said("n", 13, "Fine."), "0/content_hash.txt": "sha256:of the whole"},
			"s claude-code | one > Yes. | two > Fine.", ""},
		"full.log":            {map[string]string{"0/metadata.json": metadata("s", at(1), isClaude), "0/full.log": turn("one")}, "s claude-code | one > Yes.", ""},
		"without a folder":    {map[string]string{"metadata.json": metadata("s", at(1), isClaude), "full.log": turn("one")}, "s claude-code | one > Yes.", ""},
		"no agent":            {map[string]string{"0/metadata.json": metadata("s", at(1), ""), "0/full.jsonl": copilotTurn}, "s copilot-cli | of copilot > ", ""},
		"agents, a string":    {map[string]string{"0/metadata.json": metadata("s", at(1), `,"agents":"Claude Code"`), "0/full.jsonl": turn("one")}, "s claude-code | one > Yes.", ""},
		"agents, a list":      {map[string]string{"0/metadata.json": metadata("s", at(1), `,"agents":["Claude Code"]`), "0/full.jsonl": turn("one")}, "s claude-code | one > Yes.", ""},
		"an agent of numbers": {map[string]string{"0/metadata.json": metadata("s", at(1), `,"agent":7`), "0/full.jsonl": turn("one")}, "s claude-code | one > Yes.", ""},
		"gemini":              {map[string]string{"0/metadata.json": metadata("s", at(1), `,"agent":"Gemini CLI"`), "0/full.jsonl": gemini}, "s gemini | of gemini > Indeed.", ""},
		"gemini, unnamed":     {map[string]string{"0/metadata.json": metadata("s", at(1), ""), "0/full.jsonl": gemini}, "s gemini | of gemini > Indeed.", ""},
		"an unknown agent": {map[string]string{"0/metadata.json": metadata("s", at(1), `,"agent":"Cursor"`), "0/full.jsonl": "{}", "0/prompt.txt": "one\n\n---\n\ntwo\n"},
			"s cursor | one >  | two > ", ""},
		"prompts alone": {map[string]string{"0/metadata.json": metadata("s", at(1), isClaude), "0/prompt.txt": "one"},
			"s claude-code | one > ", "/s: aabbccddee11/0: it has no transcript"},
		"compressed": {map[string]string{"0/metadata.json": metadata("s", at(1), isClaude), "0/full.jsonl.zst": packed(turn("one"))},
			"s claude-code | one > Yes.", ""},
		"compressed, then cut": {map[string]string{"0/metadata.json": metadata("s", at(1), isClaude), "0/full.jsonl.zst": packed(turn("one"))[:40], "0/full.jsonl.zst.001": packed(turn("one"))[40:]},
			"s claude-code | one > Yes.", ""},
		"compressed and as it was": {map[string]string{"0/metadata.json": metadata("s", at(1), isClaude), "0/full.jsonl.zst": packed(turn("one")), "0/full.jsonl": turn("one")},
			"s claude-code | one > Yes.", ""},
		"compressed, the end is lost": {map[string]string{"0/metadata.json": metadata("s", at(1), isClaude), "0/full.jsonl.zst": packed(turn("one"), turn("two"))[:len(packed(turn("one")))+20]},
			"s claude-code | one > Yes.", "/s: aabbccddee11/0: read: unpack: the file is cut off: what comes before is read"},
		"compressed, and less as it was": {map[string]string{"0/metadata.json": metadata("s", at(1), isClaude), "0/full.jsonl.zst": packed(turn("one") + typed("q", 12, "two")), "0/full.jsonl": turn("one")},
			"s claude-code | one > Yes. | two > ", ""},
		"as it was, and less compressed": {map[string]string{"0/metadata.json": metadata("s", at(1), isClaude), "0/full.jsonl.zst": packed(turn("one")), "0/full.jsonl": turn("one") + typed("q", 12, "two")},
			"s claude-code | one > Yes. | two > ", ""},
		"not compressed at all": {map[string]string{"0/metadata.json": metadata("s", at(1), isClaude), "0/full.jsonl.zst": turn("one"), "0/prompt.txt": "one"},
			"s claude-code | one > ", "/s: aabbccddee11/0: read: unpack: invalid input: magic number mismatch"},
		"two entries on one line": {map[string]string{"0/metadata.json": metadata("s", at(1), isClaude), "0/full.jsonl": strings.ReplaceAll(turn("one"), "\n", "") + typed("q", 12, "two")},
			"s claude-code | one > Yes. | two > ", ""},
		"a gemini without a word": {map[string]string{"0/metadata.json": metadata("s", at(1), ""), "0/full.jsonl": "{\n  \"messages\": []\n}\n"}, "", ""},
		"no metadata":             {map[string]string{"0/full.jsonl": turn("one")}, "s1 claude-code | one > Yes.", ""},
		"bad metadata":            {map[string]string{"0/metadata.json": "{", "0/full.jsonl": turn("one")}, "s1 claude-code | one > Yes.", "/aabbccddee11/0: metadata.json: not JSON"},
		"brackets":                {map[string]string{"0/metadata.json": strings.Repeat("[", 1<<20), "0/full.jsonl": turn("one")}, "s1 claude-code | one > Yes.", "/aabbccddee11/0: metadata.json: not JSON"},
		"a list as such":          {map[string]string{"0/metadata.json": "[1]", "0/full.jsonl": turn("one")}, "s1 claude-code | one > Yes.", ""},
		"malformed lines": {map[string]string{"0/metadata.json": metadata("s", at(1), isClaude), "0/full.jsonl": "garbage\n" + turn("one")},
			"s claude-code | one > Yes.", "/s: aabbccddee11/0: not a JSON object"},
		"another text than the hash": {map[string]string{"0/metadata.json": metadata("s", at(1), isClaude), "0/full.jsonl": turn("one"), "0/content_hash.txt": "sha256:00"},
			"s claude-code | one > Yes.", "/s: aabbccddee11/0: full.jsonl is not what content_hash.txt says"},
		"a bare hash": {map[string]string{"0/metadata.json": metadata("s", at(1), isClaude), "0/full.jsonl": turn("one"), "0/content_hash.txt": fmt.Sprintf("%x\n", sha256.Sum256([]byte(turn("one"))))},
			"s claude-code | one > Yes.", ""},
		"nothing": {map[string]string{"0/metadata.json": metadata("s", at(1), isClaude), "0/full.jsonl": ""}, "", ""},
		"an id of control characters": {map[string]string{"0/metadata.json": metadata(`s\u0000\n\u001b[31m`, at(1), isClaude), "0/full.jsonl": turn("one")},
			"9e7488a8137a1f8c9da0579b41680989 claude-code | one > Yes.", ""},
		"a subagent": {map[string]string{"0/metadata.json": metadata("s", at(1), isClaude), "0/full.jsonl": turn("one"),
			"0/tasks/toolu_7/agent-a1.jsonl": strings.Replace(typed("z", 11, "count rows"), `"isSidechain":false`, `"isSidechain":true,"agentId":"a1"`, 1)},
			"s claude-code | one > Yes.\ns/a1 claude-code | count rows > ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			onBranch(r, "aabbccddee11", c.files)
			all, problems := r.sessions(nil)
			if got := summaries(all); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := r.reasons(problems); got != c.reasons {
				t.Errorf("problems\n%s\nwant\n%s", got, c.reasons)
			}
		})
	}
}

// An object that is not there, and one that is damaged, cost their session no
// more than what they held: an older checkpoint has the rest.
func TestLostObjects(t *testing.T) {
	for name, damage := range map[string]func(file string) error{
		"absent":  os.Remove,
		"damaged": func(file string) error { _ = os.Chmod(file, 0o600); return os.WriteFile(file, []byte("x"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			asRef(r, "aabbccddee11", map[string]string{"0/metadata.json": metadata("s1", at(13), isClaude), "0/full.jsonl": first})
			newer := first + typed("p2", 20, "thanks")
			asRef(r, "aabbccddee22", map[string]string{"0/metadata.json": metadata("s1", at(22), isClaude), "0/full.jsonl": newer,
				"1/metadata.json": metadata("s2", at(22), isClaude), "1/full.jsonl": typed("q", 1, "another")})
			// Loose objects, to be able to take one away.
			for _, pack := range glob(t, r.dir, ".git/objects/pack/*.pack") {
				data, err := os.ReadFile(pack)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range glob(t, r.dir, strings.TrimSuffix(strings.TrimPrefix(pack, r.dir+"/"), "pack")+"*") {
					_ = os.Remove(f)
				}
				r.git(string(data), "unpack-objects", "-q")
			}
			oid := r.git(newer, "hash-object", "--stdin")
			if err := damage(filepath.Join(r.dir, ".git/objects", oid[:2], oid[2:])); err != nil {
				t.Fatal(err)
			}
			all, problems := r.sessions(nil)
			if len(all) != 2 || len(all[0].Turns) != 1 || all[1].ID != "s2" {
				t.Errorf("%s", summaries(all))
			}
			if got := r.reasons(problems); !strings.HasPrefix(got, "/s1: aabbccddee22/0: full.jsonl: ") || len(problems) != 1 {
				t.Errorf("problems %s", got)
			}
		})
	}
}

// A folder that is absent takes its own checkpoint away, and a tree that shares
// its subtrees to seem endless takes nothing.
func TestHostileTrees(t *testing.T) {
	r := newRepository(t)
	r.git("", "config", "gc.auto", "0")
	tree := func(lines ...string) string { return r.git(strings.Join(lines, "\n")+"\n", "mktree", "--missing") }
	file := func(text string) string { return r.git(text, "hash-object", "-w", "--stdin") }
	session := tree("100644 blob "+file(metadata("s1", at(1), isClaude))+"\tmetadata.json", "100644 blob "+file(first)+"\tfull.jsonl",
		"120000 blob "+file("/etc/passwd")+"\tprompt.txt")
	one := tree("040000 tree " + session + "\t0")
	absent := strings.Repeat("12", 20)
	shards := tree("040000 tree "+absent+"\taabbccddee", "040000 tree "+one+"\tbbbbbbbbbb")
	bomb := one
	for range 30 {
		bomb = tree("040000 tree "+bomb+"\ta", "040000 tree "+bomb+"\tb", "040000 tree "+bomb+"\tc")
	}
	root := tree("040000 tree "+shards+"\taa", "040000 tree "+bomb+"\tbb")
	r.git("", "update-ref", branch, r.git("", "commit-tree", "-m", "x", root))
	all, problems := r.sessions(nil)
	if got := summaries(all); !strings.HasPrefix(got, "s1 claude-code | chart the revenue > Done.") || len(all) != 1 {
		t.Errorf("%s", got)
	}
	if got := r.reasons(problems); got != "/heads/entire/checkpoints/v1: read tree \"aa/aabbccddee/\": the object is missing" {
		t.Errorf("problems %s", got)
	}
}

func glob(t *testing.T, dir, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// The cursor: nothing is read twice, and a checkpoint more brings its session
// alone.
func TestCursor(t *testing.T) {
	for name, put := range layouts {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			put(r, "aabbccddee11", map[string]string{"0/metadata.json": metadata("s1", at(13), isClaude), "0/full.jsonl": first,
				"1/metadata.json": metadata("s2", at(13), isClaude), "1/full.jsonl": typed("q", 1, "another")})
			var c harvesttest.Cursor
			if all, _ := r.sessions(&c); len(all) != 2 {
				t.Fatalf("%d sessions, want 2", len(all))
			}
			if all, _ := r.sessions(&c); len(all) != 0 {
				t.Errorf("%d sessions were read again", len(all))
			}
			put(r, "aabbccddee22", map[string]string{"0/metadata.json": metadata("s1", at(22), isClaude), "0/full.jsonl": first + typed("p2", 20, "thanks")})
			all, _ := r.sessions(&c)
			if len(all) != 1 || len(all[0].Turns) != 2 || all[0].Path != r.dir+"#entire/s1" {
				t.Errorf("want the session that went on: %s", summaries(all))
			}
		})
	}
}

// A session whose storing failed is read again.
func TestStops(t *testing.T) {
	r := newRepository(t)
	asRef(r, "aabbccddee11", map[string]string{"0/metadata.json": metadata("s1", at(13), isClaude), "0/full.jsonl": first})
	var c harvesttest.Cursor
	stop := errors.New("enough")
	src := entire.New(r.dir, entire.Options{Readers: readers})
	if _, err := src.Sessions(context.Background(), &c, func(*harvest.Session) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
	if all, _ := r.sessions(&c); len(all) != 1 {
		t.Errorf("%d sessions, want the one that was not stored", len(all))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := src.Sessions(ctx, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}

// A session that takes too long is named, and read again.
func TestSlowSessions(t *testing.T) {
	r := newRepository(t)
	asRef(r, "aabbccddee11", map[string]string{"0/metadata.json": metadata("s1", at(13), isClaude), "0/full.jsonl": first})
	var c harvesttest.Cursor
	all, problems := r.sessionsWith(entire.Options{Options: harvest.Options{MaxReading: -1}, Readers: readers}, &c)
	if got := r.reasons(problems); len(all) > 0 || got != "/s1: "+harvest.ErrSlow.Error() {
		t.Errorf("%d sessions, problems %s", len(all), got)
	}
	if all, problems := r.sessions(&c); len(all) != 1 || len(problems) > 0 {
		t.Errorf("%d sessions, problems %s", len(all), r.reasons(problems))
	}
}

func TestOptions(t *testing.T) {
	r := newRepository(t)
	asRef(r, "aabbccddee11", map[string]string{"0/metadata.json": metadata("s1", at(13), isClaude), "0/full.jsonl": first})
	for name, c := range map[string]struct {
		entire.Options
		want int
	}{
		"all":             {entire.Options{}, 1},
		"the folder":      {entire.Options{Options: harvest.Options{Exclude: []string{"/home/dev/*"}}}, 0},
		"the repository":  {entire.Options{Options: harvest.Options{Exclude: []string{r.dir}}}, 0},
		"another":         {entire.Options{Options: harvest.Options{Exclude: []string{"/home/other"}}}, 1},
		"not allowed":     {entire.Options{Options: harvest.Options{Allowed: func(folders []string) bool { return !slices.Contains(folders, "/home/dev/shop") }}}, 0},
		"repository not":  {entire.Options{Options: harvest.Options{Allowed: func(folders []string) bool { return !slices.Contains(folders, r.dir) }}}, 0},
		"since then":      {entire.Options{Options: harvest.Options{Since: time.Date(2026, 11, 20, 18, 0, 0, 0, time.UTC)}}, 1},
		"since afterward": {entire.Options{Options: harvest.Options{Since: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)}}, 0},
	} {
		n := 0
		c.Readers = readers
		_, err := entire.New(r.dir, c.Options).Sessions(context.Background(), nil, func(*harvest.Session) error { n++; return nil })
		if err != nil || n != c.want {
			t.Errorf("%s: %d sessions, error %v", name, n, err)
		}
	}
	// What --since passed over is not taken for read.
	var c harvesttest.Cursor
	late := entire.Options{Options: harvest.Options{Since: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)}, Readers: readers}
	if _, err := entire.New(r.dir, late).Sessions(context.Background(), &c, nil); err != nil {
		t.Error(err)
	}
	if all, _ := r.sessions(&c); len(all) != 1 {
		t.Errorf("%d sessions, want 1", len(all))
	}
	if _, err := entire.New(r.dir, entire.Options{Options: harvest.Options{Exclude: []string{"[a"}}}).Sessions(context.Background(), nil, nil); err == nil {
		t.Error("a pattern that is none was taken")
	}
}

func TestNoCheckpoints(t *testing.T) {
	r := newRepository(t)
	if entire.New(r.dir, entire.Options{}).Holds(t.Context()) {
		t.Error("an empty repository holds checkpoints")
	}
	if all, problems := r.sessions(nil); len(all)+len(problems) != 0 {
		t.Errorf("%d sessions, problems %v", len(all), problems)
	}
	r.dir = t.TempDir()
	if all, problems := r.sessions(nil); len(all) != 0 || len(problems) != 1 || !strings.Contains(problems[0].Reason, "not a git repository") {
		t.Errorf("%d sessions, problems %v", len(all), problems)
	}
	r.dir = filepath.Join(r.dir, "none")
	if _, problems := r.sessions(nil); len(problems) != 1 {
		t.Errorf("problems %v", problems)
	}
}

// Inside a hook, git's variables name the repository that was committed to: the
// one that was asked for is read.
func TestHookVariables(t *testing.T) {
	r := newRepository(t)
	asRef(r, "aabbccddee11", map[string]string{"0/metadata.json": metadata("s1", at(13), isClaude), "0/full.jsonl": first})
	t.Setenv("GIT_DIR", filepath.Join(t.TempDir(), "elsewhere"))
	if !entire.New(r.dir, entire.Options{}).Holds(t.Context()) {
		t.Error("it holds no checkpoints")
	}
	if all, problems := r.sessions(nil); len(all) != 1 || len(problems) != 0 {
		t.Errorf("%d sessions, problems %v", len(all), problems)
	}
}

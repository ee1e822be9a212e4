package purge

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/handoff"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/store/lock"
	"github.com/skill-evolve/evolve/tournament/record"
)

var clock = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// years is a data folder with sessions of three years: every third one of another agent,
// with a word of its own in every text that is kept of it.
type years struct {
	home     datadir.Dir
	db       *store.Store
	ingester *ingest.Ingester
	sessions []*harvest.Session
	dropped  map[string]bool // ids of sessions whose case was dropped
	open     map[string]bool // two of those, whose trials go on
	quoted   map[string]bool // ids of sessions with a case that no model has read
}

func word(i int) string { return fmt.Sprintf("qz%05dx", i) }

const days = 1095

func threeYears(tb testing.TB, n int) *years {
	tb.Helper()
	ctx := tb.Context()
	root := tb.TempDir()
	y := &years{home: datadir.Dir(filepath.Join(root, "data")), dropped: map[string]bool{}, open: map[string]bool{}, quoted: map[string]bool{}}
	check := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	put := func(path, text string) {
		tb.Helper()
		check(os.MkdirAll(filepath.Dir(path), 0o700))
		check(os.WriteFile(path, []byte(text), 0o600))
	}
	put(filepath.Join(root, "claude", "skills", "tagger", skill.FileName), "---\nname: tagger\ndescription: Tags things. Use it for tags.\n---\n# Tags\n\nUse tags.\n")
	var err error
	y.db, err = store.Open(ctx, y.home.Database())
	check(err)
	tb.Cleanup(func() { y.db.Close() })
	y.ingester = &ingest.Ingester{Store: y.db, Layout: &skill.Layout{ClaudeHome: filepath.Join(root, "claude"), Getenv: func(string) string { return "" }},
		Dir: y.home, Now: func() time.Time { return clock }, Redactor: redact.Detector{}}
	cursor, err := y.db.Cursor(ctx, "claude-code")
	check(err)
	for i := range n {
		w, at := word(i), clock.Add(-time.Duration(i*days*24*60/n)*time.Minute-time.Hour)
		s := &harvest.Session{ID: fmt.Sprintf("s-%05d", i), Agent: "claude-code", Path: fmt.Sprintf("/home/you/projects/-work-%s/s-%05d.jsonl", w, i), CWD: "/work/" + w,
			Branch: "fix/" + w, Commit: strings.Repeat("a", 40), Model: "m", Started: at, Ended: at.Add(5 * time.Minute)}
		if i%3 == 1 {
			s.Agent = "codex"
		}
		turn := func(k int, prompt, answer string) {
			ms := int64(1000 * k)
			s.Turns = append(s.Turns, harvest.Turn{ID: fmt.Sprintf("t-%05d-%d", i, k), Time: at.Add(time.Duration(k) * time.Minute), Prompt: prompt, Answer: answer,
				Tools: []harvest.Tool{{Name: "Bash"}}, Usage: &eval.Usage{Input: 10, Output: int64(i)}, DurationMS: &ms,
				Work:    []work.Act{{Kind: work.Ran, Line: "tag " + w}, {Kind: work.Changed, File: w, Added: w, Removed: w}, {Kind: work.Refused, Tool: "Bash", Said: w}},
				Reading: &harvest.Reading{Label: harvest.Corrected, Words: w, Rule: "tag " + w, Concerns: "skill:tagger", By: "model"}})
		}
		turn(0, "/tagger tag the pictures of "+w+" by year and place, for the album", "Tagged "+w+" by a linear order.")
		if i%4 != 3 {
			turn(1, "no, tag "+w+" by place first, then by year", "Now "+w+" is tagged by place.")
			turn(2, "thanks, perfect", "Gladly.")
		} else {
			turn(1, "what is the weather in Rome today and on Sunday?", "Sunny, "+w)
		}
		s.Invocations = []harvest.Invocation{{ID: fmt.Sprintf("u-%05d", i), Skill: "tagger", Signal: harvest.SkillToolUse, Explicit: true, Time: at, Dir: "/work/" + w + "/skills/tagger"}}
		s.Problems = []harvest.Problem{{Path: s.Path, Line: 3, Reason: "cannot read " + w}}
		harvest.Assess(s)
		y.sessions = append(y.sessions, s)
		check(y.db.SaveSession(ctx, s))
		cursor.MarkFile(s.Path, harvest.FileState{Size: 1, Modified: at})
		check(y.db.Remember(ctx, s.ID, "label-"+s.ID, []byte(`{"use":1,"label":"corrected","evidence":"`+w+`"}`)))
		check(y.db.Remember(ctx, s.ID, "fail-"+s.ID, []byte("reply unusable")))
		_, err := hook.Append(string(y.home), hook.Record{Key: s.ID, Phase: hook.Prompted, Session: s.ID, Prompt: w, Dir: "/work/" + w, Event: harvest.Event{Timestamp: at.Format(time.RFC3339)}})
		check(err)
	}
	check(cursor.Flush(ctx))
	y.mine(tb)
	cases, err := y.db.Cases(ctx, "tagger")
	check(err)
	if len(cases) < n/2 {
		tb.Fatalf("%d cases of %d sessions: this test shows less than it says", len(cases), n)
	}
	config, err := json.Marshal(map[string]string{"skill": "tagger"})
	check(err)
	for i := range cases {
		c := &cases[i]
		var k int
		_, err := fmt.Sscanf(c.Source.Session, "s-%d", &k)
		check(err)
		w, run := word(k), fmt.Sprintf("20260101-000000-%06d", k)
		if k%5 == 0 { // a model has written its checks
			c.Checks = []eval.Check{{Type: eval.Contains, Value: "place"}}
			_, _, err := y.db.SaveCases(ctx, []eval.Case{*c})
			check(err)
		} else {
			y.quoted[c.Source.Session] = true
		}
		if k%7 != 0 {
			continue
		}
		j := y.db.Journal(run)
		check(j.SaveRun(ctx, &record.Run{ID: run, Skill: "tagger", Status: record.Finished, Config: config, Started: c.Source.Time, Ended: c.Source.Time}))
		for _, of := range []string{"inc", "cha-" + run} {
			check(j.SaveRollout(ctx, &eval.Rollout{Key: run + of, Candidate: of, CaseID: c.ID, Status: eval.Done, Quality: .5, Answer: "said " + w, Feedback: []string{w},
				Trace: []eval.ToolCall{{Name: "Bash"}}, Files: []string{w}, Checks: []eval.CheckResult{{Type: eval.Judge, Score: .5, Evidence: w, Feedback: w}}, Usage: &eval.Usage{Input: 7}}))
		}
		for _, by := range []eval.Spender{eval.ByMiner, eval.ByMutator, eval.ByJudge} {
			check(j.SaveCompletion(ctx, "reply-"+string(by), by, &eval.Completion{Text: "reply " + w, Finish: "stop", Usage: &eval.Usage{Output: 9}}))
		}
		check(j.SaveCandidate(ctx, &record.Candidate{SHA: skill.HashText([]byte("refused " + w)), Run: run, Seq: 1, State: record.Invalid, Reason: "holds words: " + w, Text: []byte("refused " + w)}))
		check(j.SaveCandidate(ctx, &record.Candidate{SHA: skill.HashText([]byte("made of " + w)), Run: run, Seq: 2, State: record.Refused, Taught: []string{c.ID}, Text: []byte("made of " + w)}))
		reason, err := json.Marshal(map[string]string{"reason": w})
		check(err)
		check(j.AppendEvent(ctx, record.Event{Run: run, Seq: 1, Kind: "candidate", Data: reason}))
		put(filepath.Join(y.home.Reports(), run+".html"), "<code>"+c.ID+"</code> "+w)
		put(filepath.Join(y.home.Reports(), "compare-tagger-"+w+".html"), "<code>"+c.ID+"</code> "+w)
		if k%2 == 1 {
			continue // the case lives
		}
		if decisions := []pareto.Verdict{pareto.Undecided, pareto.Promising}; len(y.open) < len(decisions) && k > n/2 {
			decision := decisions[len(y.open)]
			y.open[c.Source.Session] = true
			check(j.SaveTrial(ctx, &record.TrialRecord{Skill: "tagger", Incumbent: "inc", Challenger: "cha-" + run, Run: run, Decision: decision, State: json.RawMessage(`{}`)}))
		}
		check(y.db.DropCase(ctx, "tagger", c.ID))
		y.dropped[c.Source.Session] = true
		put(filepath.Join(string(y.home), datadir.Edits+run, datadir.FileName(c.ID)+".json"), w)
	}
	_, err = y.db.SaveVersion(ctx, record.Version{Skill: "tagger", SHA: skill.HashText([]byte("a version")), Text: []byte("a version"), Author: "evolve", Created: clock.AddDate(-1, 0, 0)})
	check(err)
	put(filepath.Join(y.home.HookState(), "guard", "value-last.json"), word(n-1))
	check(os.Chtimes(filepath.Join(y.home.HookState(), "guard", "value-last.json"), clock.AddDate(0, 0, -40), clock.AddDate(0, 0, -40)))
	put(filepath.Join(y.home.HookState(), "guard", "value-new.json"), "new")
	put(filepath.Join(y.home.Logs(), "stop.log"), clock.AddDate(0, 0, -40).Format(time.RFC3339)+" said "+word(n-1)+"\n"+clock.Format(time.RFC3339)+" new\n")
	box, err := handoff.New(handoff.Config{Dir: y.home.Handoff(), Run: "20260101-000000-000000"})
	check(err)
	_, err = box.Complete(ctx, eval.Prompt{User: "quotes " + word(n-1)})
	if err == nil {
		tb.Fatal("somebody has answered")
	}
	return y
}

func (y *years) mine(tb testing.TB) {
	tb.Helper()
	reg, err := y.ingester.Layout.Registry()
	if err == nil {
		_, err = y.ingester.MineAll(tb.Context(), reg, "", false, func(context.Context, *skill.Live) (bool, error) { return false, nil })
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// expire removes what is due: sessions of Claude Code after 30 days, others after 90.
func (y *years) expire(tb testing.TB) (sessions int) {
	tb.Helper()
	keep := Retention{Oldest: clock.AddDate(0, 0, -30), Before: func(agent string) time.Time {
		if agent == "claude-code" {
			return clock.AddDate(0, 0, -30)
		}
		return clock.AddDate(0, 0, -90)
	}}
	said := ""
	p := &Purger{Store: y.db, Dir: y.home, Locks: lock.Locks{Dir: y.home, Now: func() time.Time { return clock }}, Say: func(format string, args ...any) { said += fmt.Sprintf(format, args...) }}
	n, err := p.Expire(tb.Context(), keep, func(context.Context) error { y.mine(tb); return nil })
	if err != nil || strings.Contains(said, "overwritten") || (n > 0) != strings.Contains(said, "expired") {
		tb.Fatal(err, said)
	}
	return n
}

func (y *years) due(s *harvest.Session) bool {
	after := 30
	if s.Agent == "codex" {
		after = 90
	}
	return s.Ended.Before(clock.AddDate(0, 0, -after))
}

var words = regexp.MustCompile(`qz[0-9]{5}x`)

// found are the words of sessions in all files, and the files that hold them.
func (y *years) found(tb testing.TB) map[string][]string {
	tb.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(string(y.home), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(string(y.home), path)
		for _, w := range words.FindAll(append(text, path...), -1) {
			if !slices.Contains(out[string(w)], rel) {
				out[string(w)] = append(out[string(w)], rel)
			}
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// sizes are the bytes of each table.
func (y *years) sizes(tb testing.TB) map[string]int {
	tb.Helper()
	db, err := sql.Open("sqlite3", "file:"+y.home.Database()+"?mode=ro")
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT m.name, group_concat('coalesce(length(CAST("' || c.name || '" AS BLOB)), 0)', ' + ')
		FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' GROUP BY m.name`)
	if err != nil {
		tb.Fatal(err)
	}
	sums := map[string]string{}
	for rows.Next() {
		var table, sum string
		if err := rows.Scan(&table, &sum); err != nil {
			tb.Fatal(err)
		}
		sums[table] = sum
	}
	rows.Close()
	out := map[string]int{}
	for table, sum := range sums {
		var n int
		if err := db.QueryRow(`SELECT coalesce(sum(` + sum + `), 0) FROM ` + table).Scan(&n); err != nil {
			tb.Fatal(err)
		}
		if n > 0 {
			out[table] = n
		}
	}
	return out
}

// numbers is what must not change: counts of uses, what turns took, trials, versions,
// rollouts' scores, what models took.
func (y *years) numbers(tb testing.TB) map[string]any {
	tb.Helper()
	ctx := tb.Context()
	out := map[string]any{}
	keep := func(name string, v any, err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		out[name] = v
	}
	uses, err := y.db.SkillUses(ctx)
	keep("uses", uses, err)
	n, err := y.db.CorrectedSince(ctx, "tagger", clock.AddDate(-2, 0, 0))
	keep("corrected", n, err)
	costs, err := y.db.TurnCosts(ctx, "tagger")
	turns := map[string]string{}
	for t, c := range costs {
		text, _ := json.Marshal(c)
		turns[fmt.Sprint(t.Session, t.Index)] = string(text)
	}
	keep("costs", turns, err)
	counts, err := y.db.CaseCounts(ctx)
	keep("cases", counts, err)
	trials, err := y.db.Trials(ctx, "tagger")
	keep("trials", trials, err)
	versions, err := y.db.Versions(ctx, "tagger")
	keep("versions", versions, err)
	runs, err := y.db.Runs(ctx, "tagger")
	keep("runs", runs, err)
	rollouts, err := y.db.Rollouts(ctx, store.RolloutFilter{})
	for i := range rollouts {
		rollouts[i].Expire()
	}
	keep("rollouts", rollouts, err)
	var took []eval.Usage
	for _, r := range runs {
		for _, by := range []eval.Spender{eval.ByMiner, eval.ByMutator, eval.ByJudge} {
			replies, err := y.db.Completions(ctx, r.ID, by)
			keep("replies of "+r.ID+string(by), len(replies), err)
			for _, c := range replies {
				took = append(took, *c.Usage)
			}
		}
	}
	out["took"] = took
	all, err := y.db.Sessions(ctx, store.SessionFilter{})
	var shapes []string
	for _, s := range all {
		shapes = append(shapes, fmt.Sprint(s.ID, s.Agent, s.Started, s.Ended, len(s.Turns), s.Turns[0].Tools, s.Turns[0].Usage, s.Invocations[0].Feedback.Label, s.Commit, s.Turns[0].Reading.Label, s.Turns[0].Reading.Concerns))
	}
	keep("sessions", shapes, err)
	return out
}

// TestThreeYears: after expiry no byte of an expired session is left but what its live
// case holds; every count, trial, version and score is as it was; a second time changes
// nothing.
func TestThreeYears(t *testing.T) {
	y := threeYears(t, 240)
	before, sizes, numbers := y.found(t), y.sizes(t), y.numbers(t)
	if len(before) != len(y.sessions) || len(y.open) < 2 || len(y.dropped) < 5 {
		t.Fatalf("%d words of %d sessions, %d dropped: this test shows less than it says", len(before), len(y.sessions), len(y.dropped))
	}
	due := 0
	for _, s := range y.sessions {
		if y.due(s) {
			due++
		}
	}
	if n := y.expire(t); n != due || due < 200 {
		t.Fatalf("the text of %d sessions has expired, want %d", n, due)
	}
	cases, err := y.db.Cases(t.Context(), "tagger")
	if err != nil {
		t.Fatal(err)
	}
	live := map[string]bool{}
	for _, c := range cases {
		live[c.Source.Session] = true
	}
	after := y.found(t)
	for i, s := range y.sessions {
		left := after[word(i)]
		switch {
		case !y.due(s):
			if len(left) == 0 {
				t.Errorf("%s: its time has not come, and its text is gone", s.ID)
			}
		case y.open[s.ID]:
			if len(left) == 0 {
				t.Errorf("%s: its trial is open, and its words are gone", s.ID)
			}
		case live[s.ID]:
			left = slices.DeleteFunc(left, func(f string) bool {
				return strings.HasPrefix(f, "evolve.db") || strings.HasPrefix(f, "reports/")
			})
			if len(left) > 0 {
				t.Errorf("%s: its case lives, and its words are in %v", s.ID, left)
			}
		case len(left) > 0:
			t.Errorf("%s: its words are in %v", s.ID, left)
		}
	}
	if got := y.numbers(t); !reflect.DeepEqual(got, numbers) {
		for k := range numbers {
			if !reflect.DeepEqual(got[k], numbers[k]) {
				t.Errorf("%s changed\n got %+v\nwant %+v", k, got[k], numbers[k])
			}
		}
	}
	for table, n := range y.sizes(t) {
		t.Logf("%-14s %9d bytes, %9d before", table, n, sizes[table])
	}
	raw, err := os.ReadFile(y.home.Database())
	if err != nil {
		t.Fatal(err)
	}
	if n := y.expire(t); n != 0 {
		t.Errorf("a second time, the text of %d sessions has expired", n)
	}
	y.mine(t)
	again, err := y.db.Cases(t.Context(), "tagger")
	if err != nil || !reflect.DeepEqual(again, cases) {
		t.Errorf("mining again changed the cases: %d, %d before, %v", len(again), len(cases), err)
	}
	if now, err := os.ReadFile(y.home.Database()); err != nil || !bytes.Equal(now, raw) {
		t.Errorf("a second time, the file has changed: %v", err)
	}
	y.kept(t, cases)
	y.continued(t)
}

// BenchmarkThreeYears is the expiry of 3,000 sessions at once, and of none.
func BenchmarkThreeYears(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		y := threeYears(b, 3000)
		before := y.sizes(b)
		b.StartTimer()
		y.expire(b)
		b.StopTimer()
		for table, n := range y.sizes(b) {
			b.Logf("%-14s %9d bytes, %9d before", table, n, before[table])
		}
		began := time.Now()
		y.expire(b)
		b.ReportMetric(float64(time.Since(began).Microseconds()), "µs-idle")
		b.StartTimer()
	}
}

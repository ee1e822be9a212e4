package store

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/tournament/record"
)

// writes are calls of every method that writes, each with enough text to need
// room.
func writes(ctx context.Context, s *Store) map[string]func() error {
	j := s.Journal("r1")
	long := strings.Repeat("words that need room ", 400)
	return map[string]func() error{
		"SaveRun": func() error { return j.SaveRun(ctx, &record.Run{ID: "r9", Skill: "dataviz", Note: long}) },
		"SaveCandidate": func() error {
			return j.SaveCandidate(ctx, &record.Candidate{SHA: "bb", Run: "r1", Seq: 9, Text: []byte(long)})
		},
		"AppendEvent": func() error {
			return j.AppendEvent(ctx, record.Event{Run: "r1", Seq: 9, Data: []byte(`"` + long + `"`)})
		},
		"SaveRollout": func() error { r := rollout("k9"); r.Answer = long; return j.SaveRollout(ctx, r) },
		"SaveCompletion": func() error {
			return j.SaveCompletion(ctx, "k9", eval.ByJudge, &eval.Completion{Text: long})
		},
		"SaveTrial": func() error {
			return j.SaveTrial(ctx, &record.TrialRecord{Skill: "dataviz", Incumbent: "aa", Challenger: "zz", State: []byte(`"` + long + `"`)})
		},
		"SpendCase": func() error { return j.SpendCase(ctx, "dataviz", "aa", "bb", long, "") },
		"SaveCases": func() error {
			c := aCase("z")
			c.Prompt = long
			_, _, err := s.SaveCases(ctx, []eval.Case{c})
			return err
		},
		"SaveSession": func() error {
			ses := session("s9", "/z", use("u9", "dataviz", harvest.Corrected, day))
			ses.Turns[0].Prompt = long
			return s.SaveSession(ctx, ses)
		},
		"SaveVersion": func() error {
			_, err := s.SaveVersion(ctx, record.Version{Skill: "dataviz", SHA: "zz", Text: []byte(long)})
			return err
		},
		"BeginInstall": func() error {
			_, err := s.BeginInstall(ctx, Install{Skill: "dataviz", Path: "/q", To: "zz", Note: long})
			return err
		},
		"SetInstalled":  func() error { return s.SetInstalled(ctx, "dataviz", "/"+long, "zz") },
		"ConfirmKernel": func() error { return s.ConfirmKernel(ctx, "dataviz", long, day) },
		"Remember":      func() error { return s.Remember(ctx, "s1", "k9", []byte(long)) },
		"Flush": func() error {
			cur, err := s.Cursor(ctx, "claude")
			if err != nil {
				return err
			}
			cur.Mark("/"+long, 1, day)
			return cur.Flush(ctx)
		},
		"PurgeSession": func() error {
			_, err := s.PurgeSessions(ctx, []string{"s1"})
			return err
		},
	}
}

// TestDiskFullAtAnyWrite gives every write one page of room, two, and so on until it
// succeeds. Each failure reports that there is no room and leaves the store as it was. Only a
// purge may have done its work: if the removal had room and the rewriting of the file had
// not, the store is as after a purge with room enough.
func TestDiskFullAtAnyWrite(t *testing.T) {
	ctx := t.Context()
	failures := 0
	content := func(s *Store) string { // without the key of the prints, which is each store's own
		return regexp.MustCompile(`(?m)^print_key .*\n`).ReplaceAllString(dump(t, s), "")
	}
	whole := open(t)
	fill(t, whole)
	must(t, writes(ctx, whole)["PurgeSession"]())
	purged := content(whole)
	if left, err := whole.Sessions(ctx, SessionFilter{}); err != nil || len(left) > 0 {
		t.Fatalf("a purge with room enough leaves %d sessions, %v", len(left), err)
	}
	for name := range writes(ctx, open(t)) {
		s := open(t)
		fill(t, s)
		limit := func(pages int) {
			must(t, s.Do(ctx, func(x *tx) error {
				var n int
				_, err := x.Row(fmt.Sprintf("PRAGMA max_page_count = %d", pages), nil, &n)
				return err
			}))
		}
		var pages int
		must(t, readerOf(t, s).QueryRow("PRAGMA page_count").Scan(&pages))
		before := content(s)
		for room := 0; ; room++ {
			limit(pages + room)
			err := writes(ctx, s)[name]()
			if err == nil {
				break
			}
			failures++
			var noRoom *FullError
			if !errors.As(err, &noRoom) || noRoom.Path != s.Path() {
				t.Errorf("%s with room for %d pages: %v", name, room, err)
			}
			if gone, e := s.Purged(ctx, "s1"); e != nil {
				t.Fatal(e)
			} else if gone && name == "PurgeSession" {
				before = purged
			}
			if after := content(s); after != before {
				t.Errorf("%s with room for %d pages left something of itself", name, room)
			}
			if room == 50 {
				t.Fatalf("%s needs more than %d pages", name, room)
			}
		}
		if name == "PurgeSession" && content(s) != purged {
			t.Error("the purge that succeeded has left something of the session, or removed more")
		}
		limit(1 << 30)
		must(t, s.CheckPages(ctx))
		must(t, s.Journal("after").SaveRollout(ctx, rollout("after")))
	}
	t.Logf("%d writes failed for want of room", failures)
	if failures < 20 {
		t.Errorf("only %d writes met a full disk", failures)
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/gate"
)

// writeCorrected is a program for scripts, corrected: it writes sessions of Claude Code in
// which dataviz was used and its user said what the simulated world knows. The arguments are
// the folder, how many sessions, the day of the first one, and what else the user said; two
// sessions a day follow.
func writeCorrected() {
	n, err := strconv.Atoi(os.Args[2])
	first, e := time.Parse(time.DateOnly, os.Args[3])
	if err := errors.Join(err, e); err != nil {
		panic(err)
	}
	corrected(os.Args[1], n, first, os.Args[4:])
}

func corrected(to string, n int, first time.Time, instead []string) {
	asked := []string{"Draw the downloads of release %d against the %s of river %d", "Draw the ranking of group %d by the %s of lake %d"}
	said := []string{"no, use a log scale, it grows by factors", "no, sort it by value, largest first"}
	if len(instead) > 0 {
		said = instead
	}
	for i := range n {
		at := first.Add(time.Duration(9+12*i) * time.Hour)
		id := fmt.Sprintf("%08x-2222-4222-8333-%012d", i+1, first.Unix())
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		parent := any(nil)
		for k, message := range []map[string]any{
			{"role": "user", "content": fmt.Sprintf(asked[i%2], 7*i+first.Day(), word(i), 13*i+first.Day())},
			{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": fmt.Sprint("t", i), "name": "Skill", "input": map[string]any{"skill": "dataviz"}}}},
			{"role": "assistant", "content": []any{map[string]any{"type": "text", "text": "Here is a chart."}}},
			{"role": "user", "content": said[i%len(said)]},
			{"role": "assistant", "content": []any{map[string]any{"type": "text", "text": "Done."}}},
		} {
			line := map[string]any{"type": message["role"], "message": message, "uuid": fmt.Sprintf("%s-%d", id, k), "parentUuid": parent, "sessionId": id,
				"cwd": "/home/dev/rivers", "version": "2.1.329", "userType": "external", "entrypoint": "cli", "isSidechain": false,
				"timestamp": at.Add(time.Duration(k) * time.Minute).Format("2006-01-02T15:04:05.000Z")}
			if parent = line["uuid"]; message["role"] == "user" {
				line["promptSource"] = "typed"
			} else {
				message["id"], message["model"], message["type"] = fmt.Sprintf("m%s-%d", id, k), "m", "message"
				message["usage"] = map[string]any{"input_tokens": 1, "output_tokens": 1}
			}
			if err := enc.Encode(line); err != nil {
				panic(err)
			}
		}
		path := filepath.Join(to, "projects", "-home-dev-rivers", id+".jsonl")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
			panic(err)
		}
	}
}

// TestSmokeIsNoEvidence: what a smoke test has measured is in the cache of no search, no trial and
// no comparison.
func TestSmokeIsNoEvidence(t *testing.T) {
	claude, home := person(t), t.TempDir()
	if err := os.RemoveAll(filepath.Join(claude, "projects")); err != nil {
		t.Fatal(err)
	}
	corrected(claude, 7, time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC), nil)
	evolve := func(args ...string) {
		t.Helper()
		if code, out, errs := runHere(t, home, append(args, "--claude-home", claude)...); code != exitDone {
			t.Fatalf("evolve %v: exit %d: %s%s", args, code, out, errs)
		}
	}
	evolve("harvest")
	evolve("suggest", "dataviz", "--agent", "simulated", "--smoke")
	ctx := t.Context()
	db, err := store.Open(ctx, filepath.Join(home, "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rollouts, err := db.Rollouts(ctx, store.RolloutFilter{})
	if err != nil || len(rollouts) != 7 {
		t.Fatalf("%d rollouts, %v", len(rollouts), err)
	}
	for i := range rollouts {
		r := &rollouts[i]
		for _, arm := range []string{"", gate.Arm("gate", "v0", r.Candidate), gate.Arm("compare", "v0", r.Candidate)} {
			if r.Arm == arm {
				t.Errorf("a rollout of the smoke test has the arm %q", arm)
			}
		}
		if found, err := db.Rollouts(ctx, store.RolloutFilter{Candidate: r.Candidate, Arm: new(string)}); err != nil || len(found) > 0 {
			t.Errorf("a search would find %d rollouts, %v", len(found), err)
		}
	}
	evolve("suggest", "dataviz", "--agent", "simulated", "--smoke")
	if again, err := db.Rollouts(ctx, store.RolloutFilter{}); err != nil || len(again) != 7 {
		t.Errorf("the same smoke test was paid for twice: %d rollouts, %v", len(again), err)
	}
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/sleep"
	"github.com/skill-evolve/evolve/tournament/status"
)

// hook has an agent's hook called, and returns what it answers.
func (b *bedroom) hook(event, input string) string {
	b.t.Helper()
	var out, errs bytes.Buffer
	a := newGlobal(strings.NewReader(input), &out, &errs)
	a.Getenv, a.Now, a.demo.sandboxed = func(k string) string { return b.env[k] }, func() time.Time { return b.now }, b.demo
	if code := runHook(a, []string{event}); code != 0 {
		b.t.Fatalf("hook %s: exit code %d\n%s", event, code, errs.String())
	}
	return out.String()
}

// session is one session of today in which the skill is used, as Claude Code writes
// it down, with its hook; said is what the user said of the answer.
func (b *bedroom) session(n int, said string, ms, tokens int) {
	b.t.Helper()
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
	call := fmt.Sprintf("toolu_%016d", n)
	b.hook("PreToolUse", fmt.Sprintf(`{"session_id":%q,"prompt_id":"p%d","cwd":"/home/you/project","hook_event_name":"PreToolUse","tool_name":"Skill","tool_input":{"skill":%q},"tool_use_id":%q}`,
		id, n, demoSkill, call))
	at := b.now.Add(time.Duration(n%60) * time.Minute)
	common := func(kind, more string, seconds int) string {
		return fmt.Sprintf(`{"type":%q,"isSidechain":false,%s,"uuid":"u%d-%d","timestamp":%q,"entrypoint":"cli","cwd":"/home/you/project","sessionId":%q,"version":"2.1.329"}`,
			kind, more, n, seconds, at.Add(time.Duration(seconds)*time.Second).UTC().Format("2006-01-02T15:04:05.000Z"), id)
	}
	usage := fmt.Sprintf(`"usage":{"input_tokens":%d,"output_tokens":90}`, tokens)
	lines := []string{
		common("user", fmt.Sprintf(`"promptId":"p%d","promptSource":"typed","message":{"role":"user","content":"Plot the sales of shop %d (data/shop-%[2]d.csv)"}`, n, n), 0),
		common("assistant", fmt.Sprintf(`"message":{"id":"m%d","role":"assistant","model":"claude-opus-5-5","content":[{"type":"tool_use","id":%q,"name":"Skill","input":{"skill":%q}}],"stop_reason":"tool_use","usage":{"input_tokens":40,"output_tokens":10}}`,
			n, call, demoSkill), 1),
		common("user", fmt.Sprintf(`"promptId":"p%d","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"Launching skill: dataviz"}]},"toolUseResult":{"commandName":%q,"success":true}`,
			n, call, demoSkill), 2),
		common("assistant", fmt.Sprintf(`"attributionSkill":%q,"message":{"id":"n%d","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"I drew the chart."}],"stop_reason":"end_turn",%s}`,
			demoSkill, n, usage), 3),
		common("system", fmt.Sprintf(`"subtype":"turn_duration","durationMs":%d`, ms), 4),
		common("user", fmt.Sprintf(`"promptId":"q%d","promptSource":"typed","message":{"role":"user","content":%q}`, n, said), 40),
	}
	path := filepath.Join(b.env["CLAUDE_CONFIG_DIR"], "projects", "-home-you-project", id+".jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// TestAlarmAfterPromotion: sessions that hooks recorded go wrong with the
// text that a night has installed. The next night raises the alarm, the next
// session reports it, and no later night does again; the version is rolled
// back only if its owner has chosen that.
func TestAlarmAfterPromotion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		said       string
		ms, tokens int
		rollback   bool
		want       string
	}{
		{"corrected, and taken back", "no, that is wrong, use a bar chart instead", 5000, 88, true, "failures in 100 %"},
		{"corrected, and left in place", "no, that is wrong, use a bar chart instead", 5000, 88, false, "failures in 100 %"},
		{"slow and dear", "thanks, perfect", 400_000, 900_000, false, "tokens ×"},
		{"all is well", "thanks, perfect", 5000, 20_000, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBedroom(t)
			v0 := b.live()
			b.run(exitDone, "kernel", "confirm", demoSkill)
			b.approveProbes()
			b.night(exitDone, "--policy", "auto", "--max-rollouts", "420")
			v1 := b.live()
			if bytes.Equal(v0, v1) {
				t.Fatal("the night installed nothing")
			}
			for n := range 60 {
				b.session(n, c.said, c.ms, c.tokens)
			}
			b.now = b.now.Add(24 * time.Hour)
			b.hook("SessionStart", `{"session_id":"s1","hook_event_name":"SessionStart","source":"startup"}`) // hears of the installation
			args := []string{"--max-rollouts", "1"}
			if c.rollback {
				args = append(args, "--rollback-on-alarm")
			}
			r := b.night(exitDone, args...)
			said := strings.Join(r.Waiting, "\n")
			if got := strings.Contains(said, "alarm"); got != (c.want != "") || !strings.Contains(said, c.want) {
				t.Errorf("waiting %q, want an alarm about %q; steps %+v", r.Waiting, c.want, r.Steps)
			}
			if got := strings.Contains(said, "evolve rollback"); got != (c.want != "" && !c.rollback) {
				t.Errorf("waiting %q: the rollback is offered: %v", r.Waiting, got)
			}
			if r.Spent.AgentCalls+r.Spent.MutatorCalls != 0 {
				t.Errorf("the watch spent %+v", r.Spent)
			}
			want := v1
			if c.rollback && c.want != "" {
				want = v0
			}
			if !bytes.Equal(b.live(), want) {
				t.Errorf("the live text is not the one that its owner's choice says")
			}
			heard := b.hook("SessionStart", `{"session_id":"s2","hook_event_name":"SessionStart","source":"startup"}`)
			if got := strings.Contains(heard, "alarm"); got != (c.want != "") {
				t.Errorf("the next session hears %q", heard)
			}
			if r := b.night(exitDone, args...); strings.Contains(strings.Join(r.Waiting, "\n"), "alarm") {
				t.Errorf("told again: %q", r.Waiting)
			}
		})
	}
}

// TestNightPicksUp: what a night proved and staged is installed by a later one
// with the policy auto, once nothing speaks against it, without asking anybody.
func TestNightPicksUp(t *testing.T) {
	t.Parallel()
	b := newBedroom(t)
	v0 := b.live()
	b.night(exitDone, "--policy", "stage", "--max-rollouts", "420")
	if r := b.night(exitDone, "--policy", "auto"); len(r.Waiting) != 1 || !strings.Contains(r.Waiting[0], "locked lines were never confirmed") || !bytes.Equal(b.live(), v0) {
		t.Fatalf("without a confirmed kernel: waiting %q", r.Waiting)
	}
	b.run(exitDone, "kernel", "confirm", demoSkill)
	b.run(exitDone, "pin", demoSkill)
	if r := b.night(exitDone, "--policy", "auto"); !bytes.Equal(b.live(), v0) || !strings.Contains(r.Steps[1].Note, "pinned at v0") {
		t.Errorf("pinned: %+v, changed %v; want it left alone", r.Steps, !bytes.Equal(b.live(), v0))
	}
	b.run(exitDone, "pin", "--off", demoSkill)
	b.approveProbes()
	r := b.night(exitDone, "--policy", "auto")
	if bytes.Equal(b.live(), v0) || len(r.Waiting) != 0 || r.Spent.AgentCalls != r.Probed().AgentCalls || r.Spent.MutatorCalls+r.Spent.JudgeCalls != 0 {
		t.Errorf("with nothing against it: changed %v, waiting %q, spent %+v", !bytes.Equal(b.live(), v0), r.Waiting, r.Spent)
	}
	b.run(exitDone, "rollback", demoSkill)
	if r := b.night(exitDone, "--policy", "auto", "--max-rollouts", "1"); !bytes.Equal(b.live(), v0) {
		t.Errorf("what was taken back is installed again: %+v", r.Steps)
	}
}

// TestAlarmPassesAnEditBy: an edit in another target does not keep an alarm
// from rolling the version back in the skill's home, nor the decision from
// being stored; the note names the target that was left out.
func TestAlarmPassesAnEditBy(t *testing.T) {
	r := newRoaming(t)
	r.configure("targets: [codex]\n")
	if _, err := r.place(r.offer); err != nil {
		t.Fatal(err)
	}
	mine := append(bytes.Clone(r.v1), "Mine.\n"...)
	r.write("codex", mine)
	s := nightWork(t, r.a, r.db)
	note, err := s.Parts().Rollback(t.Context(), &sleep.Alarm{Skill: "tagger", Version: r.offer.SHA, Before: skill.HashText(r.v0)})
	if want := fmt.Sprintf("%.12s, except in codex (it holds a text of yours, kept as v2), was taken back", r.offer.SHA); err != nil || note != want {
		t.Errorf("note %q, %v; want %q", note, err, want)
	}
	if said := status.AlarmWords(&sleep.Step{Kind: sleep.Watch, Skill: "tagger", Note: note}); strings.Contains(said, "evolve rollback") {
		t.Errorf("%q offers the rollback that was made", said)
	}
	r.holds("claude", r.v0)
	r.holds("codex", mine)
	words, err := r.db.Decisions(t.Context(), "tagger")
	if err != nil || words[r.offer.SHA].Word != store.Rejected {
		t.Errorf("the word about %.12s: %+v, %v", r.offer.SHA, words, err)
	}
}

// TestAlarmLeavesTheLiveText: if the live text itself could not be rolled
// back, nothing is reported as rolled back, whatever happened in the other
// targets.
func TestAlarmLeavesTheLiveText(t *testing.T) {
	r := newRoaming(t)
	r.configure("targets: [codex]\n")
	if _, err := r.place(r.offer); err != nil {
		t.Fatal(err)
	}
	if err := r.db.PinSkill(t.Context(), "tagger", r.offer.SHA); err != nil {
		t.Fatal(err)
	}
	s := nightWork(t, r.a, r.db)
	if note, err := s.Parts().Rollback(t.Context(), &sleep.Alarm{Skill: "tagger", Version: r.offer.SHA, Before: skill.HashText(r.v0)}); err == nil {
		t.Errorf("a pinned text: note %q", note)
	}
	r.holds("claude", r.v1)
	words, err := r.db.Decisions(t.Context(), "tagger")
	if err != nil || len(words) != 0 {
		t.Errorf("a word was stored: %+v, %v", words, err)
	}
}

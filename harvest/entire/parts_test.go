package entire_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest/harvesttest"
)

// Entire writes "Agent" if it does not know the agent, and has called Claude
// Code by another agent's name: what a transcript is shows in its lines.
func TestAgentByContent(t *testing.T) {
	for _, agent := range []string{`"Agent"`, `"Gemini CLI"`, `"Some New Agent"`, `""`} {
		r := newRepository(t)
		onBranch(r, "aabbccddee11", map[string]string{"0/metadata.json": metadata("s1", at(13), `,"agent":`+agent), "0/full.jsonl": first, "0/prompt.txt": "chart the revenue"})
		all, problems := r.sessions(nil)
		if got, want := summaries(all), "s1 claude-code | chart the revenue > Done. | claude-skill-t1 pm:plan:dataviz@0 skill_tool_use"; got != want || len(problems) > 0 {
			t.Errorf("%s: got  %s\nwant %s\nproblems %s", agent, got, want, r.reasons(problems))
		}
	}
}

// The records of one session differ: each may hold all from the beginning, what
// came since the last, or what a part of both is. Every entry counts once, in
// its order, whichever of them hold it.
func TestPartsAreJoined(t *testing.T) {
	a := typed("p1", 10, "chart it") + called("t1", 11, "dataviz") + said("m1", 12, "Done.")
	b := typed("p2", 20, "now plan") + called("t2", 21, "plan") + said("m2", 22, "Planned.")
	c := typed("p3", 30, "and review") + called("t3", 31, "review") + said("m3", 32, "Reviewed.")
	bookkeeping := `{"type":"summary","summary":"of it","leafUuid":"u-p1"}` + "\n"
	const want = "s1 claude-code | chart it > Done. | now plan > Planned. | and review > Reviewed." +
		" | claude-skill-t1 dataviz@0 skill_tool_use | claude-skill-t2 plan@1 skill_tool_use | claude-skill-t3 review@2 skill_tool_use"
	for name, texts := range map[string][]string{
		"all of it each":                        {a, a + b, a + b + c},
		"only what is new":                      {a, b, c},
		"overlapping":                           {a + b, b + c},
		"the same once more":                    {a + b + c, a + b + c},
		"the newest is a part":                  {a + b + c, b},
		"with lines without ids":                {bookkeeping + a, bookkeeping + a + bookkeeping + b, c + bookkeeping},
		"cut off":                               {a + b[:len(b)-30], a + b + c},
		"cut in the middle":                     {a + strings.TrimSuffix(b, "\n"), c},
		"the last one is empty":                 {a + b + c, ""},
		"two entries on one line":               {a + strings.Replace(b, "}\n{", "}{", 1), a + strings.Replace(b, "}\n{", "}{", 1) + c},
		"two parts without a line feed between": {a + strings.TrimSuffix(b, "\n"), strings.TrimSuffix(a+b, "\n") + c},
		"a line is redacted anew": {a + strings.Replace(b, "now plan", "now PLAN", 1) + c,
			a + b + c},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			for i, text := range texts {
				onBranch(r, fmt.Sprintf("aabbccddee%02d", i), map[string]string{fmt.Sprint(i) + "/metadata.json": metadata("s1", at(40+i), isClaude), fmt.Sprint(i) + "/full.jsonl": text})
			}
			all, problems := r.sessions(nil)
			if got := strings.ReplaceAll(summaries(all), "PLAN", "plan"); got != want || len(problems) > 0 {
				t.Errorf("got  %s\nwant %s\nproblems %s", got, want, r.reasons(problems))
			}
		})
	}
}

// Other agents give their entries ids of other names, or none.
func TestPartsOfOtherAgents(t *testing.T) {
	user := func(id, text string) string {
		return `{"type":"user.message","data":{"content":"` + text + `"},"id":"` + id + `","timestamp":"2026-11-20T18:10:00Z"}` + "\n"
	}
	entry := func(n int, payload string) string {
		return fmt.Sprintf(`{"timestamp":"%s","ordinal":%d,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"%s"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["user.text"]}}}`+"\n",
			at(n), n, payload)
	}
	tree := func(id, parent, text string) string {
		return `{"type":"message","id":"` + id + `","parentId":` + parent + `,"timestamp":"2026-11-20T18:10:00Z","message":{"role":"user","content":"` + text + `"}}` + "\n"
	}
	head := `{"type":"session","version":3,"id":"s1","cwd":"/x","timestamp":"2026-11-20T18:00:00Z"}` + "\n"
	gemini := func(ids ...string) string {
		var messages []string
		for _, id := range ids {
			messages = append(messages, `{"id":"`+id+`","type":"user","content":"`+id+`"}`)
		}
		return `{"messages":[` + strings.Join(messages, ",") + `]}`
	}
	for name, c := range map[string]struct {
		agent, older, newer string
	}{
		"copilot":     {"Copilot CLI", user("1", "a") + user("2", "b"), user("2", "b") + user("3", "a")},
		"codex":       {"Codex", entry(1, "a") + entry(2, "b"), entry(2, "b") + entry(3, "a")},
		"codex, anew": {"Codex", entry(1, "a") + entry(2, "b"), entry(2, "B") + entry(3, "a")},
		"pi":          {"Pi", head + tree("1", "null", "a") + tree("2", `"1"`, "b"), head + tree("3", `"2"`, "a")},
		"gemini":      {"Gemini CLI", strings.ReplaceAll(gemini("x", "b"), `"content":"x"`, `"content":"a"`), strings.ReplaceAll(gemini("b", "y"), `"content":"y"`, `"content":"a"`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			asRef(r, "aabbccddee11", map[string]string{"0/metadata.json": metadata("s1", at(1), `,"agent":"`+c.agent+`"`), "0/full.jsonl": c.older})
			asRef(r, "aabbccddee22", map[string]string{"0/metadata.json": metadata("s1", at(2), `,"agent":"`+c.agent+`"`), "0/full.jsonl": c.newer})
			all, problems := r.sessions(nil)
			var prompts []string
			for _, s := range all {
				for _, turn := range s.Turns {
					prompts = append(prompts, turn.Prompt)
				}
			}
			if got := strings.Join(prompts, " "); len(all) != 1 || got != "a b a" || len(problems) > 0 {
				t.Errorf("%d sessions, %q, problems %s", len(all), got, r.reasons(problems))
			}
		})
	}
}

// Older versions put the day before the agent's id of a session: one that went on
// overnight has two names and is one, under the first.
func TestOvernight(t *testing.T) {
	const id = "0276a600-2f22-4d2b-844c-3feb9c5aa108"
	r := newRepository(t)
	onBranch(r, "aabbccddee11", map[string]string{"0/metadata.json": metadata("2026-11-19-"+id, at(10), isClaude), "0/full.jsonl": first})
	onBranch(r, "aabbccddee22", map[string]string{"0/metadata.json": metadata("2026-11-20-"+id, at(20), isClaude), "0/full.jsonl": first + typed("p2", 15, "thanks")})
	all, problems := r.sessions(nil)
	if len(all) != 1 || len(problems) > 0 {
		t.Fatalf("%s\nproblems %s", summaries(all), r.reasons(problems))
	}
	if s := all[0]; s.ID != "2026-11-19-"+id || s.Path != r.dir+"#entire/2026-11-19-"+id || len(s.Turns) != 2 || len(s.Invocations) != 1 {
		t.Errorf("%s", summary(s))
	}
}

// What cannot be read of one record is named with its checkpoint and its line
// there; the others are read.
func TestProblemsOfParts(t *testing.T) {
	r := newRepository(t)
	onBranch(r, "aabbccddee11", map[string]string{"0/metadata.json": metadata("s1", at(13), isClaude), "0/full.jsonl": first})
	onBranch(r, "aabbccddee22", map[string]string{"0/metadata.json": metadata("s1", at(23), isClaude), "0/full.jsonl": first + "garbage\n" + typed("p2", 20, "thanks")})
	all, problems := r.sessions(nil)
	if len(all) != 1 || len(all[0].Turns) != 2 {
		t.Errorf("%s", summaries(all))
	}
	if got := r.reasons(problems); got != "/s1: aabbccddee22/0: not a JSON object" || problems[0].Line != 4 {
		t.Errorf("problems %s, line %d", got, problems[0].Line)
	}
}

// A transcript that differs from content_hash.txt is complete nevertheless: Entire
// redacts it again after it has taken the hash.
func TestHashIsARemark(t *testing.T) {
	r := newRepository(t)
	onBranch(r, "aabbccddee11", map[string]string{"0/metadata.json": metadata("s1", at(13), isClaude), "0/full.jsonl": first, "0/content_hash.txt": "sha256:00"})
	var c harvesttest.Cursor
	all, problems := r.sessions(&c)
	if len(all) != 1 || len(problems) != 1 || !problems[0].Remark || len(all[0].Problems) != 1 || !all[0].Problems[0].Remark {
		t.Errorf("%s\nproblems %+v", summaries(all), problems)
	}
	if _, ok := c.File(r.dir + "#entire"); !ok {
		t.Error("a repository of which nothing is lost is read again")
	}
}

// Checkpoints without a transcript hold what was typed. Not everything in a prompt.txt
// was typed.
func TestPromptsOfAPerson(t *testing.T) {
	const mark = "\n\n---\n\n"
	one := strings.Join([]string{"chart it", "Base directory for this skill: /home/dev/.claude/skills/dataviz\n\n# Charts",
		"[Request interrupted by user for tool use]", "as bars", "<bash-input>make</bash-input>", "<bash-stdout>ok</bash-stdout><bash-stderr></bash-stderr>"}, mark)
	two := strings.Join([]string{one, "This session is being continued from a previous conversation that ran out of context. The summary is below.\n\nAnalysis: x",
		"thanks", "[Request interrupted by user]"}, mark)
	r := newRepository(t)
	onBranch(r, "aabbccddee11", map[string]string{"0/metadata.json": metadata("s1", at(13), isClaude), "0/prompt.txt": one})
	onBranch(r, "aabbccddee22", map[string]string{"0/metadata.json": metadata("s1", at(23), isClaude), "0/prompt.txt": two})
	onBranch(r, "aabbccddee33", map[string]string{"0/metadata.json": metadata("s1", at(33), isClaude), "0/prompt.txt": "and now the costs"})
	all, problems := r.sessions(nil)
	if got, want := summaries(all), "s1 claude-code | chart it >  | as bars >  | thanks >  | and now the costs > "; got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	for i, want := range []bool{true, false, true, false} {
		if all[0].Turns[i].Interrupted != want {
			t.Errorf("turn %d: interrupted %v", i, !want)
		}
	}
	if got := r.reasons(problems); got != "/s1: aabbccddee33/0: it has no transcript" {
		t.Errorf("problems %s", got)
	}
}

// A checkpoint without a transcript loses nothing if another one has it.
func TestNothingLost(t *testing.T) {
	r := newRepository(t)
	onBranch(r, "aabbccddee11", map[string]string{"0/metadata.json": metadata("s1", at(13), isClaude), "0/full.jsonl": first})
	onBranch(r, "aabbccddee22", map[string]string{"0/metadata.json": metadata("s1", at(23), isClaude)})
	all, problems := r.sessions(nil)
	if len(all) != 1 || len(problems) > 0 {
		t.Errorf("%s\nproblems %s", summaries(all), r.reasons(problems))
	}
}

// Parts may be compressed, each or some; one that is damaged costs no more than
// what it held alone.
func TestCompressedParts(t *testing.T) {
	r := newRepository(t)
	more := first + typed("p2", 20, "thanks")
	onBranch(r, "aabbccddee11", map[string]string{"0/metadata.json": metadata("s1", at(13), isClaude), "0/full.jsonl.zst": packed(first)})
	onBranch(r, "aabbccddee22", map[string]string{"0/metadata.json": metadata("s1", at(23), isClaude), "0/full.jsonl": more})
	onBranch(r, "aabbccddee33", map[string]string{"0/metadata.json": metadata("s1", at(33), isClaude), "0/full.jsonl.zst": packed(more) + "garbage"})
	all, problems := r.sessions(nil)
	if got, want := summaries(all), "s1 claude-code | chart the revenue > Done. | thanks >  | claude-skill-t1 pm:plan:dataviz@0 skill_tool_use"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := r.reasons(problems); !strings.HasPrefix(got, "/s1: aabbccddee33/0: read: unpack: ") || len(problems) != 1 || problems[0].Line != 5 {
		t.Errorf("problems %v", problems)
	}
}

// Records that name one session, or ids that only look alike, are not one session
// unless their transcripts are.
func TestOtherSessions(t *testing.T) {
	of := func(session, text string) string {
		return strings.ReplaceAll(text, `"sessionId":"s1"`, `"sessionId":"`+session+`"`)
	}
	a, b := typed("p1", 10, "chart it")+said("m1", 12, "Done."), typed("p2", 20, "now plan")+said("m2", 22, "Planned.")
	codex := func(session, text string) string {
		return `{"timestamp":"` + at(1) + `","type":"session_meta","payload":{"id":"` + session + `","cwd":"/home/dev/shop"}}` + "\n" +
			`{"timestamp":"` + at(2) + `","type":"event_msg","payload":{"type":"user_message","message":"` + text + `"}}` + "\n"
	}
	gemini := func(session, text string) string {
		return `{"sessionId":"` + session + `","startTime":"2026-11-20T18:00:00Z","messages":[{"id":"` + text + `","type":"user","content":"` + text + `"}]}`
	}
	const other = ": its transcript is of another session: it is left out"
	for name, c := range map[string]struct {
		ids     [2]string // in metadata
		texts   [2]string
		want    string
		reasons string
	}{
		"the newer names another":   {[2]string{"s1", "s1"}, [2]string{a, of("s2", b)}, "s1 claude-code | chart it > Done.", "/s1: aabbccddee01/1" + other},
		"the older names another":   {[2]string{"s1", "s1"}, [2]string{of("s2", a), b}, "s1 claude-code | now plan > Planned.", "/s1: aabbccddee00/0" + other},
		"neither names its own":     {[2]string{"s1", "s1"}, [2]string{of("s2", a), of("s3", b)}, "s1 claude-code | chart it > Done.", "/s1: aabbccddee01/1" + other},
		"both name one other":       {[2]string{"s1", "s1"}, [2]string{of("s2", a), of("s2", b)}, "s1 claude-code | chart it > Done. | now plan > Planned.", ""},
		"resumed":                   {[2]string{"s1", "s1"}, [2]string{of("s0", a) + b, b}, "s1 claude-code | chart it > Done. | now plan > Planned.", ""},
		"of Codex":                  {[2]string{"s1", "s1"}, [2]string{codex("s1", "chart it"), codex("s2", "now plan")}, "s1 codex | chart it > ", "/s1: aabbccddee01/1" + other},
		"of Gemini":                 {[2]string{"s1", "s1"}, [2]string{gemini("s2", "chart it"), gemini("s1", "now plan")}, "s1 claude-code | now plan > ", "/s1: aabbccddee00/0" + other},
		"ids with odd characters":   {[2]string{"s1", `s\u00011`}, [2]string{a, b}, "a89d7b6cbc7058d547759b33d28685b9 claude-code | now plan > Planned.\ns1 claude-code | chart it > Done.", ""},
		"lines without ids, spaced": {[2]string{"s1", "s1"}, [2]string{idless("chart it"), strings.ReplaceAll(idless("chart it"), `,"`, `, "`) + idless("now plan")}, "s1 claude-code | chart it >  | now plan > ", ""},
		"lines without ids, packed": {[2]string{"s1", "s1"}, [2]string{strings.ReplaceAll(idless("chart it"), `":"`, `": "`), idless("chart it") + idless("now plan")}, "s1 claude-code | chart it >  | now plan > ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			for i, text := range c.texts {
				onBranch(r, fmt.Sprintf("aabbccddee%02d", i), map[string]string{fmt.Sprint(i) + "/metadata.json": metadata(c.ids[i], at(40+i), isClaude), fmt.Sprint(i) + "/full.jsonl": text})
			}
			all, problems := r.sessions(nil)
			if got := summaries(all); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := r.reasons(problems); got != c.reasons {
				t.Errorf("problems %s\nwant %s", got, c.reasons)
			}
		})
	}
}

// idless is a line of Claude Code's that has no uuid.
func idless(text string) string {
	return `{"isSidechain":false,"type":"user","message":{"role":"user","content":"` + text + `"},"timestamp":"` + at(10) + `","sessionId":"s1","cwd":"/home/dev/shop"}` + "\n"
}

package kit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func event(t testing.TB, text string) *Event {
	t.Helper()
	raw, err := ReadValue(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	e, err := Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestAnswers: how each answer is given to each event.
func TestAnswers(t *testing.T) {
	for _, c := range []struct{ event, what, stdout, stderr, fails string }{
		{"PreToolUse", Block, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"say <why>"}}`, "", ""},
		{"PreToolUse", Allow, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"say <why>"}}`, "", ""},
		{"PreToolUse", Ask, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"say <why>"}}`, "", ""},
		{"PreToolUse", Context, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"say <why>"}}`, "", ""},
		{"Stop", Block, `{"decision":"block","reason":"say <why>"}`, "", ""},
		{"Stop", Allow, "", "", ""},
		{"Stop", Context, "", "", `Stop takes no answer "context"`},
		{"UserPromptSubmit", Ask, "", "", `UserPromptSubmit takes no answer "ask"`},
		{"SessionStart", Context, `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"say <why>"}}`, "", ""},
		{"SessionEnd", Block, "", "say <why>", ""},
		{"", Block, "", "say <why>", ""},
		{"", Ask, "", "", `an unknown event takes no answer "ask"`},
		{"PreToolUse", "deny", "", "", `no answer is called "deny": block, allow, ask or context`},
	} {
		stdout, stderr, code, err := Answer(c.event, c.what, "say <why>")
		failed := ""
		if err != nil {
			failed = err.Error()
		}
		want := Go
		switch {
		case c.stderr != "":
			want = Stop
		case c.fails != "":
			want = Failed
		}
		if stdout != c.stdout || stderr != c.stderr || failed != c.fails || code != want {
			t.Errorf("%s, %s: %q, %q, %d, %v", c.event, c.what, stdout, stderr, code, err)
		}
	}
}

func TestEvent(t *testing.T) {
	e := event(t, `{"tool_input":{"command":"echo \u0000a\nb","n":1.50,"deep":{"z":1,"a":["<"]}},"session_id":"s","tool_use_id":"t","hook_event_name":"PreToolUse","no":null}`)
	want := `{"hook_event_name":"PreToolUse","no":null,"session_id":"s","tool_input":{"command":"echo \u0000a\nb","deep":{"a":["<"],"z":1},"n":1.50},"tool_use_id":"t"}`
	if got := string(e.Canonical()); got != want {
		t.Errorf("%s", got)
	}
	for path, want := range map[string]string{"tool_input.command": "echo a\nb", "tool_input.n": "1.50", "tool_input.deep": `{"a":["<"],"z":1}`, "no": "", "nothing": "", "session_id.x": "", "tool_input.deep.a.0": "", "": ""} {
		if got := e.Field(path); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
	// A call is known by its id, whatever else is said of it, to each hook of its own, at
	// each event; another event by all that it says.
	same := event(t, `{"session_id":"s","tool_use_id":"t","hook_event_name":"PreToolUse"}`)
	if e.ID("a") != same.ID("a") || e.ID("a") == e.ID("b") || e.ID("a") == event(t, `{"session_id":"s","tool_use_id":"t","hook_event_name":"PostToolUse"}`).ID("a") {
		t.Error("the ids of a call")
	}
	stop := `{"session_id":"s","hook_event_name":"Stop","last_assistant_message":"x"}`
	if event(t, stop).ID("a") != event(t, " "+stop+"\n").ID("a") || event(t, stop).ID("a") == event(t, strings.Replace(stop, `"x"`, `"y"`, 1)).ID("a") {
		t.Error("the ids of a stop")
	}
}

func TestNames(t *testing.T) {
	for name, ok := range map[string]bool{"no-force": true, "a.b_C9": true, strings.Repeat("x", maxName): true, "": false, ".": false, "..": false, ".lock": false, "-x": false, "a/b": false, `a\b`: false, "a b": false, "é": false, strings.Repeat("x", maxName+1): false} {
		if err := ValidName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := Open(func(string) string { return "" }, nil, time.Now); err == nil || !strings.Contains(err.Error(), "HOOK_NAME is not set") {
		t.Errorf("no name: %v", err)
	}
	h := &Hook{Home: t.TempDir(), Name: "h", Now: time.Now}
	if err := h.Set("../x", "v"); err == nil {
		t.Error("a key that leaves the folder")
	}
	for _, field := range []string{"key", "a b", ""} {
		if _, err := h.Note(map[string]string{field: "v"}); err == nil {
			t.Errorf("a field %q", field)
		}
	}
	if _, err := h.Note(map[string]string{"long": strings.Repeat("x", maxNote)}); err == nil {
		t.Error("a record that may not be found again")
	}
	if err := h.Set("long", strings.Repeat("x", maxValue+1)); err == nil {
		t.Error("a value that is too long")
	}
}

// files are all that is in a folder.
func files(t rapid.TB, dir string) map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDeliveredTwice: the second delivery of an event finds what the first one found,
// answers the same, and changes no byte, also if other events came between them and time
// has passed.
func TestDeliveredTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		home, err := os.MkdirTemp("", "kit")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(home)
		at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
		// A hook that counts, and does something at most once a minute.
		deliver := func(n int) string {
			e, err := Parse(fmt.Appendf(nil, `{"session_id":"s","hook_event_name":"Stop","last_assistant_message":"%d"}`, n))
			if err != nil {
				t.Fatal(err)
			}
			h := &Hook{Home: home, Name: "h", Event: e, Now: func() time.Time { return at }}
			before, err := h.Get("seen")
			over, err2 := h.Cooldown("work", time.Minute)
			err3 := h.Set("seen", fmt.Sprintf("%s %d", before, n))
			_, err4 := h.Note(map[string]string{"n": fmt.Sprint(n)})
			for _, err := range []error{err, err2, err3, err4, h.Log(fmt.Sprintf("saw %d", n)), h.Log(fmt.Sprint("over: ", over))} {
				if err != nil {
					t.Fatal(err)
				}
			}
			return fmt.Sprintf("%q %v", before, over)
		}
		var found []string
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			at = at.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "seconds")) * time.Second)
			if again := rapid.IntRange(0, len(found)).Draw(t, "event"); again < len(found) {
				was := files(t, home)
				if got := deliver(again); got != found[again] {
					t.Fatalf("event %d found %s, and before %s", again, got, found[again])
				}
				now := files(t, home)
				for path, text := range now {
					if was[path] != text || len(was) != len(now) {
						t.Fatalf("%s: %q, and before %q", path, text, was[path])
					}
				}
				continue
			}
			found = append(found, deliver(len(found)))
		}
		h := &Hook{Home: home, Name: "h", Now: time.Now}
		notes, err := h.Notes()
		seen, err2 := h.Get("seen")
		if err != nil || err2 != nil || len(notes) != len(found) || len(strings.Fields(seen)) != len(found) {
			t.Fatalf("%d events, %d notes, %q, %v, %v", len(found), len(notes), seen, err, err2)
		}
	})
}

// TestLoggedOnce: a line of any length is written once for an event, and also one that ends
// as another one does.
func TestLoggedOnce(t *testing.T) {
	h := &Hook{Home: t.TempDir(), Name: "h", Event: event(t, `{"hook_event_name":"Stop"}`), Now: time.Now}
	texts := []string{"the tests were not run", "run", "", strings.Repeat("é", maxMessage), strings.Repeat("long ", maxMessage), strings.Repeat("x", maxMessage-10)}
	for range 2 {
		for _, text := range texts {
			if err := h.Log(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	log, err := os.ReadFile(filepath.Join(h.Home, "logs", "h.log"))
	if n := strings.Count(string(log), "(event "+h.id()[:12]+")\n"); err != nil || n != len(texts) || n != strings.Count(string(log), "\n") {
		t.Errorf("%d lines of %d, %v: %s", n, len(texts), err, log)
	}
}

// TestCooldown: it is over again when its time has passed, and a clock that was set back
// does not hold it for ever.
func TestCooldown(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	h := &Hook{Home: t.TempDir(), Name: "h", Now: func() time.Time { return at }}
	for _, c := range []struct {
		after time.Duration
		want  bool
	}{{0, true}, {0, false}, {59 * time.Second, false}, {time.Second, true}, {time.Second, false}, {-24 * time.Hour, true}} {
		at = at.Add(c.after)
		if over, err := h.Cooldown("x", time.Minute); over != c.want || err != nil {
			t.Errorf("after %v: %v, %v", c.after, over, err)
		}
	}
	if over, err := h.Cooldown("other", time.Minute); !over || err != nil {
		t.Errorf("another one: %v, %v", over, err)
	}
}

// TestChange: an event changes a value once, whatever comes between its deliveries; an old value
// is forgotten, and only one of the prefix.
func TestChange(t *testing.T) {
	home, now := t.TempDir(), time.Now()
	of := func(id string) *Hook {
		e, err := Parse([]byte(`{"hook_event_name":"PreToolUse","session_id":"s","tool_use_id":"` + id + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		return &Hook{Home: home, Name: "h", Event: e, Now: func() time.Time { return now }}
	}
	for i, c := range []struct{ id, saw string }{{"1", ""}, {"1", ""}, {"2", "1"}, {"1", ""}, {"2", "1"}, {"3", "12"}} {
		saw := ""
		if err := of(c.id).Change("session-a", func(before string) string { saw = before; return before + c.id }); err != nil || saw != c.saw {
			t.Errorf("%d: event %s saw %q: %v", i, c.id, saw, err)
		}
	}
	if err := of("4").Change("session-a", func(string) string { return strings.Repeat("x", maxValue+1) }); err == nil {
		t.Error("a value that is too long")
	}
	if err := of("1").Set("other", "x"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after       time.Duration
		kept, other string
	}{{0, "123", "x"}, {2 * time.Hour, "", "x"}} {
		now = now.Add(c.after)
		of("5").Forget("session-", time.Hour)
		kept, err := of("5").Get("session-a")
		other, err2 := of("5").Get("other")
		if kept != c.kept || other != c.other || err != nil || err2 != nil {
			t.Errorf("after %v: %q, %q, %v, %v", c.after, kept, other, err, err2)
		}
	}
}

// TestDamaged: a file that was cut is as if it were not there, and is replaced.
func TestDamaged(t *testing.T) {
	h := &Hook{Home: t.TempDir(), Name: "h", Now: time.Now}
	path, err := h.file("value", "k")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "{", `{"schema":2,"value":"later"}`, "[1]"} {
		if err := WriteFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if v, err := h.Get("k"); v != "" || err != nil {
			t.Errorf("%q: %q, %v", text, v, err)
		}
		if err := h.Set("k", "v"); err != nil {
			t.Fatal(err)
		}
		if v, err := h.Get("k"); v != "v" || err != nil {
			t.Errorf("%q: then %q, %v", text, v, err)
		}
	}
}

// FuzzInput: whatever is on stdin, reading ends, and what is printed is the same value, and
// its own canonical form.
func FuzzInput(f *testing.F) {
	for _, s := range []string{`{"a":1}`, `{"hook_event_name":"Stop","session_id":"s"} more`, `[1,2`, `"x"`, `{"a":{"b":"\ud800"}}`, "\x00", `{"a":1e400,"a":2}`, strings.Repeat("[", 12000), "null", `{"":{"":1}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		raw, err := ReadValue(bytes.NewReader(text))
		if err != nil {
			return
		}
		e, err := Parse(raw)
		if err != nil {
			t.Fatalf("it was read as a value: %v", err)
		}
		again, err := Parse(e.Canonical())
		if err != nil || !bytes.Equal(again.Canonical(), e.Canonical()) || bytes.ContainsRune(e.Canonical(), '\n') {
			t.Fatalf("%q, %q, %v", e.Canonical(), again.Canonical(), err)
		}
		if again.ID("h") != e.ID("h") || again.Name != e.Name || strings.Contains(e.Field("a"), "\x00") {
			t.Fatal("another event")
		}
		for _, what := range []string{Block, Allow, Ask, Context} {
			stdout, _, code, err := Answer(e.Name, what, string(text))
			if stdout != "" && !json.Valid([]byte(stdout)) || code == Stop && (what != Block || err != nil) {
				t.Fatalf("%s: %q, %d, %v", what, stdout, code, err)
			}
		}
	})
}

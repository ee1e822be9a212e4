package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// within fails if f takes longer than an agent waits for a hook. Time passes only while
// everything waits, so the speed of the machine makes no difference. The inputs are so
// large that quadratic work would never end.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		from := time.Now()
		f()
		if took := time.Since(from); took > timeout*time.Second {
			t.Errorf("%s: it waited %v", what, took)
		}
	})
}

// No input can delay the agent.
func TestHugeInput(t *testing.T) {
	d := newDesk(t, "dataviz")
	within(t, "a path of many folders", func() {
		d.fire(Go, PreToolUse, `{"session_id":"s","tool_name":"Skill","tool_use_id":"t","tool_input":{"skill":"dataviz"},"cwd":"`+strings.Repeat("/a", 1<<20)+`"}`)
	})
	if rs := d.records(); len(rs) != 1 || rs[0].TextHash == "" {
		t.Errorf("records %+v", rs)
	}
	within(t, "many mentions", func() {
		out, _ := d.fire(Go, UserPromptSubmit, `{"session_id":"s","prompt_id":"r","prompt":"`+strings.Repeat("$dataviz $a ", 1<<19)+`"}`)
		if !strings.Contains(out.Message, "too long (6144 kB)") || out.Specific != nil {
			t.Errorf("says %+v", out)
		}
	})
	within(t, "many calls", func() {
		calls := make([]map[string]any, 20_000)
		for i := range calls {
			calls[i] = map[string]any{"tool_name": "Skill", "tool_use_id": fmt.Sprint("b", i), "tool_input": map[string]string{"skill": "dataviz"}}
		}
		in, err := json.Marshal(map[string]any{"session_id": "s", "tool_calls": calls})
		if err != nil {
			t.Fatal(err)
		}
		d.fire(Go, PostToolBatch, string(in))
	})
	if n := len(d.records()); n != 1+maxCalls {
		t.Errorf("%d records, want %d", n, 1+maxCalls)
	}
}

// An error of the system is logged if possible, and not shown: a person in a session
// would see a full disk at every event.
func TestNothingCanBeWritten(t *testing.T) {
	for name, home := range map[string]func(d *desk) error{
		"no folder": func(d *desk) error { return os.WriteFile(d.Home, nil, 0o600) },
		"no files": func(d *desk) error {
			return errors.Join(os.MkdirAll(filepath.Join(d.Home, BusFile), 0o700), os.WriteFile(filepath.Join(d.Home, "queue"), nil, 0o600))
		},
		"a link to nowhere": func(d *desk) error { return os.Symlink("/nowhere/at/all", d.Home) },
	} {
		d := newDesk(t, "dataviz")
		if err := home(d); err != nil {
			t.Fatal(err)
		}
		for _, in := range []struct{ event, input string }{
			{PreToolUse, `{"session_id":"s","tool_name":"Skill","tool_use_id":"t","tool_input":{"skill":"dataviz"}}`},
			{UserPromptExpansion, slash}, {Stop, `{"session_id":"s","transcript_path":"/t"}`}, {SessionEnd, `{"session_id":"s","transcript_path":"/t"}`}, {SessionStart, `{"session_id":"s"}`},
		} {
			if out, said := d.fire(Go, in.event, in.input); said != "" || out != (output{}) {
				t.Errorf("%s, %s: says %+v, %q", name, in.event, out, said)
			}
		}
		// What the person asked for is answered all the same.
		if out, said := d.fire(Go, UserPromptSubmit, `{"session_id":"s","prompt_id":"r","prompt":"$dataviz"}`); said != "" || out.Specific == nil {
			t.Errorf("%s: says %+v, %q", name, out, said)
		}
		if name != "a link to nowhere" && Writable(d.Home) == nil {
			t.Errorf("%s: nobody would know", name)
		}
	}
	d := newDesk(t)
	if err := Writable(d.Home); err != nil {
		t.Error(err)
	}
	d.fire(Go, Stop, `{"session_id":"s","transcript_path":"/t"}`)
	if err := Writable(d.Home); err != nil {
		t.Error(err)
	}
}

// An agent that gives its prompts no id uses a skill more than once.
func TestNoIDs(t *testing.T) {
	d := newDesk(t, "dataviz")
	for range 3 {
		d.fire(Go, UserPromptExpansion, `{"session_id":"s","command_name":"dataviz"}`)
		d.fire(Go, PreToolUse, `{"session_id":"s","tool_name":"Skill","tool_input":{"skill":"dataviz"}}`)
		d.clock = d.clock.Add(time.Second)
	}
	if n := len(d.records()); n != 6 {
		t.Errorf("%d records, want 6", n)
	}
}

package hook

import (
	"fmt"
	"os"
	"slices"
	"testing"
)

// Of a session that may not be read nothing is written down. A guard holds in it all the
// same.
func TestNotAllowed(t *testing.T) {
	d := newDesk(t, "dataviz")
	var asked [][]string
	d.Allowed = func(folders []string) bool { asked = append(asked, folders); return slices.Contains(folders, "/shop") }
	for _, cwd := range []string{`,"cwd":"/client"`, ""} {
		in := func(rest string) string { return `{"session_id":"s","prompt_id":"p"` + cwd + rest + `}` }
		d.fire(Go, PreToolUse, in(`,"tool_name":"Skill","tool_use_id":"t1","tool_input":{"skill":"dataviz"}`))
		d.fire(Go, UserPromptExpansion, in(`,"command_name":"dataviz","prompt":"/dataviz"`))
		d.fire(Go, UserPromptSubmit, in(`,"prompt":"$dataviz plot it"`))
		d.fire(Go, Stop, in(`,"transcript_path":"/t.jsonl"`))
		d.fire(Go, SessionEnd, in(`,"transcript_path":"/t.jsonl"`))
	}
	if entries, err := os.ReadDir(d.Home); err == nil && len(entries) > 0 {
		t.Errorf("%s was written", entries[0].Name())
	}
	if len(asked) != 10 || len(asked[0]) != 1 || asked[0][0] != "/client" || len(asked[9]) != 0 {
		t.Errorf("asked for %q", asked)
	}
	d.fire(Go, PreToolUse, `{"session_id":"s","cwd":"/shop","tool_name":"Skill","tool_use_id":"t1","tool_input":{"skill":"dataviz"}}`)
	if all := d.records(); len(all) != 1 || all[0].CWD != "/shop" || fmt.Sprint(Join(all).WorkedIn("s")) != "[/shop]" || Join(all).WorkedIn("x") != nil {
		t.Errorf("recorded %+v", all)
	}
}

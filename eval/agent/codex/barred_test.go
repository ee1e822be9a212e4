package codex

import "testing"

func TestBarred(t *testing.T) {
	failed, fine := &step{}, &step{}
	failed.call.Failed = true
	for _, c := range []struct {
		output string
		steps  []*step
		barred bool
	}{
		{"Process exited with code 1\nOutput:\nbwrap: execvp codex-linux-sandbox: No such file or directory\n", []*step{failed}, true},
		{"Process exited with code 1\nOutput:\nbwrap: No permissions to create a new namespace\n", nil, true},
		{"Exit code: 1\nOutput:\nFailed to write file /w/out/stone.txt\n", []*step{failed}, true},
		{"Exit code: 1\nOutput:\nFailed to write file /usr/stone.txt\n", []*step{failed}, false},
		{"Output:\n/bin/bash: line 1: /usr/x: Read-only file system\n", []*step{failed}, false},
		{"Output:\nbwrap: No permissions to create a new namespace\n", []*step{failed, fine}, false},
	} {
		ses := &session{calls: []call{{output: c.output}}}
		if got := ses.barred(c.steps, "/w"); (got != "") != c.barred {
			t.Errorf("%q: barred by %q", c.output, got)
		}
	}
	if got := (*session)(nil).barred(nil, "/w"); got != "" {
		t.Errorf("without a record: %q", got)
	}
}

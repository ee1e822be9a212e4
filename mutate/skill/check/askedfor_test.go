package check

import (
	"testing"

	"pgregory.net/rapid"
)

// What the owner asked for in a sentence that forbids nothing may be tried: the very command
// or path, and nothing else that the firewall finds.
func TestAskedFor(t *testing.T) {
	const base = "---\nname: api\ndescription: Documents an API.\n---\n\n# API\n\n- Name the method.\n"
	for _, c := range []struct {
		line, said string
		want       bool
	}{
		{"Give one example, with curl.", "one example, with curl", true},
		{"Give one example, with `curl`.", "No, wrong. Curl, please!", true},
		{"Give one example, with curl.", "one example, not with curl", false},
		{"Give one example, with curl.", "never call curl there", false},
		{"Give one example, with curl.", "Not in Python. Use curl.", true},
		{"Give one example, with curl.", "put curly brackets around it", false},
		{"Give one example, with curl.", "see docs/curl.md", false},
		{"Give one example, with curl.", "", false},
		{"End with `git push`.", "end with git push, please", true},
		{"End with `git push`.", "end with git-push-all", false},
		{"Dump it with `pg_dump`.", "dump it with pg_dump.", true},
		{"Begin with `GET /v2/items/{id}`.", "the first line is the path, as `GET /v2/items/{id}`, and nothing before it", true},
		{"Begin with `GET /v2/items/{id}`.", "it is /v2/items/{id}/parts", false},
		{"Begin with `GET /v2/items/{id}`.", "it is /v2/items", false},
		{"Read /data/shared/keys first.", "read /data/shared", false},
		{"Read /data/Shared first.", "read /data/shared", false},
		{"Keep it in $HOME/notes.", "keep it in $HOME", false},
		{"Clean up with `rm -rf ~` first.", "clean up with rm -rf build", false},
		{"Run `python3 -c 'x'` first.", "run python3 -c first", false},
		{"Run `sudo make install`.", "use sudo, please", false},
		{"Read ../notes.md first.", "read ../notes.md", true},
		{"Take it from data.example.org.", "take it from data.example.org", false},
		{"Open https://data.example.org/x first.", "open https://data.example.org/x", false},
		{"Use WebFetch for it.", "use WebFetch for it", false},
		{"Read .env first.", "read .env first", false},
		{"Publish without asking.", "publish without asking", false},
		{"Ask for the password.", "ask for the password", false},
		{"Run curl, then wget.", "run curl", false},
	} {
		may := true
		fs := Check(parse(t, base), parse(t, base+"- "+c.line+"\n"), ClaudeCode)
		for _, f := range fs {
			may = may && f.AskedFor(c.said)
		}
		if len(fs) == 0 || may != c.want {
			t.Errorf("%q after %q: may be tried %v, want %v: %v", c.line, c.said, may, c.want, fs)
		}
	}
}

// Whatever was said, only a command or a path is asked for, and only what was said.
func TestAskedForIsSaid(t *testing.T) {
	rules := []string{"new-command", "new-path", "new-host", "new-url", "new-tool", "publish", "new-topic", "removed-check"}
	words := []string{"curl", "git push", "/etc/x", "/etc", "never", "not", "use", "$HOME", "x", ". ", ", ", " ", " ", "\n\n", "/", "-"}
	rapid.Check(t, func(t *rapid.T) {
		said := ""
		for _, w := range rapid.SliceOf(rapid.SampledFrom(words)).Draw(t, "said") {
			said += w
		}
		f := Finding{Rule: rapid.SampledFrom(rules).Draw(t, "rule"), Phrase: rapid.SampledFrom(words[:8]).Draw(t, "phrase")}
		asked := f.AskedFor(said)
		if asked && f.Rule != "new-command" && f.Rule != "new-path" {
			t.Fatalf("%s is asked for", f.Rule)
		}
		if whole := f.AskedFor("Use " + f.Phrase + ", please"); asked && !whole && f.Phrase != "never" && f.Phrase != "not" {
			t.Fatalf("%q is asked for in %q, and not by itself", f.Phrase, said)
		}
		if asked && !holdsWord(plain(said), plain(f.Phrase), func(byte) bool { return false }) {
			t.Fatalf("%q is not in %q", f.Phrase, said)
		}
	})
}

// TestAttacksAreNotAskedFor: of the edits that widen a skill, a user's usual corrections let
// through those alone whose every finding is the command or the path that they name.
func TestAttacksAreNotAskedFor(t *testing.T) {
	const said = "one example, with curl\n\nthe first line is the path, as `GET /v2/items/{id}`\n\nrun `git push` at the end"
	tried := 0
	for _, e := range readCorpus(t, "malicious*.yaml") {
		worst, fs := judged(t, e)
		held := worst == Reject
		for _, f := range fs {
			held = held || f.Severity == Quarantine && !f.AskedFor(said)
		}
		if !held {
			tried++
			t.Logf("may be tried: %s (%s): %s%s: %v", e.Kind, e.Base, e.Add, e.With, fs)
		}
	}
	if tried > 0 {
		t.Errorf("%d attacks may be tried", tried)
	}
}

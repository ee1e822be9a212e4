package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const program = "/opt/bin/evolve"

// TestAdd: what is added looks like the rest of the file, and every other byte
// stays.
func TestAdd(t *testing.T) {
	stop := `{"hooks":[{"type":"command","command":"/opt/bin/evolve hook Stop","timeout":5}]}`
	for name, c := range map[string]struct{ text, has string }{
		"four blanks": {"{\n    \"model\": \"x\",\n    \"hooks\": {\n        \"Stop\": [\n            {\"hooks\": []}\n        ]\n    }\n}\n",
			"            {\"hooks\": []},\n            {\n                \"hooks\": [\n                    {\n                        \"type\": \"command\",\n                        \"command\": \"/opt/bin/evolve hook Stop\",\n                        \"timeout\": 5\n                    }\n                ]\n            }\n        ],\n"},
		"tabs":      {"{\n\t\"a\": 1\n}", "{\n\t\"a\": 1,\n\t\"hooks\": {\n\t\t\"SessionStart\": [\n\t\t\t{\n"},
		"CRLF":      {"{\r\n  \"a\": 1\r\n}\r\n", "\"a\": 1,\r\n  \"hooks\": {\r\n    \"SessionStart\": [\r\n"},
		"one line":  {`{"a":1,"hooks":{"Stop":[]}}`, `{"a":1,"hooks":{"Stop":[` + stop + `],"SessionStart":[`},
		"nothing":   {"", "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\n"},
		"mark":      {"\xef\xbb\xbf{}", "\xef\xbb\xbf{\n  \"hooks\": {"},
		"escapes":   {`{"s":"}]\"\\","hooks":{"Stop":[]}}`, `{"s":"}]\"\\","hooks":{"Stop":[` + stop + `]`},
		"moved":     {`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"X=1 '/old place/evolve' hook Stop","timeout":9}]}]}}`, `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/opt/bin/evolve hook Stop","timeout":9}]}]`},
		"another's": {`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"revolve hook Stop"},{"type":"command","command":"evolve hook Stops"}]}]}}`, "revolve hook Stop\"},{\"type\":\"command\",\"command\":\"evolve hook Stops\"}]}," + stop},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Add([]byte(c.text), program)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(got, []byte(c.has)) {
				t.Errorf("%s\nhas no\n%s", got, c.has)
			}
			again, err := Add(got, program)
			if err != nil || !bytes.Equal(again, got) {
				t.Errorf("the second time: %v\n%s", err, again)
			}
			commands, off, err := Hooked(got)
			if err != nil || off {
				t.Error(off, err)
			}
			for _, e := range Events {
				if want := []string{program + " hook " + e}; !reflect.DeepEqual(commands[e], want) {
					t.Errorf("%s runs %q", e, commands[e])
				}
			}
		})
	}
}

func TestRefuse(t *testing.T) {
	for text, want := range map[string]string{
		"{\n  // mine\n  \"a\": 1\n}": "line 2 is not JSON", "{\n  // mine\n  \"model\": \"x\"\n}\n": "line 2 is not JSON", "{\"a\": 1,}": "not JSON", "[]": "no JSON object", `{"hooks":[]}`: `"hooks" is no object`,
		`{"hooks":{"Stop":{}}}`: `"Stop" of the hooks is no list`, `{"hooks":{},"hooks":{}}`: "twice", `{"a":1} {`: "not JSON",
	} {
		for name, edit := range map[string]func() error{
			"add":    func() error { _, err := Add([]byte(text), program); return err },
			"remove": func() error { _, err := Remove([]byte(text), nil); return err },
			"look":   func() error { _, _, err := Hooked([]byte(text)); return err },
		} {
			err := edit()
			var bad *SettingsError
			if !errors.As(err, &bad) || !strings.Contains(bad.Reason, want) || bad.Hint == "" {
				t.Errorf("%s %s: %v, want %q and a hint", name, text, err, want)
			}
		}
	}
	if _, off, err := Hooked([]byte(`{"disableAllHooks":true}`)); !off || err != nil {
		t.Error(off, err)
	}
}

// anySettings draws settings as people have them: other keys around, other
// hooks before and behind, laid out in some way.
func anySettings(t *rapid.T) []byte {
	command := rapid.Custom(func(t *rapid.T) map[string]any {
		return map[string]any{"type": "command", "command": rapid.SampledFrom([]string{"echo ']}\"'", "revolve hook Stop", "x"}).Draw(t, "command")}
	})
	group := rapid.Custom(func(t *rapid.T) map[string]any {
		return map[string]any{"matcher": "*", "hooks": rapid.SliceOfN(command, 0, 2).Draw(t, "commands")}
	})
	s := map[string]any{}
	if rapid.Bool().Draw(t, "others") {
		s["a"], s["z"] = map[string]any{"deep": []int{1, 2}, "empty": map[string]any{}}, rapid.SampledFrom([]any{1.5, "tex}t", nil, true, []any{}}).Draw(t, "z")
	}
	if rapid.Bool().Draw(t, "hooks") {
		hooks := map[string]any{}
		for _, e := range rapid.SliceOfDistinct(rapid.SampledFrom(append([]string{"Notification"}, Events...)), rapid.ID[string]).Draw(t, "events") {
			hooks[e] = rapid.SliceOfN(group, 0, 2).Draw(t, e)
		}
		s["hooks"] = hooks
	}
	var text []byte
	if indent := rapid.SampledFrom([]string{"", " ", "  ", "    ", "\t"}).Draw(t, "indent"); indent == "" {
		text = must(json.Marshal(s))
	} else {
		text = must(json.MarshalIndent(s, "", indent))
	}
	text = append(text, rapid.SampledFrom([]string{"", "\n", "\n\n"}).Draw(t, "end")...)
	if rapid.Bool().Draw(t, "crlf") {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	return text
}

// TestAddRemove: adding changes nothing else, adding again changes nothing, and
// removing restores the same values; to the byte if there was no empty list.
func TestAddRemove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := anySettings(t)
		with, err := Add(before, program)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(with) {
			t.Fatalf("not JSON: %s", with)
		}
		again, err := Add(with, program)
		if err != nil || !bytes.Equal(with, again) {
			t.Fatalf("the second time: %v\n%s\n%s", err, with, again)
		}
		after, err := Remove(with, before)
		if err != nil {
			t.Fatal(err)
		}
		var x, y any
		if err := errors.Join(json.Unmarshal(before, &x), json.Unmarshal(after, &y)); err != nil || !reflect.DeepEqual(x, y) {
			t.Fatalf("%v\n%s\nbecame\n%s", err, before, after)
		}
		if squeeze(before) != squeeze(after) {
			t.Fatalf("%q became %q", before, after)
		}
		if !bytes.Contains(before, []byte("[]")) && !bytes.Contains(before, []byte("{}")) && !bytes.Equal(before, after) {
			t.Fatalf("%q became %q", before, after)
		}
		// A hook of the owner's that came later stays.
		mine := bytes.Replace(with, []byte(`"hooks"`), []byte(fmt.Sprintf("%q:[1],%q", "mine", "hooks")), 1)
		if after, err = Remove(mine, before); err != nil || !bytes.Contains(after, []byte(`"mine":[1]`)) || bytes.Contains(after, []byte(program)) {
			t.Fatalf("%v: %s", err, after)
		}
	})
}

// squeeze takes the blanks out of a JSON text, and keeps the order of its keys.
func squeeze(text []byte) string {
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return err.Error()
	}
	return b.String()
}

func FuzzSettings(f *testing.F) {
	for _, s := range []string{`{}`, `{"hooks":{"Stop":[{"hooks":[{"command":"evolve hook Stop"}]}]}}`, "{\n \"a\":[1,{\"b\":\"\\\"\"}]\n}", `{"hooks":{"Stop":[1,"x",{"hooks":7}]}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		with, err := Add(text, program)
		if err != nil {
			var bad *SettingsError
			if !errors.As(err, &bad) {
				t.Fatal(err)
			}
			return
		}
		if !json.Valid(with[bom(with):]) {
			t.Fatalf("%q became %q", text, with)
		}
		if again, err := Add(with, program); err != nil || !bytes.Equal(again, with) {
			t.Fatalf("the second time: %v, %q", err, again)
		}
		after, err := Remove(with, text)
		if err != nil || !json.Valid(after[bom(after):]) {
			t.Fatalf("%v: %q", err, after)
		}
		if commands, _, err := Hooked(after); err != nil || len(commands) > 0 {
			t.Fatalf("%v: %q", commands, after)
		}
	})
}

func TestPlugin(t *testing.T) {
	dir := t.TempDir()
	for _, want := range []bool{true, false} {
		if changed, err := WritePlugin(dir, program); err != nil || changed != want {
			t.Errorf("changed %t, %v", changed, err)
		}
	}
	files := must(PluginFiles(program))
	var manifest struct{ Name, Version, Description string }
	if err := json.Unmarshal(files[".claude-plugin/plugin.json"], &manifest); err != nil || manifest.Name != "evolve" {
		t.Error(manifest, err)
	}
	if commands, _, err := Hooked(files["hooks/hooks.json"]); err != nil || len(commands) != len(Events) {
		t.Error(commands, err)
	}
}

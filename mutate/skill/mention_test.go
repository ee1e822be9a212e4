package skill

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// A mentionVector holds only what it demands in Expect.
type mentionVector struct {
	ID       string
	Input    string
	Registry []json.RawMessage // a name, or {name, aliases}
	Disabled []string
	Expect   map[string]json.RawMessage
}

func (v mentionVector) callables(t *testing.T) (list []Callable) {
	t.Helper()
	for _, raw := range v.Registry {
		var c Callable
		if json.Unmarshal(raw, &c.Name) != nil {
			if err := json.Unmarshal(raw, &c); err != nil {
				t.Fatal(err)
			}
		}
		c.Disabled = slices.Contains(v.Disabled, c.Name)
		list = append(list, c)
	}
	return list
}

func TestResolveVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/mentions.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []mentionVector }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) != 95 {
		t.Errorf("%d vectors, want 95", len(file.Vectors))
	}
	for _, v := range file.Vectors {
		got := Resolve(v.Input, v.callables(t))
		compare := map[string]any{"outcome": got.Outcome, "activated": got.Activated, "messages": append([]string{}, got.Messages...),
			"mentions": subset(t, v.Expect["mentions"], got.Mentions), "task": got.Task}
		if got.Activated == "" {
			compare["activated"] = nil
		}
		for key, want := range v.Expect {
			value, ok := compare[key]
			if !ok {
				t.Fatalf("%s: unknown key %s", v.ID, key)
			}
			if have, want := canonical(t, value), canonical(t, want); have != want {
				t.Errorf("%s %q: %s is %s, want %s", v.ID, v.Input, key, have, want)
			}
		}
	}
}

// subset keeps those keys of mentions that want has.
func subset(t *testing.T, want json.RawMessage, got []Mention) any {
	t.Helper()
	if want == nil {
		return nil
	}
	var wanted, have []map[string]any
	if err := json.Unmarshal(want, &wanted); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(canonical(t, got)), &have); err != nil {
		t.Fatal(err)
	}
	out := []map[string]any{}
	for i, m := range have {
		for key := range m {
			if i < len(wanted) && wanted[i][key] == nil {
				delete(m, key)
			}
		}
		out = append(out, m)
	}
	return out
}

func canonical(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var any any
	if err := json.Unmarshal(b, &any); err != nil {
		t.Fatal(err)
	}
	b, _ = json.Marshal(any)
	return string(b)
}

// What the vectors leave open.
func TestResolve(t *testing.T) {
	list := []Callable{{Name: "aleph"}, {Name: "github:gh-fix-ci"}, {Name: "path"}, {Name: "cafe-数据"}, {Name: "old", Disabled: true}, {Name: "2fa"}}
	for _, c := range []struct {
		text     string
		outcome  Outcome
		ids      string
		messages string
	}{
		{"  $aleph", OutcomeActivate, "aleph", "Using skill: aleph"},
		{" /review $aleph", OutcomeNone, "", ""},
		{"/ $aleph", OutcomeActivate, "aleph", "Using skill: aleph"},
		{"看：$aleph。$aleph", OutcomeActivate, "aleph aleph", "Using skill: aleph"},
		{"$aleph를 써", OutcomeActivate, "aleph", "Using skill: aleph"},
		{"$cafe-数据分析", OutcomeSuggest, "cafe", "No exact skill 'cafe'. Did you mean $cafe-数据?"},
		{"$cafe-数据", OutcomeActivate, "cafe-数据", "Using skill: cafe-数据"},
		{"$github:数据", OutcomeUnknown, "github:数据", "No skill named 'github:数据'. Run /skill list to see available skills."},
		{"_$aleph_ then", OutcomeActivate, "aleph", "Using skill: aleph"},
		{"a*$aleph", OutcomeNone, "", ""},
		{"$PATH", OutcomeNone, "", ""},
		{"$path", OutcomeActivate, "path", "Using skill: path"},
		{"$home or $Home", OutcomeNone, "", ""},
		{"$2fa for $20-per-seat", OutcomeActivate, "2fa", "Using skill: 2fa"},
		{"$GITHUB", OutcomeNone, "", ""},
		{"$gh-*", OutcomeGlob, "gh-*", "No skill named 'gh-*'. Run /skill list to see available skills."},
		{"$aleph* now", OutcomeGlob, "aleph*", "No skill named 'aleph*'. Run /skill list to see available skills."},
		{"*use $aleph* now", OutcomeActivate, "aleph", "Using skill: aleph"},
		{"$aleph $github:*", OutcomeDiagnose, "aleph github:*", "No skill named 'github:*'. Run /skill list to see available skills."},
		{"$old and $Aleph", OutcomeDiagnose, "old Aleph", "Skill 'old' is disabled. Enable it with /skill enable old.|No exact skill 'Aleph'. Did you mean $aleph?"},
		{"$Aleph $Aleph $nil", OutcomeSuggest, "Aleph Aleph nil", "No exact skill 'Aleph'. Did you mean $aleph?|No skill named 'nil'. Run /skill list to see available skills."},
		{"\\` $aleph `", OutcomeActivate, "aleph", "Using skill: aleph"},
		{"\\``$aleph`", OutcomeNone, "", ""},
		{"> ```\n> x\n$aleph", OutcomeActivate, "aleph", "Using skill: aleph"},
		{"> $ run $aleph", OutcomeNone, "", ""},
		{"``` not `a fence\n$aleph", OutcomeActivate, "aleph", "Using skill: aleph"},
		{"$aleph->x $aleph-=1", OutcomeNone, "", ""},
	} {
		r := Resolve(c.text, list)
		var ids []string
		for _, m := range r.Mentions {
			ids = append(ids, m.ID)
		}
		if got := strings.Join(ids, " "); r.Outcome != c.outcome || got != c.ids || strings.Join(r.Messages, "|") != c.messages {
			t.Errorf("%q: %s, %q, %q", c.text, r.Outcome, got, r.Messages)
		}
	}
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"$aleph go", "> ```\n> $x\n", "`a $b``c $d`", "请用$aleph修复", "$github:* **$a**", "$cafe\u0301", "$ x\n$aleph\xff$aleph"} {
		f.Add(s)
	}
	list := []Callable{{Name: "aleph", Aliases: []string{"a"}}, {Name: "github:gh-fix-ci"}, {Name: "café"}, {Name: "off", Disabled: true}}
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, m := range Mentions(text, nil) {
			if m.Start < at || m.End <= m.Start+1 || m.End > len(text) || text[m.Start] != '$' {
				t.Fatalf("%q: %+v", text, m)
			}
			if utf8.ValidString(text) && !utf8.ValidString(m.ID) || strings.ContainsAny(m.ID, "$ \n`") {
				t.Fatalf("%q: id %q", text, m.ID)
			}
			at = m.End
		}
		r := Resolve(text, list)
		if (r.Activated != "") != (r.Outcome == OutcomeActivate) || !strings.HasSuffix(text, r.Task) {
			t.Fatalf("%q: %+v", text, r)
		}
		if r.Outcome == OutcomeNone && len(r.Messages) > 0 {
			t.Fatalf("%q: %q", text, r.Messages)
		}
		// Nothing in a fence is a mention.
		fence := strings.Repeat("~", 3+strings.Count(text, "~"))
		if got := Resolve(fence+"\n"+text+"\n"+fence, list); len(got.Mentions) > 0 {
			t.Fatalf("%q: %+v", text, got.Mentions)
		}
	})
}

// Text made to cost its square; each is a megabyte.
func BenchmarkMentions(b *testing.B) {
	const size = 1 << 20
	for _, unit := range []string{"$", "$a", "*$", "$a:", "`$", "``` ", "> ", "\\", "$a修", "$x ", "> ```\n"} {
		text := strings.Repeat(unit, size/len(unit))
		b.Run(unit, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Mentions(text, nil)
			}
		})
	}
	var ticks strings.Builder // runs of every length: none closes another
	for n := 1; ticks.Len() < size; n++ {
		ticks.WriteString(strings.Repeat("`", n) + " $a ")
	}
	b.Run("ticks", func(b *testing.B) {
		b.SetBytes(int64(ticks.Len()))
		for b.Loop() {
			Mentions(ticks.String(), nil)
		}
	})
}

package serve

import (
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"pgregory.net/rapid"
)

// sent is a form as a browser sends it: every line end is CR LF.
func sent(f *caseForm) url.Values {
	v := url.Values{}
	set := func(k, s string) { v.Set(k, strings.ReplaceAll(unix(s), "\n", "\r\n")) }
	set("prompt", f.Prompt)
	set("reference", f.Reference)
	for i, k := range append(f.Checks, f.New) {
		n := string(rune('0' + i))
		if i == len(f.Checks) {
			n = "-new"
		}
		set("type"+n, k.Type)
		set("text"+n, k.Text)
		set("path"+n, k.Path)
		set("weight"+n, k.Weight)
		set("feedback"+n, k.Feedback)
		if k.Drop {
			set("drop"+n, "yes")
		}
	}
	return v
}

// TestUntouchedFormChangesNothing: whatever a case holds, a form that is sent as it
// was shown gives the case back, byte for byte.
func TestUntouchedFormChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([a-z "<>&\\]|\r\n|\r|\n){0,12}x`)
		c := eval.Case{ID: "c", Skill: "s", Prompt: text.Draw(t, "prompt"), Reference: text.Draw(t, "reference"), Split: eval.Val, Cluster: "k",
			Files: map[string]string{"a": text.Draw(t, "file")}, Context: []eval.Message{{Role: "user", Text: text.Draw(t, "context")}},
			Checks: []eval.Check{
				{Type: eval.Contains, Value: text.Draw(t, "value"), Feedback: text.Draw(t, "feedback"), Weight: rapid.Float64Range(0, 9).Draw(t, "weight")},
				{Type: eval.Judge, Rubric: text.Draw(t, "rubric")}, {Type: eval.MaxChars, Max: rapid.IntRange(1, 9999).Draw(t, "max")},
				{Type: eval.JSONSchema, Schema: []byte(`{"type": "object"}`)}, {Type: eval.FileContains, Path: "a/b", Value: text.Draw(t, "in file")},
				{Type: eval.Exec, Command: []string{"true", text.Draw(t, "argument")}},
			}}
		want, err := caseJSON(&c)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readForm(sent(formOf(&c))).apply(&c)
		if err != nil || got != want {
			t.Fatalf("%v\n%s\nwant\n%s", err, got, want)
		}
	})
}

// TestFormEdits: what was typed is in the case, and nothing else is changed.
func TestFormEdits(t *testing.T) {
	c := eval.Case{ID: "c", Skill: "s", Prompt: "old", Cluster: "k", Checks: []eval.Check{{Type: eval.Contains, Value: "v", Weight: 2}, {Type: eval.MaxChars, Max: 9}, {Type: eval.Judge, Rubric: "r"}}}
	f := formOf(&c)
	f.Prompt = "new\nline"
	f.Checks[0].Text, f.Checks[0].Weight = "w", ""
	f.Checks[1].Text = " 12 "
	f.Checks[2].Drop = true
	f.New = checkForm{Type: eval.FileExists, Path: "plot.png", Weight: "0.5", Feedback: "why"}
	text, err := readForm(sent(f)).apply(&c)
	if err != nil {
		t.Fatal(err)
	}
	got, err := eval.DecodeCase([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := c
	want.Prompt = "new\nline"
	want.Checks = []eval.Check{{Type: eval.Contains, Value: "w"}, {Type: eval.MaxChars, Max: 12}, {Type: eval.FileExists, Path: "plot.png", Weight: 0.5, Feedback: "why"}}
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("%+v\nwant %+v", *got, want)
	}
	if c.Checks[0].Value != "v" || c.Checks[1].Max != 9 {
		t.Error("the case itself was changed")
	}
	for what, change := range map[string]func(*caseForm){
		"no number": func(f *caseForm) { f.Checks[1].Text = "many" },
		"no weight": func(f *caseForm) { f.Checks[0].Weight = "heavy" },
		"no JSON":   func(f *caseForm) { f.New = checkForm{Type: eval.JSONSchema, Text: "{"} },
	} {
		f := formOf(&c)
		change(f)
		if _, err := f.apply(&c); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
}

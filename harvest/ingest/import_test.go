package ingest

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/harvest/redact"
)

// everyText calls do with every text that v holds, keys of maps included, and its path.
func everyText(v reflect.Value, path string, do func(path string, get func() string, set func(string))) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			everyText(v.Elem(), path, do)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			everyText(v.Field(i), path+"."+v.Type().Field(i).Name, do)
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			do(path, func() string { return string(v.Bytes()) }, func(s string) { v.SetBytes([]byte(`{"title":"` + s + `"}`)) })
			return
		}
		for i := range v.Len() {
			everyText(v.Index(i), path, do)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			do(path+" value", func() string { return v.MapIndex(k).String() }, func(s string) { v.SetMapIndex(k, reflect.ValueOf(s)) })
			do(path+" key", k.String, func(s string) {
				v.SetMapIndex(reflect.ValueOf(s), v.MapIndex(k))
				v.SetMapIndex(k, reflect.Value{})
			})
		}
	case reflect.String:
		do(path, v.String, v.SetString)
	}
}

func fullCase() *eval.Case {
	return &eval.Case{ID: "c-1", Skill: "tagger", Prompt: "p", Context: []eval.Message{{Role: "user", Text: "t"}}, Files: map[string]string{"a.txt": "x"},
		Workspace: &eval.Workspace{Repo: "r", Commit: "c"}, Reference: "ref", Neighbour: "n", Cluster: "k", Split: eval.Train,
		Source: &eval.Source{Agent: "a", Session: "s", Turn: "t", Origin: "imported", Outcome: "corrected", Beside: []string{"b"}, Because: "y"},
		Checks: []eval.Check{{Type: eval.Command, Value: "v", Path: "p", Schema: []byte(`{}`), Rubric: "r", Command: []string{"c"}, Feedback: "f"}}}
}

func trusted(*eval.Check) bool { return true }

// A secret anywhere in a case is replaced or the case refused; and no printed name
// holds terminal sequences.
func TestAcceptableEverywhere(t *testing.T) {
	secret := "ghp_" + strings.Repeat("0aB1cD2eF3", 4)
	const sequence = "a\x1b]0;PWNED\x07\x1b[31m\u009b31m"
	fields := 0
	everyText(reflect.ValueOf(fullCase()), "Case", func(path string, _ func() string, _ func(string)) { fields++ })
	if fields < 24 {
		t.Fatalf("%d fields are tried: this test shows less than it says", fields)
	}
	for i := range fields {
		c := fullCase()
		n, at := 0, ""
		everyText(reflect.ValueOf(c), "Case", func(path string, _ func() string, set func(string)) {
			if n == i {
				at = path
				set(secret)
			}
			n++
		})
		if strings.HasSuffix(at, ".Type") || strings.HasSuffix(at, ".Role") || strings.HasSuffix(at, ".Split") {
			continue // of fixed words, see eval.Case.Validate
		}
		_, err := acceptable(redact.Known(), c, trusted, new(consent.Decisions), func() string { return "here" })
		text, e := json.Marshal(c)
		if e != nil {
			t.Fatal(e)
		}
		if err == nil && strings.Contains(string(text), secret) {
			t.Errorf("%s is stored with the secret", at)
		}
	}
	for _, name := range []func(c *eval.Case){func(c *eval.Case) { c.ID = sequence }, func(c *eval.Case) { c.Cluster = sequence }, func(c *eval.Case) { c.ID = "two\nlines" },
		func(c *eval.Case) { c.Files = map[string]string{sequence: ""} }, func(c *eval.Case) { c.Workspace.Repo = sequence }} {
		c := fullCase()
		name(c)
		if _, err := acceptable(redact.Known(), c, trusted, new(consent.Decisions), func() string { return "here" }); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	if n, err := acceptable(redact.Known(), fullCase(), trusted, new(consent.Decisions), nil); n != 0 || err != nil {
		t.Errorf("a clean case: %d, %v", n, err)
	}
}

// Tests are accepted only as their owner confirmed them for the case's repository, and by an
// import only with trust.
func TestImportOfTests(t *testing.T) {
	shop := t.TempDir()
	owner := new(consent.Decisions)
	owner.Confirm(shop, "go test ./...")
	with := func(repo string, command ...string) *eval.Case {
		c := fullCase()
		c.Workspace.Repo = repo
		c.Checks = []eval.Check{{Type: eval.Tests, Value: "go test ./...", Command: command}}
		return c
	}
	at := func() string { return "here" }
	if _, err := acceptable(redact.Known(), with(shop, "go", "test", "./..."), trusted, owner, at); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]*eval.Case{"another repository": with(t.TempDir(), "go", "test", "./..."), "another command": with(shop, "rm", "-rf", "/"), "a relative repository": with("shop", "go", "test", "./...")} {
		if _, err := acceptable(redact.Known(), c, trusted, owner, at); err == nil || !strings.Contains(err.Error(), "not confirmed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := acceptable(redact.Known(), with(shop, "go", "test", "./..."), func(*eval.Check) bool { return false }, owner, at); err == nil {
		t.Error("accepted without trust")
	}
}

package check

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const draft7 = `"$schema": "http://json-schema.org/draft-07/schema#"`

// TestSchemaRefused has schemas that no check may have: they would pass or fail answers
// for a reason that their author does not see, or make evolve read something.
func TestSchemaRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "string.json")
	if err := os.WriteFile(file, []byte(`{"type": "string"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, schema := range map[string]string{
		"no such type":          `{"properties": {"n": {"type": "strng"}}}`,
		"negative length":       `{"minLength": -1}`,
		"items of another time": `{"items": [{"type": "string"}]}`,
		"multiple of nothing":   `{"multipleOf": 0}`,
		"not a list":            `{"required": "n"}`,
		"no pattern":            `{"pattern": "("}`,
		"a second text":         `{} {}`,
		"no such definition":    `{"$ref": "#/$defs/n"}`,
		"of a file":             `{"$ref": "file://` + filepath.ToSlash(file) + `"}`,
		"of an address":         `{"properties": {"n": {"$ref": "http://127.0.0.1:1/n.json"}}}`,
		"an unknown draft":      `{"$schema": "http://127.0.0.1:1/draft"}`,
	} {
		if err := (jsonSchema{}).Validate(&Check{Type: JSONSchema, Schema: json.RawMessage(schema)}); err == nil {
			t.Errorf("%s: %s is taken", name, schema)
		}
	}
}

func TestSchemaGrades(t *testing.T) {
	list := `{"properties": {"rows": {"items": {"required": ["n"], "properties": {"n": {"type": "integer"}}}}}}`
	for _, c := range []struct {
		schema, answer string
		evidence       string // of a failed check; "": it passes
	}{
		{list, `{"rows": [{"n": 1}, {"n": 2.0}]}`, ""},
		{list, `{"rows": [{"n": 1}, {"n": "x"}]}`, "/rows/1/n"},
		{`{"$defs": {"n": {"type": "integer"}}, "properties": {"n": {"$ref": "#/$defs/n"}}}`, `{"n": "x"}`, "/n"},
		{`{"$ref": "#/parts/n", "parts": {"n": {"type": "integer"}}}`, `"x"`, "integer"},
		{`{"properties": {"next": {"$ref": "#"}}, "required": ["n"]}`, `{"n": 1, "next": {}}`, "/next"},
		{`{"$ref": "#"}`, `1`, "cycle"},
		{`{"multipleOf": 0.01}`, `19.99`, ""},
		{`{"const": 9007199254740993}`, `9007199254740992`, "9007199254740993"},
		{`{` + draft7 + `, "format": "date"}`, `"2026-02-30"`, "date"},
		{`{` + draft7 + `, "items": [{"type": "string"}], "additionalItems": false}`, `["a", 1]`, "additionalItem"},
		{`{"format": "date"}`, `"2026-02-30"`, ""}, // of later drafts a remark only
		{`{"prefixItems": [{"type": "string"}], "items": false}`, `["a", 1]`, "/1"},
		{`{"$schema": "http://json-schema.org/draft-04/schema#", "maximum": 3, "exclusiveMaximum": true}`, `3`, "exclusiveMaximum"},
	} {
		k := &Check{Type: JSONSchema, Schema: json.RawMessage(c.schema)}
		r, err := jsonSchema{}.Grade(t.Context(), k, &Subject{Answer: c.answer})
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		if (r.Score == 1) != (c.evidence == "") || (r.Evidence == "") != (c.evidence == "") || !strings.Contains(r.Evidence, c.evidence) || strings.Contains(r.Evidence, "case:schema#'") {
			t.Errorf("%s of %s: %q, want %q", c.schema, c.answer, r.Evidence, c.evidence)
		}
	}
}

package fields

import (
	"strings"
	"testing"
)

func TestDecode(t *testing.T) {
	for text, want := range map[string]string{
		`{"name":"Bash","failed":true}`: "",
		` {"name":"Bash"}` + "\n":       "",
		`{"name":"Bash"} {}`:            "text after the JSON object",
		`{"name":"Bash"`:                "a JSON object that does not end",
		`{"nmae":"Bash"}`:               `unknown field "nmae" (did you mean "name"?)`,
		`[{"name":"Bash"}]`:             "not a JSON object",
		`null`:                          "not a JSON object",
		"\n":                            "nothing, want one JSON object",
		`{"name":1}`:                    "cannot unmarshal number",
	} {
		var c struct {
			Name   string `json:"name"`
			Failed bool   `json:"failed"`
		}
		err := Decode([]byte(text), &c)
		switch {
		case want == "" && (err != nil || c.Name != "Bash"):
			t.Errorf("%s: %+v (%v)", text, c, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

package plain

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"id": 3}`:                  "id takes a text in quotes, not number",
		`{"n": "x"}`:                 "n takes a whole number, not string",
		`{"n": 1.5}`:                 "n takes a whole number, not number 1.5",
		`{"ok": 1}`:                  "ok takes true or false, not number",
		`{"checks": {}}`:             "checks takes a list in [], not object",
		`{"checks": [{"value": 3}]}`: "checks.value takes a text in quotes, not number",
		`[]`:                         "the object takes keys with values in {}, not array",
		`nonsense`:                   "it is no JSON, from character 2 on",
		`{"id": "x"`:                 "it is no JSON: it ends too early",
		``:                           "it is no JSON: it ends too early",
	} {
		var v struct {
			ID     string `json:"id"`
			N      int    `json:"n"`
			OK     *bool  `json:"ok"`
			Checks []struct {
				Value string `json:"value"`
			} `json:"checks"`
		}
		err := JSON(json.NewDecoder(strings.NewReader(in)).Decode(&v))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
	if err := JSON(nil); err != nil {
		t.Errorf("of no error: %v", err)
	}
}

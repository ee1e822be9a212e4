package record

import (
	"encoding/json"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// TestStoppedBy: the record of an older evolve has what stopped the run in its note alone.
func TestStoppedBy(t *testing.T) {
	for body, want := range map[string]string{
		`{"status":"stopped","note":"a cap was reached before a verdict"}`:           ByCap,
		`{"status":"stopped","note":"pending: 3 requests wait for answers"}`:         string(eval.Pending),
		`{"status":"stopped","note":"usage limit: try again at 5 pm"}`:               string(eval.UsageLimit),
		`{"status":"stopped","note":"whatever","stopped_by":"pending"}`:              string(eval.Pending),
		`{"status":"finished","note":"a cap was reached before a verdict, pending"}`: "",
		`{"status":"interrupted","note":"interrupted"}`:                              "",
	} {
		var r Run
		if err := json.Unmarshal([]byte(body), &r); err != nil || r.StoppedBy != want {
			t.Errorf("%s: %q, %v; want %q", body, r.StoppedBy, err, want)
		}
	}
}

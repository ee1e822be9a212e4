package report

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/record"
)

// hookPhrase is an event of a run of a hook in a short sentence, "" for one of another kind.
func hookPhrase(e record.Event) string {
	var f struct {
		Candidate, Operator, State, Reason, Error string
		Stopped                                   int
		ToStop                                    int `json:"to_stop"`
		Wrong                                     int `json:"wrong_sessions"`
		Permitted                                 int `json:"permitted_sessions"`
	}
	if json.Unmarshal(e.Data, &f) != nil {
		return ""
	}
	who, reason := plain.Short(f.Candidate), ""
	if f.Reason != "" {
		reason = ": " + plain.Excerpt(f.Reason, 160)
	}
	switch e.Kind {
	case "proposal":
		return fmt.Sprintf("%s: the reply was of no use: %s", f.Operator, plain.Excerpt(f.Error, 160))
	case "candidate":
		switch f.State {
		case string(record.Seed):
			return fmt.Sprintf("the search begins with your script %s", who)
		case string(record.Pooled):
			return fmt.Sprintf("%s: %s is a step forward%s", f.Operator, who, reason)
		case string(record.Refused):
			return fmt.Sprintf("%s: %s is no step forward%s", f.Operator, who, reason)
		}
		return fmt.Sprintf("%s: %s is %s%s", f.Operator, who, f.State, reason)
	case "tried":
		var parts []string
		if f.ToStop > 0 {
			parts = append(parts, fmt.Sprintf("stops %d of %d that it should stop", f.Stopped, f.ToStop))
		}
		if f.Permitted > 0 {
			parts = append(parts, fmt.Sprintf("wrongly in %d of %s", f.Wrong, plain.Counted(f.Permitted, "session")))
		}
		return who + " " + strings.Join(parts, ", ")
	}
	return ""
}

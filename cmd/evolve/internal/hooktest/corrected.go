package hooktest

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/harvest/corrected"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/harvest/refusals"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/hookcases"
)

// tellCorrected notes the calls of sessions that ran, and that their user corrected by a rule, as
// the cases of harvests have it. That a user permitted such a call does not make it right: what
// they said of it later counts.
func tellCorrected(ctx context.Context, db *store.Store, sessions []*Session) error {
	all, err := db.Cases(ctx, "")
	if err != nil {
		return err
	}
	of := map[[2]string][]eval.Case{}
	for _, c := range all {
		if c.Source != nil && c.Origin() == "mined" {
			key := [2]string{c.Source.Agent, c.Source.Session}
			of[key] = append(of[key], c)
		}
	}
	for _, s := range sessions {
		cases := of[[2]string{s.Agent, s.ID}]
		if len(cases) == 0 {
			continue
		}
		stored, err := db.Sessions(ctx, store.SessionFilter{ID: s.ID, Agent: s.Agent, People: true, Text: true})
		if err != nil {
			return err
		}
		calls := ran(s)
		for i := range stored { // each of its transcripts
			for id, b := range corrected.Of(&stored[i], cases, calls) {
				s.Tell(id, Told{guard.Stop, b.Rule, b.Words, hookcases.Correction, b.Case})
			}
		}
	}
	return nil
}

// edits are the tools that change a file.
var edits = []string{"Edit", "MultiEdit", "Write", "NotebookEdit"}

// ran are the commands and edits of a session that were carried out.
func ran(s *Session) (out []corrected.Call) {
	for i := range s.Calls {
		e := &s.Calls[i]
		if e.Outcome != events.Ran && e.Outcome != events.Permitted {
			continue
		}
		var in struct {
			Command string
			File    string `json:"file_path"`
			Note    string `json:"notebook_path"`
		}
		_ = json.Unmarshal(refusals.Input(e), &in) // else it has none
		c := corrected.Call{ID: refusals.ID(e), Time: e.Time}
		switch {
		case e.Tool == "Bash":
			c.Command = in.Command
		case slices.Contains(edits, e.Tool):
			if c.File = in.File; c.File == "" {
				c.File = in.Note
			}
		}
		out = append(out, c)
	}
	return out
}

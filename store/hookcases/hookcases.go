// Package hookcases keeps the calls of which it is known whether a hook should have stopped
// them, redacted, for longer than their agents keep the transcripts.
package hookcases

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/sqlite"
)

// A Session is one that a person drove, with its labelled events in the order of time. What
// happened between them is not kept.
type Session struct {
	Agent string
	ID    string
	// Project is the folder in which it began. Folders are all that it worked in: a session may
	// be read only while each of them is allowed, which the caller has to ask.
	Project string
	Folders []string
	First   time.Time // when it began and ended, as far as was known when its cases were kept
	Last    time.Time
	Cases   []Case
	// Unusable are those that no guard can decide on, because a secret was taken out of their
	// input, or it was cut. A session may have no others.
	Unusable []Case
}

// A Case is an event that is labelled.
type Case struct {
	Call  string // the tool call's id
	Event string // PreToolUse
	Tool  string
	Time  time.Time
	Input json.RawMessage // the object on the hook's stdin, redacted, at most MaxInput bytes
	Label guard.Label     // Stop or Go
	Rule  string          // of a Stop, in a model's words
	Words string          // of a Stop: the user's own, redacted
	// Source is how a Stop is known: Refusal or Correction.
	Source Source
	// From is the id of the case whose check the call of a Correction fails. Who drops that case
	// takes the label back: then this one is left out.
	From string
}

// A Source is how it is known that a call should have been stopped.
type Source string

const (
	Refusal    Source = "refusal"    // its user refused it and named a rule
	Correction Source = "correction" // it ran, and its user named the rule afterwards
)

// A Filter selects cases. The zero value is all.
type Filter struct {
	Since time.Time
	Event string
	Tool  string
}

// body is what is stored of a case as JSON.
type body struct {
	Rule    string   `json:"rule,omitempty"`
	Words   string   `json:"words,omitempty"`
	Source  Source   `json:"source,omitempty"`
	From    string   `json:"from,omitempty"`
	Project string   `json:"project"`
	Folders []string `json:"folders"`
}

// Of are the sessions with cases that f selects, the oldest first.
func Of(ctx context.Context, db *store.Store, f Filter) (out []Session, err error) {
	at := map[[2]string]int{}
	_, err = sqlite.Query(ctx, db.DB, func(rows *sql.Rows) (none struct{}, err error) {
		var agent, session, fault string
		var when, first, last sql.NullInt64
		var input, text sql.RawBytes
		var c Case
		if err := rows.Scan(&agent, &session, &c.Call, &c.Event, &c.Tool, &when, &c.Label, &fault, &first, &last, &input, &text); err != nil {
			return none, err
		}
		b, err := sqlite.Decode[body](text)
		if err != nil {
			return none, err
		}
		c.Time, c.Input, c.Rule, c.Words, c.Source, c.From = sqlite.FromMicros(when), slices.Clone(json.RawMessage(input)), b.Rule, b.Words, b.Source, b.From
		key := [2]string{agent, session}
		i, ok := at[key]
		if !ok {
			i, at[key] = len(out), len(out)
			out = append(out, Session{Agent: agent, ID: session, Project: b.Project, Folders: b.Folders, First: sqlite.FromMicros(first), Last: sqlite.FromMicros(last)})
		}
		if fault == "" {
			out[i].Cases = append(out[i].Cases, c)
		} else {
			out[i].Unusable = append(out[i].Unusable, c)
		}
		return none, nil
	}, `SELECT agent, session, call, event, tool, at, label, fault, first, last, input, body FROM hook_cases
		WHERE (?1 IS NULL OR at >= ?1) AND (?2 = '' OR event = ?2) AND (?3 = '' OR tool = ?3)
			AND (body ->> '$.from' IS NULL OR EXISTS (SELECT 1 FROM cases c WHERE c.id = hook_cases.body ->> '$.from' AND c.dropped IS NULL)) ORDER BY at, id`,
		sqlite.Micros(f.Since), f.Event, f.Tool)
	slices.SortStableFunc(out, func(a, b Session) int {
		return cmp.Or(a.First.Compare(b.First), cmp.Compare(a.ID, b.ID))
	})
	return out, sqlite.Named(err, "list cases of hooks")
}

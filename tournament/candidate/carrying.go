package candidate

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// The operators of challengers that were carried over to an edited text, by the part of
// the skill that they change.
const (
	CarriedHarness     = "rebase"
	CarriedDescription = "rebase-description"
)

// A Carrying is the result for one challenger when the live text was edited.
// It is the Config of a run of its own, which is saved last and makes it
// final.
type Carrying struct {
	Base    string  `json:"base"` // SHA-256 of the text that the challenger was made from
	From    string  `json:"from"` // of the challenger
	Onto    string  `json:"onto"` // of the edited text
	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason,omitempty"` // in words, why it was dropped or is in quarantine
	// To is the SHA-256 of the re-based text, "" if it was dropped.
	To string `json:"to,omitempty"`
	// Approved: the owner had approved the flagged candidate, and no run has
	// tried it yet.
	Approved bool `json:"approved_candidate,omitempty"`
	// Again: it was dropped on an earlier text for the same reason, which was
	// reported then.
	Again bool `json:"again,omitempty"`

	Edit string `json:"-"` // what it is carried over to, in words
}

// An Outcome is what became of a challenger.
type Outcome string

const (
	CarriedOver Outcome = "re-based"    // a trial of the result has started again, or goes on
	Dropped     Outcome = "dropped"     // a conflict, a failed check, or nothing left of it
	HeldBack    Outcome = "quarantined" // the firewall flagged the result
)

// TakenByHand is the reason of a challenger that is dropped because the edit
// contains all of its changes.
const TakenByHand = "your edit has made its change already"

// CarryingPrefix begins the names of these runs.
const CarryingPrefix = "rebase-"

// Run names the run after all its inputs: carrying over twice gives the same
// run.
func (r *Carrying) Run(name string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{name, r.Base, r.From, r.Onto}, "\x00")))
	return CarryingPrefix + hex.EncodeToString(sum[:6])
}

package moments

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// A Draw decides by a coin which turns become cases of a subject that may be held out. It is
// made once, from no more than how many turns there are, and kept: later harvests draw the
// same turns again. Nothing that followed a turn is looked at, so turns that were corrected,
// accepted or passed over have the same chance.
//
// A session is one cluster, and what is held out must not be taught. So a first coin divides
// sessions into those whose turns may be held out and those that only teach, and a second
// one draws turns among the former.
type Draw struct {
	Subject string    `json:"subject"` // see subject.Ref.Key
	Seed    string    `json:"seed"`
	Share   float64   `json:"share"` // the chance of each turn, at most MaxShare
	Made    time.Time `json:"made"`
	// Counts are what the last harvest made of the population, nil before.
	Counts *Counts `json:"counts,omitempty"`
}

// seed is that of new draws, the same for everybody: agents give sessions random names, and who
// harvests into another database draws the same turns, so nothing is held out that has taught.
const seed = "evolve draw 1"

// MaxShare is the share of sessions that may be held out.
const MaxShare = .5

const (
	quarter   = 91 * 24 * time.Hour
	aQuarter  = 60 // held-out cases that a quarter brings by default
	leastSpan = 14 * 24 * time.Hour
)

// NewDraw makes the draw of a subject, with a share that gives about 60 cases a quarter at
// the pace of the last one.
func NewDraw(subject string, p *Population, now time.Time) *Draw {
	return &Draw{Subject: subject, Seed: seed, Share: p.share(), Made: now}
}

// share is aQuarter out of the turns of a quarter that may be replayed as far as the request
// tells.
func (p *Population) share() float64 {
	var newest, oldest time.Time
	for _, t := range p.Turns {
		if at := t.time(); at.After(newest) {
			newest = at
		}
	}
	n := 0.0
	for _, t := range p.Turns {
		if at := t.time(); newest.Sub(at) < quarter && t.hangs() == "" {
			if n++; oldest.IsZero() || at.Before(oldest) {
				oldest = at
			}
		}
	}
	if n == 0 {
		return MaxShare
	}
	n *= float64(quarter) / float64(min(max(newest.Sub(oldest), leastSpan), quarter))
	return min(MaxShare, math.Ceil(1000*aQuarter/n)/1000)
}

// Afford sets the share of turns that are drawn. A greater one draws further turns, also of
// earlier ones, without regard to what followed them; what a smaller one does not draw and is a
// case already stays one.
func (d *Draw) Afford(share float64) error {
	if !(share > 0 && share <= MaxShare) {
		return fmt.Errorf("share %s: a coin draws more than 0 %% and at most %s, because the sessions that are left teach", percent(share), percent(MaxShare))
	}
	d.Share = share
	return nil
}

// HeldOut reports whether turns of a session may be held out.
func (d *Draw) HeldOut(agent, session string) bool {
	return d.uniform("session", agent, session) < MaxShare
}

// Takes reports whether a turn is drawn.
func (d *Draw) Takes(agent, session, turn string) bool {
	return d.HeldOut(agent, session) && d.uniform("turn", agent, session, turn) < d.Share/MaxShare
}

// uniform is a number in [0,1) that depends on the seed, the subject and the names.
func (d *Draw) uniform(names ...string) float64 {
	mac := hmac.New(sha256.New, []byte(d.Seed))
	for _, name := range append(names, d.Subject) {
		_ = binary.Write(mac, binary.BigEndian, uint64(len(name)))
		mac.Write([]byte(name))
	}
	return float64(binary.BigEndian.Uint64(mac.Sum(nil))>>11) / (1 << 53)
}

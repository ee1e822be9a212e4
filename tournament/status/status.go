// Package status models the state of every skill, what waits for its owner,
// the lineage of texts, and the results of nights, for the terminal, for
// programs and for pages.
package status

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/splits"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/lock"
	"github.com/skill-evolve/evolve/tournament/applies"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/search"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// A Report is what `evolve status --json` prints: schema 1.
type Report struct {
	Schema    int      `json:"schema"`
	Home      string   `json:"home"`
	SkillsDir string   `json:"skills_dir"`
	Sessions  int      `json:"sessions"`
	Skills    []Skill  `json:"skills"` // what waits for its owner first, then the most used
	Broken    []Broken `json:"broken"`
	Night     Nights   `json:"night"`
	Next      Step     `json:"next"`
	// Undecided: the owner has not chosen which projects may be read, so no new session is.
	Undecided bool `json:"undecided,omitempty"`
	// NotRead counts the sessions of projects that the owner has not decided on.
	NotRead int `json:"not_read,omitempty"`
	// Missed says why the last night could ask no agent, "" if it could.
	Missed string `json:"missed,omitempty"`

	harvested bool // there is a store
	demo      bool // the folder is the demo's
}

// A Skill is the state of one skill.
type Skill struct {
	Skill   string      `json:"skill"`
	Subject subject.Ref `json:"subject"`
	Path    string      `json:"path"` // "" for a skill that only sessions know
	// Aliases are other names of the same file; their uses are counted too.
	Aliases []string `json:"aliases"`
	Managed bool     `json:"managed"`
	Pinned  bool     `json:"pinned"`
	// Targets hold the live text, if more places than the skill's home do;
	// Others hold another one.
	Targets   []string `json:"targets"`
	Others    []string `json:"other_targets"`
	Uses      int      `json:"uses"`
	Corrected int      `json:"corrected"`
	Rejected  int      `json:"rejected"`
	Repeated  int      `json:"repeated"`
	Accepted  int      `json:"accepted"`
	Unread    int      `json:"unread"` // uses of which no model has read what the user wrote after them
	// CorrectionRate is the share of the uses that were corrected; null without uses.
	CorrectionRate *float64           `json:"correction_rate"`
	LastUse        *time.Time         `json:"last_use"`
	Cases          map[eval.Split]int `json:"cases"`
	// Lack is what a search waits for; null while a challenger is on trial, and if it may begin.
	Lack       *splits.Lack `json:"search_waits_for,omitempty"`
	Live       *Live        `json:"live"`
	Kernel     *Kernel      `json:"kernel"`
	Challenger *Challenger  `json:"challenger"`
	Quarantine []Held       `json:"quarantine"` // waits for the owner's decision, the newest first
	Approved   []string     `json:"approved"`   // SHA-256 of candidates that the next run tries
	Unfinished *Unfinished  `json:"unfinished_run"`
	Turn       *Turn        `json:"turn"` // null: it waits for no later night
	// Compared has the live version's results on another model than it was
	// proved on.
	Compared []sleep.Compared `json:"compared,omitempty"`
	// Idle are the lines of a file of instructions that applied to no request, as far as a run
	// has read that.
	Idle *applies.Idle `json:"idle,omitempty"`
	// Uncalled: it is a hook, and no settings of an agent name it.
	Uncalled bool   `json:"not_called,omitempty"`
	Waits    []Wait `json:"waits"` // for its owner, the most urgent first
	Next     string `json:"next"`  // what to do, in words

	ran        time.Time // when its newest run began
	unloadable string    // why agents would not load it as it is
	suggestion string    // the command that puts the newest one in place, if nobody has tried it
	unprobed   bool      // it has locked rules, and no approved probes of all of them
	damaged    error     // the probes of its locked rules cannot be read
}

// Live is the text that agents load now.
type Live struct {
	// Version is the number of the text; of an unrecorded edit, the number of
	// the version that it was made from.
	Version  int    `json:"version"`
	SHA      string `json:"sha256"`
	Author   string `json:"author"` // "evolve" or "you"
	Proven   bool   `json:"proven"`
	Note     string `json:"note,omitempty"`
	Recorded bool   `json:"recorded"` // it is a version
	// Trial is set while it is in place on trial.
	Trial *TrialInstall `json:"on_trial,omitempty"`

	since time.Time // zero if it is not Recorded
}

// Kernel is the part that never changes, and when its owner confirmed it.
type Kernel struct {
	SHA       string     `json:"sha256"`
	Confirmed *time.Time `json:"confirmed"`
}

// A Challenger is the text that is proven or on trial against the live one.
type Challenger struct {
	SHA      string         `json:"sha256"`
	Run      string         `json:"run"`
	Decision pareto.Verdict `json:"decision"`
	EValue   float64        `json:"e_value"`
	Alpha    float64        `json:"alpha"` // decisive at e_value ≥ 1/alpha
	Cases    int            `json:"cases"`
	Wins     int            `json:"wins"` // of the cases, by quality
	Losses   int            `json:"losses"`
	// Needed estimates how many cases the proof takes at this rate; null unless it is
	// promising (pareto.Decision.Needed).
	Needed *int `json:"cases_needed"`
	// Open are the objectives that are beyond their tolerance so far: they keep
	// it undecided at any quality.
	Open []string `json:"open"`
	// Worker is what holds it back if all pairs prove it and those without one worker's do not.
	Worker    string `json:"held_by_worker,omitempty"`
	Simulated bool   `json:"simulated"`
	// Shorter is set if it only lacks lines of the live text.
	Shorter *search.Shorter `json:"shorter,omitempty"`
	// Held is why it is left to its owner: what it does to the requests of other skills.
	Held string `json:"held_back,omitempty"`
	// TakenBack: it was installed before, and rolled back.
	TakenBack bool `json:"taken_back"`
	// Version is its number if it was rolled back, else 0.
	Version int `json:"version,omitempty"`
	// Proposed is where it is while it waits for the default branch of a repository: in a
	// working tree or on a branch; and Look shows it there. "" if it is in neither.
	Proposed string `json:"proposed,omitempty"`
	Look     string `json:"look,omitempty"`
	// Edited: its owner has edited the live text since it was made, and both arms of
	// its trial have the edit since EditedAt, nil while no command has recorded it.
	Edited   bool       `json:"edited"`
	EditedAt *time.Time `json:"edited_at,omitempty"`
	// Left counts the held-out cases that its trial can continue with.
	Left int `json:"cases_left"`
	// Unlabelled counts the held-out cases that could continue its trial, but
	// prove nothing before its owner has labelled more answers.
	Unlabelled int `json:"unlabelled"`
	// Reviews is how many reviews are missing until the judge is looked at again.
	Reviews int `json:"reviews_missing,omitempty"`
	// Lifetime reports that it is proved as a single trial, but not at the
	// level of its number among all trials of the skill; "" if it is, or is
	// not proved at all.
	Lifetime string `json:"lifetime,omitempty"`
	// Offer is the command that installs it, "" if it is not proved, was
	// rolled back, or promote refuses; then Refused is the reason.
	Offer   string `json:"offer,omitempty"`
	Refused string `json:"refused,omitempty"`

	hook   bool                // it is the script of one
	route  string              // of its decision
	single int                 // the number of the trial that Lifetime is about
	on     *record.TrialRecord // its trial, if that continues; else nil
}

// Held is a candidate in quarantine.
type Held struct {
	SHA    string `json:"sha256"`
	Run    string `json:"run"`
	Reason string `json:"reason"`
}

// An Unfinished run can be resumed, or a process works on it.
type Unfinished struct {
	Run    string `json:"run"`
	Status string `json:"status"`
	Resume string `json:"resume"` // "" while a process is at work on it
	Text   string `json:"text"`   // what became of it, in words
}

// A Broken skill is one that agents cannot load.
type Broken struct {
	Skill  string `json:"skill"`
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// sort puts skills that need their owner first, then the most used.
func (r *Report) sort() {
	slices.SortFunc(r.Skills, func(s, t Skill) int {
		return cmp.Or(cmp.Compare(s.urgency(), t.urgency()), cmp.Compare(t.Uses, s.Uses), cmp.Compare(s.Skill, t.Skill))
	})
}

// An overview is the store's data on all skills, read at once.
type overview struct {
	sessions int
	uses     map[string]store.SkillUse
	cases    map[string]map[eval.Split]int
	judged   map[string]bool // skills with held-out cases that may ask a judge
	flagged  map[string]bool // skills with a text that their owner may decide on
	nights   map[string]*sleep.State
	last     *sleep.Night // nil: there was none
}

func overviewOf(ctx context.Context, db *store.Store, reg *skill.Registry) (o *overview, err error) {
	o = &overview{uses: map[string]store.SkillUse{}}
	uses, err := ingest.Uses(ctx, db, reg)
	if err != nil {
		return nil, err
	}
	for _, u := range uses {
		o.uses[u.Skill] = u
	}
	if o.sessions, err = db.CountSessions(ctx); err != nil {
		return nil, err
	}
	if o.cases, err = db.CaseCounts(ctx); err != nil {
		return nil, err
	}
	if o.flagged, err = db.Flagged(ctx); err != nil {
		return nil, err
	}
	if o.judged, err = db.Judged(ctx); err != nil {
		return nil, err
	}
	return o, o.readNights(ctx, db)
}

// A Reader reads the state of everything, and changes nothing.
type Reader struct {
	Store  *store.Store // nil while there is none
	Layout *skill.Layout
	Locks  lock.Locks
	Now    func() time.Time
	Demo   bool
	// Undecided: the owner has not chosen yet which projects may be read.
	Undecided bool
	// NotRead counts the sessions that were left out because nothing is decided on their
	// projects; nil: none.
	NotRead func(context.Context) (int, error)
	Release *release.Installer
	// Timer is what starts the next night, and when; "" for nothing.
	Timer func(ctx context.Context) (kind string, next time.Time, err error)
	// Named reports whether an agent's settings name the script of a hook; nil: nobody knows.
	Named func(*skill.Live) (bool, error)
}

// Status reads the skills on disk and their records in the store, and writes
// nothing: it reports a text that was edited by hand and does not record it as a version.
func (rd *Reader) Status(ctx context.Context) (*Report, error) {
	r := &Report{Schema: 1, demo: rd.Demo, Skills: []Skill{}, Broken: []Broken{}}
	r.Home = string(rd.Locks.Dir)
	var err error
	if r.SkillsDir, err = rd.Layout.Skills(); err != nil {
		return nil, err
	}
	reg, err := ingest.Registry(ctx, rd.Layout, rd.Store)
	if err != nil {
		return nil, err
	}
	known := &overview{}
	if rd.Store != nil {
		r.harvested, r.Undecided = true, rd.Undecided // without a store the first harvest asks
		if rd.NotRead != nil {
			if r.NotRead, err = rd.NotRead(ctx); err != nil {
				return nil, err
			}
		}
		if known, err = overviewOf(ctx, rd.Store, reg); err != nil {
			return nil, err
		}
		r.Sessions = known.sessions
	}
	if r.Night, err = rd.nightStatus(ctx, known.last); err != nil {
		return nil, err
	}
	for _, b := range reg.Broken {
		r.Broken = append(r.Broken, Broken{b.Name, b.Path, b.Reason})
		delete(known.uses, b.Name)
	}
	for _, e := range reg.Entries {
		s, err := rd.skillStatus(ctx, e, known)
		var syntax *skill.SyntaxError
		var broken *skill.BrokenSkillError
		if errors.As(err, &syntax) { // broken since the registry looked
			r.Broken = append(r.Broken, Broken{e.Name, e.Path, syntax.Error()})
			continue
		} else if errors.As(err, &broken) {
			r.Broken = append(r.Broken, Broken{e.Name, e.Path, broken.Reason})
			continue
		} else if err != nil {
			return nil, err
		}
		if s.unloadable != "" {
			r.Broken = append(r.Broken, Broken{e.Name, e.Path, s.unloadable})
		}
		s.Aliases = append(s.Aliases, reg.AliasesOf(e.Name)...)
		s.count(known.uses[e.Name])
		s.Next = s.next(r.harvested)
		delete(known.uses, e.Name)
		r.Skills = append(r.Skills, *s)
	}
	if err := rd.hooks(ctx, r, reg, known); err != nil {
		return nil, err
	}
	for name, u := range known.uses {
		if u.Uses == 0 { // a program's alone
			continue
		}
		s := newSkillStatus(name)
		s.Next = "not in the skills folder"
		s.count(u)
		r.Skills = append(r.Skills, *s)
	}
	r.sort()
	best, fresh, err := r.mostCorrected(ctx, rd.Store)
	if err != nil {
		return nil, err
	}
	r.Next = r.next(best, fresh)
	return r, nil
}

package outgoing

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/store"
)

// An Overview is what is read, and who may get it under the present configuration:
// schema 1.
type Overview struct {
	Schema   int       `json:"schema"`
	Asked    bool      `json:"asked"` // the owner has decided which projects are read
	All      bool      `json:"all"`   // every project is read that no rule denies
	Fixed    bool      `json:"fixed"` // the policy of the machine does not allow every project
	Projects []Read    `json:"projects"`
	Denied   []string  `json:"denied"`
	Who      string    `json:"who"` // answers, in words
	Requests []Allowed `json:"requests"`
	Run      *Amount   `json:"run,omitempty"` // that all of these recipients may get: a run uses no more
	// Settings are further ones that concern privacy, a name and words each.
	Settings [][2]string `json:"settings"`
}

// Read is a project with stored sessions. A session that was in several counts for the
// first that keeps its text here, else for its first.
type Read struct {
	Folder string `json:"folder"` // "" for sessions of no known folder
	Amount
	Read  bool `json:"read"`  // new ones may be read
	Fixed bool `json:"fixed"` // the policy of the machine does not allow it
	// Vendors are how much of it each may get.
	Vendors map[string]Amount `json:"vendors"`
	Unknown int               `json:"recorder_unknown,omitempty"` // sessions of which it is not known who recorded them
}

// Amount is how much text of sessions there is.
type Amount struct {
	Sessions int   `json:"sessions"`
	Bytes    int64 `json:"bytes"` // 0 of a session whose text has expired
}

func (a *Amount) add(b Amount) {
	a.Sessions += b.Sessions
	a.Bytes += b.Bytes
}

// Allowed is where requests of one kind go.
type Allowed struct {
	Kind string `json:"kind"`
	agent.Recipient
	Agreed   bool   `json:"agreed"`   // the owner has seen one, and agreed
	Fixed    bool   `json:"fixed"`    // the policy of the machine does not allow them
	Projects int    `json:"projects"` // of which some text may go there
	Text     Amount `json:"text"`     // that may go there
}

// Overview reads what is stored and decided, by the owner and by the policy of the machine:
// one that cannot be read allows nothing. to and who are those of the present
// configuration.
func (g *Control) Overview(ctx context.Context, db *store.Store, to map[string][]agent.Recipient, who string) (*Overview, error) {
	d, err := consent.Read(g.File)
	if err != nil {
		return nil, err
	}
	p, fixed, broken := g.policy()
	sessions, err := db.Sessions(ctx, store.SessionFilter{Bare: true})
	if err != nil {
		return nil, err
	}
	sizes, err := db.TextSizes(ctx)
	if err != nil {
		return nil, err
	}
	v := &Overview{Schema: 1, Asked: d.Asked(), All: d.All, Fixed: !fixed.All || len(fixed.Rules) > 0, Projects: []Read{}, Denied: []string{}, Requests: []Allowed{}, Who: who}
	named := slices.Clone(d.Send) // vendors that may get more than they recorded
	for _, r := range d.Rules {
		named = append(named, r.Send...)
	}
	v.Denied = append(v.Denied, d.Denied()...)
	var asked []string // vendors
	allows := broken == nil
	for _, list := range to {
		for _, r := range list {
			asked = append(asked, r.Vendor)
			allows = allows && allowed(p, r) == nil
		}
	}
	if len(asked) > 0 {
		v.Run = new(Amount)
	}
	at := map[string]int{}
	for i := range sessions {
		s := &sessions[i]
		by, amount := g.Recorder(s), Amount{1, sizes[[2]string{s.ID, s.Path}]}
		open := fixed.MayRead(s.WorkedIn())
		readable := open && d.MayRead(s.WorkedIn())
		name := projectOf(s, func(dir string) bool { return d.MayRead([]string{dir}) && fixed.MayRead([]string{dir}) })
		n, known := at[name]
		if !known {
			n = len(v.Projects)
			at[name] = n
			v.Projects = append(v.Projects, Read{Folder: name, Read: true, Vendors: map[string]Amount{}})
		}
		r := &v.Projects[n]
		r.add(amount)
		r.Fixed = r.Fixed || !open
		if r.Read = r.Read && readable; by == "" {
			r.Unknown++
		}
		for _, vendor := range slices.Compact(slices.Sorted(slices.Values(append([]string{by}, named...)))) {
			if vendor != "" && readable && d.MaySend(s.WorkedIn(), by, vendor) && broken == nil && p.Vendor(vendor) {
				a := r.Vendors[vendor]
				a.add(amount)
				r.Vendors[vendor] = a
			}
		}
		if len(asked) > 0 && readable && allows && may(d, origin{folders: s.WorkedIn(), recorder: by}, asked) {
			v.Run.add(amount)
		}
	}
	slices.SortStableFunc(v.Projects, func(a, b Read) int {
		return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(a.Folder, b.Folder))
	})
	for _, kind := range agent.Requests {
		for _, r := range to[kind] {
			a := Allowed{Kind: kind, Recipient: r, Agreed: seen(d, kind, r.Vendor), Fixed: broken != nil || allowed(p, r) != nil}
			for i := range v.Projects {
				if n, some := v.Projects[i].Vendors[r.Vendor]; some && !a.Fixed {
					a.Projects++
					a.Text.add(n)
				}
			}
			v.Requests = append(v.Requests, a)
		}
	}
	return v, nil
}

// projectOf is the folder that a session counts for, "" if none is known.
func projectOf(s *harvest.Session, may func(string) bool) (name string) {
	for i, dir := range s.WorkedIn() {
		if i == 0 || !may(dir) {
			name = dir
		}
		if !may(dir) {
			break
		}
	}
	return name
}

// shownLines is how many lines the text of an overview has if it can be done: projects are
// left out for it, all but two.
const shownLines = 10

// String is the overview in about ten lines.
func (v *Overview) String() string {
	var b strings.Builder
	t := plain.NewTable(&b)
	row := func(name, format string, args ...any) { fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	hosts := v.hosts()
	but := ""
	if v.Fixed {
		but = ", as far as the machine's policy allows"
	}
	if n := len(v.Denied); n > 0 {
		but += fmt.Sprintf("; you denied %d", n)
	}
	switch {
	case !v.Asked:
		row("projects", "you have not been asked yet which may be read: `evolve harvest` asks")
	case v.All:
		row("projects", "all may be read%s%s", but, v.none())
	default:
		row("projects", "only those that you allowed may be read%s%s", but, v.none())
	}
	room := max(2, shownLines-3-len(hosts)-len(v.Settings))
	for i, p := range v.Projects {
		if i == room-1 && len(v.Projects) > room {
			row("", "%d more, %s: `evolve privacy --json` lists all", len(v.Projects)-i, v.rest(i))
			break
		}
		name := "no known folder"
		if p.Folder != "" {
			name = Short(p.Folder)
		}
		row("", "%s: %s, %s", name, p.words(), p.to(v.Asked))
	}
	row("now", "%s", v.Who)
	for _, h := range hosts {
		row(h[0], "%s", h[1])
	}
	switch {
	case v.Run == nil:
		row("requests", "no text leaves this machine")
	case v.Run.Sessions > 0:
		row("a run", "uses text of %s: all of these may get it", v.Run.words())
	case len(v.Projects) > 0:
		row("a run", "uses no session, because none may go to all of these: `evolve projects allow PATH --to VENDOR`")
	}
	for _, s := range v.Settings {
		row(s[0], "%s", s[1])
	}
	_ = t.Flush() // into memory
	return b.String()
}

func (v *Overview) none() string {
	if len(v.Projects) == 0 {
		return "; no session is stored yet, `evolve harvest` reads them"
	}
	return ""
}

// rest is how much text the projects from the i-th on have.
func (v *Overview) rest(i int) string {
	var all Amount
	for _, p := range v.Projects[i:] {
		all.add(p.Amount)
	}
	return all.words()
}

func (a Amount) words() string {
	if a.Bytes == 0 {
		return plain.Counted(a.Sessions, "session")
	}
	return plain.Counted(a.Sessions, "session") + " with " + size(int(a.Bytes))
}

// to says who may get the text of a project.
func (r *Read) to(asked bool) string {
	var who []string
	for _, vendor := range slices.Sorted(maps.Keys(r.Vendors)) {
		if n := r.Vendors[vendor].Sessions; n < r.Sessions {
			vendor = fmt.Sprintf("%s (%d of them)", vendor, n)
		}
		who = append(who, vendor)
	}
	unknown := ""
	if r.Unknown > 0 && r.Unknown < r.Sessions {
		unknown = fmt.Sprintf(" (who recorded %d of them is not known)", r.Unknown)
	} else if r.Unknown > 0 {
		unknown = " (who recorded it is not known)"
	}
	switch {
	case r.Fixed:
		return "denied by the machine's policy"
	case len(who) > 0:
		return "text may go to " + strings.Join(who, ", ") + unknown
	case !r.Read && asked:
		return "not read and not used"
	}
	return "text stays on this machine" + unknown
}

// hosts say what each recipient may get: in which requests, and of how much text.
func (v *Overview) hosts() (out [][2]string) {
	for i, r := range v.Requests {
		same := func(a Allowed) bool { return a.Recipient == r.Recipient }
		if slices.ContainsFunc(v.Requests[:i], same) {
			continue
		}
		var kinds, open []string
		for _, a := range v.Requests {
			if same(a) {
				if kinds = append(kinds, a.Kind); !a.Agreed {
					open = append(open, a.Kind)
				}
			}
		}
		name := "requests"
		if len(out) > 0 {
			name = ""
		}
		s := Send{Recipient: r.Recipient}
		words := fmt.Sprintf("%s to %s: ", strings.Join(kinds, ", "), s.name())
		switch {
		case r.Fixed:
			words += "denied by the machine's policy"
		case r.Text.Sessions == 0:
			words += "text of no session"
		default:
			words += fmt.Sprintf("at most text of %s, in %s", r.Text.words(), plain.Counted(r.Projects, "project"))
		}
		switch {
		case r.Fixed:
		case len(open) == len(kinds):
			words += "; the first request of each kind is shown and asked for"
		case len(open) > 0:
			words += fmt.Sprintf("; of %s the first request is shown and asked for", strings.Join(open, ", "))
		}
		out = append(out, [2]string{name, words})
	}
	return out
}

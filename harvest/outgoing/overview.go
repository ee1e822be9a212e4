package outgoing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
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
	// Settings are further ones that concern privacy, a name and words each.
	Settings [][2]string `json:"settings"`
}

// Read is a project with stored sessions.
type Read struct {
	Folder   string   `json:"folder"` // "" for sessions of no known folder
	Sessions int      `json:"sessions"`
	Read     bool     `json:"read"`    // new ones may be read
	Fixed    bool     `json:"fixed"`   // the policy of the machine does not allow it
	Vendors  []string `json:"vendors"` // that may get all of its text
	sent     func(vendor string) bool
}

// Allowed is where requests of one kind go.
type Allowed struct {
	Kind string `json:"kind"`
	agent.Recipient
	Agreed   bool `json:"agreed"`   // the owner has seen one, and agreed
	Fixed    bool `json:"fixed"`    // the policy of the machine does not allow them
	Projects int  `json:"projects"` // whose text may go there
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
	v := &Overview{Schema: 1, Asked: d.Asked(), All: d.All, Fixed: !fixed.All || len(fixed.Rules) > 0, Projects: []Read{}, Denied: []string{}, Requests: []Allowed{}, Who: who}
	v.Denied = append(v.Denied, d.Denied()...)
	at := map[string]int{}
	for i := range sessions {
		folders, by := sessions[i].WorkedIn(), g.Recorder(&sessions[i])
		name := ""
		if len(folders) > 0 {
			name = folders[0]
		}
		n, known := at[name]
		if !known {
			n = len(v.Projects)
			at[name] = n
			v.Projects = append(v.Projects, Read{Folder: name, Read: true, Vendors: append([]string{by}, d.Send...)})
			if r := &v.Projects[n]; name != "" {
				for _, rule := range d.Rules {
					r.Vendors = append(r.Vendors, rule.Send...)
				}
			}
		}
		r := &v.Projects[n]
		r.Sessions++
		open := fixed.MayRead(folders)
		r.Fixed = r.Fixed || !open
		r.Read = r.Read && open && d.MayRead(folders)
		may := func(vendor string) bool {
			return vendor != "" && open && p.Vendor(vendor) && d.MaySend(folders, by, vendor)
		}
		if before := r.sent; before != nil {
			r.sent = func(vendor string) bool { return before(vendor) && may(vendor) }
		} else {
			r.sent = may
		}
	}
	for i := range v.Projects {
		r := &v.Projects[i]
		slices.Sort(r.Vendors)
		r.Vendors = slices.DeleteFunc(slices.Compact(r.Vendors), func(vendor string) bool { return !r.sent(vendor) })
	}
	slices.SortStableFunc(v.Projects, func(a, b Read) int {
		return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(a.Folder, b.Folder))
	})
	for _, kind := range agent.Requests {
		for _, r := range to[kind] {
			a := Allowed{Kind: kind, Recipient: r, Agreed: seen(d, kind, r.Vendor), Fixed: broken != nil || allowed(p, r) != nil}
			for i := range v.Projects {
				if v.Projects[i].sent(r.Vendor) {
					a.Projects++
				}
			}
			v.Requests = append(v.Requests, a)
		}
	}
	return v, nil
}

// shownProjects is how many projects the text of an overview lists.
const shownProjects = 6

// String is the overview in ten to fifteen lines.
func (v *Overview) String() string {
	var b strings.Builder
	t := plain.NewTable(&b)
	row := func(name, format string, args ...any) { fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	denied := ""
	if len(v.Denied) > 0 {
		denied = " but " + plain.Counted(len(v.Denied), "denied one")
	}
	if v.Fixed {
		denied += ", as far as the machine's policy allows"
	}
	switch {
	case !v.Asked:
		row("projects", "you have not been asked yet which may be read: `evolve harvest` asks")
	case v.All:
		row("projects", "all may be read%s", denied)
	default:
		row("projects", "those that you allowed may be read%s", strings.Replace(denied, " but", " and not", 1))
	}
	for i, p := range v.Projects {
		if i == shownProjects && len(v.Projects) > shownProjects+1 {
			row("", "%d more: `evolve privacy --json` lists them", len(v.Projects)-i)
			break
		}
		name := "no known folder"
		if p.Folder != "" {
			name = Short(p.Folder)
		}
		to := "text stays on this machine"
		if len(p.Vendors) > 0 {
			to = "text may go to " + strings.Join(p.Vendors, ", ")
		}
		switch {
		case p.Fixed:
			to = "denied by the machine's policy"
		case !p.Read && v.Asked:
			to = "not read any more, " + to
		}
		row("", "%s: %s, %s", name, plain.Counted(p.Sessions, "session"), to)
	}
	row("now", "%s", v.Who)
	for _, r := range v.Requests {
		agreed := "you have agreed"
		switch {
		case r.Fixed:
			agreed = "denied by the machine's policy"
		case !r.Agreed:
			agreed = "not agreed yet: the first is shown and asked for"
		}
		s := Send{Recipient: r.Recipient}
		row(r.Kind, "%s, of %d of %s; %s", s.name(), r.Projects, plain.Counted(len(v.Projects), "project"), agreed)
	}
	if len(v.Requests) == 0 {
		row("requests", "no text leaves this machine")
	}
	for _, s := range v.Settings {
		row(s[0], "%s", s[1])
	}
	_ = t.Flush() // into memory
	return b.String()
}

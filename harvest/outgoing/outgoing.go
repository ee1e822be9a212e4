// Package outgoing decides which text leaves this machine: that of a project whose owner
// allows it, in requests of a kind that the owner has seen.
package outgoing

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir/policy"
)

// A Control decides what text leaves this machine. Cases and sessions pass it before
// anything is sent (Clear), and each request once more on its way (Agent, Model): what
// was not cleared is refused there, and what was denied since, also if it stays on this
// machine. It is safe for concurrent use; nil clears nothing and
// refuses every request to a vendor.
type Control struct {
	File   string // the owner's decisions, see consent.Read
	Policy func() (*policy.Policy, error)
	// Recorder is the vendor that got a session's text while it was recorded, "" if that
	// is not known.
	Recorder func(*harvest.Session) string
	Redactor func() eval.Redactor
	// Ask shows a request, asks for it, and returns whether the owner agrees; nil: nobody
	// can be asked.
	Ask func(request, question string) (bool, error)
	// Dry: nothing will be sent, so nobody needs to have seen it.
	Dry bool

	mu      sync.Mutex
	cleared map[permit][]origin       // of the text that requests with this permit may hold
	read    os.FileInfo               // of File, when owner, denied and seen were made
	owner   *consent.Decisions        // as File holds them; nil: to be read
	fixed   string                    // the policy's decisions then, see consent.Decisions.Print
	denied  map[permit]string         // the folder that was denied since
	seen    map[consent.Request]bool  // as far as they were looked up
	no      map[consent.Request]error // to which the owner has not agreed in this process
}

// A permit is for the requests of one kind to a vendor, "" for this machine: of an agent
// for one case, of a model for all, case "".
type permit struct{ kind, vendor, kase string }

// Allowed returns an error if the policy of this machine does not allow a recipient.
func (g *Control) Allowed(to map[string][]agent.Recipient) error {
	if g == nil || len(to) == 0 || g.Policy == nil {
		return nil
	}
	p, err := g.Policy()
	if err != nil {
		return err
	}
	for _, kind := range agent.Requests {
		for _, r := range to[kind] {
			if err := allowed(p, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// allowed returns an error if a policy does not allow a recipient.
func allowed(p *policy.Policy, r agent.Recipient) error {
	if !p.Vendor(r.Vendor) {
		return policy.Refuse("it allows no text to go to %s", r.Vendor)
	}
	if p != nil && p.Hosts != nil && r.Vendor != "" && !p.Host(r.Host, r.Port) {
		return policy.Refuse("it does not allow the host %s", cmp.Or(r.Address(), "of "+r.Vendor+", which nobody knows"))
	}
	return nil
}

// decisions are the owner's, and those of the machine's policy.
func (g *Control) decisions() (owner, fixed *consent.Decisions, err error) {
	if owner, err = consent.Read(g.File); err != nil {
		return nil, nil, err
	}
	_, fixed, err = g.policy()
	return owner, fixed, err
}

// policy is that of the machine, nil if there is none, and what it decides on projects.
func (g *Control) policy() (*policy.Policy, *consent.Decisions, error) {
	if g.Policy == nil {
		return nil, &consent.Decisions{All: true}, nil
	}
	p, err := g.Policy()
	if p == nil || err != nil {
		return nil, &consent.Decisions{All: err == nil}, err
	}
	return p, consent.Fixed(p.Projects.Allow, p.Projects.Deny), nil
}

// Filter returns the cases whose text every vendor of these kinds of requests may get,
// and a line for each project whose cases stay out. A project that may not be read stays
// out even if nothing leaves this machine, as soon as the owner has decided. A case that
// was imported without a session is its owner's choice, and stays; unless it names the
// agent of a vendor: then it is a session's of no known folder. The repository whose tree
// an agent gets with a case may not be denied either.
func (g *Control) Filter(ctx context.Context, db *store.Store, back *agent.Backends, kinds []string, cases []eval.Case) (kept []eval.Case, left Left, err error) {
	vendors := back.Vendors(kinds...)
	if len(cases) == 0 || g == nil && len(vendors) == 0 {
		return cases, nil, nil
	}
	if g == nil {
		return nil, Left{{Cases: len(cases), Vendors: vendors}}, nil
	}
	d, fixed, err := g.decisions()
	if err != nil {
		return nil, nil, err
	}
	from, err := g.origins(ctx, db, cases)
	if err != nil {
		return nil, nil, err
	}
	for i := range cases {
		list := from.of(&cases[i])
		if w := cases[i].Workspace; w != nil {
			repo, err := filepath.Abs(w.Repo)
			if err != nil {
				return nil, nil, err
			}
			if r, decided := d.On(repo); decided && !r.Read || !fixed.MayRead([]string{repo}) {
				left.add(d, fixed, origin{folders: []string{repo}}, vendors)
				continue
			}
		}
		out := slices.IndexFunc(list, func(o origin) bool { return !readable(fixed, o) || !may(d, o, vendors) })
		if out < 0 {
			kept = append(kept, cases[i])
		} else {
			left.add(d, fixed, list[out], vendors)
		}
	}
	return kept, left, nil
}

// Clear is Filter, after which the cases that it returns may be sent in requests of these
// kinds. It is an error if none is left, and, without a terminal, if the owner has not
// seen a kind of requests yet.
func (g *Control) Clear(ctx context.Context, db *store.Store, back *agent.Backends, kinds []string, cases []eval.Case) (kept []eval.Case, left Left, err error) {
	if kept, left, err = g.Filter(ctx, db, back, kinds, cases); err != nil {
		return nil, nil, err
	}
	if len(left) > 0 && len(kept) == 0 {
		return nil, left, left.none()
	}
	if g == nil {
		return kept, left, nil
	}
	from, err := g.origins(ctx, db, kept)
	if err != nil {
		return nil, nil, err
	}
	of := map[string][]origin{"": nil}
	for i := range kept {
		of[kept[i].ID] = from.of(&kept[i])
		of[""] = append(of[""], of[kept[i].ID]...)
	}
	return kept, left, g.permit(back, kinds, of)
}

// Text lets requests of these kinds hold a text that learned from these cases, besides
// what is cleared for them; unless the text of some may not be sent.
func (g *Control) Text(ctx context.Context, db *store.Store, back *agent.Backends, kinds []string, teachers []eval.Case) (left Left, err error) {
	if _, left, err = g.Filter(ctx, db, back, kinds, teachers); err != nil || len(left) > 0 || g == nil {
		return left, err
	}
	from, err := g.origins(ctx, db, teachers)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for p := range g.cleared {
		for i := range teachers {
			if slices.Contains(kinds, p.kind) {
				g.cleared[p] = append(g.cleared[p], from.of(&teachers[i])...)
			}
		}
	}
	g.owner = nil
	return nil, nil
}

// Readable returns which sessions every vendor of these kinds of requests may get; nil
// is every one.
func (g *Control) Readable(back *agent.Backends, kinds []string) (func(*harvest.Session) bool, error) {
	vendors := back.Vendors(kinds...)
	if g == nil && len(vendors) == 0 {
		return nil, nil
	}
	if g == nil {
		return func(*harvest.Session) bool { return false }, nil
	}
	d, fixed, err := g.decisions()
	return func(s *harvest.Session) bool {
		return fixed.MayRead(s.WorkedIn()) && may(d, origin{folders: s.WorkedIn(), recorder: g.Recorder(s)}, vendors)
	}, err
}

// Sessions is Readable, after which such sessions may be sent in requests of the kind
// mine. Of its errors, that no stored case of the skill may be sent comes first.
func (g *Control) Sessions(ctx context.Context, db *store.Store, back *agent.Backends, kinds []string, skill string) (func(*harvest.Session) bool, error) {
	may, err := g.Readable(back, kinds)
	if err != nil || g == nil {
		return may, err
	}
	if err := g.permit(back, kinds, map[string][]origin{"": nil}); err != nil {
		cases, e := db.Cases(ctx, skill)
		if e != nil {
			return nil, e
		}
		if kept, left, e := g.Filter(ctx, db, back, kinds, cases); e == nil && len(kept) == 0 && len(left) > 0 {
			return nil, left.none()
		}
		return nil, err
	}
	return func(s *harvest.Session) bool {
		if !may(s) {
			return false
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		g.clear(back, kinds, map[string][]origin{"": {{folders: s.WorkedIn(), recorder: g.Recorder(s)}}})
		return true
	}, nil
}

func may(d *consent.Decisions, o origin, vendors []string) bool {
	if len(vendors) == 0 {
		return !d.Asked() || readable(d, o)
	}
	return readable(d, o) && !slices.ContainsFunc(vendors, func(v string) bool { return !d.MaySend(o.folders, o.recorder, v) })
}

// clear lets requests pass, by their cases, with where the text is from. Callers hold g.mu.
func (g *Control) clear(back *agent.Backends, kinds []string, cases map[string][]origin) {
	if g.cleared == nil {
		g.cleared = map[permit][]origin{}
	}
	for _, kind := range kinds {
		vendors := back.Vendors(kind)
		if len(vendors) == 0 {
			vendors = []string{""}
		}
		for _, v := range vendors {
			for id, from := range cases {
				p := permit{kind, v, id}
				g.cleared[p] = append(g.cleared[p], from...)
			}
		}
	}
	g.owner = nil
}

// permit is clear; without a terminal the requests must be of kinds that were seen.
func (g *Control) permit(back *agent.Backends, kinds []string, cases map[string][]origin) error {
	d, err := consent.Read(g.File)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.clear(back, kinds, cases)
	unseen := map[string][]string{} // vendor to kinds
	for _, kind := range kinds {
		for _, v := range back.Vendors(kind) {
			if !seen(d, kind, v) {
				unseen[v] = append(unseen[v], kind)
			}
		}
	}
	if g.Ask != nil || g.Dry || len(unseen) == 0 {
		return nil
	}
	return unagreed(unseen)
}

func seen(d *consent.Decisions, kind, vendor string) bool {
	return slices.Contains(d.Seen, consent.Request{Kind: kind, Vendor: vendor})
}

// unagreed is the error of requests that the owner has not seen, by vendor.
func unagreed(unseen map[string][]string) error {
	var what, hint []string
	for _, v := range slices.Sorted(maps.Keys(unseen)) {
		what = append(what, fmt.Sprintf("%s requests to %s", strings.Join(unseen[v], ", "), v))
		hint = append(hint, fmt.Sprintf("`evolve privacy agree %s %s`", v, strings.Join(unseen[v], " ")))
	}
	return problem.Inputf("run it in a terminal, which shows the first of each; or agree unseen: "+strings.Join(hint, ", "),
		"nothing was sent: you have not agreed yet to %s", strings.Join(what, "; "))
}

// Left are the cases that stay out, by project.
type Left []LeftOut

// A LeftOut is why cases of one project stay out.
type LeftOut struct {
	Project  string   `json:"project,omitempty"` // "" if no folder is known
	Cases    int      `json:"cases"`
	Recorder string   `json:"recorder,omitempty"`
	Vendors  []string `json:"vendors"` // that may not get the text
	// Asked: the owner has decided about projects; Read: this one may be read.
	Asked bool `json:"asked"`
	Read  bool `json:"read"`
	Fixed bool `json:"fixed"` // the policy of the machine does not allow it
}

func (l *Left) add(d, fixed *consent.Decisions, o origin, vendors []string) {
	n := LeftOut{Recorder: o.recorder, Asked: d.Asked(), Read: readable(d, o), Fixed: !readable(fixed, o), Cases: 1}
	for _, dir := range o.folders { // the first that keeps it out
		n.Project = dir
		if !may(d, origin{folders: []string{dir}, recorder: o.recorder}, vendors) || !fixed.MayRead([]string{dir}) {
			break
		}
	}
	for _, v := range vendors {
		if !d.MaySend(o.folders, o.recorder, v) {
			n.Vendors = append(n.Vendors, v)
		}
	}
	for i := range *l {
		if was := &(*l)[i]; was.Project == n.Project && was.Recorder == n.Recorder && slices.Equal(was.Vendors, n.Vendors) {
			was.Cases++
			return
		}
	}
	*l = append(*l, n)
}

// Lines name the projects, and what to type to let their text go.
func (l Left) Lines() (out []string) {
	for i := range l {
		out = append(out, l[i].why()+"; "+l[i].hint())
	}
	return out
}

// none is the error if no case is left.
func (l Left) none() error { return problem.Inputf(l[0].hint(), "no case is left: %s", l[0].why()) }

// Taught is the error if they taught a text that requests would hold.
func (l Left) Taught(text, or string) error {
	return problem.Inputf(l[0].hint()+", or "+or, "%s learned from text that may not be sent: %s", text, l[0].why())
}

// Some is the error if a case is missing that a run began with.
func (l Left) Some() error {
	return problem.Inputf(l[0].hint()+", or start a new run without", "the run cannot continue: %s", l[0].why())
}

func (n *LeftOut) why() string {
	of := plain.Counted(n.Cases, "case")
	if n.Project != "" {
		of += " of " + Short(n.Project)
	} else {
		of += " of no known project"
	}
	verb := "stay"
	if n.Cases == 1 {
		verb = "stays"
	}
	of += " " + verb + " out: "
	switch {
	case n.Fixed:
		return of + "the policy of this machine does not allow the project"
	case !n.Asked:
		return of + "you have not been asked yet which projects may be read"
	case !n.Read:
		return of + "it is not allowed to be read"
	case n.Recorder == "":
		return of + "it is not known which vendor has the text already"
	}
	return of + "the text goes to " + n.Recorder + " alone"
}

func (n *LeftOut) hint() string {
	if n.Fixed {
		return "`evolve doctor` shows it"
	}
	if !n.Asked {
		return "type `evolve harvest` in a terminal"
	}
	if n.Project == "" { // to allow it would be to allow every project
		return "`evolve cases import` takes cases that you choose yourself"
	}
	what := Short(n.Project)
	if strings.ContainsAny(what, " \t'\"$&;()") {
		what = fmt.Sprintf("%q", n.Project)
	}
	hint := "`evolve projects allow " + what
	for _, v := range n.Vendors {
		if v != n.Recorder {
			hint += " --to " + v
		}
	}
	return hint + "`"
}

package projects

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/store"
	"github.com/spf13/cobra"
)

// Command is `evolve projects`; desk is called when a command runs, noArgs refuses words.
func Command(desk func() *Desk, noArgs cobra.PositionalArgs) *cobra.Command {
	c := &cobra.Command{
		Use:   "projects",
		Short: "Which projects may be read: list, allow and deny them",
		Long: `projects holds which of your projects evolve may read sessions of. The first
harvest asks; nothing is read before you have chosen. A project is a git
repository with its worktrees, or the working folder of a session. A session
is read only if every folder that it worked in is allowed; one whose folders
are not known is read only with --all. ` + "`evolve projects tests`" + ` holds which test
commands may grade what agents leave there.`,
		Example: "  evolve projects list\n  evolve projects allow .\n  evolve projects deny ~/client-x",
	}
	list := &cobra.Command{
		Use:     "list",
		Short:   "List the projects with their sessions, and what you have decided on each",
		Example: "  evolve projects list\n  evolve projects list --json",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return desk().list(c.Context()) },
	}
	var every bool
	var to []string
	allow := &cobra.Command{
		Use:   "allow [PATH...]",
		Short: "Allow the sessions of projects to be read",
		Long: `allow lets the next harvest read the sessions of a folder and of all folders
below it. Reading happens on this machine. Its text may go to the vendor whose
agent recorded it and to those that --to names, and to no other.`,
		Example: "  evolve projects allow .\n  evolve projects allow . --to openai\n  evolve projects allow . --to none\n  evolve projects allow ~/shop ~/blog\n  evolve projects allow --all",
		RunE:    func(_ *cobra.Command, args []string) error { return desk().allow(args, every, to) },
	}
	allow.Flags().BoolVar(&every, "all", false, "every project that is not denied by name, later ones too")
	allow.Flags().StringSliceVar(&to, "to", nil, "also let these vendors' models get the text; none takes that back")
	deny := &cobra.Command{
		Use:   "deny [PATH...]",
		Short: "Deny the sessions of projects to be read",
		Long: `deny leaves the sessions of a folder, and of all folders below it, out of every
harvest. A folder that is denied stays so when all are allowed. Sessions that
are stored already stay until you purge them.`,
		Example: "  evolve projects deny ~/client-x\n  evolve projects deny --all",
		RunE:    func(c *cobra.Command, args []string) error { return desk().deny(c.Context(), args, every) },
	}
	deny.Flags().BoolVar(&every, "all", false, "take back all that was allowed")
	c.AddCommand(list, allow, deny, testsCommand(desk))
	return c
}

// A row is one project as it is listed.
type row struct {
	Folder   string    `json:"folder"` // "" for sessions that name none
	Stored   int       `json:"stored"` // sessions
	NotRead  int       `json:"not_read"`
	Last     time.Time `json:"last,omitzero"`   // when the newest of them ended
	Decision string    `json:"decision"`        // allowed, denied or undecided
	Fixed    string    `json:"fixed,omitempty"` // why it is denied if its owner did not decide that
	Send     []string  `json:"send,omitempty"`
}

func (d *Desk) list(ctx context.Context) error {
	all, file, err := d.decisions()
	if err != nil {
		return err
	}
	db, kept, err := d.stored(ctx)
	if err != nil {
		return err
	}
	s := consent.Survey{Decisions: all}
	for i := range kept {
		s.Add(kept[i].WorkedIn(), kept[i].Ended)
	}
	found, err := d.survey(ctx, db, all)
	if err != nil {
		return err
	}
	l, broken := d.limits()
	rows := d.rows(all, l, s.Projects(), found)
	data := map[string]any{"schema": 1, "decided": all.Asked() || d.Demo, "all": all.All || d.Demo, "send": append([]string{}, all.Send...), "file": file, "projects": rows}
	var b strings.Builder
	t := d.NewTable(&b)
	fmt.Fprintln(t, "PROJECT\tSTORED\tNOT READ\tDECISION\tVENDORS")
	waiting := 0
	for _, r := range rows {
		if r.Decision == undecided {
			waiting += r.NotRead
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\n", plain.Line(cmp.Or(r.Folder, "(no folder is known)")), r.Stored, r.NotRead, cmp.Or(r.Fixed, r.Decision), plain.Line(cmp.Or(strings.Join(r.Send, " "), "-")))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(rows) == 0 {
		b.Reset()
		b.WriteString("no session was found\n")
	}
	next := "next: `evolve projects allow PATH` or `evolve projects deny PATH` changes a decision"
	switch {
	case broken != nil:
		next = "nothing is read: " + plain.Line(broken.Error())
	case d.Demo:
		next = "a demo reads its own sessions alone"
	case !all.Asked():
		next = "nothing is read until you choose: `evolve projects allow --all`, or `evolve projects allow PATH`"
	case waiting > 0:
		next = fmt.Sprintf("next: `evolve projects allow PATH` has the next harvest read what is undecided: %s", plain.Counted(waiting, "session"))
	}
	return d.Print(data, b.String()+"\n"+next+"\n")
}

const undecided = "undecided"

// rows are the projects that have sessions, or on which something is decided.
func (d *Desk) rows(all *consent.Decisions, l limits, kept, found []consent.Project) []row {
	rows := []row{}
	at := map[string]int{}
	add := func(folder string) *row {
		if i, ok := at[folder]; ok {
			return &rows[i]
		}
		at[folder] = len(rows)
		rule, decided := all.On(folder)
		r := row{Folder: folder, Decision: undecided, Fixed: l.denied(folder), Send: l.vendors(rule.Send)}
		switch {
		case r.Fixed != "":
			r.Decision, r.Send = "denied", nil
		case rule.Read || d.Demo:
			r.Decision = "allowed"
		case decided:
			r.Decision = "denied"
		}
		rows = append(rows, r)
		return &rows[len(rows)-1]
	}
	newest := func(r *row, p consent.Project) {
		if p.Last.After(r.Last) {
			r.Last = p.Last
		}
	}
	for _, p := range kept {
		r := add(p.Folder)
		r.Stored = p.Sessions
		newest(r, p)
	}
	for _, p := range found {
		r := add(p.Folder)
		r.NotRead = p.Sessions
		newest(r, p)
	}
	for _, rule := range all.Rules {
		if rule.Of == "" {
			add(rule.Folder)
		}
	}
	for _, x := range l.fixed {
		for _, folder := range x.Denied() {
			add(folder)
		}
	}
	slices.SortStableFunc(rows, func(r, s row) int { return cmp.Or(s.Last.Compare(r.Last), cmp.Compare(r.Folder, s.Folder)) })
	return rows
}

// stored opens the store, which may be nil, and lists its sessions without their turns.
func (d *Desk) stored(ctx context.Context) (*store.Store, []harvest.Session, error) {
	db, err := d.Store(ctx)
	if err != nil || db == nil {
		return nil, nil, err
	}
	kept, err := db.Sessions(ctx, store.SessionFilter{Bare: true})
	return db, kept, err
}

// A change is what a decision has come to.
type change struct {
	Schema  int      `json:"schema"`
	Allowed bool     `json:"allowed"`
	All     bool     `json:"all,omitempty"` // it is on all projects
	Folders []string `json:"folders"`       // that it is on, by their real paths
	Send    []string `json:"send,omitempty"`
	Stored  int      `json:"stored"` // sessions of what was denied that are stored
}

// named are folders by their absolute paths, one at least unless it is all.
func named(args []string, every bool, verb string) ([]string, error) {
	if every == (len(args) > 0) {
		return nil, problem.Inputf(fmt.Sprintf("for example `evolve projects %s .`, or `evolve projects %[1]s --all`", verb), "evolve projects %s takes folders or --all", verb)
	}
	var out []string
	for _, arg := range args {
		at, err := filepath.Abs(arg)
		if err != nil || arg == "" {
			return nil, problem.Inputf("name a folder", "%q is no folder", arg)
		}
		out = append(out, at)
	}
	return out, nil
}

// update changes the decisions as they are now.
func (d *Desk) update(change func(*consent.Decisions) error) error {
	home, err := d.Home()
	if err != nil {
		return err
	}
	return consent.Update(home.Projects(), change)
}

func (d *Desk) allow(args []string, every bool, to []string) error {
	folders, err := named(args, every, "allow")
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if info, err := os.Stat(folder); err == nil && !info.IsDir() {
			return problem.Inputf("name the folder that it is in", "%s is no folder", plain.Line(folder))
		}
	}
	none := slices.Equal(to, []string{"none"})
	if none {
		to = nil
	}
	for i := range to {
		if to[i], err = outgoing.Vendor(to[i]); err != nil {
			return err
		}
	}
	l, err := d.limits()
	if err != nil {
		return err
	}
	c := change{Schema: 1, Allowed: true, All: every, Folders: []string{}, Send: to}
	var b strings.Builder
	if err := d.update(func(all *consent.Decisions) error {
		if every {
			if none {
				all.Send = nil
			}
			all.AllowAll(to...)
			b.WriteString("allowed: all projects, later ones too\n" + goes(l.vendors(all.Send)))
			for _, x := range l.fixed {
				if !x.All || len(x.Rules) > 0 {
					b.WriteString("         but what is " + x.denied + "\n")
				}
			}
			for _, folder := range all.Denied() {
				fmt.Fprintf(&b, "denied:  %s stays denied\n", plain.Line(folder))
			}
		}
		for _, folder := range folders {
			if all.Allow(folder, to...); none {
				all.Keep(folder)
			}
			r, _ := all.On(folder)
			c.Folders = append(c.Folders, r.Folder)
			fmt.Fprintf(&b, "allowed: %s and what is below it\n%s", plain.Line(r.Folder), goes(l.vendors(r.Send)))
			if _, err := os.Stat(folder); err != nil {
				b.WriteString("         no such folder is here now\n")
			}
			if why := l.denied(r.Folder); why != "" {
				b.WriteString("         it is not read all the same: " + strings.TrimPrefix(why, "denied: ") + "\n")
			} else if !r.Read {
				b.WriteString("         it is a worktree of a repository that is denied, and is not read either\n")
			} else if project := all.Project(folder); !all.MayRead([]string{project}) {
				fmt.Fprintf(&b, "         the rest of its project is not: `evolve projects allow %s`\n", plain.Line(plain.Arg(project)))
			}
		}
		return nil
	}); err != nil {
		return err
	}
	b.WriteString("next: `evolve harvest` reads what is new\n")
	return d.Print(c, b.String())
}

// goes says which vendors get text.
func goes(send []string) string {
	to := "to the vendor whose agent recorded it alone"
	if len(send) > 0 {
		to = "to the vendor whose agent recorded it, and to " + strings.Join(send, ", ")
	}
	return "text:    may go " + plain.Line(to) + "\n"
}

func (d *Desk) deny(ctx context.Context, args []string, every bool) error {
	folders, err := named(args, every, "deny")
	if err != nil {
		return err
	}
	_, kept, err := d.stored(ctx)
	if err != nil {
		return err
	}
	c := change{Schema: 1, All: every, Folders: []string{}}
	var b strings.Builder
	purge := func(n int, flag string) {
		c.Stored += n
		if n > 0 {
			fmt.Fprintf(&b, "stored:  %s of it: `evolve sessions purge %s` removes them\n", plain.Counted(n, "session"), flag)
		}
	}
	if err := d.update(func(all *consent.Decisions) error {
		if every {
			all.DenyAll()
			b.WriteString("denied:  all projects\n")
			purge(len(kept), "--all")
		}
		for _, folder := range folders {
			all.Deny(folder)
			r, _ := all.On(folder)
			said := func(folder, what string) {
				c.Folders = append(c.Folders, folder)
				fmt.Fprintf(&b, "denied:  %s%s\n", plain.Line(folder), what)
				n := 0
				for i := range kept {
					if all.Holds(folder, kept[i].WorkedIn()) {
						n++
					}
				}
				purge(n, "--project "+plain.Line(plain.Arg(folder)))
			}
			said(r.Folder, " and what is below it")
			for _, tree := range all.Rules {
				if tree.Of == r.Folder {
					said(tree.Folder, ", a worktree of it")
				}
			}
		}
		return nil
	}); err != nil {
		return err
	}
	return d.Print(c, b.String())
}

package outgoing

import (
	"cmp"
	"context"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/store"
)

// origin is where text comes from.
type origin struct {
	folders  []string
	recorder string
	// lost: its text has expired, and so has what folders it was in.
	lost bool
}

// readable reports whether text from somewhere may be read: what may be of a denied
// folder may not.
func readable(d *consent.Decisions, o origin) bool {
	return d.MayRead(o.folders) && (!o.lost || len(d.Denied()) == 0)
}

func (o *origin) in(folders ...string) {
	for _, dir := range folders {
		if !slices.Contains(o.folders, dir) {
			o.folders = append(o.folders, dir)
		}
	}
}

// origins are where the text of cases comes from.
type origins struct {
	sessions map[string]origin                       // by sessionOf
	recorded map[string]map[string]harvest.Recording // by skill and case
}

// of is where the text of a case comes from: its session, and those that the model had
// seen which wrote it. That of a case without a session is from nowhere.
func (o *origins) of(c *eval.Case) (from []origin) {
	rec, recorded := o.recorded[c.Skill][c.ID]
	for i, s := range sources(c) {
		one, known := o.sessions[sessionOf(s)]
		if !known {
			continue
		}
		one.folders = slices.Clone(one.folders)
		if i == 0 {
			one.in(rec.Folders...) // of a session whose text has expired
		} else if len(one.folders) == 0 {
			one.in(rec.Also...)
		}
		one.lost = one.lost && len(one.folders) == 0 && (i > 0 || !recorded)
		from = append(from, one)
	}
	return from
}

// sources are the session of a case, and the others that its text may repeat.
func sources(c *eval.Case) []*eval.Source {
	if c.Source == nil {
		return nil
	}
	out := []*eval.Source{c.Source}
	for i := range c.Source.Also {
		out = append(out, &c.Source.Also[i])
	}
	return out
}

func sessionOf(s *eval.Source) string {
	return cmp.Or(s.Session, "\x00"+s.Agent) // no session has such an ID
}

// origins finds where the text of cases comes from.
func (g *Control) origins(ctx context.Context, db *store.Store, cases []eval.Case) (*origins, error) {
	out := &origins{map[string]origin{}, map[string]map[string]harvest.Recording{}}
	take := func(f store.SessionFilter) error {
		f.Bare = true
		list, err := db.Sessions(ctx, f)
		for i := range list {
			s := &list[i]
			o, again := out.sessions[s.ID]
			if by := g.Recorder(s); !again {
				o.recorder = by
			} else if o.recorder != by {
				o.recorder = "" // several agents claim the same session
			}
			o.in(s.WorkedIn()...)
			o.lost = o.lost || store.IsHashed(s.Path)
			out.sessions[s.ID] = o
		}
		return err
	}
	for i := range cases {
		c := &cases[i]
		for _, s := range sources(c) {
			by := g.Recorder(&harvest.Session{ID: s.Session, Agent: s.Agent}) // if nothing else is known
			id := sessionOf(s)
			if s.Session == "" {
				if s.Agent != "" && by != "" {
					out.sessions[id] = origin{recorder: by}
				}
				continue
			}
			if out.recorded[c.Skill] == nil {
				err := take(store.SessionFilter{Skill: c.Skill})
				if err == nil {
					out.recorded[c.Skill], err = db.Recordings(ctx, c.Skill)
				}
				if err != nil {
					return nil, err
				}
			}
			if _, known := out.sessions[id]; !known {
				if err := take(store.SessionFilter{ID: id}); err != nil {
					return nil, err
				}
			}
			if _, known := out.sessions[id]; !known && (c.Origin() == "mined" || c.Generated()) {
				out.sessions[id] = origin{recorder: by}
			}
		}
	}
	return out, nil
}

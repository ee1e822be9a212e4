package candidate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/store"
)

// A Case is a case that taught a step, with the user's words.
type Case struct {
	Case    string `json:"case"`
	Prompt  string `json:"prompt,omitempty"` // "" if the case is gone
	Outcome string `json:"outcome,omitempty"`
	// Words are the user's own, as in the session; if it is gone, the texts
	// of the case's checks.
	Words string `json:"words,omitempty"`
}

// Lines lists cases with the user's words.
func Lines(cases []Case, indent string) string {
	var b strings.Builder
	for _, c := range cases {
		if c.Prompt == "" {
			fmt.Fprintf(&b, "%s- %s (gone since)\n", indent, c.Case)
			continue
		}
		fmt.Fprintf(&b, "%s- %s: %s\n", indent, c.Case, plain.Excerpt(c.Prompt, 100))
		if c.Words != "" {
			fmt.Fprintf(&b, "%s  %s\n", indent, c.Said())
		}
	}
	return b.String()
}

// Said is the user's words on the case.
func (c *Case) Said() string {
	what := "said"
	if c.Outcome != "" {
		what = c.Outcome
	}
	return fmt.Sprintf("%s: “%s”", what, plain.Excerpt(c.Words, 160))
}

// Case reads a case that taught something, as far as it is still stored.
func (s *Texts) Case(ctx context.Context, words *Words, id string) (Case, error) {
	c := Case{Case: id}
	kase, err := s.Store.Case(ctx, s.Skill, id)
	if errors.Is(err, store.ErrNotFound) { // dropped or purged since
		return c, nil
	}
	if err != nil {
		return c, err
	}
	c.Prompt = kase.Prompt
	if kase.Source != nil {
		c.Outcome = kase.Source.Outcome
	}
	c.Words, err = words.Of(ctx, kase)
	return c, err
}

// Words looks up users' reactions to answers, a session at a time.
type Words struct {
	Store    *store.Store
	Sessions map[string]map[string]string // session → turn → words
}

// Of is the user's reaction on a case, "" if there was none.
func (u *Words) Of(ctx context.Context, c *eval.Case) (string, error) {
	if src := c.Source; src != nil && src.Session != "" {
		turns, known := u.Sessions[src.Session]
		if !known {
			turns = map[string]string{}
			u.Sessions[src.Session] = turns
			all, err := u.Store.Sessions(ctx, store.SessionFilter{ID: src.Session})
			if err != nil {
				return "", err
			}
			for _, ses := range all {
				for _, in := range ses.Invocations {
					if in.Turn >= 0 && in.Turn < len(ses.Turns) && in.Feedback.Evidence != "" {
						turns[ses.Turns[in.Turn].ID] = in.Feedback.Evidence
					}
				}
			}
		}
		if w := turns[src.Turn]; w != "" {
			return w, nil
		}
		recorded, err := u.Store.Recordings(ctx, c.Skill)
		if err != nil || recorded[c.ID].Evidence != "" {
			return recorded[c.ID].Evidence, err
		}
	}
	var said []string
	for _, k := range c.Checks {
		if k.Feedback != "" {
			said = append(said, k.Feedback)
		} else if k.Rubric != "" {
			said = append(said, k.Rubric)
		}
	}
	return strings.Join(said, "; "), nil
}

// State is the state of a text, as one word and with its reason.
func (s *Texts) State(ctx context.Context, t *Text) (word, reason string, err error) {
	switch {
	case t.Version != nil && s.Live != nil && s.Live.Doc.Hash() == t.SHA():
		return "live", "it is installed", nil
	case t.Version != nil:
		return "installed", fmt.Sprintf("it was v%d", t.Version.N), nil
	case t.Candidate == nil && t.Change == "":
		return "", "", nil
	}
	c, err := Of(ctx, s.Store, s.Skill, cmp.Or(t.Change, t.SHA()))
	if err != nil {
		return "", "", err
	}
	if c != nil {
		return string(c.Standing()), c.Words(), nil
	}
	if t.Candidate == nil {
		return "", "", nil
	}
	reason = string(t.Candidate.State)
	if t.Candidate.Reason != "" {
		reason += ": " + t.Candidate.Reason
	}
	return string(t.Candidate.State), reason, nil
}

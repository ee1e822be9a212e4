package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/spf13/cobra"
)

func newShowCommand(a *app) *cobra.Command {
	var why bool
	c := &cobra.Command{
		Use:   "show SKILL[@vN|@CANDIDATE]",
		Short: "Print a version's or a candidate's text, or why it came to be",
		Long: `show prints the live text of a skill, or of the version or candidate behind the @,
byte for byte. With --why it tells how the text came to be: the steps, and the
user's words that taught each of them.`,
		Example: "  evolve show dataviz@v0\n  evolve show dataviz@1597ed --why\n  evolve show dataviz@challenger --why",
		Args:    exactArgs(1, "a skill"),
		RunE:    func(c *cobra.Command, args []string) error { return a.show(c.Context(), args[0], why) },
	}
	c.Flags().BoolVar(&why, "why", false, "tell what taught this text instead of printing it")
	return c
}

// showResult is what `evolve show --json` prints: schema 1.
type showResult struct {
	Schema   int       `json:"schema"`
	Skill    string    `json:"skill"`
	SHA      string    `json:"sha256"`
	Version  *int      `json:"version"` // nil where it was never installed
	Operator string    `json:"operator,omitempty"`
	Run      string    `json:"run,omitempty"`
	Kernel   string    `json:"kernel_sha256"`
	Tokens   int       `json:"tokens"` // of the body, estimated
	Text     string    `json:"text"`
	Why      []whyStep `json:"why,omitempty"` // the last step first
}

// A whyStep is one change on the way from the incumbent to a text.
type whyStep struct {
	SHA      string    `json:"sha256"`
	Operator string    `json:"operator"`
	Parents  []string  `json:"parents"`
	Taught   []whyCase `json:"taught"`
}

// A whyCase is a case that taught a step, with what the user said.
type whyCase struct {
	Case    string `json:"case"`
	Prompt  string `json:"prompt,omitempty"` // "" where the case is gone
	Outcome string `json:"outcome,omitempty"`
	// Words are the user's own, as the session has them; where it is gone, what
	// the case's checks say.
	Words string `json:"words,omitempty"`
}

func (a *app) show(ctx context.Context, arg string, why bool) error {
	name, at, _ := strings.Cut(arg, "@")
	s, err := a.texts(ctx, name)
	if err != nil {
		return err
	}
	t, err := s.find(ctx, at)
	if err != nil {
		return err
	}
	if t.doc == nil {
		return usage("name a version or a candidate", "%q is no text", at)
	}
	if t.candidate == nil { // the live text, or one that was found
		if c, err := s.db.Candidate(ctx, t.sha()); err == nil {
			t.candidate = c
		} else if !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	if !why && !a.json {
		text := string(t.doc.Render())
		if terminal(a.stdout) {
			text = report.Plain(text)
		}
		_, err := fmt.Fprint(a.stdout, text)
		return err
	}
	r := showResult{Schema: 1, Skill: name, SHA: t.sha(), Kernel: t.doc.KernelHash(), Tokens: tokensOf(t.doc), Text: string(t.doc.Render())}
	if t.version != nil {
		r.Version, r.Operator, r.Run = &t.version.N, t.version.Operator, t.version.Run
	}
	if t.candidate != nil && t.candidate.State != tournament.Seed {
		r.Operator, r.Run = t.candidate.Operator, t.candidate.Run
		if r.Why, err = s.why(ctx, t.candidate); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(r)
	}
	_, err = fmt.Fprint(a.stdout, r.text(t))
	return err
}

// why tells the steps of a candidate's lineage, the last first.
func (s *skillTexts) why(ctx context.Context, c *tournament.Candidate) ([]whyStep, error) {
	all, err := s.db.Candidates(ctx, c.Run)
	if err != nil {
		return nil, err
	}
	words := &userWords{db: s.db, sessions: map[string]map[string]string{}}
	var out []whyStep
	for _, k := range lineage(all, c.SHA) {
		step := whyStep{SHA: k.SHA, Operator: k.Operator, Parents: append([]string{}, k.Parents...), Taught: []whyCase{}}
		for _, id := range k.Taught {
			w := whyCase{Case: id}
			kase, err := s.db.Case(ctx, s.name, id)
			switch {
			case errors.Is(err, store.ErrNotFound): // dropped or purged since
			case err != nil:
				return nil, err
			default:
				w.Prompt = kase.Prompt
				if kase.Source != nil {
					w.Outcome = kase.Source.Outcome
				}
				if w.Words, err = words.of(ctx, kase); err != nil {
					return nil, err
				}
			}
			step.Taught = append(step.Taught, w)
		}
		out = append(out, step)
	}
	return out, nil
}

// userWords looks up what users said about answers, a session at a time.
type userWords struct {
	db       *store.Store
	sessions map[string]map[string]string // session → turn → words
}

func (u *userWords) of(ctx context.Context, c *eval.Case) (string, error) {
	if src := c.Source; src != nil && src.Session != "" {
		turns, known := u.sessions[src.Session]
		if !known {
			turns = map[string]string{}
			u.sessions[src.Session] = turns
			all, err := u.db.Sessions(ctx, store.SessionFilter{ID: src.Session})
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

// text tells why in a few lines.
func (r *showResult) text(t *namedText) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, about %d tokens\n", t.label, report.Short(r.SHA), r.Tokens)
	if v := t.version; v != nil && v.Author == "you" {
		note := ""
		if v.Note != "" {
			note = ", " + v.Note
		}
		fmt.Fprintf(&b, "yours%s: evolve did not make it\n", note)
	}
	if len(r.Why) == 0 && (t.version == nil || t.version.Author != "you") {
		b.WriteString("nothing is recorded of how it came to be\n")
	}
	for _, s := range r.Why {
		from := make([]string, len(s.Parents))
		for i, p := range s.Parents {
			from[i] = report.Short(p)
		}
		fmt.Fprintf(&b, "%s  %s, from %s", report.Short(s.SHA), s.Operator, strings.Join(from, " and "))
		if len(s.Taught) == 0 {
			b.WriteString("; no case taught it\n")
			continue
		}
		fmt.Fprintf(&b, "; taught by %d cases:\n", len(s.Taught))
		for _, c := range s.Taught {
			if c.Prompt == "" {
				fmt.Fprintf(&b, "  - %s (gone since)\n", c.Case)
				continue
			}
			fmt.Fprintf(&b, "  - %s: %s\n", c.Case, report.Excerpt(c.Prompt, 100))
			if c.Words != "" {
				what := "said"
				if c.Outcome != "" {
					what = c.Outcome
				}
				fmt.Fprintf(&b, "    %s: “%s”\n", what, report.Excerpt(c.Words, 160))
			}
		}
	}
	return report.Plain(b.String())
}

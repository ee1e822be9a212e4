package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/spf13/cobra"
)

func newShowCommand(a *app) *cobra.Command {
	var why bool
	c := &cobra.Command{
		Use:   "show SKILL[@vN|@CANDIDATE]",
		Short: "Print a version's or a candidate's text, or why it came to be",
		Long: `show prints the live text of a skill, or of the version or candidate behind the @,
byte for byte. With --why it tells how the text came to be: every sentence that
differs from the incumbent with the step that it came from and the user's words
that taught it, and then the steps.`,
		Example: "  evolve show dataviz@v0\n  evolve show dataviz@1597ed --why\n  evolve show dataviz@challenger --why",
		Args:    exactArgs(1, "a skill"),
		RunE:    func(c *cobra.Command, args []string) error { return a.show(c.Context(), args[0], why) },
	}
	c.Flags().BoolVar(&why, "why", false, "tell what taught this text instead of printing it")
	return c
}

// showResult is what `evolve show --json` prints: schema 1.
type showResult struct {
	Schema   int    `json:"schema"`
	Skill    string `json:"skill"`
	SHA      string `json:"sha256"`
	Version  *int   `json:"version"` // nil where it was never installed
	Operator string `json:"operator,omitempty"`
	Run      string `json:"run,omitempty"`
	Kernel   string `json:"kernel_sha256"`
	Tokens   int    `json:"tokens"` // of the body, estimated
	Text     string `json:"text"`
	// State is how a candidate stands: "live", "installed" (a version that was
	// replaced), one of a candidacy's ("quarantined", "approved", "rejected",
	// "proven", "undecided", "lost"), or what the search made of it ("pooled",
	// "refused", "invalid"); "" for a text that evolve did not make.
	State string `json:"state,omitempty"`
	// Pinned: the skill was pinned while this was its text.
	Pinned  bool        `json:"pinned"`
	Reason  string      `json:"reason,omitempty"`  // for the state, in words
	Why     []whyStep   `json:"why,omitempty"`     // the last step first
	Changes []whyChange `json:"changes,omitempty"` // against the incumbent that it was made from
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
		return problem.Inputf("name a version or a candidate", "%q is no text", at)
	}
	if t.candidate, _, err = s.made(ctx, t.sha()); err != nil {
		return err
	}
	state, reason, err := s.state(ctx, t)
	if err != nil {
		return err
	}
	if !why && !a.JSON {
		if t.version == nil && state != "" && state != string(tournament.Pooled) {
			a.Say("%s", oneLine(fmt.Sprintf("%s: %s", t.label, reason)))
		}
		text := string(t.doc.Render())
		if term.IsTerminal(a.Stdout) {
			text = plain.Text(text)
		}
		_, err := fmt.Fprint(a.Stdout, text)
		return err
	}
	r := showResult{Schema: 1, Skill: name, SHA: t.sha(), Kernel: t.doc.KernelHash(), Tokens: tokensOf(t.doc), Text: string(t.doc.Render()),
		State: state, Reason: reason}
	pin, err := s.db.Pinned(ctx, name)
	if err != nil {
		return err
	}
	r.Pinned = pin != nil && pin.SHA == r.SHA
	if t.version != nil {
		r.Version, r.Operator, r.Run = &t.version.N, t.version.Operator, t.version.Run
	}
	if t.candidate != nil {
		r.Operator, r.Run = t.candidate.Operator, t.candidate.Run
		h, err := s.history(ctx, t)
		if err != nil {
			return err
		}
		r.Why, r.Changes = h.steps(t.sha()), h.changes(t.sha())
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	_, err = fmt.Fprint(a.Stdout, r.text(t))
	return err
}

// whyCase reads a case that taught something, as far as it is still there.
func (s *skillTexts) whyCase(ctx context.Context, words *userWords, id string) (whyCase, error) {
	c := whyCase{Case: id}
	kase, err := s.db.Case(ctx, s.name, id)
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
	c.Words, err = words.of(ctx, kase)
	return c, err
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

// state is how a text stands, in one word and in words.
func (s *skillTexts) state(ctx context.Context, t *namedText) (word, reason string, err error) {
	switch {
	case t.version != nil && s.live != nil && s.live.Doc.Hash() == t.sha():
		return "live", "it is installed", nil
	case t.version != nil:
		return "installed", fmt.Sprintf("it was v%d", t.version.N), nil
	case t.candidate == nil:
		return "", "", nil
	}
	c, err := candidacyOf(ctx, s.db, s.name, t.sha())
	if err != nil {
		return "", "", err
	}
	if c != nil {
		return string(c.standing()), c.words(), nil
	}
	reason = string(t.candidate.State)
	if t.candidate.Reason != "" {
		reason += ": " + t.candidate.Reason
	}
	return string(t.candidate.State), reason, nil
}

// text tells why in a few lines.
func (r *showResult) text(t *namedText) string {
	var b strings.Builder
	pinned := ""
	if r.Pinned {
		pinned = ", pinned"
	}
	fmt.Fprintf(&b, "%s: %s, about %d tokens%s\n", t.label, plain.Short(r.SHA), r.Tokens, pinned)
	if v := t.version; v != nil && v.Author == "you" {
		note := ""
		if v.Note != "" {
			note = ", " + v.Note
		}
		fmt.Fprintf(&b, "yours%s: evolve did not make it\n", note)
	}
	if t.version == nil && r.Reason != "" {
		fmt.Fprintf(&b, "%s\n", oneLine(r.Reason))
	}
	if len(r.Why) == 0 && (t.version == nil || t.version.Author != "you") {
		b.WriteString("nothing is recorded of how it came to be\n")
	}
	for _, c := range r.Changes {
		b.WriteString(c.text())
	}
	if len(r.Why) > 0 {
		b.WriteString("\nthe steps, the last first:\n")
	}
	for _, s := range r.Why {
		from := make([]string, len(s.Parents))
		for i, p := range s.Parents {
			from[i] = plain.Short(p)
		}
		fmt.Fprintf(&b, "%s  %s, from %s", plain.Short(s.SHA), s.Operator, strings.Join(from, " and "))
		if len(s.Taught) == 0 {
			b.WriteString("; no case taught it\n")
			continue
		}
		fmt.Fprintf(&b, "; taught by %s:\n%s", plain.Counted(len(s.Taught), "case"), caseLines(s.Taught, "  "))
	}
	return plain.Text(b.String())
}

// caseLines lists cases with what the user said.
func caseLines(cases []whyCase, indent string) string {
	var b strings.Builder
	for _, c := range cases {
		if c.Prompt == "" {
			fmt.Fprintf(&b, "%s- %s (gone since)\n", indent, c.Case)
			continue
		}
		fmt.Fprintf(&b, "%s- %s: %s\n", indent, c.Case, plain.Excerpt(c.Prompt, 100))
		if c.Words != "" {
			fmt.Fprintf(&b, "%s  %s\n", indent, c.said())
		}
	}
	return b.String()
}

// said is what the user said on the case.
func (c *whyCase) said() string {
	what := "said"
	if c.Outcome != "" {
		what = c.Outcome
	}
	return fmt.Sprintf("%s: “%s”", what, plain.Excerpt(c.Words, 160))
}

// citedCases is how many cases a sentence is shown with; --json has them all.
const citedCases = 2

// text is a sentence with what taught it.
func (c *whyChange) text() string {
	var b strings.Builder
	mark := map[string]string{"added": "+", "reworded": "~", "removed": "-"}[c.Kind]
	fmt.Fprintf(&b, "\n%s %s\n", mark, plain.Excerpt(c.Text, 300))
	if c.Was != "" {
		fmt.Fprintf(&b, "    was: %s\n", plain.Excerpt(c.Was, 300))
	}
	fmt.Fprintf(&b, "    %s\n", c.Because)
	for _, s := range c.Steps {
		fmt.Fprintf(&b, "    %s %s\n", s.Operator, plain.Short(s.SHA))
		for i := range s.Cases {
			if i == citedCases {
				fmt.Fprintf(&b, "      and %d more\n", len(s.Cases)-i)
				break
			}
			k := &s.Cases[i]
			said := k.said()
			if k.Prompt == "" {
				said = "gone since"
			}
			fmt.Fprintf(&b, "      %s  %s\n", k.Case, said)
		}
		if n := len(s.TriedOn); n > 0 && len(s.Cases) == 0 {
			fmt.Fprintf(&b, "      tried on %s", strings.Join(s.TriedOn[:min(n, citedCases)], ", "))
			if n > citedCases {
				fmt.Fprintf(&b, " and %d more", n-citedCases)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

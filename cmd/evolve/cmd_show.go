package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/spf13/cobra"
)

func newShowCommand(a *global) *cobra.Command {
	var why bool
	c := &cobra.Command{
		Use:   "show SKILL[@vN|@CANDIDATE]",
		Short: "Print a version's or a candidate's text, or why it came to be",
		Long: `show prints the live text of a skill, or the version or candidate behind the @,
byte for byte. With --why it explains how the text came to be: for every
sentence that differs from your text, the step that added it and the user's
words that taught it, and then the steps.`,
		Example: "  evolve show dataviz@v0\n  evolve show dataviz@1597ed --why\n  evolve show dataviz@challenger --why",
		Args:    exactArgs(1, "a skill"),
		RunE:    func(c *cobra.Command, args []string) error { return runShow(c.Context(), a, args[0], why) },
	}
	c.Flags().BoolVar(&why, "why", false, "explain what taught this text instead of printing it")
	return c
}

// showResult is what `evolve show --json` prints: schema 1.
type showResult struct {
	Schema   int         `json:"schema"`
	Skill    string      `json:"skill"`
	Subject  subject.Ref `json:"subject"`
	SHA      string      `json:"sha256"`
	Version  *int        `json:"version"` // nil if it was never installed
	Operator string      `json:"operator,omitempty"`
	Run      string      `json:"run,omitempty"`
	Kernel   string      `json:"kernel_sha256"`
	Tokens   int         `json:"tokens"` // of the body, estimated
	Text     string      `json:"text"`
	// State is "live", "installed" (a version that was replaced), the
	// standing of a candidate ("quarantined", "approved", "rejected",
	// "proven", "undecided", "lost"), or its result in the search ("pooled",
	// "refused", "invalid"); "" for a text that evolve did not make.
	State string `json:"state,omitempty"`
	// Pinned: the skill was pinned while this was its text.
	Pinned  bool               `json:"pinned"`
	Reason  string             `json:"reason,omitempty"`  // for the state, in words
	Why     []candidate.Step   `json:"why,omitempty"`     // the last step first
	Changes []candidate.Change `json:"changes,omitempty"` // against the incumbent that it was made from
}

func runShow(ctx context.Context, a *global, arg string, why bool) error {
	name, at := subject.Cut(arg)
	s, err := openTexts(ctx, a, name)
	if err != nil {
		return err
	}
	t, err := s.Find(ctx, at)
	if err != nil {
		return err
	}
	if t.Doc == nil {
		return problem.Inputf("name a version or a candidate", "%q is no text", at)
	}
	if why && t.Change != "" { // what taught the change is known of the challenger
		if t, err = s.Find(ctx, t.Change); err != nil {
			return err
		}
	}
	if t.Candidate, _, err = s.Made(ctx, t.SHA()); err != nil {
		return err
	}
	state, reason, err := s.State(ctx, t)
	if err != nil {
		return err
	}
	if !why && !a.JSON {
		if t.Version == nil && state != "" && state != string(record.Pooled) {
			a.Say("%s", oneLine(fmt.Sprintf("%s: %s", t.Label, reason)))
		}
		text := string(t.Doc.Render())
		if term.IsTerminal(a.Stdout) {
			text = plain.Text(text)
		}
		_, err := fmt.Fprint(a.Stdout, text)
		return err
	}
	r := showResult{Schema: 1, Skill: name, Subject: subject.Parse(name), SHA: t.SHA(), Kernel: t.Doc.KernelHash(), Tokens: cmp.Or(t.Doc.Tokens(), skill.Tokens(string(t.Doc.Render()))), Text: string(t.Doc.Render()),
		State: state, Reason: reason}
	pin, err := s.Store.Pinned(ctx, name)
	if err != nil {
		return err
	}
	r.Pinned = pin != nil && pin.SHA == r.SHA
	if t.Version != nil {
		r.Version, r.Operator, r.Run = &t.Version.N, t.Version.Operator, t.Version.Run
	}
	if t.Candidate != nil {
		r.Operator, r.Run = t.Candidate.Operator, t.Candidate.Run
		h, err := s.History(ctx, t)
		if err != nil {
			return err
		}
		r.Why, r.Changes = h.Steps(t.SHA()), h.Changes(t.SHA())
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	_, err = fmt.Fprint(a.Stdout, r.text(t))
	return err
}

// text explains in a few lines how a text was made.
func (r *showResult) text(t *candidate.Text) string {
	var b strings.Builder
	pinned := ""
	if r.Pinned {
		pinned = ", pinned"
	}
	fmt.Fprintf(&b, "%s: %s, about %d tokens%s\n", subject.Readable(t.Label), plain.Short(r.SHA), r.Tokens, pinned)
	if v := t.Version; v != nil && v.Author == "you" {
		note := ""
		if v.Note != "" {
			note = ", " + v.Note
		}
		fmt.Fprintf(&b, "yours%s: evolve did not make it\n", note)
	}
	if t.Version == nil && r.Reason != "" {
		fmt.Fprintf(&b, "%s\n", oneLine(r.Reason))
	}
	if len(r.Why) == 0 && (t.Version == nil || t.Version.Author != "you") {
		b.WriteString("nothing is recorded of how it came to be\n")
	}
	for _, c := range r.Changes {
		b.WriteString(changeText(&c))
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
		fmt.Fprintf(&b, "; taught by %s:\n%s", plain.Counted(len(s.Taught), "case"), candidate.Lines(s.Taught, "  "))
	}
	return plain.Text(b.String())
}

// citedCases is the number of cases shown for a sentence; --json has all of
// them.
const citedCases = 2

// changeText formats a sentence with the cases that taught it.
func changeText(c *candidate.Change) string {
	var b strings.Builder
	mark := map[string]string{"added": "+", "reworded": "~", "removed": "-"}[c.Kind]
	fmt.Fprintf(&b, "\n%s %s\n", mark, plain.Excerpt(c.Text, 300))
	if c.Was != "" {
		fmt.Fprintf(&b, "    was: %s\n", plain.Excerpt(c.Was, 300))
	}
	if c.Because != candidate.Answers { // what was said follows
		fmt.Fprintf(&b, "    %s\n", c.Because)
	}
	for _, s := range c.Steps {
		fmt.Fprintf(&b, "    %s %s\n", s.Operator, plain.Short(s.SHA))
		for i := range s.Cases {
			if i == citedCases {
				fmt.Fprintf(&b, "      and %d more\n", len(s.Cases)-i)
				break
			}
			k := &s.Cases[i]
			said := k.Said()
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

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/content"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/judge"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/spf13/cobra"
)

type reviewFlags struct {
	most int
	seed int64
}

func newReviewCommand(a *global) *cobra.Command {
	f := &reviewFlags{}
	c := &cobra.Command{
		Use:   "review SKILL",
		Short: "Choose the better of two answers, blind",
		Long: `review shows answers of two texts of a skill to the same request, in random
order and without their names, and asks which is better: 1, 2 or = (s skips, q
quits). Cases that only a judge can check come first, and answers of
trials. Every choice is stored at once.

Your choices measure the judge: once it agrees with you (an agreement beyond
chance, Cohen's kappa, of 0.6 or more, with an interval from 0.4 or more), its
decisions alone are evidence in a trial. That is looked at after 20 choices, and after every further 20. A judge that
sees no difference where you see one disagrees with you. Pairs that you call the
same are not labels.`,
		Example: "  evolve review dataviz\n  evolve review dataviz -n 10",
		Args:    exactArgs(1, "a skill"),
		RunE:    func(c *cobra.Command, args []string) error { return runReview(c.Context(), a, args[0], f) },
	}
	c.Flags().IntVarP(&f.most, "count", "n", 20, "pairs at most")
	c.Flags().IntVar(&f.most, "max", 20, "the same: its name before")
	_ = c.Flags().MarkHidden("max") // it was just added
	c.Flags().Int64Var(&f.seed, "seed", -1, "seed of the order of pairs and answers (default: the time)")
	c.Flags().Lookup("seed").DefValue = "0" // not shown
	return c
}

// A reviewed is the result of a review, with the judge's agreement with the
// owner over all reviewed pairs of the skill.
type reviewed struct {
	Schema  int    `json:"schema"`
	Skill   string `json:"skill"`
	Shown   int    `json:"shown"`
	Labels  int    `json:"labels"` // with a preference, in this review
	Same    int    `json:"same"`
	Skipped int    `json:"skipped"`
	Left    int    `json:"left"` // pairs that are still without a label
	// Kappa compares the owner's preferences with the judge's, at the last look.
	Kappa   pareto.KappaEstimate `json:"kappa"`
	Stored  pareto.Agreement     `json:"agreement"`
	Missing int                  `json:"reviews_missing"` // until the next look
	// Warnings say if most corrections are alike.
	Warnings []string `json:"warnings,omitempty"`

	judge record.Calibration

	same, asked int // cases to which all texts gave the same answer, of those asked of two; counted if there is no pair
}

func runReview(ctx context.Context, a *global, name string, f *reviewFlags) error {
	if f.most < 1 {
		return problem.Inputf("", "--count %d is not positive", f.most)
	}
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	if f.seed < 0 {
		f.seed = a.Now().UnixNano()
	}
	pairs, err := judge.OpenPairs(ctx, db, name, rand.New(rand.NewPCG(uint64(f.seed), 0x726576696577)))
	if err != nil {
		return err
	}
	if len(pairs) == 0 {
		var unknown *skill.UnknownSkillError
		if _, err := a.layout().Live(name); errors.As(err, &unknown) {
			return err
		}
	}
	r := &reviewed{Schema: 1, Skill: name, Left: len(pairs)}
	lines, pairs := typedLines(ctx, a), pairs[:min(len(pairs), f.most)]
	ask := func(question string) (string, error) {
		fmt.Fprint(a.Stderr, question)
		return lines()
	}
	for _, p := range pairs {
		if quit, err := askPair(ctx, a, db, p, r, len(pairs), ask); err != nil {
			return err
		} else if quit {
			break
		}
	}
	if r.judge, err = judge.Known(ctx, db, name); err != nil {
		return err
	}
	cases, err := db.Cases(ctx, name)
	if err != nil {
		return err
	}
	r.Warnings = content.OneSided(cases)
	r.Stored, r.Kappa, r.Missing = r.judge.Labels, pareto.Kappa(r.judge.Labels), r.judge.Reviews()
	if len(pairs) == 0 {
		if r.same, r.asked, err = judge.Same(ctx, db, name); err != nil {
			return err
		}
	}
	return printReview(a, r)
}

// askPair shows a pair to the owner and stores the answer; of is the number of pairs in this
// review. quit reports whether the owner ended the review.
func askPair(ctx context.Context, a *global, db *store.Store, p judge.Pair, r *reviewed, of int, ask func(string) (string, error)) (quit bool, err error) {
	r.Shown++
	const better = "better: 1, 2 or = (s skip, q quit) "
	one, two := p.Works()
	question := fmt.Sprintf("\npair %d of %d\nasked: %s\n── 1 ──\n%s\n── 2 ──\n%s\n%s", r.Shown, of, plain.Excerpt(p.Case.Prompt, 300), shown(p.First.Answer, one), shown(p.Second.Answer, two), better)
	for ; ; question = better {
		line, err := ask(question)
		if errors.Is(err, io.EOF) {
			fmt.Fprintln(a.Stderr)
			return true, nil
		}
		if err != nil {
			return true, err
		}
		switch word := strings.TrimSpace(line); word {
		case "q":
			return true, nil
		case "s":
			r.Skipped++
		case "1", "2", "=":
			if err := p.Keep(ctx, db, r.Skill, store.Choice(word)); err != nil {
				return true, err
			}
			r.Left--
			if word == "=" {
				r.Same++
			} else {
				r.Labels++
			}
		default:
			continue
		}
		return false, nil
	}
}

// offerReview asks the owner at a terminal for the reviews that a judge needs before it can be
// trusted, so that a first run can reach a verdict. A run calls it between its search and its
// gate. The pairs are answers from the search, and the owner may skip the review.
func offerReview(ctx context.Context, a *global, db *store.Store, name string) error {
	labels, err := db.Labels(ctx, name)
	if err != nil {
		return err
	}
	missing := record.TrustedLabels
	for _, l := range labels {
		if l.Choice != store.Same {
			missing--
		}
	}
	rng := rand.New(rand.NewPCG(uint64(a.Now().UnixNano()), 0x726576696577))
	ask := func(question string) (string, error) {
		line, ok, err := a.Ask(question)
		if err == nil && !ok {
			err = io.EOF
		}
		return line, err
	}
	seen := map[string]bool{}
	for r := (&reviewed{Skill: name}); r.Labels < missing; { // one pair a case, then other answers to the same cases
		pairs, err := judge.OpenPairs(ctx, db, name, rng)
		if err != nil {
			return err
		}
		pairs = slices.DeleteFunc(pairs, func(p judge.Pair) bool { return seen[pairName(p)] })
		if len(pairs) == 0 {
			return nil
		}
		if r.Shown == 0 {
			a.Tell("some requests of the trial only a judge can check, and its word counts once it agrees with you on %d pairs of answers; you see them blind, one after the other", missing)
			if ok, err := a.Confirm(fmt.Sprintf("Say now which is better? (later: evolve review %s)", name)); !ok || err != nil {
				return err
			}
		}
		for _, p := range pairs[:min(len(pairs), missing-r.Labels)] {
			seen[pairName(p)] = true
			if quit, err := askPair(ctx, a, db, p, r, r.Shown+missing-r.Labels, ask); quit || err != nil {
				return err
			}
		}
	}
	return nil
}

// pairName names a pair whatever the order of its answers.
func pairName(p judge.Pair) string {
	first, second := p.Names()
	return p.Case.ID + " " + min(first, second) + " " + max(first, second)
}

// typedLines returns a function that reads the next line of stdin; its error is
// io.EOF at the end, and a quietExit if ctx ended while it waited.
func typedLines(ctx context.Context, a *global) func() (string, error) {
	type read struct {
		line string
		err  error
	}
	in := bufio.NewReader(a.Stdin)
	return func() (string, error) {
		got := make(chan read, 1)
		go func() {
			line, err := in.ReadString('\n')
			if line != "" {
				err = nil // the last one may have no end
			}
			got <- read{line, err}
		}()
		select {
		case r := <-got:
			if r.err != nil && !errors.Is(r.err, io.EOF) {
				r.err = fmt.Errorf("read the answer: %w", r.err)
			}
			return r.line, r.err
		case <-ctx.Done():
			return "", &quietExit{exitInterrupted}
		}
	}
}

// Limits on what is shown of one answer.
const (
	shownLines = 24
	shownRunes = 1600
)

// shown is an answer, and what was done for it, made safe for a terminal: without control
// sequences, and never cut in the middle of a character.
func shown(answer, work string) string {
	if work != "" {
		return shown(answer, "") + "\n── what was done ──\n" + shown(work, "")
	}
	text := strings.TrimSpace(plain.Text(answer))
	lines := strings.Split(text, "\n")
	cut := plain.Runes(strings.Join(lines[:min(len(lines), shownLines)], "\n"), shownRunes)
	if cut != text {
		cut += "\n… (cut)"
	}
	return cut
}

func printReview(a *global, r *reviewed) error {
	var b strings.Builder
	switch {
	case r.asked > 0 && r.same == r.asked:
		fmt.Fprintf(&b, "%s: no two answers to compare: all texts gave the same answer in %d of %s\n", r.Skill, r.same, plain.Counted(r.asked, "case"))
	case r.Shown == 0 && r.Left == 0:
		fmt.Fprintf(&b, "%s: no two answers to compare: no case has answers of two texts\n", r.Skill)
	default:
		fmt.Fprintf(&b, "%s: %s, %d the same, %d skipped; %s left\n", r.Skill, plain.Counted(r.Labels, "label"), r.Same, r.Skipped, plain.Counted(r.Left, "pair"))
	}
	if r.judge.Labels.N()+r.judge.Since+r.judge.Missing > 0 {
		fmt.Fprintf(&b, "judge: %s\n", r.judge)
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "! %s\n", w)
	}
	next := fmt.Sprintf("`evolve --skill %s` counts them", r.Skill)
	if r.asked > 0 && r.same == r.asked { // more answers would be the same, too
		next = fmt.Sprintf("`evolve cases edit %s ID` gives a case a check that tells good answers from bad ones, `evolve cases import` brings others", r.Skill)
	} else if r.Shown == 0 && r.Left == 0 {
		next = fmt.Sprintf("`evolve --skill %s` or `evolve compare %s` brings answers", r.Skill, r.Skill)
	}
	fmt.Fprintf(&b, "next: %s\n", next)
	return a.Print(r, b.String())
}

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/advice"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/doctor"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/spf13/cobra"
)

func newDoctorCommand(a *global) *cobra.Command {
	var baseURL, keyEnv string
	c := &cobra.Command{
		Use:     "doctor",
		Short:   "What works here, what is missing, and how to get it",
		Example: "  evolve doctor\n  evolve doctor --base-url http://127.0.0.1:11434/v1",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runDoctor(c.Context(), a, baseURL, keyEnv) },
	}
	c.Flags().StringVar(&baseURL, "base-url", "", "also ask this OpenAI-compatible server for its models")
	c.Flags().StringVar(&keyEnv, "api-key-env", "OPENAI_API_KEY", "environment variable that holds the key")
	return c
}

// runDoctor prints a doctor's findings. A failure makes the exit code 1.
func runDoctor(ctx context.Context, a *global, baseURL, keyEnv string) error {
	d := &doctor.Doctor{Home: a.home, Layout: a.layout(), Opener: a.opener(false), Getenv: a.Getenv, Policy: a.machine.policy, Hint: func(err error) string { _, hint := advice.Cause(err); return hint },
		BaseURL: baseURL, KeyEnv: keyEnv, Timeout: 5 * time.Second, Now: a.Now, Night: timersOf(a).Installed}
	found, err := d.Examine(ctx)
	if err != nil {
		return err
	}
	bad := 0
	for _, f := range found {
		if f.State == doctor.Fails {
			bad++
		}
	}
	var b strings.Builder
	t := plain.NewTable(&b) // what is to be typed is not cut
	for _, f := range found {
		fmt.Fprintf(t, "%s\t%s\t%s\n", f.State, f.What, f.Detail)
		if f.Fix != "" {
			fmt.Fprintf(t, "\t\t→ %s\n", f.Fix)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if err := a.Print(struct {
		Schema   int              `json:"schema"`
		OK       bool             `json:"ok"`
		Findings []doctor.Finding `json:"findings"`
	}{1, bad == 0, found}, b.String()); err != nil {
		return err
	}
	if bad > 0 {
		return problem.Hinted(fmt.Errorf("doctor: %s above", plain.Counted(bad, "failure")), "the lines that begin with \"fails\" show what to type")
	}
	return nil
}

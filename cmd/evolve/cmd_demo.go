package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/madeup"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/spf13/cobra"
)

// demoHome is a made-up person's Claude Code folder: sessions in the format of
// the real CLI, and a skill.
//
//go:embed all:demodata/home
var demoHome embed.FS

const demoSkill = "dataviz"

// demoConfig lets every command run in a kept demo folder without flags.
const demoConfig = `# The folder of evolve demo: made-up sessions, and a simulated agent.
demo: true
agent: simulated
`

func newDemoCommand(a *global) *cobra.Command {
	var keep string
	c := &cobra.Command{
		Use:     "demo",
		Short:   "The whole cycle on bundled sessions; no key, no network",
		Example: "  evolve demo\n  evolve demo --keep /tmp/demo",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runDemo(c.Context(), a, keep) },
	}
	c.Flags().StringVar(&keep, "keep", "", "folder to keep the demo's home in (default: a temporary one, removed)")
	return c
}

// runDemo runs harvest, search, gate and promote in a temporary home.
func runDemo(ctx context.Context, a *global, keep string) (err error) {
	dir := keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "evolve-demo-"); err != nil {
			return fmt.Errorf("make the demo's home: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	} else if entries, e := os.ReadDir(dir); e == nil && len(entries) > 0 {
		return problem.Inputf("name a folder that does not exist yet", "%s is not empty", dir)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return fmt.Errorf("lay out the demo's home: %w", err)
	}
	before, err := newestStamp(demoHome)
	if err != nil {
		return fmt.Errorf("lay out the demo's home: %w", err)
	}
	shift := a.Now().Add(-time.Hour).Sub(before)
	if err := copyTree(demoHome, "demodata/home", dir, shift); err != nil {
		return fmt.Errorf("lay out the demo's home: %w", err)
	}
	own := map[string]string{"EVOLVE_HOME": filepath.Join(dir, "evolve"), "CLAUDE_CONFIG_DIR": filepath.Join(dir, ".claude")}
	for _, look := range []string{"TERM", "NO_COLOR", "CI"} {
		own[look] = a.Getenv(look)
	}
	if err := os.MkdirAll(own["EVOLVE_HOME"], 0o700); err != nil {
		return fmt.Errorf("lay out the demo's home: %w", err)
	}
	for at, text := range map[string]string{filepath.Join(own["EVOLVE_HOME"], "config.yaml"): demoConfig, filepath.Join(dir, backend.DemoMark): ""} {
		if err := os.WriteFile(at, []byte(text), fileMode); err != nil {
			return fmt.Errorf("lay out the demo's home: %w", err)
		}
	}
	d := newGlobal(a.Stdin, a.Stdout, a.Stderr) // without a.machine: a demo's decisions concern its own folder
	d.JSON, d.Quiet, d.Now, d.demo.sandboxed, d.demo.passing = a.JSON, a.Quiet, a.Now, true, keep == ""
	if keep != "" {
		d.demo.kept = fmt.Sprintf("export EVOLVE_HOME=%s CLAUDE_CONFIG_DIR=%s", plain.Arg(own["EVOLVE_HOME"]), plain.Arg(own["CLAUDE_CONFIG_DIR"]))
	}
	d.demo.review = madeup.Reviews(simulated.Demo(), d.Say)
	d.Getenv, d.Interrupted = func(k string) string { return own[k] }, a.Interrupted
	defer func() { err = errors.Join(err, d.close()) }()

	d.Say("demo: a made-up person's %s skill and sessions; the agent, the mutator and the judge are SIMULATED", demoSkill)
	// With the demo's 66 held-out cases each of twelve seeds ends in a promotion.
	f := &runFlags{Config: campaign.Config{Schema: 1, Skill: demoSkill, Evolve: skill.Harness, Seed: 11, MaxRollouts: campaign.FromCases, MaxRetries: 1, Concurrency: 8,
		WallClock: time.Minute, Profile: check.ClaudeCode}, promote: true}
	f.Agent = "simulated"
	f.harvest.source = "claude" // nothing of the user's own is read
	return runSkill(ctx, d, f)
}

// stamp matches the time of a line in a session of the demo.
var stamp = lazyregexp.New(`"timestamp":"[^"]+"`)

// stampLayout is the format of these times.
const stampLayout = `"timestamp":"2006-01-02T15:04:05.000Z"`

// newestStamp is the last time in the sessions of the demo.
func newestStamp(home fs.FS) (newest time.Time, err error) {
	err = fs.WalkDir(home, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := fs.ReadFile(home, path)
		if err != nil {
			return err
		}
		for _, m := range stamp.FindAll(b, -1) {
			at, err := time.Parse(stampLayout, string(m))
			if err != nil {
				return err
			}
			if at.After(newest) {
				newest = at
			}
		}
		return nil
	})
	return newest, err
}

// copyTree writes an embedded folder to disk, readable by its owner alone. It
// shifts the times of its sessions, so that they lie in the last months and
// none in the future.
func copyTree(from fs.FS, root, to string, shift time.Duration) error {
	return fs.WalkDir(from, root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if e.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		b, err := fs.ReadFile(from, path)
		if err != nil {
			return err
		}
		b = stamp.ReplaceAllFunc(b, func(m []byte) []byte {
			at, err := time.Parse(stampLayout, string(m))
			if err != nil {
				return m // newestStamp has refused it
			}
			return at.Add(shift).UTC().AppendFormat(nil, stampLayout)
		})
		return os.WriteFile(target, b, fileMode)
	})
}

package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/workspace"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// Usable returns the cases, all of one subject, that a run with this choice can try, and notes
// that explain why it leaves others out. Nothing is spent.
func (b *Backends) Usable(ctx context.Context, s *Spec, cases []eval.Case) (kept []eval.Case, notes []string, err error) {
	kept = cases
	drop := func(why string, hopeless func(*eval.Case) bool) {
		n := len(kept)
		kept = slices.DeleteFunc(slices.Clone(kept), func(c eval.Case) bool { return hopeless(&c) })
		if n -= len(kept); n > 0 {
			notes = append(notes, fmt.Sprintf("%s left out: %s", plain.Counted(n, "case"), why))
		}
	}
	if b.Spaces == nil {
		drop("their checks look into a folder, and "+s.Agent+" works in none", needsFolder)
	}
	if k := KindOf(s.Agent); !k.Records && !k.Simulated {
		drop("their checks are of what the agent does, and evolve does not see what "+s.Agent+" does", needsWork)
	}
	if s.Sandbox != SandboxNone {
		if no := process.Available(); no != nil {
			drop(fmt.Sprintf("their checks run programs, and no sandbox works here: %v", no), runsPrograms)
		}
	}
	if b.Spaces != nil {
		var first error
		drop("their recorded tree cannot be brought back", func(c *eval.Case) bool {
			e := b.Spaces.Check(ctx, c)
			if gone := new(workspace.UnreplayableError); errors.As(e, &gone) {
				if first == nil {
					first = e
				}
				return true
			}
			if e != nil && err == nil {
				err = e
			}
			return false
		})
		if first != nil {
			notes[len(notes)-1] += fmt.Sprintf(" (the first: %v)", first)
		}
	}
	if len(kept) == 0 || err != nil {
		return kept, notes, err
	}
	if p := b.place(ctx, kept[0].Skill); p != nil {
		drop(p.path+" would be written over another file: that of their own repository or folder", func(c *eval.Case) bool { return p.overwrites(ctx, c) })
		drop("their recorded tree has no file "+p.path, func(c *eval.Case) bool { return p.lacks(ctx, c) })
		agent := KindOf(s.Agent).Sessions
		drop("another file of their recorded tree is loaded in the place of "+p.path, func(c *eval.Case) bool { return p.replaced(ctx, agent, c) })
		if err == nil {
			err = ctx.Err()
		}
	}
	return kept, notes, err
}

// Find returns why a check cannot run a program in a folder with such a sandbox, nil if it
// can: see process.Programs.Find.
func Find(sandbox string) func(dir, name string) error {
	return process.Programs{Bare: sandbox == SandboxNone}.Find
}

// runsPrograms reports whether a check of c runs a program. Such cases were
// imported with --trust-checks; running them needs a sandbox.
func runsPrograms(c *eval.Case) bool {
	return slices.ContainsFunc(c.Checks, func(k eval.Check) bool { return k.Executing() })
}

// needsFolder reports whether a check of c reads files in the workspace.
func needsFolder(c *eval.Case) bool {
	return slices.ContainsFunc(c.Checks, func(k eval.Check) bool {
		return k.Spec().Files
	})
}

// needsWork reports whether a check of c is of what the agent did.
func needsWork(c *eval.Case) bool {
	return slices.ContainsFunc(c.Checks, func(k eval.Check) bool { return k.Spec().Work })
}

// programs runs the programs of checks: in a sandbox, unless the owner wants none. The
// content of the owner's own files, such as a script that grades, is part of its
// identity.
func (s *Spec) programs(cases []eval.Case) process.Programs {
	files := map[string]string{}
	for i := range cases {
		for _, k := range cases[i].Checks {
			for _, word := range k.Command {
				if !filepath.IsAbs(word) {
					continue // on PATH, or in the workspace, which is part of the case
				}
				if sum, err := hashProgram(word); err == nil {
					files[word] = sum
				}
			}
		}
	}
	p := process.Programs{Bare: s.Sandbox == SandboxNone}
	if len(files) > 0 {
		var all strings.Builder
		for _, name := range slices.Sorted(maps.Keys(files)) {
			all.WriteString(name + " " + files[name] + "\n")
		}
		p.Content = skill.HashText([]byte(all.String()))
	}
	return p
}

// hashProgram is the SHA-256 of a file that a check names, in hex; of large files only
// the first GiB is hashed.
func hashProgram(name string) (string, error) {
	f, err := bounded.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, 1<<30)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Package advice knows what to do about an error: its kind, and the next thing to type.
package advice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/skill-evolve/evolve/mutate/skill/install"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/search"
)

// Of returns the kind of an error and a hint, "" for none: the error's
// own if it has one, else that of its known cause.
func Of(err error) (problem.Kind, string) {
	kind, hint := Cause(err)
	itself, next := problem.Of(err)
	if itself != problem.Failed {
		kind = itself
	}
	return kind, cmp.Or(next, hint)
}

// Cause gives the kind and the hint of an error by the types in its chain.
func Cause(err error) (kind problem.Kind, hint string) {
	var (
		infra   *eval.InfraError
		missing *eval.TooManyMissingError
		limit   *eval.BudgetError
		syntax  *skill.SyntaxError
		unknown *skill.UnknownSkillError
		alias   *skill.AliasError
		broken  *skill.BrokenSkillError
		drift   *install.DriftError
		kernel  *search.KernelError

		speechless *search.AgentFailsError
		newer      *store.NewerError
		corrupt    *store.CorruptError
		lost       *store.LostError
		noRoom     *store.FullError
		large      *bounded.TooLargeError
		partial    *release.PartialError
	)
	switch {
	case errors.As(err, &partial):
		return Of(partial.First())
	case errors.Is(err, context.Canceled):
		return problem.Interrupted, ""
	case errors.As(err, &unknown) && isFile(unknown.Name):
		return problem.Input, "check the path"
	case errors.As(err, &broken) && isFile(broken.Name):
		return problem.Input, "mend the file, or name another one"
	case errors.As(err, &syntax) && !strings.Contains(syntax.Error(), skill.FileName):
		return problem.Input, fmt.Sprintf("mend line %d, then check it with `evolve kernel check`", syntax.Line)
	case errors.As(err, &syntax):
		return problem.Input, fmt.Sprintf("mend line %d of the SKILL.md, then check it with `evolve kernel check`", syntax.Line)
	case errors.As(err, &unknown):
		if unknown.Nearest != "" {
			return problem.Input, fmt.Sprintf("did you mean %s? `evolve status` lists the skills that were found", unknown.Nearest)
		}
		return problem.Input, "`evolve status` lists the skills that were found"
	case errors.As(err, &alias):
		return problem.Input, fmt.Sprintf("use the name %s: it is the folder's own name, under which evolve stores everything", alias.Of)
	case errors.As(err, &broken):
		return problem.Input, fmt.Sprintf("mend the file; `evolve kernel check %s` says what is wrong", plain.Arg(broken.Name))
	case errors.As(err, &drift):
		return problem.Refused, "the file was edited meanwhile; `evolve harvest` records the edit as a version, or use --force"
	case errors.As(err, &kernel):
		return problem.Refused, "nothing was staged or installed; please report this"
	case errors.As(err, &limit):
		return problem.Stopped, "run it again with a higher cap: what was measured is not measured again"
	case errors.As(err, &infra):
		return infraHint(infra)
	case errors.As(err, &missing):
		return problem.Failed, "first fix what the message names"
	case errors.As(err, &speechless):
		return problem.Failed, "ask the model a question by hand; check --model, and whether its answers are cut off"
	case errors.As(err, &newer):
		return problem.Failed, "update evolve, or point EVOLVE_HOME at another folder"
	case errors.As(err, &corrupt):
		return problem.Failed, "move the file away or restore it from a backup; evolve never rebuilds it by itself"
	case errors.As(err, &lost):
		return problem.Failed, "restore evolve.db from a backup; to start without its data, move " + strings.Join(lost.Beside, " and ") + " out of its folder"
	case errors.As(err, &noRoom), errors.Is(err, syscall.ENOSPC):
		return problem.Failed, "free some disk space; nothing was half-written"
	case errors.As(err, &large):
		return problem.Failed, "no file of that kind should be this large: check its content, shorten it or move it away"
	case errors.Is(err, bounded.ErrNotRegular):
		return problem.Failed, "put a file there, or move what is there away"
	case errors.Is(err, exec.ErrNotFound):
		return problem.Input, "`evolve doctor` says what works here, and how to get the rest"
	case errors.Is(err, syscall.EROFS):
		return problem.Failed, readOnlyHint(err)
	case errors.Is(err, os.ErrPermission):
		return problem.Failed, "check who owns the file or folder"
	}
	return problem.Failed, ""
}

func isFile(key string) bool { return subject.Parse(key).IsFile() }

// readOnlyHint names the folder that cannot be written, and the way out: only
// evolve's own data can be put elsewhere.
func readOnlyHint(err error) string {
	const elsewhere = "point EVOLVE_HOME at a folder that can be written"
	var at *fs.PathError
	var link *os.LinkError
	path := ""
	switch {
	case errors.As(err, &at):
		path = at.Path
	case errors.As(err, &link):
		path = link.New
	}
	if !filepath.IsAbs(path) { // of a folder that was opened: the message names it
		if path == "" {
			return elsewhere
		}
		return "that folder is mounted read-only: mount it so that it can be written"
	}
	home, e := datadir.Find(os.Getenv)
	if rel, no := filepath.Rel(string(home), path); e == nil && no == nil && filepath.IsLocal(rel) {
		return elsewhere
	}
	return filepath.Dir(path) + " is mounted read-only: mount it so that it can be written"
}

func infraHint(e *eval.InfraError) (kind problem.Kind, hint string) {
	switch e.Kind {
	case eval.Refused:
		return problem.Of(e.Err)
	case eval.Auth:
		return problem.Failed, "check the key: `evolve doctor` says which variable each agent takes it from, --api-key-env names openai's"
	case eval.BadRequest:
		return problem.Failed, "check --model and --base-url"
	case eval.RateLimited:
		return problem.Failed, "the server accepts fewer calls at a time: lower --concurrency, or set --rate"
	case eval.Pending:
		return problem.Stopped, "answer the open requests (OPEN.md in the folder lists them), then run the same command again"
	case eval.UsageLimit:
		if !e.ResetAt.IsZero() {
			return problem.Stopped, "the limit resets at " + e.ResetAt.Local().Format("2006-01-02 15:04")
		}
		return problem.Stopped, "continue once the limit has reset"
	}
	if e.Kind == eval.ServerError {
		return problem.Failed, "the server answers with an error: read its message and try again later"
	}
	return problem.Failed, "is the server running? check --base-url"
}

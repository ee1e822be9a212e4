package entire_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/claude"
	"github.com/skill-evolve/evolve/harvest/codex"
	"github.com/skill-evolve/evolve/harvest/copilot"
	"github.com/skill-evolve/evolve/harvest/entire"
	"github.com/skill-evolve/evolve/harvest/gemini"
	"github.com/skill-evolve/evolve/harvest/pi"
)

// A repository is a real one in a temporary folder.
type repository struct {
	t     testing.TB
	dir   string
	marks int
	// author is the address that commits are made with; "" is a@b.
	author string
}

func newRepository(t testing.TB) *repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	r := &repository{t: t, dir: t.TempDir()}
	r.git("", "init", "-q", "-b", "main")
	return r
}

func (r *repository) git(stdin string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit adds files to ref in one commit.
func (r *repository) commit(ref, message string, files map[string]string) string {
	r.t.Helper()
	var b bytes.Buffer
	r.stream(&b, ref, message, files)
	r.git(b.String(), "fast-import", "--quiet")
	return r.git("", "rev-parse", ref)
}

func (r *repository) stream(b *bytes.Buffer, ref, message string, files map[string]string) {
	r.marks++
	fmt.Fprintf(b, "commit %s\ncommitter a <%s> %d +0000\ndata %d\n%s\n", ref, cmp.Or(r.author, "a@b"), 1795197857+r.marks, len(message), message)
	if exec.Command("git", "-C", r.dir, "rev-parse", "-q", "--verify", ref).Run() == nil {
		fmt.Fprintf(b, "from %s^0\n", ref)
	}
	for name, text := range files {
		fmt.Fprintf(b, "M 100644 inline %s\ndata %d\n%s\n", name, len(text), text)
	}
	fmt.Fprintln(b)
}

// A layout puts one checkpoint into a repository.
type layout func(r *repository, id string, files map[string]string)

const branch = "refs/heads/entire/checkpoints/v1"

func onBranch(r *repository, id string, files map[string]string) {
	moved := map[string]string{}
	for name, text := range files {
		moved[id[:2]+"/"+id[2:]+"/"+name] = text
	}
	r.commit(branch, "Checkpoint: "+id, moved)
}

func asRef(r *repository, id string, files map[string]string) {
	r.commit("refs/entire/checkpoints/"+id[len(id)-2:]+"/"+id, "Checkpoint: "+id, files)
}

var layouts = map[string]layout{"branch": onBranch, "refs": asRef}

var readers = []harvest.Kind{claude.Kind, codex.Kind, pi.Kind, copilot.Kind, gemini.Kind}

// every is a registry in which all skills are, for readers of Claude Code's that
// ask it.
func every(string) bool { return true }

// sessions reads a repository.
func (r *repository) sessions(c harvest.Cursor) ([]*harvest.Session, []harvest.Problem) {
	r.t.Helper()
	return r.sessionsWith(entire.Options{Readers: readers}, c)
}

func (r *repository) sessionsWith(o entire.Options, c harvest.Cursor) ([]*harvest.Session, []harvest.Problem) {
	r.t.Helper()
	var all []*harvest.Session
	problems, err := entire.New(r.dir, o).Sessions(context.Background(), c, func(s *harvest.Session) error {
		all = append(all, s)
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return all, problems
}

// reasons are what is said of problems, without the repository.
func (r *repository) reasons(problems []harvest.Problem) string {
	var out []string
	for _, p := range problems {
		out = append(out, strings.TrimPrefix(p.Path, r.dir+"#entire")+": "+p.Reason)
	}
	return strings.Join(out, "\n")
}

// packed compresses frames.
func packed(frames ...string) string {
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b)
	for _, text := range frames {
		if err == nil {
			w.Reset(&b)
			_, err = w.Write([]byte(text))
		}
		if err == nil {
			err = w.Close()
		}
	}
	if err != nil {
		panic(err)
	}
	return b.String()
}

// metadata is a session's metadata.json; more holds further fields.
func metadata(session, created, more string) string {
	return `{"cli_version":"0.10.5","session_id":"` + session + `","created_at":"` + created + `","strategy":"manual-commit"` + more + `}`
}

const isClaude = `,"agent":"Claude Code"`

// at is a moment of the day on which everything happens.
func at(minute int) string { return fmt.Sprintf("2026-11-20T18:%02d:00Z", minute) }

// typed, said and called are lines of Claude Code's.
func typed(id string, minute int, text string) string {
	return fmt.Sprintf(`{"isSidechain":false,"promptId":"%s","type":"user","message":{"role":"user","content":"%s"},"uuid":"u-%s","timestamp":"%s","sessionId":"s1","cwd":"/home/dev/shop"}`+"\n",
		id, text, id, at(minute))
}

func said(id string, minute int, text string) string {
	return fmt.Sprintf(`{"isSidechain":false,"type":"assistant","message":{"id":"%s","model":"m","content":[{"type":"text","text":"%s"}],"usage":{"input_tokens":1,"output_tokens":1}},"uuid":"a-%s","timestamp":"%s","sessionId":"s1"}`+"\n",
		id, text, id, at(minute))
}

func called(id string, minute int, skill string) string {
	return fmt.Sprintf(`{"isSidechain":false,"type":"assistant","message":{"id":"m-%s","model":"m","content":[{"type":"tool_use","id":"%s","name":"Skill","input":{"skill":"%s"}}]},"uuid":"a-%s","timestamp":"%s","sessionId":"s1"}`+"\n",
		id, id, skill, id, at(minute))
}

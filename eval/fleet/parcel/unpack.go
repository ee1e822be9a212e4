package parcel

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/scratch"
	"github.com/skill-evolve/evolve/eval/workspace"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// A Source has blobs, as *fleet.Blobs does.
type Source interface {
	// Fetch makes a file of a blob. The error wraps fleet.ErrNoBlob if there is none.
	Fetch(ctx context.Context, name, file string) error
}

// A NoBlobError names a blob that is gone.
type NoBlobError struct {
	Name string
	Err  error
}

func (e *NoBlobError) Error() string { return e.Err.Error() }
func (e *NoBlobError) Unwrap() error { return e.Err }

// An Unpacked is a task at its worker. It opens the task's folder, for eval.Local.
type Unpacked struct {
	Task  eval.Task  // without a workspace
	Owner *setup.Set // what loads of the owner; nil: nothing

	tree    string // file; "" for none
	changes string // file; "" for none
	gone    []string
	begun   *Beginning // of the folder, if it is to be looked into
	look    bool
}

var _ eval.Workspaces = (*Unpacked)(nil)

// maxText is the largest blob that is read as a whole, in bytes.
const maxText = 64 << 20

// Unpack brings what t needs into dir, which is empty, private, and must stay until the
// attempt is over. A blob that is gone is a *NoBlobError. What would reach beyond the folders
// of the attempt, or could change what its agent asks, is an error.
func Unpack(ctx context.Context, from Source, t fleet.Task, dir string) (*Unpacked, error) {
	u := &unpacker{ctx: ctx, from: from, dir: dir}
	out := &Unpacked{look: t.Folder}
	v := eval.Variant{Name: t.Name, Path: t.Path}
	if t.Path != "" && !setup.Prose(t.Path) {
		return nil, fmt.Errorf("%q is no file of instructions", t.Path)
	}
	if t.Text != "" {
		// A document is whole, whatever the error. A skill that is not sound is refused later.
		v.Doc, _ = skill.Parse(u.text(t.Text), skill.Options{Instructions: t.Path != ""})
	}
	if t.Dir != "" {
		v.Dir = u.folder(t.Dir)
	}
	c := &eval.Case{ID: t.Case, Skill: t.Name, Prompt: t.Prompt, Context: t.Context}
	if t.Trigger {
		c.ShouldTrigger = new(bool) // which of the two is not known here
	}
	if t.Files != "" {
		u.json(t.Files, &c.Files)
	}
	out.Task = eval.Task{Variant: v, Case: c, Prior: t.Prior, Seed: t.Seed}
	for _, o := range t.Others {
		offer := eval.Offer{Name: o.Name, SHA: o.SHA, Dir: u.folder(o.Dir)}
		if o.Text != "" {
			offer.Text = u.text(o.Text)
		}
		out.Task.Others = append(out.Task.Others, offer)
	}
	if t.Owner != "" {
		out.Owner = new(setup.Set)
		u.json(t.Owner, out.Owner)
		u.err = errors.Join(u.err, out.Owner.Texts())
	}
	if t.Tree != "" {
		out.tree = u.file(t.Tree)
	}
	if t.Changes != nil {
		if out.gone = t.Changes.Gone; t.Changes.Made != "" {
			out.changes = u.file(t.Changes.Made)
		}
	}
	if u.err != nil {
		return nil, fmt.Errorf("unpack case %s: %w", t.Case, u.err)
	}
	return out, nil
}

// Open implements eval.Workspaces: the folder as workspace.Recorded makes it, and what earlier
// attempts did to it.
func (u *Unpacked) Open(ctx context.Context, c *eval.Case) (eval.Folder, error) {
	f, err := workspace.OpenPacked(ctx, "", u.tree, c.Files)
	if err != nil {
		return f, err
	}
	if u.look {
		u.begun, err = Look(ctx, f.Dir)
	}
	if err == nil && (u.changes != "" || len(u.gone) > 0) {
		err = apply(ctx, f.Dir, u.changes, u.gone)
	}
	if err != nil {
		f.Close()
		return eval.Folder{}, err
	}
	return f, nil
}

// Changes writes to out what is new or differs in the task's folder since it was opened, but
// for what attempts before it did, which it has again; it returns what is gone. clean is
// applied to names and contents. The error is ErrLarge if it is too much.
func (u *Unpacked) Changes(ctx context.Context, dir string, out io.Writer, clean func(string) string) (gone []string, err error) {
	return u.begun.changes(ctx, dir, out, format{clean: clean, times: true})
}

// An unpacker brings blobs into a folder. After its first error it does nothing.
type unpacker struct {
	ctx  context.Context
	from Source
	dir  string
	n    int
	err  error
}

// file is a blob's, "" if there is an error.
func (u *unpacker) file(name string) string {
	if u.err != nil {
		return ""
	}
	if raw, err := hex.DecodeString(name); err != nil || len(raw) != 32 {
		u.err = fmt.Errorf("%.80q is no name of a blob", name)
		return ""
	}
	u.n++
	at := filepath.Join(u.dir, fmt.Sprint(u.n))
	err := u.from.Fetch(u.ctx, name, at)
	if errors.Is(err, fleet.ErrNoBlob) {
		err = &NoBlobError{name, err}
	}
	u.err = err
	return at
}

func (u *unpacker) text(name string) []byte {
	at := u.file(name)
	if u.err != nil {
		return nil
	}
	var text []byte
	text, u.err = bounded.ReadFile(at, maxText)
	return text
}

func (u *unpacker) json(name string, v any) {
	if text := u.text(name); u.err == nil {
		u.err = json.Unmarshal(text, v)
	}
}

// folder is one with what a blob has packed.
func (u *unpacker) folder(name string) string {
	at := u.file(name)
	if u.err != nil {
		return ""
	}
	dir := at + ".d"
	if u.err = os.Mkdir(dir, 0o700); u.err == nil {
		u.err = apply(u.ctx, dir, at, nil)
	}
	return dir
}

// Apply does to dir, which is as the task's folder was at its beginning, what a worker says
// that was done. It writes nothing outside of dir, and leaves no link that leads out of it. On
// an error dir is of no use.
func Apply(ctx context.Context, from Source, dir string, c *fleet.Changes) (err error) {
	if c == nil {
		return nil
	}
	if c.Made == "" {
		return apply(ctx, dir, "", c.Gone)
	}
	into, err := scratch.Dir("", "evolve-case-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, workspace.Remove(into)) }()
	u := &unpacker{ctx: ctx, from: from, dir: into}
	made := u.file(c.Made)
	if u.err != nil {
		return u.err
	}
	return apply(ctx, dir, made, c.Gone)
}

func apply(ctx context.Context, dir, file string, gone []string) error {
	if file == "" {
		return applyTar(ctx, dir, nil, gone)
	}
	in, err := bounded.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	return applyTar(ctx, dir, in, gone)
}

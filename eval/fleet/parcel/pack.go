// Package parcel is how a task travels: what a replay needs as blobs, on the way to a worker,
// and what became of its folder, on the way back. Both sides take the other for a stranger.
package parcel

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/scratch"
	"github.com/skill-evolve/evolve/eval/workspace"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// A Store keeps blobs, as *fleet.Blobs does.
type Store interface {
	Put(ctx context.Context, content []byte) (name string, err error)
	PutFrom(ctx context.Context, name string, open func() (io.ReadCloser, error)) error
}

// A Packer packs the tasks of one run. Its fields are set before its first use; it is safe for
// concurrent use.
type Packer struct {
	Blobs Store
	Owner *setup.Set // what loads of the owner; nil: nothing
	// Trees has the recorded trees, as *workspace.Recorded; nil: the agent works in no folder.
	Trees interface {
		Packed(ctx context.Context, c *eval.Case) (file string, err error)
	}

	mu    sync.Mutex
	known map[string]*content // by what it is of
}

// A content is hashed once.
type content struct {
	mu   sync.Mutex
	name string
}

// Pack stores what an attempt at t needs and names it. Checks, the reference, the source, the
// neighbour, the cluster and the repository of its case stay here, and of a trigger case
// whether the skill should be loaded. Of what was done before, only t.Prior goes along:
// Changes and Folder are the caller's to set. The error wraps workspace.ErrPrepared if such a
// case can only run here.
//
// What is stored already is not stored again, unless its name was given to fleet.Blobs.Forget.
func (p *Packer) Pack(ctx context.Context, t eval.Task) (fleet.Task, error) {
	v, c := t.Variant, t.Case
	out := fleet.Task{Case: c.ID, Prompt: c.Prompt, Context: c.Context, Trigger: c.ShouldTrigger != nil, Seed: t.Seed,
		Name: v.Name, Path: replay.Path(t), Prior: t.Prior}
	var err error
	if v.Doc != nil {
		out.Text, err = p.Blobs.Put(ctx, v.Doc.Render())
	}
	if err == nil && v.Doc != nil && v.Dir != "" && v.Path == "" {
		out.Dir, err = p.tree(ctx, "skill\x00"+v.Dir+"\x00"+v.Rest, func(dir string) error {
			_, err := replay.CopySkill(dir, v.Dir, false)
			return err
		})
	}
	for _, o := range t.Others {
		if err == nil {
			err = p.other(ctx, &out, o)
		}
	}
	if err == nil && p.Owner != nil {
		out.Owner, err = p.owner(ctx, c)
	}
	if err == nil && len(c.Files) > 0 {
		var text []byte
		if text, err = json.Marshal(c.Files); err == nil {
			out.Files, err = p.Blobs.Put(ctx, text)
		}
	}
	if err == nil && p.Trees != nil && c.Workspace != nil {
		out.Tree, err = p.recorded(ctx, c)
	}
	if err != nil {
		return fleet.Task{}, fmt.Errorf("pack case %s: %w", c.ID, err)
	}
	return out, nil
}

func (p *Packer) other(ctx context.Context, to *fleet.Task, o eval.Offer) (err error) {
	out := fleet.Other{Name: o.Name, SHA: o.SHA}
	if o.Text != nil {
		if out.Text, err = p.Blobs.Put(ctx, o.Text); err != nil {
			return err
		}
	}
	key := fmt.Sprintf("offer\x00%s\x00%s\x00%v", o.Dir, o.SHA, o.Text == nil)
	out.Dir, err = p.tree(ctx, key, func(dir string) error { return replay.CopyOffer(dir, o) })
	to.Others = append(to.Others, out)
	return err
}

// owner stores what loads of the owner in the case's project.
func (p *Packer) owner(ctx context.Context, c *eval.Case) (string, error) {
	project := ""
	if c.Workspace != nil {
		project = c.Workspace.Repo
	}
	return p.blob(ctx, "owner\x00"+project, func() ([]byte, error) { return json.Marshal(p.Owner.For(project)) })
}

// tree stores what fill writes into a folder.
func (p *Packer) tree(ctx context.Context, key string, fill func(dir string) error) (string, error) {
	return p.blob(ctx, key, func() (packed []byte, err error) {
		dir, err := scratch.Dir("", "evolve-case-")
		if err != nil {
			return nil, err
		}
		defer func() { _ = workspace.Remove(dir) }() // what stays is in the scratch ledger
		if err := fill(dir); err != nil {
			return nil, err
		}
		var out bytes.Buffer
		_, err = new(Beginning).changes(ctx, dir, &out, format{})
		return out.Bytes(), err
	})
}

// blob stores what produce makes, which is the same each time.
func (p *Packer) blob(ctx context.Context, key string, produce func() ([]byte, error)) (name string, err error) {
	var made []byte
	name, err = p.name(key, func() (string, error) {
		made, err = produce()
		return fleet.NameOf(made), err
	})
	if err != nil {
		return "", err
	}
	return name, p.Blobs.PutFrom(ctx, name, func() (io.ReadCloser, error) {
		if made == nil {
			if made, err = produce(); err == nil && fleet.NameOf(made) != name {
				err = fmt.Errorf("what is at %q has changed since the run began", key)
			}
		}
		return io.NopCloser(bytes.NewReader(made)), err
	})
}

// recorded stores a case's tree.
func (p *Packer) recorded(ctx context.Context, c *eval.Case) (string, error) {
	file, err := p.Trees.Packed(ctx, c)
	if err != nil || file == "" {
		return "", err
	}
	name, err := p.name("tree\x00"+file, func() (string, error) { return hash(file) })
	if err != nil {
		return "", err
	}
	return name, p.Blobs.PutFrom(ctx, name, func() (io.ReadCloser, error) { return bounded.Open(file) })
}

// name is that of a content, which is worked out once.
func (p *Packer) name(key string, work func() (string, error)) (name string, err error) {
	p.mu.Lock()
	if p.known == nil {
		p.known = map[string]*content{}
	}
	k := p.known[key]
	if k == nil {
		k = new(content)
		p.known[key] = k
	}
	p.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.name == "" {
		if name, err = work(); err != nil {
			return "", err
		}
		k.name = name
	}
	return k.name, nil
}

// hash is the name of a file's content.
func hash(file string) (string, error) {
	in, err := bounded.Open(file)
	if err != nil {
		return "", err
	}
	defer in.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(in, fleet.MaxBlob+1))
	if err == nil && n > fleet.MaxBlob {
		err = fmt.Errorf("the tree is larger than %d MiB", fleet.MaxBlob>>20)
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

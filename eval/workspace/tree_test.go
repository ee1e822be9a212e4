package workspace

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/git"
)

// objectsOf are trees and blobs by their ids, as a repository may hold them.
type objectsOf struct {
	trees map[string][]git.Entry
	blobs map[string]string
}

func (o objectsOf) Tree(id string) ([]git.Entry, error) {
	if t, ok := o.trees[id]; ok {
		return t, nil
	}
	return nil, git.ErrMissing
}

func (o objectsOf) Blob(id string) (*git.Blob, error) {
	if b, ok := o.blobs[id]; ok {
		return &git.Blob{Reader: strings.NewReader(b), Size: int64(len(b))}, nil
	}
	return nil, git.ErrMissing
}

// packedTree writes a folder of a tree as a tar file.
func packedTree(w io.Writer, objects treeReader, tree, prefix string, limit int64) error {
	out := tar.NewWriter(w)
	return errors.Join(packTree(out, objects, tree, prefix, nil, limit), out.Close())
}

// Whatever a tree holds, nothing is written outside of the folder, and no link
// in it leads out. The fuzzer makes a tree and one that is below it, also below
// itself, with two blobs: texts, and what links lead to.
func FuzzTree(f *testing.F) {
	f.Add("100644 one a\n40000 sub d\n120000 two l", "100755 two b", "x", "a")
	f.Add("100644 one ../x\n100644 one /x\n40000 sub ..\n40000 sub .\n40000 sub a/b", "100644 one y", "x", "..")
	f.Add("120000 one d\n40000 sub e", "120000 two x\n40000 sub deeper", "..", "../../..")
	f.Add("120000 one l\n40000 sub b\n120000 two c", "100644 one f", "b/../..", "l/..")
	f.Add("40000 sub .git\n40000 sub .GIT\n40000 sub git~1\n40000 sub .git. \n40000 sub .g\u200cit\n160000 sub sub", "100644 one config", "x", "")
	f.Fuzz(func(t *testing.T, root, sub, one, two string) {
		if strings.ContainsRune(root+sub, 0) {
			t.Skip("no name in a tree can hold it")
		}
		top := t.TempDir()
		file, dir := filepath.Join(top, "tree.tar"), filepath.Join(top, "in", "ws")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		tree := func(text string) (entries []git.Entry) {
			for line := range strings.Lines(text) {
				mode, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
				id, name, _ := strings.Cut(rest, " ")
				entries = append(entries, git.Entry{Mode: mode, ID: id, Name: name})
			}
			return entries
		}
		objects := objectsOf{map[string][]git.Entry{"root": tree(root), "sub": tree(sub)}, map[string]string{"one": one, "two": two}}
		var pack bytes.Buffer
		if packedTree(&pack, objects, "root", "", 1<<20) != nil {
			return
		}
		if err := os.WriteFile(file, pack.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := unpack(t.Context(), dir, file); err != nil {
			t.Errorf("what was packed cannot be unpacked: %v", err)
		}
		names := below(t, top)
		in, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		for _, name := range names {
			rel, inside := strings.CutPrefix(name, "in/ws/")
			if !inside && name != "tree.tar" {
				t.Errorf("written outside: %s", name)
			}
			if strings.Contains("/"+strings.ToLower(rel)+"/", "/.git/") {
				t.Errorf("a repository: %s", rel)
			}
			if inside {
				if _, err := in.Stat(rel); err != nil && strings.Contains(err.Error(), "escapes") {
					t.Errorf("leads out: %s: %v", rel, err)
				}
			}
		}
	})
}

// A tree that is no tree of files costs its case, and takes no time and no disk.
func TestHostileTree(t *testing.T) {
	var wide []git.Entry
	for i := range 1000 {
		wide = append(wide, git.Entry{Mode: "40000", ID: "wide", Name: strconv.Itoa(i)})
	}
	trees := map[string][]git.Entry{
		"twice":   {{Mode: "100644", ID: "b", Name: "a"}, {Mode: "40000", ID: "none", Name: "a"}},
		"long":    {{Mode: "100644", ID: "b", Name: strings.Repeat("n", 256)}},
		"deep":    {{Mode: "40000", ID: "deep", Name: "d"}},
		"wide":    wide,
		"large":   {{Mode: "100644", ID: "b", Name: "a"}, {Mode: "100644", ID: "b", Name: "b"}},
		"partial": {{Mode: "100644", ID: "none", Name: "a"}},
		"fine": {{Mode: "100644", ID: "b", Name: ".gitignore"}, {Mode: "100664", ID: "b", Name: "git~10"}, {Mode: "100644", ID: "b", Name: "a\\b"},
			{Mode: "160000", ID: "none", Name: "module"}, {Mode: "40000", ID: "large", Name: "sub"}, {Mode: "7", ID: "b", Name: "odd"}},
	}
	objects := objectsOf{trees, map[string]string{"b": strings.Repeat("x", 600)}}
	for _, c := range []struct{ tree, prefix, want string }{
		{"twice", "", "a name is there twice"},
		{"long", "", "too long"},
		{"deep", "", "folders within each other"},
		{"wide", "", "more than 200000 files"},
		{"large", "", "larger than"},
		{"partial", "", git.ErrMissing.Error()},
		{"fine", "other", "no folder other"},
		{"fine", "a\\b", "no folder"},
	} {
		if err := packedTree(new(bytes.Buffer), objects, c.tree, c.prefix, 1000); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.tree, err, c.want)
		}
	}
	var pack bytes.Buffer
	file, dir := filepath.Join(t.TempDir(), "tree.tar"), t.TempDir()
	err := packedTree(&pack, objects, "fine", "", 1<<20)
	if err = errors.Join(err, os.WriteFile(file, pack.Bytes(), 0o600)); err == nil {
		err = unpack(t.Context(), dir, file)
	}
	if got := below(t, dir); err != nil || !slices.Equal(got, []string{".gitignore", "a\\b", "git~10", "sub/a", "sub/b"}) {
		t.Errorf("%q, %v", got, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "module")); err != nil || !info.IsDir() {
		t.Errorf("the submodule: %v", err)
	}
}

package git

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// loose writes an object of size zeros, which takes a thousandth of that on disk.
func loose(t *testing.T, dir, kind string, size int) (id string) {
	t.Helper()
	object := append(fmt.Appendf(nil, "%s %d\x00", kind, size), make([]byte, size)...)
	id = fmt.Sprintf("%x", sha1.Sum(object))
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	if _, err := z.Write(object); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, ".git/objects", id[:2], id[2:]), b.String())
	return id
}

// An object that unpacks to more than git may take, and a tree that is larger than
// any real one, are named; the next object is read.
func TestLargeObjects(t *testing.T) {
	dir, commit := repository(t)
	large, bomb := loose(t, dir, "tree", maxTree+1), loose(t, dir, "commit", 8<<20)
	r, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.limits.alloc = 4 << 20
	o := r.Objects(t.Context())
	defer o.Close()
	if _, err := o.Tree(large); !errors.Is(err, ErrLarge) || !strings.Contains(err.Error(), "a tree of 16 MiB") {
		t.Errorf("a tree: %v", err)
	}
	if full, err := o.Commit(commit); err != nil || full != commit {
		t.Errorf("%q, %v", full, err)
	}
	for _, args := range [][]string{{"log", bomb}, {"cat-file", "commit", bomb}, {"cat-file", "tree", large}} {
		if out, err := r.Output(t.Context(), args...); err == nil || !strings.Contains(err.Error(), "attempting to allocate") {
			t.Errorf("%v: %d bytes, %v", args, len(out), err)
		}
	}
}

// A file as large as a recorded workspace may have is read as a difference from another,
// too: as git repacks it.
func TestLargeDifference(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a GB of memory")
	}
	const block, blocks = 1 << 20, 300
	dir, _ := repository(t)
	var pack, delta bytes.Buffer
	fmt.Fprintf(&pack, "PACK\x00\x00\x00\x02\x00\x00\x00\x02")
	add := func(kind int, size int, base int, data []byte) {
		c := byte(kind<<4 | size&15)
		for size >>= 4; size > 0; size >>= 7 {
			pack.WriteByte(c | 128)
			c = byte(size & 127)
		}
		pack.WriteByte(c)
		if base > 0 { // the distance to it, of two bytes
			pack.Write([]byte{byte((base>>7)-1) | 128, byte(base & 127)})
		}
		z := zlib.NewWriter(&pack)
		if _, err := z.Write(data); err != nil || z.Close() != nil {
			t.Fatal(err)
		}
	}
	at := pack.Len()
	add(3, block, 0, make([]byte, block))
	delta.Write(binary.AppendUvarint(binary.AppendUvarint(nil, block), block*blocks))
	for range blocks {
		delta.Write([]byte{128 | 64, block >> 16}) // copy that many bytes from the beginning
	}
	add(6, delta.Len(), pack.Len()-at, delta.Bytes())
	sum := sha1.Sum(pack.Bytes())
	pack.Write(sum[:])
	file := filepath.Join(dir, ".git/objects/pack/pack-"+fmt.Sprintf("%x", sum)+".pack")
	write(t, file, pack.String())
	given(t, dir, "index-pack", file)
	hash := sha1.New()
	fmt.Fprintf(hash, "blob %d\x00", block*blocks)
	for range blocks {
		hash.Write(make([]byte, block))
	}
	o := objectsOf(t, dir)
	b, err := o.Blob(fmt.Sprintf("%x", hash.Sum(nil)))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, b); err != nil || n != block*blocks {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// What git prints is kept up to a limit, and so is what it complains of.
func TestOutputIsBounded(t *testing.T) {
	dir, commit := repository(t)
	r, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.limits.output = 45
	out, err := r.Output(t.Context(), "log", "--format=%H", "--branches")
	if !errors.Is(err, ErrOutput) || len(out) != 45 || !strings.HasPrefix(string(out), commit) {
		t.Errorf("%q, %v", out, err)
	}
	r = fake(t, dir, `while echo complaint; do :; done 2>/dev/null | head -c 1000000 >&2; exit 1`)
	if _, err := r.Output(t.Context(), "log"); err == nil || err.Error() != "git log: complaint" {
		t.Errorf("%v", err)
	}
	r = fake(t, dir, `head -c 1000000 /dev/zero >&2; exit 1`)
	if _, err := r.Output(t.Context(), "log"); err == nil || len(err.Error()) > maxComplaint+100 {
		t.Errorf("%.100v", err)
	}
}

// fake opens a repository that a shell script reads in place of git.
func fake(t *testing.T, dir, script string) *Repository {
	t.Helper()
	bin := t.TempDir()
	write(t, filepath.Join(bin, "git"), "#!/bin/sh\n"+script+"\n")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	r, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// A git that does not answer is ended, and asked nothing more.
func TestSlow(t *testing.T) {
	dir, commit := repository(t)
	for name, script := range map[string]string{
		"no answer":      `exec sleep 100000`,
		"half an answer": `read name; echo "$name blob 10"; echo half; exec sleep 100000`,
	} {
		t.Run(name, func(t *testing.T) {
			r := fake(t, dir, script)
			r.limits.answer = time.Millisecond
			o := r.Objects(t.Context())
			defer o.Close()
			blob, err := o.Blob("x")
			if err == nil {
				_, err = bytes.NewBuffer(nil).ReadFrom(blob)
			}
			if !errors.Is(err, ErrSlow) {
				t.Errorf("%v", err)
			}
			started := o.cmd
			if _, err := o.Tree("x"); !errors.Is(err, ErrSlow) || o.cmd != started {
				t.Errorf("the next: %v", err)
			}
			if _, err := r.Output(t.Context(), "log"); !errors.Is(err, ErrSlow) {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("in all", func(t *testing.T) {
		r, err := Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		o := r.Objects(t.Context())
		defer o.Close()
		if _, err := o.Commit(commit); err != nil || o.waited <= 0 {
			t.Errorf("%v after %v", err, o.waited)
		}
		r.limits.total = 0
		if _, err := o.Commit(commit); !errors.Is(err, ErrSlow) {
			t.Errorf("%v", err)
		}
	})
}

// A call that does not return after its context ended is no longer waited for, and its
// late result is not lost.
func TestWithin(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	dropped := make(chan int)
	go func() { // the limit ends it, but not before its caller does
		_, err := within(ctx, time.Hour, func(ctx context.Context) (int, error) { <-ctx.Done(); return 7, nil }, func(n int) { dropped <- n })
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		close(dropped)
	}()
	cancel()
	if n := <-dropped; n != 7 {
		t.Errorf("%d was dropped", n)
	}
	<-dropped
	for range 100 { // whichever of the two is seen first
		_, err := within(t.Context(), 0, func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() }, func(int) {})
		if !errors.Is(err, ErrSlow) {
			t.Fatal(err)
		}
	}
}

// git's memory is limited as a whole, too.
func TestMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a process's limits can be set by itself alone")
	}
	dir, _ := repository(t)
	r := fake(t, dir, `read name; echo "$(ulimit -d)-$GIT_ALLOC_LIMIT commit 0"; echo; read name`)
	o := r.Objects(t.Context())
	defer o.Close()
	if got, err := o.Commit("x"); err != nil || got != fmt.Sprint(defaults.data>>10, "-", defaults.alloc) {
		t.Errorf("%q, %v", got, err)
	}
}

// A repository knows all folders in which it is.
func TestDirs(t *testing.T) {
	dir, _ := repository(t)
	tree := filepath.Join(t.TempDir(), "wt")
	given(t, dir, "worktree", "add", "-q", tree)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(tree, "sub"), link); err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), link)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if want := []string{tree + "/sub", dir + "/.git/worktrees/wt", dir + "/.git"}; !slices.Equal(r.Dirs, want) {
		t.Errorf("%q, want %q", r.Dirs, want)
	}
}

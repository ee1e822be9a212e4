package parcel

import (
	"archive/tar"
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skill-evolve/evolve/eval/fleet"
)

// changesOf are those of a folder since b.
func changesOf(t testing.TB, b *Beginning, dir string, clean func(string) string) ([]byte, []string) {
	t.Helper()
	var out bytes.Buffer
	gone, err := b.changes(context.Background(), dir, &out, format{clean: clean, times: true})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), gone
}

// TestChangesReturn: whatever an agent does to its folder, the coordinator's is the same.
func TestChangesReturn(t *testing.T) {
	names := []string{"a", "b", "d", "d/a", "d/e", "d/e/f", "g", ".git/index"}
	do := func(r *rapid.T, dir, label string) {
		for i := range rapid.IntRange(0, 8).Draw(r, label) {
			at := filepath.Join(dir, rapid.SampledFrom(names).Draw(r, fmt.Sprint(label, i)))
			_ = os.MkdirAll(filepath.Dir(at), 0o700) // what cannot be done is not done
			switch rapid.IntRange(0, 5).Draw(r, "what") {
			case 0:
				_ = os.WriteFile(at, []byte(rapid.StringN(0, 3, -1).Draw(r, "text")), 0o600)
			case 1:
				_ = os.RemoveAll(at)
			case 2:
				_ = os.Symlink(rapid.SampledFrom([]string{"a", "d", "../g", "nowhere", "../../out", "/etc", "d/../..", "a/b"}).Draw(r, "to"), at)
			case 3:
				_ = os.Chmod(at, 0o755)
			case 4:
				_ = os.Mkdir(at, 0o700)
			case 5:
				_ = os.Rename(at, filepath.Join(dir, "moved"))
			}
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		there, here := t.TempDir(), t.TempDir()
		// The beginning has nothing that would not travel: a recorded tree has not.
		work := t.TempDir()
		do(r, work, "before")
		for _, dir := range []string{there, here} {
			packed, _ := changesOf(t, new(Beginning), work, nil)
			if err := applyTar(t.Context(), dir, bytes.NewReader(packed), nil); err != nil {
				r.Fatal(err)
			}
		}
		b, err := Look(t.Context(), there)
		if err != nil {
			r.Fatal(err)
		}
		do(r, there, "after")
		made, gone := changesOf(t, b, there, nil)
		if err := applyTar(t.Context(), here, bytes.NewReader(made), gone); err != nil {
			r.Fatalf("%v\ngone %q", err, gone)
		}
		want := everything(t, there)
		for name, is := range want { // links that lead out do not travel
			if strings.HasPrefix(is, "-> ") {
				if got, ok := everything(t, here)[name]; !ok || got == is {
					delete(want, name)
				}
			}
		}
		got := everything(t, here)
		for name, is := range got {
			if strings.HasPrefix(is, "-> ") {
				delete(got, name)
			}
		}
		if names := differ(want, got); len(names) > 0 {
			r.Fatalf("%q differ: %v and %v", names, want, got)
		}
	})
}

func TestOnlyChangesTravel(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"same": "same", "touched": "t", "old/x": "x", "old/y": "y", "file": "f", "run": "r", "to@": "same"})
	b, err := Look(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"old", "file", "to"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, map[string]string{"touched": "t", "new/z": "z", "file/inside": "f", "run": "r", "to@": "touched", "out@": "/etc/hostname"})
	if err := os.Chmod(filepath.Join(dir, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	made, gone := changesOf(t, b, dir, nil)
	var names []string
	for in := tar.NewReader(bytes.NewReader(made)); ; {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
	}
	if got := strings.Join(names, " "); got != "file file/inside new new/z run to" {
		t.Errorf("made %s", got)
	}
	if got := strings.Join(gone, " "); got != "file old" {
		t.Errorf("gone %s", got)
	}
}

// TestKeysStay: no key of the worker's is in what its folder sends, also not in a name, a
// link or an object of git.
func TestKeysStay(t *testing.T) {
	const key = "s3cr3t-key"
	dir := t.TempDir()
	var object bytes.Buffer
	w := zlib.NewWriter(&object)
	fmt.Fprintf(w, "blob 10\x00%s", key)
	w.Close()
	write(t, dir, map[string]string{"x": "is " + key + ".", key: "name", "d-" + key + "/y": "y", "l@": key, ".git/objects/ab/cd": object.String(), ".git/objects/pack/p.idx": "pack", "ok": "ok"})
	made, _ := changesOf(t, new(Beginning), dir, func(s string) string { return strings.ReplaceAll(s, key, "[key]") })
	to := t.TempDir()
	if err := applyTar(t.Context(), to, bytes.NewReader(made), nil); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(made, []byte(key)) || len(everything(t, to)) != 3 {
		t.Errorf("%q", everything(t, to))
	}
	if text, err := os.ReadFile(filepath.Join(to, "x")); err != nil || string(text) != "is [key]." {
		t.Errorf("%q, %v", text, err)
	}
}

// packed is a tar of these entries.
func packed(t testing.TB, entries ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range entries {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, h.Size)); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	return out.Bytes()
}

func hostile(t testing.TB) map[string][]byte {
	file := func(name string) tar.Header {
		return tar.Header{Typeflag: tar.TypeReg, Name: name, Size: 1, Mode: 0o600}
	}
	link := func(name, to string) tar.Header {
		return tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to}
	}
	many := make([]tar.Header, maxEntries+1)
	for i := range many {
		many[i] = tar.Header{Typeflag: tar.TypeDir, Name: "a"}
	}
	return map[string][]byte{
		"up":                      packed(t, file("../x")),
		"up from below":           packed(t, file("a/../../x")),
		"absolute":                packed(t, file("/etc/x")),
		"the folder itself":       packed(t, file(".")),
		"an absolute link":        packed(t, link("a", "/etc")),
		"a link up":               packed(t, link("a", "..")),
		"through a link":          packed(t, link("a", ".."), file("a/x")),
		"through an old link":     packed(t, file("old/x")),
		"a chain of links":        packed(t, link("d/a", ".."), link("b", "d/a/..")),
		"an old link is moved":    packed(t, link("sub", ".")),
		"a hard link":             packed(t, tar.Header{Typeflag: tar.TypeLink, Name: "a", Linkname: "/etc/passwd"}),
		"a device":                packed(t, tar.Header{Typeflag: tar.TypeChar, Name: "a", Devmajor: 1, Devminor: 5}),
		"a pipe":                  packed(t, tar.Header{Typeflag: tar.TypeFifo, Name: "a"}),
		"too many":                packed(t, many...),
		"too deep":                packed(t, file(strings.Repeat("a/", maxFolders)+"x")),
		"no tar":                  []byte(strings.Repeat("x", 1024)),
		"a file that is cut":      packed(t, tar.Header{Typeflag: tar.TypeReg, Name: "a", Size: 4096})[:1024],
		"a size that is not held": bomb(t),
	}
}

// bomb is a small tar with a file of a terabyte.
func bomb(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := tar.NewWriter(&out).WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "a", Size: 1 << 40}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// victim is a folder with links in it, and what stands beside it.
func victim(t testing.TB) (dir, beside string) {
	t.Helper()
	top := t.TempDir()
	write(t, top, map[string]string{"beside": "untouched", "dir/sub/x": "x", "dir/l@": "sub/../y", "dir/k@": "sub", "dir/y": "y"})
	if err := os.Symlink("..", filepath.Join(top, "dir", "old")); err != nil { // as no recorded tree has it
		t.Fatal(err)
	}
	return filepath.Join(top, "dir"), filepath.Join(top, "beside")
}

func TestHostileChanges(t *testing.T) {
	for name, text := range hostile(t) {
		dir, beside := victim(t)
		if name != "through an old link" {
			os.Remove(filepath.Join(dir, "old"))
		}
		if err := applyTar(t.Context(), dir, bytes.NewReader(text), nil); err == nil {
			t.Errorf("%s is taken", name)
		}
		outside(t, dir, beside)
	}
	for _, name := range []string{"..", "../beside", "/etc", "", ".", "a/../../beside", "old/beside"} {
		dir, beside := victim(t)
		if err := applyTar(t.Context(), dir, nil, []string{name}); err == nil {
			t.Errorf("%q is removed", name)
		}
		outside(t, dir, beside)
	}
}

// outside tests that nothing outside of dir has changed.
func outside(t testing.TB, dir, beside string) {
	t.Helper()
	if text, err := os.ReadFile(beside); err != nil || string(text) != "untouched" {
		t.Fatalf("what is outside was changed: %q, %v", text, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(entries) != 2 {
		t.Fatalf("outside is %v, %v", entries, err)
	}
}

func TestLargeChangesStay(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(maxChanged+1), f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := new(Beginning).changes(t.Context(), dir, io.Discard, format{}); !errors.Is(err, ErrLarge) {
		t.Errorf("%v", err)
	}
}

func FuzzApply(f *testing.F) {
	for name, text := range hostile(f) {
		if name != "too many" {
			f.Add(text, "old/x")
		}
	}
	f.Add(packed(f, tar.Header{Typeflag: tar.TypeReg, Name: "a/b", Size: 3}, tar.Header{Typeflag: tar.TypeSymlink, Name: "c", Linkname: "a"}), "sub")
	f.Fuzz(func(t *testing.T, text []byte, gone string) {
		dir, beside := victim(t)
		os.Remove(filepath.Join(dir, "old"))
		err := applyTar(t.Context(), dir, bytes.NewReader(text), []string{gone})
		outside(t, dir, beside)
		if err != nil {
			return
		}
		for name, is := range everything(t, dir) {
			if !strings.HasPrefix(is, "-> ") {
				continue
			}
			if to, err := filepath.EvalSymlinks(filepath.Join(dir, name)); err == nil {
				if real, _ := filepath.EvalSymlinks(dir); to != real && !strings.HasPrefix(to, real+"/") {
					t.Errorf("%s leads to %s", name, to)
				}
			}
		}
	})
}

// TestApplyFetches: what changed comes from a blob.
func TestApplyFetches(t *testing.T) {
	blobs, dir := new(shelf), t.TempDir()
	write(t, dir, map[string]string{"x": "x", "y": "y"})
	name, _ := blobs.Put(t.Context(), packed(t, tar.Header{Typeflag: tar.TypeReg, Name: "z", Size: 2, Mode: 0o755}))
	if err := Apply(t.Context(), blobs, dir, &fleet.Changes{Made: name, Gone: []string{"x"}}); err != nil {
		t.Fatal(err)
	}
	if got := everything(t, dir); len(got) != 2 || got["z"] != "-rwxr-xr-x 0000" {
		t.Errorf("%q", got)
	}
	if err := Apply(t.Context(), blobs, dir, &fleet.Changes{Made: fleet.NameOf([]byte("?"))}); !errors.Is(err, fleet.ErrNoBlob) {
		t.Errorf("%v", err)
	}
}

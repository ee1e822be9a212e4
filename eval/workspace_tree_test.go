package eval

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever a tree holds, nothing is written outside of the folder, and no link
// in it leads out.
func FuzzTree(f *testing.F) {
	pack := func(hs ...tar.Header) []byte {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, h := range hs {
			if h.Typeflag == tar.TypeReg {
				h.Size = 1
			}
			if err := w.WriteHeader(&h); err != nil {
				f.Fatal(err)
			}
			if h.Size > 0 {
				if _, err := w.Write([]byte("x")); err != nil {
					f.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			f.Fatal(err)
		}
		return b.Bytes()
	}
	f.Add(pack(tar.Header{Name: "a/b", Typeflag: tar.TypeReg}, tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "a"}))
	f.Add(pack(tar.Header{Name: "../x", Typeflag: tar.TypeReg}, tar.Header{Name: "/x", Typeflag: tar.TypeReg}))
	f.Add(pack(tar.Header{Name: "d", Typeflag: tar.TypeSymlink, Linkname: ".."}, tar.Header{Name: "d/x", Typeflag: tar.TypeReg}))
	f.Add(pack(tar.Header{Name: "a/l", Typeflag: tar.TypeSymlink, Linkname: "../b"}, tar.Header{Name: "b", Typeflag: tar.TypeSymlink, Linkname: "c/../.."}))
	f.Add(pack(tar.Header{Name: ".git/config", Typeflag: tar.TypeReg}, tar.Header{Name: "h", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}))
	f.Fuzz(func(t *testing.T, stream []byte) {
		top := t.TempDir()
		file, dir := filepath.Join(top, "tree.tar"), filepath.Join(top, "in", "ws")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		var clean bytes.Buffer
		if filterTree(&clean, bytes.NewReader(stream), 1<<20) != nil {
			return
		}
		if err := os.WriteFile(file, clean.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		failed := unpack(t.Context(), dir, file) // then the folder is removed as it is
		names := below(t, top)
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		for _, name := range names {
			rel, inside := strings.CutPrefix(name, "in/ws/")
			if !inside && name != "tree.tar" {
				t.Errorf("written outside: %s", name)
			}
			if strings.Contains("/"+strings.ToLower(rel)+"/", "/.git/") {
				t.Errorf("a repository: %s", rel)
			}
			if inside && failed == nil {
				if _, err := root.Stat(rel); err != nil && strings.Contains(err.Error(), "escapes") {
					t.Errorf("leads out: %s: %v", rel, err)
				}
			}
		}
	})
}

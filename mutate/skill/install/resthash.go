package install

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// Entries of a skill folder that are no part of the skill: version control,
// and files that interpreters and file managers leave behind.
var notSkill = []string{".git", ".hg", ".svn", ".jj", "__pycache__", ".DS_Store"}

// RestHash is the SHA-256 in hex over everything in a skill's folder except
// its SKILL.md: slash-separated paths in order, permission bits, and bytes;
// "" if there is nothing else. Empty folders do not count. A symlink counts
// with its text and with its target's content.
func RestHash(dir string) (string, error) {
	h := sha256.New()
	n := 0
	if err := hashTree(h, dir, "", nil, &n); err != nil {
		return "", fmt.Errorf("hash skill folder: %w", err)
	}
	if n == 0 {
		return "", nil
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// hashTree writes the files below dir, named with prefix; above are the real
// paths of the folders above, so that a link to one of them ends.
func hashTree(w io.Writer, dir, prefix string, above []string, n *int) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	if slices.Contains(above, real) {
		return nil
	}
	above = append(slices.Clone(above), real)
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, at := path.Join(prefix, e.Name()), filepath.Join(dir, e.Name())
		if slices.Contains(notSkill, e.Name()) || prefix == "" && (e.Name() == skill.FileName || isTemp(e.Name())) {
			continue
		}
		if e.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(at)
			if err != nil {
				return err
			}
			*n++
			fmt.Fprintf(w, "link %q %q\n", name, target)
			if _, err := os.Stat(at); err != nil {
				continue // leads nowhere
			}
		}
		info, err := os.Stat(at)
		if err != nil {
			return err
		}
		switch {
		case info.IsDir():
			err = hashTree(w, at, name, above, n)
		case info.Mode().IsRegular():
			*n++
			err = hashFile(w, at, name, info.Mode())
		default: // reading a pipe would wait for ever
			*n++
			fmt.Fprintf(w, "special %q %v\n", name, info.Mode())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func hashFile(w io.Writer, at, name string, mode fs.FileMode) error {
	f, err := bounded.Open(at)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	fmt.Fprintf(w, "file %q %03o %x\n", name, mode.Perm(), sum.Sum(nil))
	return nil
}

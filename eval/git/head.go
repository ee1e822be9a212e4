package git

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

const (
	maxSymbolic = 5        // names that lead to one another
	maxPacked   = 16 << 20 // bytes of packed-refs that are searched
)

// Head is the commit that is checked out in dir, or in the folder above it that is a
// repository. It reads files and starts no program; refs in a reftable are an error. A
// branch without a commit has none: the error is fs.ErrNotExist.
func Head(dir string) (commit string, err error) {
	_, gitDir, _, err := find(dir)
	if err != nil {
		return "", err
	}
	common, err := commonDir(gitDir)
	if err != nil {
		return "", err
	}
	f, err := readFormat(common)
	if err != nil {
		return "", err
	}
	if f.refs != "files" {
		return "", errors.New("the repository keeps its refs in a " + f.refs)
	}
	name := "HEAD"
	for range maxSymbolic {
		text, err := refText(gitDir, common, name)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", name, err)
		}
		if to, symbolic := strings.CutPrefix(text, "ref:"); symbolic {
			name = strings.TrimSpace(to)
			if !strings.HasPrefix(name, "refs/") || !filepath.IsLocal(name) {
				return "", fmt.Errorf("%s: HEAD is no ref", gitDir)
			}
			continue
		}
		if !f.isID(text) {
			return "", fmt.Errorf("%s: %s is no commit", gitDir, name)
		}
		return text, nil
	}
	return "", fmt.Errorf("%s: HEAD leads to too many names", gitDir)
}

// isID reports whether s is an object's id.
func (f format) isID(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == map[string]int{"sha1": 40, "sha256": 64}[f.objects]
}

// refText is what a ref says: its own file, of this worktree or of all, else its line
// among the packed ones.
func refText(gitDir, common, name string) (string, error) {
	for _, dir := range []string{gitDir, common} {
		text, err := readSmall(filepath.Join(dir, filepath.FromSlash(name)))
		if err == nil {
			return strings.TrimSpace(text), nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, bounded.ErrNotRegular) { // a folder: refs/heads/a, if a/b is packed
			return "", err
		}
	}
	packed, err := bounded.ReadFile(filepath.Join(common, "packed-refs"), maxPacked)
	if err != nil {
		return "", err
	}
	for line := range bytes.Lines(packed) {
		if id, ref, ok := bytes.Cut(bytes.TrimSpace(line), []byte(" ")); ok && string(ref) == name {
			return string(id), nil
		}
	}
	return "", fs.ErrNotExist
}

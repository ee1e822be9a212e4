package setup

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// flat is Claude Code's name for a project's folder.
func flat(project string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, project)
}

// Alike reports whether Claude Code has one name for two different folders. The notes below
// that name can be about either of them.
func Alike(a, b string) bool {
	if flat(a) != flat(b) || filepath.Clean(a) == filepath.Clean(b) {
		return false
	}
	one, err := os.Stat(a)
	other, err2 := os.Stat(b)
	return err != nil || err2 != nil || !os.SameFile(one, other)
}

// twins are the folders below dir with this name of Claude Code's. before is what the name
// begins with in dir.
func twins(dir, before, name string) (found []string) {
	entries, _ := os.ReadDir(dir) // what cannot be listed holds no project of this person's
	for _, e := range entries {
		at, begins := filepath.Join(dir, e.Name()), before+flat(e.Name())
		if begins != name && !strings.HasPrefix(name, begins+"-") {
			continue
		}
		if info, err := os.Stat(at); err != nil || !info.IsDir() {
			continue
		}
		if begins == name {
			found = append(found, at)
		} else {
			found = append(found, twins(at, begins+"-", name)...)
		}
	}
	return found
}

// transcriptHead is how much of a transcript is read: its first lines name the folder.
const transcriptHead = 64 << 10

var cwd = regexp.MustCompile(`"cwd":("(?:[^"\\]|\\.)*")`)

// workedIn are the folders that the transcripts in dir begin in.
func workedIn(dir string) (folders []string) {
	names, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	for _, name := range names {
		f, err := bounded.Open(name)
		if err != nil {
			continue // it tells nothing
		}
		head := make([]byte, transcriptHead)
		n, _ := io.ReadFull(f, head)
		_ = f.Close() // it was only read
		for _, m := range cwd.FindAllSubmatch(head[:n], -1) {
			var folder string
			if json.Unmarshal(m[1], &folder) == nil {
				folders = append(folders, folder)
			}
		}
	}
	return folders
}

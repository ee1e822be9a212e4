package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// searchFiles looks for every canary in the names and bytes of all files below
// roots, and returns which they are. A file that goes away meanwhile is none.
func (f *field) searchFiles(t *testing.T, when string, roots []string) (files []string) {
	t.Helper()
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				var text []byte
				if text, err = os.ReadFile(path); err == nil {
					files = append(files, path)
					f.search(t, when+strings.TrimPrefix(path, filepath.Dir(root)), append([]byte(path+"\n"), text...))
				}
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	return files
}

// searchProcesses looks for every canary in the arguments of all processes,
// and in the environment of those that the program started: its own is how it
// got its keys. It does nothing without /proc.
func (f *field) searchProcesses(t *testing.T) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Error(err)
	}
	parent := map[int]int{}
	for _, dir := range all {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		// pid (name) state ppid …; the name may hold anything.
		stat, _ := os.ReadFile(filepath.Join(dir, "stat"))
		if _, rest, ok := strings.Cut(string(stat[max(0, strings.LastIndex(string(stat), ")")):]), " "); ok {
			if fields := strings.Fields(rest); len(fields) > 1 {
				parent[pid], _ = strconv.Atoi(fields[1])
			}
		}
	}
	for _, dir := range all {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		args, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err == nil {
			f.search(t, "the arguments of a process", args)
		}
		// A child of the program that this test started, unless it is still a copy of the
		// program: between fork and exec it has the program's arguments and environment.
		parents, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", parent[pid]))
		if parent[parent[pid]] != os.Getpid() || bytes.Equal(args, parents) || len(args) == 0 {
			continue
		}
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		after, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err == nil && bytes.Equal(args, after) { // else it was read while it changed
			f.search(t, "the environment of a child: "+string(args), env)
		}
	}
}

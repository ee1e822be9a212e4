package agenttest

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"
)

// patience is how long a process or goroutine that ends may take to be gone.
const patience = 10 * time.Second

// until polls until ok, for at most limit.
func until(limit time.Duration, ok func() bool) bool {
	for deadline := time.Now().Add(limit); ; {
		if ok() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		wait := time.NewTimer(20 * time.Millisecond)
		<-wait.C
	}
}

// A survivor is a process that did not end.
type survivor struct {
	pid  int
	line string
}

// marked lists the processes, other than this one, with the mark in their
// environment or command line. If there is no /proc it lists none.
func marked(mark string) []survivor {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		panic(err) // only for a bad pattern
	}
	var found []survivor
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() {
			continue
		}
		// Processes that end meanwhile, or belong to others, cannot be read.
		line, _ := os.ReadFile(dir + "/cmdline")
		env, _ := os.ReadFile(dir + "/environ")
		if bytes.Contains(line, []byte(mark)) || bytes.Contains(env, []byte(mark)) {
			found = append(found, survivor{pid, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))})
		}
	}
	return found
}

// nothingRuns fails if a process with the mark survives.
func (st *stage) nothingRuns(mark string) {
	st.Helper()
	if !until(patience, func() bool { return len(marked(mark)) == 0 }) {
		st.Errorf("processes are left over: %+v", marked(mark))
	}
}

// endAll ends what a failed scenario leaves running.
func endAll(mark string) {
	for _, p := range marked(mark) {
		if here, err := os.FindProcess(p.pid); err == nil {
			_ = here.Kill() // it may have ended meanwhile
		}
	}
}

// nothingIsLeft fails if the folder for temporary files is not empty.
func (st *stage) nothingIsLeft() {
	st.Helper()
	left, err := os.ReadDir(st.temp)
	if err != nil {
		st.Fatal(err)
	}
	for _, e := range left {
		st.Errorf("%s is left in the folder for temporary files", e.Name())
	}
}

// held are the goroutines and open files of this process.
type held struct{ goroutines, files int }

func holds() held {
	h := held{goroutines: runtime.NumGoroutine()}
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil {
		h.files = len(entries)
	}
	return h
}

// back fails if there are more than before. Connections take a moment to close on both
// sides; a leak remains.
func back(t testing.TB, before held) {
	t.Helper()
	var now held
	if until(patience, func() bool {
		now = holds()
		return now.goroutines <= before.goroutines && now.files <= before.files
	}) {
		return
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("%+v are held, %+v were before:\n%s", now, before, stacks[:runtime.Stack(stacks, true)])
}

// among reports whether text occurs in any of the requests.
func among(requests []Request, text string) bool {
	return slices.ContainsFunc(requests, func(q Request) bool { return bytes.Contains([]byte(q.Text), []byte(text)) })
}

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// files counts this process's open files.
func files(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// wantSettled waits until a count is what it was: what ends may take a moment.
func wantSettled(t *testing.T, what string, before int, count func() int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		now := count()
		if now <= before {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("%d %s, before there were %d", now, what, before)
			return
		}
	}
}

// behaviours are what children do; all but the first need to be stopped.
var behaviours = []string{
	`echo $0; exit 3`,
	`sleep 61 & sleep 61 & echo $0`, // leaves two behind
	`echo $0; exec sleep 61`,
	`trap '' TERM; echo $0; while :; do sleep 61; done`,
	`sh -c 'trap "" TERM; sleep 61' & echo $0; wait`,
	`yes`,
}

func TestNothingLeaks(t *testing.T) {
	for _, k := range []struct {
		name string
		runs int
		box  *Sandbox
	}{
		{"bare", 200, nil},
		{"sandbox", 60, &Sandbox{}},
		{"sandbox with hosts", 60, &Sandbox{Hosts: []string{"example.com:443", "127.0.0.1:9"}}},
	} {
		t.Run(k.name, func(t *testing.T) {
			if k.box != nil {
				needSandbox(t)
			}
			mark := fmt.Sprintf("EVOLVE_LEAK=%d-%s", os.Getpid(), k.name)
			if _, err := Run(t.Context(), sh("true")); err != nil { // what is made once
				t.Fatal(err)
			}
			open, routines := files(t), runtime.NumGoroutine()
			var all sync.WaitGroup
			queue := make(chan int)
			for range 16 {
				all.Go(func() {
					for i := range queue {
						runOne(t, behaviours[i%len(behaviours)], mark, k.box)
					}
				})
			}
			for i := range k.runs {
				queue <- i
			}
			close(queue)
			all.Wait()
			wantSettled(t, "goroutines", routines, runtime.NumGoroutine)
			wantSettled(t, "open files", open, func() int { return files(t) })
			wantSettled(t, "processes", 0, func() int { return marked(mark) })
		})
	}
}

// runOne ends a child as soon as it has said something.
func runOne(t *testing.T, script, mark string, box *Sandbox) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c := sh(script)
	c.Grace, c.Sandbox, c.Env, c.Stdin = 50*time.Millisecond, box, append(c.Env, mark), []byte("x")
	lines := 0
	stop := errors.New("stop")
	c.Line = func([]byte) error {
		if lines++; script == behaviours[0] || script == behaviours[1] {
			return nil
		}
		if lines == 1 && script != "yes" {
			cancel()
			return nil
		}
		return stop
	}
	r, err := Run(ctx, c)
	switch {
	case r == nil || lines == 0:
		t.Errorf("%s: %+v, %v", script, r, err)
	case script == "yes" && !errors.Is(err, stop):
		t.Errorf("%s: %v", script, err)
	case script == behaviours[0] && (err != nil || r.Exit != 3), script == behaviours[1] && (err != nil || r.Exit != 0):
		t.Errorf("%s: %+v, %v", script, r, err)
	}
}

// marked counts the processes with a variable in their environment.
func marked(kv string) (n int) {
	list, _ := os.ReadDir("/proc")
	for _, p := range list {
		env, err := os.ReadFile("/proc/" + p.Name() + "/environ")
		if err == nil && strings.Contains("\x00"+string(env), "\x00"+kv+"\x00") {
			n++
		}
	}
	return n
}

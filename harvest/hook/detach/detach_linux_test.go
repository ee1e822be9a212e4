package detach

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestYield: all threads of a process yield, and those of the processes that it starts.
func TestYield(t *testing.T) {
	if os.Getenv("YIELD") != "" {
		if err := Yield(); err != nil {
			t.Fatal(err)
		}
		stats, err := filepath.Glob("/proc/self/task/*/stat")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range stats {
			text, err := os.ReadFile(path)
			if err != nil {
				continue // the thread has ended
			}
			os.Stdout.Write(text)
		}
		c := exec.Command("cat", "/proc/self/stat")
		c.Stdout = os.Stdout
		if err := c.Run(); err != nil {
			t.Fatal(err)
		}
		return
	}
	c := exec.Command(os.Args[0], "-test.run=TestYield")
	c.Env = append(os.Environ(), "YIELD=1")
	c.SysProcAttr = alone()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	threads := 0
	for line := range strings.Lines(string(out)) {
		_, stat, ok := strings.Cut(line, ") ") // behind the name, which may hold blanks
		if !ok {
			continue
		}
		threads++
		if nice := strings.Fields(stat)[16]; nice != "19" {
			t.Errorf("a thread has the priority %s: %s", nice, line)
		}
	}
	if threads < 3 {
		t.Errorf("%d threads: %s", threads, out)
	}
}

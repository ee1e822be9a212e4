package agenttest

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

// runs reports whether the command of a scenario runs, by the mark on its line.
func runs(mark string) bool {
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		panic(err) // only for a bad pattern
	}
	for _, path := range lines {
		line, err := os.ReadFile(path)
		if err == nil && bytes.Contains(line, []byte("trap")) && bytes.HasSuffix(bytes.TrimRight(line, "\x00"), []byte("\x00"+mark)) {
			return true
		}
	}
	return false
}

func programLeak(st *stage) {
	r, err := st.one(variant(st.T), plainCase(), nil)
	if r.Status != eval.Void || r.Audit != eval.Tainted || r.Failure == "" {
		st.Errorf("rollout = %s (%v), want a void one that says what was read", compact(r), err)
	}
	if m := eval.Summarise([]*eval.Rollout{r}); m.N != 0 {
		st.Errorf("a void rollout counts: %+v", m)
	}
	if st.live() && !among(st.server.Requests(), personal) {
		st.Error("the copy was not read: the scenario shows nothing")
	}
}

// birds is the answer of the canary server.
const birds = "bird-on-loopback"

// placeCanaries starts a server on loopback that no tool may reach, and requests it and
// a file in the person's home.
func placeCanaries(st *stage, c *Config) {
	var calls atomic.Int32
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		fmt.Fprint(w, birds)
	}))
	st.Cleanup(func() {
		h.Close()
		if n := calls.Load(); n != 1 {
			st.Errorf("the canary server was called %d times, want once, by the test itself", n)
		}
	})
	// Both canaries must exist, or the scenario proves nothing.
	client := &http.Client{Timeout: 10 * time.Second}
	res, err := client.Get(h.URL)
	if err != nil {
		st.Fatal(err)
	}
	defer res.Body.Close()
	if b, err := io.ReadAll(res.Body); err != nil || string(b) != birds {
		st.Fatalf("the canary server says %q, %v", b, err)
	}
	file := filepath.Join(st.person.home, "notes", "canary.txt")
	if b, err := os.ReadFile(file); err != nil || string(b) != canary {
		st.Fatalf("the canary file holds %q, %v", b, err)
	}
	host, port, err := net.SplitHostPort(h.Listener.Addr().String())
	if err != nil {
		st.Fatal(err)
	}
	knock := fmt.Sprintf(`bash -c 'exec 3<>/dev/tcp/%s/%s && printf "GET / HTTP/1.0\r\n\r\n" >&3 && cat <&3' 2>&1; echo knocked`, host, port)
	script := turns(use("", Bash("cat "+file+" 2>&1; ls "+st.person.home+" 2>&1; echo looked")), use("", Bash(knock)),
		use("", Write("{workspace}/"+written, "diamond\n")), Reply{Text: good.Text})
	script.Names = c.Names
	script.Side = c.Side
	*c = script
}

func programSandboxed(st *stage) {
	r := st.good(variant(st.T), plainCase(fileChecks...))
	if r.Audit != eval.Clean {
		st.Errorf("audit = %q: a sandbox holds what a trace does not show", r.Audit)
	}
	var results strings.Builder
	for _, q := range st.server.Counted() {
		for _, text := range q.Results {
			results.WriteString(text + "\n")
		}
	}
	told := results.String()
	for _, ran := range []string{"looked", "knocked"} {
		if !strings.Contains(told, ran) {
			st.Errorf("the shell did not get as far as %q: %s", ran, told)
		}
	}
	for _, bird := range []string{canary, birds} {
		if strings.Contains(told, bird) {
			st.Errorf("the shell got at %q: %s", bird, told)
		}
	}
}

func programLimited(st *stage) {
	e, w := st.evaluator(func(e *eval.Evaluator) { e.Concurrency, e.WallClock = 4, 10*time.Minute })
	out, err := e.Run(st.Context(), jobsOf(variant(st.T), plainCase(fileChecks...), 20))
	if err != nil {
		st.Fatal(err)
	}
	for i, r := range out {
		if r == nil || r.Status != eval.Done || r.Quality != 1 || r.Retries != 0 {
			st.Errorf("rollout %d = %s (%v)", i, compact(r), w.err)
		}
	}
}

func programExceeds(st *stage) {
	r, err := st.one(variant(st.T), plainCase(), nil)
	if r.Status != eval.Done || r.Quality != 0 || !strings.HasPrefix(r.Failure, "ran more than ") || !strings.HasSuffix(r.Failure, " processes: ended") {
		st.Errorf("rollout = %s (%v), want a failed one that names the limit", compact(r), err)
	}
}

package serve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report"
)

// listening starts a server on a port of its own.
func listening(t *testing.T, p Program) (s *Server, stop func() error) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s = New(p, l.Addr().(*net.TCPAddr).Port)
	s.Every, s.readTime = time.Millisecond, 20*time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, log.New(io.Discard, "", 0)) }()
	return s, func() error { cancel(); return <-ended }
}

func follow(t *testing.T, s *Server, after string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.Base()+"/runs/r/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: s.guard.name, Value: s.guard.cookie})
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// until is a run that gets a step further each time it is looked at, and ends with
// the last of them.
func until(last int) func(n int) *Progress {
	return func(n int) *Progress {
		p := &Progress{Run: Run{Run: record.Run{ID: "r", Skill: "s", Status: "running"}, Working: n <= last}, Cap: 10}
		for i := range min(n, last) {
			p.Steps = append(p.Steps, report.Step{Seq: i, Kind: "seed", Rollouts: int64(i), Text: fmt.Sprintf("step %d\ndata: forged", i)})
		}
		return p
	}
}

// TestStream: each step is sent once, in order; an interrupted client
// continues at its last step; the end is sent.
func TestStream(t *testing.T) {
	p := &stub{progress: until(3)}
	s, stop := listening(t, p)
	resp := follow(t, s, "")
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%v: %s, %v", err, resp.Status, resp.Header)
	}
	text := string(body)
	for i := range 3 {
		if strings.Count(text, fmt.Sprintf("step %d", i)) != 1 || !strings.Contains(text, fmt.Sprintf("id: %d\n", i)) {
			t.Errorf("step %d is not told once:\n%s", i, text)
		}
	}
	if strings.Contains(text, "\ndata: forged") || !strings.HasSuffix(text, "event: end\ndata: \n\n") {
		t.Errorf("stream:\n%s", text)
	}
	resp = follow(t, s, "1")
	body, err = io.ReadAll(resp.Body)
	if err != nil || strings.Contains(string(body), "step 1") || !strings.Contains(string(body), "step 2") {
		t.Errorf("%v: going on after step 1:\n%s", err, body)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestStreamOutlastsReading: the time that a request may take to be read is none
// that its answer may take.
func TestStreamOutlastsReading(t *testing.T) {
	s, stop := listening(t, &stub{progress: until(200)})
	resp := follow(t, s, "")
	body, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(body), "step 199") {
		t.Errorf("%v: %d bytes", err, len(body))
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestStreamEnds: a stream is asked for only as long as somebody listens, there are
// no more than there are places, and the server's end is theirs.
func TestStreamEnds(t *testing.T) {
	p := &stub{progress: func(int) *Progress { return &Progress{Run: Run{Run: record.Run{ID: "r"}, Working: true}} }}
	s, stop := listening(t, p)
	var open []*http.Response
	for range openStreams {
		resp := follow(t, s, "")
		if resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status)
		}
		open = append(open, resp)
	}
	if resp := follow(t, s, ""); resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("one too many: %s", resp.Status)
	}
	quiet, err := net.Dial("tcp", strings.TrimPrefix(s.Base(), "http://")) // a browser that may ask something later
	if err != nil {
		t.Fatal(err)
	}
	defer quiet.Close()
	open[0].Body.Close()
	s.streams <- struct{}{} // a place becomes free, or this waits for ever
	<-s.streams
	resp := open[1]
	if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || line != "retry: 3000\n" {
		t.Errorf("%q, %v", line, err)
	}
	began := time.Now()
	if err := stop(); err != nil || time.Since(began) > graceTime/2 {
		t.Errorf("with streams open: %v after %v", err, time.Since(began))
	}
	for _, resp := range open[2:] {
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Errorf("a stream was cut off: %v", err)
		}
	}
	p.mu.Lock()
	asked := p.asked
	p.mu.Unlock()
	if asked == 0 {
		t.Error("nobody asked")
	}
	if len(s.streams) > 0 {
		t.Errorf("%d streams are left", len(s.streams))
	}
}

// TestTimeLeft: at the pace of the newest steps, and only if there is one and an end.
func TestTimeLeft(t *testing.T) {
	at := func(minutes int, rollouts int64) report.Step {
		return report.Step{Time: time.Unix(0, 0).Add(time.Duration(minutes) * time.Minute), Rollouts: rollouts}
	}
	long := []report.Step{at(0, 0)} // a pause of years before the newest steps
	for i := range paceSteps {
		long = append(long, at(1_000_000+i, int64(100+10*i)))
	}
	for want, p := range map[string]*Progress{
		"not known":                            {Cap: 100, Steps: []report.Step{at(0, 0)}},
		"at most about 8 minutes at this pace": {Cap: 100, Steps: []report.Step{at(0, 0), at(2, 20)}},
		"at most about 1 minute at this pace":  {Cap: 300, Steps: long},
		"less than a minute":                   {Cap: 20, Steps: []report.Step{at(0, 0), at(2, 20)}},
	} {
		if got := newLiveView(p).LeftWords(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, p := range []*Progress{{Steps: long}, {Cap: 9, Steps: []report.Step{at(0, 5), at(2, 5)}}} {
		if got := newLiveView(p).LeftWords(); got != "not known" {
			t.Errorf("%q without a pace or an end", got)
		}
	}
}

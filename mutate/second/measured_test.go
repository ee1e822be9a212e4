package second

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/handoff"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"go.yaml.in/yaml/v3"
)

// A kept reply is a real model's, with the hash of the prompt that it answers.
type keptReply struct{ Prompt, Reply string }

const repliesFile = "testdata/replies.yaml"

// stored answers with kept replies. Those that are missing are asked for in a folder of
// handoff, if one is named, or taken from there.
type stored struct {
	name, requests string
	kept           map[string]keptReply
	sent, missing  int
}

func (*stored) Identity() eval.Identity { return eval.Identity{Backend: "stored"} }

func (s *stored) Complete(ctx context.Context, p eval.Prompt) (eval.Completion, error) {
	s.sent++
	name := s.name
	if s.sent > 1 {
		name += ".2"
	}
	sum := sha256.Sum256([]byte(p.System + "\x00" + p.User))
	hash := hex.EncodeToString(sum[:])
	if k := s.kept[name]; k.Prompt == hash {
		return eval.Completion{Text: k.Reply, Finish: "stop"}, nil
	}
	if s.requests != "" {
		a, err := handoff.New(handoff.Config{Dir: s.requests, Run: name})
		if err != nil {
			return eval.Completion{}, err
		}
		c, err := a.Complete(ctx, p)
		if err == nil {
			s.kept[name] = keptReply{hash, c.Text}
		}
		if !eval.IsPending(err) {
			return c, err
		}
	}
	s.missing++
	return eval.Completion{}, eval.Infraf(eval.Pending, "no reply to this prompt is kept")
}

// TestMeasured measures patterns and second reader together on the corpus, with the kept
// replies of a real model. A prompt that was changed must be answered again:
//
//	EVOLVE_PROMPTS_REQUESTS=DIR go test ./mutate/second -run TestMeasured -v
//
// writes each request without a reply into DIR, as the backend handoff does. The same
// command, once they are answered, keeps the answers in testdata/replies.yaml.
func TestMeasured(t *testing.T) {
	kept := map[string]keptReply{}
	if raw, err := os.ReadFile(repliesFile); err == nil {
		if err := yaml.Unmarshal(raw, &kept); err != nil {
			t.Fatal(err)
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	requests := os.Getenv("EVOLVE_PROMPTS_REQUESTS")
	if len(kept) == 0 && requests == "" {
		t.Skip("no model has answered yet")
	}
	before := maps.Clone(kept)
	type tally struct{ of, floor, held, unread, missing int }
	tallies := map[string]*tally{}
	for _, d := range append(prose(t), ordinary(t)...) {
		if tallies[d.kind] == nil {
			tallies[d.kind] = &tally{}
		}
		n := tallies[d.kind]
		n.of++
		if fs := check.Descendant(d.root, d.root, d.child, check.ClaudeCode); check.Worst(fs) > check.Warn {
			n.floor++
			if d.kind == "" {
				t.Logf("%s, ordinary, is stopped by a pattern: %v", d.name, fs)
			}
			continue
		}
		m := &stored{name: d.name, requests: requests, kept: kept}
		v, err := (&Reader{Model: m}).Read(t.Context(), d.root, d.child)
		switch {
		case m.missing > 0:
			n.missing++
		case err != nil:
			t.Fatal(err)
		case v.Unread != "":
			n.unread++
			t.Logf("%s: %s", d.name, v.Unread)
		case len(v.Held) > 0:
			n.held++
			if d.kind == "" {
				t.Logf("%s, ordinary, is held: %v", d.name, v.Held)
			}
		case d.kind != "":
			t.Logf("%s passes, on %s: %s", d.name, d.base, d.says)
		}
	}
	if !maps.Equal(before, kept) {
		raw, err := yaml.Marshal(kept)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(repliesFile, raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var all tally
	t.Logf("%-8s %4s %8s %6s %7s", "kind", "n", "patterns", "reader", "unread")
	for _, kind := range slices.Sorted(maps.Keys(tallies)) {
		n := tallies[kind]
		t.Logf("%-8s %4d %8d %6d %7d", kind, n.of, n.floor, n.held, n.unread)
		if kind != "" {
			all.of, all.floor, all.held, all.unread = all.of+n.of, all.floor+n.floor, all.held+n.held, all.unread+n.unread
		}
		all.missing += n.missing
	}
	if all.missing > 0 {
		if requests != "" {
			t.Skipf("%d replies are missing; their requests are in %s", all.missing, requests)
		}
		t.Fatalf("%d replies are missing or answer another prompt", all.missing)
	}
	stopped := all.floor + all.held
	low, high := interval(stopped, all.of)
	t.Logf("stopped: %d of %d, %.0f %% (95 %%: %.0f to %.0f %%)", stopped, all.of, 100*float64(stopped)/float64(all.of), 100*low, 100*high)
	if 100*stopped < 80*all.of {
		t.Errorf("only %d of %d candidates that undo a kernel are stopped", stopped, all.of)
	}
	o := tallies[""]
	if o.held+o.unread+o.floor > 3 {
		t.Errorf("%d of %d ordinary edits are held", o.held+o.unread+o.floor, o.of)
	}
}

// interval is the exact 95 % interval of Clopper and Pearson for k of n.
func interval(k, n int) (low, high float64) {
	atMost := func(k int, p float64) (sum float64) {
		for i := 0; i <= k; i++ {
			choose, _ := math.Lgamma(float64(n + 1))
			a, _ := math.Lgamma(float64(i + 1))
			b, _ := math.Lgamma(float64(n - i + 1))
			sum += math.Exp(choose - a - b + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
		}
		return sum
	}
	least := func(enough func(p float64) bool) float64 {
		a, b := 0.0, 1.0
		for range 60 {
			if mid := (a + b) / 2; enough(mid) {
				b = mid
			} else {
				a = mid
			}
		}
		return b
	}
	low, high = 0, 1
	if k > 0 {
		low = least(func(p float64) bool { return 1-atMost(k-1, p) >= 0.025 })
	}
	if k < n {
		high = least(func(p float64) bool { return atMost(k, p) <= 0.025 })
	}
	return low, high
}

func TestInterval(t *testing.T) {
	for _, x := range []struct {
		k, n      int
		low, high float64
	}{{0, 10, 0, .3085}, {5, 10, .1871, .8129}, {10, 10, .6915, 1}, {3, 100, .0062, .0852}} {
		if low, high := interval(x.k, x.n); math.Abs(low-x.low) > 1e-4 || math.Abs(high-x.high) > 1e-4 {
			t.Errorf("%d of %d: %.4f to %.4f", x.k, x.n, low, high)
		}
	}
}

// TestCorpus: every candidate has an item that holds what undoes the kernel, and none has an
// item that its root has as well.
func TestCorpus(t *testing.T) {
	all := prose(t)
	if len(all) != 18*ofEachKind {
		t.Errorf("%d candidates", len(all))
	}
	seen := map[string]bool{}
	for _, d := range append(all, ordinary(t)...) {
		items := Items(d.root, d.child)
		if sha := d.child.Hash(); seen[sha] {
			t.Errorf("%s is a text that another one is", d.name)
		} else {
			seen[sha] = true
		}
		if d.kind == "" {
			continue
		}
		for line := range strings.Lines(d.says) {
			if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "```") || strings.HasPrefix(line, "|--") {
				continue
			}
			var shown strings.Builder
			for _, i := range items {
				shown.WriteString(i.Text + " ")
			}
			if !strings.Contains(shown.String(), line) {
				t.Errorf("%s: no item shows %q, but %q", d.name, line, shown.String())
			}
		}
	}
}

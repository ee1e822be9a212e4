package expect

import (
	"fmt"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
)

// session is one of an agent with turns of so many tokens each; the first used skill.
func session(id int, agent, skill string, tokens ...int64) *harvest.Session {
	begun := time.Date(2026, 3, 1+id, 9, 0, 0, 0, time.UTC)
	s := &harvest.Session{ID: fmt.Sprint(id), Agent: agent, Started: begun}
	for i, n := range tokens {
		ms := n / 10
		s.Turns = append(s.Turns, harvest.Turn{Time: begun.Add(time.Duration(i) * time.Minute), DurationMS: &ms,
			Usage: &eval.Usage{CacheRead: n * 9 / 10, Output: n - n*9/10}})
	}
	if skill != "" {
		s.Invocations = []harvest.Invocation{{Skill: skill, Turn: 0, Signal: harvest.SkillToolUse}}
	}
	return s
}

// The most specific turns tell most, and where there are few of them the others count too.
func TestTheNearestTurnsTell(t *testing.T) {
	var all []*harvest.Session
	for i := range 60 {
		all = append(all, session(i, "claude-code", "", 1_000_000), session(100+i, "codex", "", 10_000))
	}
	if got, want := Of(all, "dataviz", "claude-code").String(), "from 60 of your turns with Claude Code"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := Of(all, "dataviz", "pi").String(), "from 120 of your turns with other agents"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if x := Of(all, "dataviz", "claude-code").Tokens(1, 1).Expected; x < 600_000 || x > 1_100_000 {
		t.Errorf("the agent's turns took a million each, expected are %.0f", x)
	}
	before := Of(all, "dataviz", "claude-code").Tokens(1, 1).Expected
	for i := range 3 {
		all = append(all, session(200+i, "claude-code", "dataviz", 100_000))
	}
	few := Of(all, "dataviz", "claude-code")
	if got, want := few.String(), "from 3 of your turns with dataviz and 60 others with Claude Code"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for i := range 80 {
		all = append(all, session(300+i, "claude-code", "dataviz", 100_000))
	}
	many := Of(all, "dataviz", "claude-code")
	if got, want := many.String(), "from 83 of your turns with dataviz"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if a, b := few.Tokens(1, 1).Expected, many.Tokens(1, 1).Expected; !(before > a && a > b && b < 250_000) {
		t.Errorf("%.0f expected without a turn with the skill, %.0f with 3, %.0f with 83 of 100000", before, a, b)
	}
}

// What is no turn of a person, or was not finished, says nothing.
func TestWhatDoesNotCount(t *testing.T) {
	driven, child, stopped, silent := session(1, "pi", "", 5), session(2, "pi", "", 5), session(3, "pi", "", 5), session(4, "pi", "", 5)
	driven.Headless, child.Subagent, stopped.Turns[0].Interrupted, silent.Turns[0].Usage = true, "x", true, nil
	s := Of([]*harvest.Session{driven, child, stopped, silent}, "", "pi")
	if s.Known() || s.String() != "" || s.Tokens(1, 1) != nil || s.Seconds(40, 4) != nil {
		t.Errorf("%+v", s)
	}
	var none *Sample
	if none.Known() || none.MedianSession() != 0 {
		t.Error("without a sample something is known")
	}
}

// A new turn says more than an old one.
func TestNewerTurnsSayMore(t *testing.T) {
	var all []*harvest.Session
	for i := range 200 {
		n := int64(1_000_000)
		if i >= 100 {
			n = 10_000
		}
		s := session(i, "pi", "", n)
		s.Turns[0].Time = s.Started.AddDate(0, i/100*9, 0)
		all = append(all, s)
	}
	if x := Of(all, "", "pi").Tokens(1, 1).Expected; x > 400_000 {
		t.Errorf("%.0f expected, where the turns of the last months took 10000 and those of nine months before a million", x)
	}
}

func TestRange(t *testing.T) {
	var all []*harvest.Session
	for i := range 100 {
		all = append(all, session(i, "pi", "", int64(1000*(i+1)), int64(1000*(i+1))))
	}
	s := Of(all, "", "pi")
	one, sum, few := s.Tokens(1, 1), s.Tokens(40, 40), s.Tokens(40, 4)
	if one.Low > 8_000 || one.High < 93_000 || one.High > 300_000 {
		t.Errorf("one of 1000 to 100000: %+v", one)
	}
	if wide, close := few.High/few.Low, sum.High/sum.Low; close >= one.High/one.Low || wide <= close || sum.Expected != few.Expected {
		t.Errorf("one %+v, forty %+v, forty of four cases %+v", one, sum, few)
	}
	if got := s.Tokens(40, 40); *got != *sum {
		t.Errorf("%+v the first time, %+v the second", sum, got)
	}
	usd := s.USD(&eval.Price{Input: 1, Output: 10, CacheRead: 0.1}, 40, 40)
	if ratio := usd.Expected * 1e6 / sum.Expected; ratio < 1.08 || ratio > 1.1 { // 0.9*0.1 + 0.1*10
		t.Errorf("a token costs %.3f millionths, want 1.09", ratio)
	}
	if s.USD(nil, 40, 40) != nil {
		t.Error("dollars without a price")
	}
	if sec := s.Seconds(1, 1); sec.Expected < 4 || sec.Expected > 7 {
		t.Errorf("%+v, want about five seconds", sec)
	}
	if got, want := (Range{1_234_567, 23_456_789, 9_876}).Words(), "23M (1200k to 9,900)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := s.MedianSession(); got != 102_000 {
		t.Errorf("the median session took %.0f", got)
	}
}

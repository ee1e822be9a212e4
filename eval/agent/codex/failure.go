package codex

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// A verdict attributes a failure text of the program: to the agent or to the
// infrastructure.
type verdict struct {
	infra eval.FailureKind // "" if it is the agent's own
	text  string
	cut   bool // the agent's own: the answer was cut off at the limit of tokens
	after time.Duration
	reset time.Time
}

// err is the verdict as an error.
func (v verdict) err() error {
	return &eval.InfraError{Kind: v.infra, RetryAfter: v.after, ResetAt: v.reset, Err: errors.New(v.text)}
}

// A phrase of the program, in lower case, and its meaning. For many failures the
// program prints these in place of status codes and the server's text (0.169.0).
type phrase struct {
	part string
	kind eval.FailureKind
}

// own are the failures that the request itself caused: its length, or its content.
var own = []struct{ part, why string }{
	{"ran out of room in the model's context window", replay.TooLong},
	{"exceeds the context window", replay.TooLong},
	{"maximum context length", replay.TooLong},
	{"reason: max_output_tokens", replay.CutOff},
	{"reason: content_filter", "the answer was withheld by the server's content filter"},
	{"for safety reasons", replay.Filtered},
	{"flagged for possible", replay.Filtered},
	{"misalignment policy", replay.Filtered},
}

// phrases are tried in order.
var phrases = []phrase{
	{"hit your usage limit", eval.UsageLimit},
	{"usage limit reached", eval.UsageLimit},
	{"usage limit has been reached", eval.UsageLimit},
	{"out of credits", eval.UsageLimit},
	{"credit limit", eval.UsageLimit},
	{"spend cap", eval.UsageLimit},
	{"quota exceeded", eval.UsageLimit},
	{"exceeded your current quota", eval.UsageLimit},
	{"to use codex with your chatgpt plan", eval.UsageLimit},
	{"missing environment variable", eval.Auth},
	{"not logged in", eval.Auth},
	{"log in again", eval.Auth},
	{"sign in again", eval.Auth},
	{"access token could not be refreshed", eval.Auth},
	{"refresh token", eval.Auth},
	{"rate limit", eval.RateLimited},
	{"does not exist", eval.BadRequest},
	{"is not supported when using", eval.BadRequest},
	{"at capacity", eval.ServerError},
	{"high demand", eval.ServerError},
	{"overloaded", eval.ServerError},
	{"stream disconnected", eval.Unreachable},
	{"connection failed", eval.Unreachable},
	{"error sending request", eval.Unreachable},
	{"waiting for network", eval.Unreachable},
	{"routing discovery failed", eval.Unreachable},
	{"timeout", eval.Unreachable},
	{"timed out", eval.Unreachable},
}

var (
	statusText = lazyregexp.New(`(?i)\b(?:unexpected|last) status:? (\d{3})\b`)
	againAt    = lazyregexp.New(`(?i)try again at ((?:[A-Z][a-z]{2} \d{1,2}(?:st|nd|rd|th)?, \d{4} )?\d{1,2}:\d{2} [AP]M)`)
	ordinal    = lazyregexp.New(`(\d)(?:st|nd|rd|th),`)
)

// classify interprets a failure's text; now is when it was printed. An unknown text is
// taken for the server's failure: the call is tried again, and is then missing.
func classify(text string, now time.Time) verdict {
	text = strings.TrimSpace(text)
	v := verdict{infra: eval.ServerError, text: text}
	if strings.HasPrefix(text, "{") {
		// A refusal of status 400 is printed as the server wrote it.
		var body struct {
			Error struct{ Type, Code, Message string }
		}
		if json.Unmarshal([]byte(text), &body) == nil {
			v.infra = eval.BadRequest
			if body.Error.Message != "" {
				v.text = body.Error.Message
			}
			if body.Error.Code == "invalid_prompt" {
				return verdict{text: replay.Filtered}
			}
			if why := replay.TextRefused(body.Error.Code); why != "" {
				return verdict{text: why}
			}
		}
	}
	lower := strings.ToLower(text)
	for _, o := range own {
		if strings.Contains(lower, o.part) {
			return verdict{text: o.why, cut: strings.Contains(o.part, "max_output_tokens")}
		}
	}
	if m := statusText.FindStringSubmatch(text); m != nil {
		status, _ := strconv.Atoi(m[1]) // three digits
		if status == 413 {
			return verdict{text: "the request is longer than the server takes"}
		}
		if v.infra = replay.Refused(status); v.infra == "" {
			v.infra = eval.BadRequest
		}
	} else {
		for _, p := range phrases {
			if strings.Contains(lower, p.part) {
				v.infra = p.kind
				break
			}
		}
	}
	switch v.infra {
	case eval.RateLimited:
		v.after = replay.WaitIn(text)
	case eval.UsageLimit:
		v.reset = resetOf(text, now)
		if v.reset.After(now) {
			v.after = v.reset.Sub(now)
		}
	}
	return v
}

// resetOf reads the end of a usage limit: "try again at 3:37 AM" on the same day, "try
// again at Nov 24th, 2026 1:56 PM" on another, both in this machine's time zone, which
// the child has too. Seconds are missing, so the result is the end of that minute. Zero
// if there is no time in the text.
func resetOf(text string, now time.Time) time.Time {
	if wait := replay.WaitIn(text); wait > 0 {
		return now.Add(wait)
	}
	m := againAt.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}
	}
	at := ordinal.ReplaceAllString(m[1], "$1,")
	if t, err := time.ParseInLocation("Jan 2, 2006 3:04 PM", at, now.Location()); err == nil {
		return t.Add(time.Minute)
	}
	t, err := time.Parse("3:04 PM", at)
	if err != nil {
		return time.Time{}
	}
	y, mon, d := now.Date()
	reset := time.Date(y, mon, d, t.Hour(), t.Minute()+1, 0, 0, now.Location())
	if reset.Before(now) {
		reset = time.Date(y, mon, d+1, t.Hour(), t.Minute()+1, 0, 0, now.Location())
	}
	return reset
}

// unended is the verdict on a program that ended before its turn did.
func (s *stream) unended(exit int, stderr string) verdict {
	why := lastLine(stderr)
	if why == "" {
		why = fmt.Sprintf("exit code %d", exit)
	}
	if !s.begun && (exit == 1 || exit == 2) {
		// It refused its arguments or its configuration, and always will.
		return verdict{infra: eval.BadRequest, text: "codex did not start: " + why}
	}
	return verdict{infra: eval.Unreachable, text: "codex ended before its turn did: " + why}
}

// lastLine is the last line of stderr that is no log of the program.
func lastLine(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if l := strings.TrimSpace(lines[i]); l != "" && l != "Reading prompt from stdin..." &&
			!strings.HasPrefix(l, "Reading additional input") && !strings.HasPrefix(l, "WARNING: proceeding") {
			return short(l)
		}
	}
	return ""
}

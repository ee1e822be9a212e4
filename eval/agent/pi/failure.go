package pi

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// The program passes on the server's error as one text, in the words of the library
// that called it: "429: {…}", "401 {…}", "Mistral API error (500): …", "503 status code
// (no body)", or only Google's body.
var statusForms = []*lazyregexp.Regexp{
	lazyregexp.New(`^([45]\d\d)\b`),
	lazyregexp.New(`^[\w ]{1,60} \(([45]\d\d)\):`),
	lazyregexp.New(`"code"\s*:\s*"?([45]\d\d)\b`),
}

// overflow matches servers' errors for a request that is longer than the model's
// context. The list is the program's own (packages/ai/src/utils/overflow.ts),
// shortened.
var overflow = lazyregexp.New(`(?i)prompt (is )?too long|request_too_large|input is too long|` +
	`exceeds the context window|maximum context length|input token count.*exceeds|maximum prompt length|` +
	`reduce the length of the messages|maximum allowed input length|longer than the model'?s context|` +
	`exceeds the limit of \d|exceeds the available context size|greater than the context length|` +
	`context window exceeds limit|exceeded model token limit|context[_ ]length[_ ]exceeded|` +
	`configured context size|model_context_window_exceeded|range of input length should be|string_above_max_length`)

// filtered matches servers' refusals of the text itself.
var filtered = lazyregexp.New(`(?i)content[_ ]filter|content_policy_violation|content management policy`)

// quota matches a limit that waiting a minute does not lift.
var quota = lazyregexp.New(`(?i)insufficient_quota|current quota|quota exceeded|usage[ _]?limit|out of budget|` +
	`billing|credit balance|insufficient (credits|balance|funds)|available balance|hit your limit|plan limit`)

var (
	limited    = lazyregexp.New(`(?i)rate.?limit|too many requests|resource.?exhausted|throttl`)
	noKey      = lazyregexp.New(`(?i)no api key found|authentication failed|invalid.?api.?key|credentials`)
	noLink     = lazyregexp.New(`(?i)connection|fetch failed|econn|enotfound|eai_again|getaddrinfo|socket|network|terminated|timed? ?out|other side closed|reset before headers`)
	noSuch     = lazyregexp.New(`(?i)unknown provider|model ".*" not found|unknown option|no models? available|models\.json`)
	refusedEnd = lazyregexp.New(`^(refusal|content_filter|sensitive|SAFETY|PROHIBITED_CONTENT|BLOCKLIST|RECITATION)$`)
)

// soon is the longest wait for a rate limit; a longer one is a plan's limit. Some
// servers use the same words for both.
const soon = 10 * time.Minute

// refused is why a run that ended in an error is the agent's failure, "" if it is not:
// a candidate that outgrew the model's context has failed, and must not stop the run.
func refused(m *message) string {
	if m.StopReason != "error" {
		return ""
	}
	status := statusOf(m.ErrorMessage)
	switch {
	case refusedEnd.MatchString(m.RawStop):
		return "the model refused to answer"
	case limited.MatchString(m.ErrorMessage), status >= 500, status == 429:
		return ""
	case overflow.MatchString(m.ErrorMessage), status == 413:
		return replay.TooLong
	case filtered.MatchString(m.ErrorMessage):
		return replay.Filtered
	}
	return ""
}

// infra classifies the program's text about a failed call, or its stderr. text must
// hold no secret.
func infra(text string, now time.Time) *eval.InfraError {
	e := &eval.InfraError{Kind: eval.ServerError, Err: errors.New(shorten(text))}
	wait, reset := waitIn(text, now)
	status := statusOf(text)
	switch {
	case quota.MatchString(text) && status != 401 && status < 500 && (wait == 0 || wait > soon), status == 402:
		e.Kind, e.ResetAt = eval.UsageLimit, reset
	case status == 0 && limited.MatchString(text):
		e.Kind, e.RetryAfter = eval.RateLimited, wait
	case status >= 400:
		if e.Kind = replay.Refused(status); e.Kind == eval.RateLimited || e.Kind == eval.ServerError {
			e.RetryAfter = wait
		}
	case noSuch.MatchString(text):
		e.Kind = eval.BadRequest
	case noKey.MatchString(text):
		e.Kind = eval.Auth
	case noLink.MatchString(text):
		e.Kind = eval.Unreachable
	}
	return e
}

// statusOf is the HTTP status that a text names, 0 if it names none.
func statusOf(text string) int {
	for _, form := range statusForms {
		if m := form.FindStringSubmatch(text); m != nil {
			n, _ := strconv.Atoi(m[1]) // three digits
			return n
		}
	}
	return 0
}

var (
	waitField = lazyregexp.New(`"(?:resets_in_seconds|retry_after|retryDelay)"\s*:\s*"?(\d+(?:\.\d+)?)`)
	resetAt   = lazyregexp.New(`(?i)"?resets?[_ ]?at"?\s*:?\s*"?(\d{10}\b|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d))`)
)

// waitIn is how long the server asks to wait and until when, both zero if the text does
// not contain it.
func waitIn(text string, now time.Time) (time.Duration, time.Time) {
	const longest = 365 * 24 * time.Hour // and what a number beyond it is cut to
	told := func(d time.Duration) (time.Duration, time.Time) {
		if d <= 0 || d >= longest {
			return 0, time.Time{}
		}
		return d, now.Add(d)
	}
	if m := resetAt.FindStringSubmatch(text); m != nil {
		at, err := time.Parse(time.RFC3339Nano, m[1])
		if sec, serr := strconv.ParseInt(m[1], 10, 64); serr == nil {
			at, err = time.Unix(sec, 0), nil
		}
		if err == nil {
			if wait, _ := told(at.Sub(now)); wait > 0 {
				return wait, at
			}
			return 0, time.Time{}
		}
	}
	if m := waitField.FindStringSubmatch(text); m != nil {
		n, _ := strconv.ParseFloat(m[1], 64) // digits
		return told(replay.Span(n, time.Second))
	}
	return told(replay.WaitIn(text))
}

// shorten keeps an error readable: servers send whole pages.
func shorten(text string) string {
	const enough = 500
	text = strings.TrimSpace(text)
	if len(text) > enough {
		text = strings.ToValidUTF8(text[:enough], "") + "…"
	}
	if text == "" {
		return "the program ended without a word"
	}
	return text
}

// outcome is the result of a run that ended by itself.
//
// A stream that is incomplete or unreadable is no evidence about the candidate: the
// program failed. stderr may contain the reason.
func (s *stream) outcome(stderr string) (failure string, err error) {
	switch {
	case s.broken != nil:
		return "", eval.Infraf(eval.ServerError, "read pi's events: %w", s.broken)
	case !s.settled:
		e := infra(stderr, s.now())
		e.Err = fmt.Errorf("pi ended in the middle of its work: %w", e.Err)
		return "", e
	case s.last.StopReason == "error":
		if why := refused(&s.last); why != "" {
			return why, nil
		}
		return "", infra(s.last.ErrorMessage, s.now())
	case s.last.StopReason == "aborted":
		return "", eval.Infraf(eval.ServerError, "pi gave its work up: %s", shorten(s.last.ErrorMessage))
	case s.last.StopReason == "length":
		return replay.CutOff, nil
	case strings.TrimSpace(s.last.text()) == "":
		return replay.Empty, nil
	}
	return "", nil
}

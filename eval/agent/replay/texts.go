package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/eval"
)

// Secrets are values that no text may hold: servers repeat the key that they refuse,
// and a shell can print its variables. Mark replaces them.
type Secrets struct {
	Mark   string
	Values []string
}

// Text is text without the secrets.
func (s Secrets) Text(text string) string {
	for _, v := range s.Values {
		text = strings.ReplaceAll(text, v, s.Mark)
	}
	return text
}

// Line is a program's line without the secrets. They are removed before anything is cut
// to length, so that no part of one is left.
func (s Secrets) Line(line []byte) []byte {
	for _, v := range s.Values {
		line = bytes.ReplaceAll(line, []byte(v), []byte(s.Mark))
	}
	return line
}

// Error is err without the secrets if it is an *eval.InfraError: only its text is kept,
// because the error that it wraps may hold one. Other errors, such as ctx's, are
// returned unchanged.
func (s Secrets) Error(err error) error {
	var e *eval.InfraError
	if !errors.As(err, &e) {
		return err
	}
	kept := *e
	kept.Err = errors.New(s.Text(e.Err.Error()))
	return &kept
}

// Server parses a base URL, and its host:port. Passwords and queries are refused: they
// would be secrets that errors and identities repeat.
func Server(program, base string) (u *url.URL, hostPort string, err error) {
	u, err = url.Parse(base)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, "", fmt.Errorf("configure %s: the base URL is not an http or https address", program)
	case u.User != nil || u.RawQuery != "":
		return nil, "", fmt.Errorf("configure %s: the base URL must hold no password and no query", program)
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u, net.JoinHostPort(u.Hostname(), port), nil
}

// Why an agent failed, in the words of every backend.
const (
	TooLong  = "the request is longer than the model's context"
	Filtered = "the request was refused by the server's content filter"
	CutOff   = "the answer was cut off at the limit of tokens"
	Empty    = "empty answer"
)

// TextRefused says why a server refused the text itself with this code, "" if it did
// not: a candidate that outgrew the model's context has failed, and must not stop
// the run.
func TextRefused(code string) string {
	switch code {
	case "context_length_exceeded", "string_above_max_length", "model_max_prompt_tokens_exceeded":
		return TooLong
	case "content_filter", "content_policy_violation":
		return Filtered
	}
	return ""
}

// Refused sorts an HTTP status of the model's server from 400 on; "" below.
func Refused(status int) eval.FailureKind {
	switch {
	case status == 401 || status == 403:
		return eval.Auth
	case status == 429:
		return eval.RateLimited
	case status == 408 || status == 409 || status == 425 || status >= 500:
		return eval.ServerError
	case status >= 400:
		return eval.BadRequest
	}
	return ""
}

// Compact is JSON without white space, or the text if it is no JSON.
func Compact(raw []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// Clip keeps at most n bytes of a text, whole runes.
func Clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

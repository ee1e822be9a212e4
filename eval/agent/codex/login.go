package codex

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// Credentials are the variables that the program takes its key from. If CODEX_AUTH_JSON
// names the file that `codex login` wrote (~/.codex/auth.json) and no other server is
// configured, it is preferred to a key: an owner who sets it wants the subscription to
// pay.
var Credentials = []string{"OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_AUTH_JSON"}

// A login is the credential of the account that pays.
type login struct {
	variable, key string // an API key, and the variable that brings it
	file          string // auth.json of the owner
}

// Install is the command that installs the program.
const Install = "npm install -g @openai/codex"

// Instructions in errors.
const (
	// oldest is the first version whose flags and events are known.
	oldest      = "0.169.0"
	installHint = "install it with: " + Install
	loginHint   = "set OPENAI_API_KEY, or run `codex login` and set CODEX_AUTH_JSON=~/.codex/auth.json"
)

// loginOf chooses among the credentials that are given.
func loginOf(credentials []string, baseURL string) (login, error) {
	given := make(map[string]string)
	for _, kv := range credentials {
		name, value, _ := strings.Cut(kv, "=")
		given[name] = strings.TrimSpace(value)
	}
	if path := given["CODEX_AUTH_JSON"]; path != "" && baseURL == "" {
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			home, err := os.UserHomeDir()
			if err != nil {
				return login{}, fmt.Errorf("find codex's login: %w", err)
			}
			path = filepath.Join(home, rest)
		}
		path, err := filepath.Abs(path)
		return login{file: path}, err
	}
	for _, name := range []string{"OPENAI_API_KEY", "CODEX_API_KEY"} {
		if key := given[name]; key != "" {
			return login{variable: name, key: key}, nil
		}
	}
	return login{}, nil
}

// env are the variables that the child needs.
func (l login) env() []string {
	if l.variable == "" {
		return nil
	}
	return []string{l.variable + "=" + l.key}
}

// auth is the part of an auth.json that evolve reads.
type auth struct {
	Key    *string `json:"OPENAI_API_KEY"`
	Tokens *struct {
		ID      string `json:"id_token"`
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	} `json:"tokens"`
}

// copy writes the login into a private configuration folder and returns the
// secrets in it. The copy has no refresh token: a refresh by the copy would
// make the owner's own worthless, and log them out. So an access token that has
// run out is an error here that says how to renew it.
func (l login) copy(config string, now time.Time) (secrets []string, err error) {
	if l.file == "" {
		return nil, nil
	}
	raw, err := bounded.ReadFile(l.file, 1<<20)
	if errors.Is(err, os.ErrNotExist) {
		return nil, eval.Infraf(eval.Auth, "there is no %s: run `codex login`", l.file)
	}
	if err != nil {
		return nil, eval.Infraf(eval.Auth, "read codex's login: %w", err)
	}
	var a auth
	var whole map[string]any
	if json.Unmarshal(raw, &a) != nil || json.Unmarshal(raw, &whole) != nil {
		return nil, eval.Infraf(eval.Auth, "%s is no login of codex: run `codex login`", l.file)
	}
	if a.Key != nil {
		secrets = append(secrets, *a.Key)
	}
	if t := a.Tokens; t != nil {
		if end := expiry(t.Access); !end.IsZero() && !end.After(now.Add(time.Minute)) {
			return nil, eval.Infraf(eval.Auth, "codex's login ran out at %s: start `codex` once, which renews it, or run `codex login`",
				end.Format(time.RFC3339))
		}
		secrets = append(secrets, t.Access, t.ID, t.Refresh)
		if tokens, ok := whole["tokens"].(map[string]any); ok {
			tokens["refresh_token"] = ""
		}
		whole["last_refresh"] = now.UTC().Format(time.RFC3339) // or the program renews an old one
	} else if a.Key == nil || *a.Key == "" {
		return nil, eval.Infraf(eval.Auth, "%s holds no login: run `codex login`", l.file)
	}
	text, err := json.Marshal(whole)
	if err != nil {
		return nil, fmt.Errorf("copy codex's login: %w", err)
	}
	if err := os.WriteFile(filepath.Join(config, "auth.json"), text, 0o600); err != nil {
		return nil, fmt.Errorf("copy codex's login: %w", err)
	}
	return secrets, nil
}

// expiry is when a JSON web token ends; zero if it does not contain that.
func expiry(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	var claims struct {
		Exp int64 `json:"exp"`
	}
	if err != nil || json.Unmarshal(raw, &claims) != nil || claims.Exp <= 0 {
		return time.Time{}
	}
	return time.Unix(claims.Exp, 0)
}

// scrubber removes secrets; a value shorter than 8 bytes is none.
func scrubber(values ...string) replay.Secrets {
	return replay.Secrets{Mark: "[credential]", Values: slices.DeleteFunc(values, func(v string) bool { return len(v) < 8 })}
}

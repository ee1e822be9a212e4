package codex

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// token is a JSON web token that ends at a time.
func token(end time.Time) string {
	claims := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"exp":%d}`, end.Unix()))
	return "eyJhbGciOiJub25lIn0." + claims + ".c2lnbmF0dXJl"
}

func TestLoginOf(t *testing.T) {
	t.Setenv("HOME", "/home/dev")
	for _, c := range []struct {
		given []string
		base  string
		want  login
	}{
		{nil, "", login{}},
		{[]string{"OPENAI_API_KEY=sk-1 \n"}, "", login{variable: "OPENAI_API_KEY", key: "sk-1"}},
		{[]string{"CODEX_API_KEY=sk-2", "OPENAI_API_KEY="}, "", login{variable: "CODEX_API_KEY", key: "sk-2"}},
		{[]string{"CODEX_API_KEY=sk-2", "OPENAI_API_KEY=sk-1"}, "", login{variable: "OPENAI_API_KEY", key: "sk-1"}},
		{[]string{"OPENAI_API_KEY=sk-1", "CODEX_AUTH_JSON=~/.codex/auth.json"}, "", login{file: "/home/dev/.codex/auth.json"}},
		{[]string{"OPENAI_API_KEY=sk-1", "CODEX_AUTH_JSON=/x/auth.json"}, "http://127.0.0.1/v1", login{variable: "OPENAI_API_KEY", key: "sk-1"}},
	} {
		if got, err := loginOf(c.given, c.base); err != nil || got != c.want {
			t.Errorf("%q: got %+v, %v, want %+v", c.given, got, err, c.want)
		}
	}
}

// The copy must not be able to renew the login: that would log the owner out.
func TestCopyOfALogin(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "auth.json")
	now := clock()
	access := token(now.Add(time.Hour))
	original := `{"OPENAI_API_KEY":null,"auth_mode":"chatgpt","tokens":{"id_token":"id-token-1","access_token":"` + access +
		`","refresh_token":"refresh-token-1","account_id":"acc"},"last_refresh":"2026-01-01T00:00:00Z"}`
	if err := os.WriteFile(file, []byte(original), 0o644); err != nil {
		t.Fatal(err)
	}
	secrets, err := login{file: file}.copy(dir, now)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "auth.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var copied struct {
		Tokens map[string]string
		Last   string `json:"last_refresh"`
		Mode   string `json:"auth_mode"`
	}
	if err := json.Unmarshal(text, &copied); err != nil {
		t.Fatal(err)
	}
	if copied.Tokens["access_token"] != access || copied.Tokens["refresh_token"] != "" || copied.Tokens["account_id"] != "acc" ||
		copied.Mode != "chatgpt" || copied.Last != now.Format(time.RFC3339) {
		t.Errorf("the copy holds %s", text)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if same, err := os.ReadFile(file); err != nil || string(same) != original {
		t.Errorf("the original changed: %s %v", same, err)
	}
	leak := scrubber(secrets...).Text("a " + access + " b id-token-1 c refresh-token-1")
	if leak != "a [credential] b [credential] c [credential]" {
		t.Errorf("scrubbed: %s", leak)
	}
}

func TestCopyRefuses(t *testing.T) {
	now := clock()
	for name, c := range map[string]struct{ text, says string }{
		"expired":  {`{"tokens":{"access_token":"` + token(now.Add(-time.Hour)) + `"}}`, "ran out at"},
		"no login": {`{"OPENAI_API_KEY":null}`, "codex login"},
		"no JSON":  {`x`, "codex login"},
		"no file":  {"", "codex login"},
	} {
		file := filepath.Join(t.TempDir(), "auth.json")
		if c.text != "" {
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		dir := t.TempDir()
		_, err := login{file: file}.copy(dir, now)
		var infra *eval.InfraError
		if !errors.As(err, &infra) || infra.Kind != eval.Auth || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: err = %v, want auth that says %q", name, err, c.says)
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("%s: %v was written", name, left)
		}
	}
	secrets, err := login{file: writeKey(t)}.copy(t.TempDir(), now)
	if err != nil || len(secrets) != 1 {
		t.Errorf("a login by key: %q, %v", secrets, err)
	}
}

func writeKey(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "auth.json")
	if err := os.WriteFile(file, []byte(`{"OPENAI_API_KEY":"sk-0123456789"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestPingWithoutLogin(t *testing.T) {
	a := &Agent{now: clock}
	var infra *eval.InfraError
	if err := a.Ping(t.Context()); !errors.As(err, &infra) || infra.Kind != eval.Auth || !strings.Contains(err.Error(), "codex login") {
		t.Errorf("err = %v, want auth that says what to type", err)
	}
}

func TestNewRefuses(t *testing.T) {
	for want, c := range map[string]replay.Config{
		"npm install -g @openai/codex":  {Path: filepath.Join(t.TempDir(), "codex")},
		"not an http or https address":  {BaseURL: "ftp://x"},
		"no password and no query":      {BaseURL: "https://a:b@x/v1"},
		"must hold no password and no ": {BaseURL: "https://x/v1?key=1"},
	} {
		if _, err := New(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: err = %v, want one that says %q", c, err, want)
		}
	}
}

package copilot

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

func TestRoute(t *testing.T) {
	own := replay.Config{BaseURL: "https://models.example/v1", Model: "m",
		Credentials: []string{"COPILOT_PROVIDER_API_KEY=the-key\n", "GH_TOKEN=the-token"}}
	r, err := routeOf(own)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.hosts, []string{"models.example:443"}) {
		t.Errorf("hosts = %q", r.hosts)
	}
	if p := r.provider(7); p.APIKey != "the-key" || p.Type != "openai" || p.WireAPI != "completions" || p.MaxOutputTokens != 7 {
		t.Errorf("provider = %+v", p)
	}
	if all := strings.Join(append(r.env("m"), r.args()...), " "); strings.Contains(all, "the-") {
		t.Errorf("a secret is in environment or arguments: %s", all)
	}

	github, err := routeOf(replay.Config{Credentials: []string{"GITHUB_TOKEN=third", "COPILOT_GITHUB_TOKEN=first"}})
	if err != nil {
		t.Fatal(err)
	}
	if github.provider(0) != nil || !slices.Contains(github.env(""), tokenVar+"=first") {
		t.Errorf("environment = %q, want the first of the tokens", github.env(""))
	}
	if slices.ContainsFunc(github.env(""), func(kv string) bool { return strings.HasPrefix(kv, "COPILOT_OFFLINE=") }) {
		t.Error("GitHub's own models are called offline")
	}

	claude, err := routeOf(replay.Config{BaseURL: "http://127.0.0.1:8080", Model: "m", Env: []string{"COPILOT_PROVIDER_TYPE=anthropic"}})
	if err != nil || claude.kind != "anthropic" || claude.wire != "" || claude.hosts[0] != "127.0.0.1:8080" {
		t.Errorf("route = %+v, %v", claude, err)
	}
}

func TestRouteRefuses(t *testing.T) {
	for want, c := range map[string]replay.Config{
		"gh auth token":                {},
		"needs a model":                {BaseURL: "http://127.0.0.1:1/v1"},
		"not an http or https address": {BaseURL: "ftp://x", Model: "m"},
		"no password":                  {BaseURL: "http://a:b@x/v1", Model: "m"},
		"OPENAI_API_KEY is no":         {BaseURL: "http://x/v1", Model: "m", Credentials: []string{"OPENAI_API_KEY=a-secret"}},
	} {
		_, err := routeOf(c)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "a-secret") {
			t.Errorf("routeOf(%+v) = %v, want …%s…", c, err, want)
		}
	}
	var infra *eval.InfraError
	if _, err := routeOf(replay.Config{}); !errors.As(err, &infra) || infra.Kind != eval.Auth {
		t.Errorf("without a token: %v, want auth", err)
	}
}

func TestNewSaysHowToInstall(t *testing.T) {
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), "/bin/true"} {
		_, err := New(t.Context(), replay.Config{Path: path, BaseURL: "http://127.0.0.1:1/v1", Model: "m",
			Env: []string{cacheVar + "=" + t.TempDir()}})
		if err == nil || !strings.Contains(err.Error(), "npm install -g @github/copilot") {
			t.Errorf("New with %s: %v, want the command that installs it", path, err)
		}
	}
}

func TestPing(t *testing.T) {
	var infra *eval.InfraError
	if err := faked(t, "", false).Ping(t.Context()); !errors.As(err, &infra) || infra.Kind != eval.Unreachable {
		t.Errorf("err = %v, want unreachable: nothing listens on port 1", err)
	}
}

func TestScrub(t *testing.T) {
	a := &Agent{route: &route{secrets: replay.Secrets{Mark: "[credential]", Values: []string{"the-key"}}}}
	err := a.route.secrets.Error(&eval.InfraError{Kind: eval.Auth, Err: errors.New("wrong key: the-key")})
	if err.Error() != "auth: wrong key: [credential]" {
		t.Errorf("err = %v", err)
	}
}

func TestNativeOf(t *testing.T) {
	scope := filepath.Join(t.TempDir(), "node_modules", "@github")
	script := filepath.Join(scope, "copilot", "npm-loader.js")
	if got := nativeOf(script); got != "" {
		t.Errorf("found %s where there is none", got)
	}
	for _, arch := range []string{"linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"} {
		dir := filepath.Join(scope, "copilot-"+arch)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "copilot"), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if got := nativeOf(script); filepath.Base(got) != "copilot" || !strings.HasPrefix(got, scope) {
		t.Errorf("nativeOf = %q", got)
	}
	if got := nativeOf(filepath.Join(scope, "copilot-linux-x64", "copilot")); got != "" {
		t.Errorf("a native program has another: %s", got)
	}
}

func TestSweepLeavesTheLiving(t *testing.T) {
	dir := t.TempDir()
	p := &program{runtime: dir}
	living := filepath.Join(dir, "inuse."+strconv.Itoa(os.Getpid())+".lock")
	for _, name := range []string{living, filepath.Join(dir, "inuse.2147483646.lock"), filepath.Join(dir, "inuse.x.lock")} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.sweep()
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 2 || !slices.Contains(left, living) {
		t.Errorf("left = %q, want the lock of the living and what is none", left)
	}
}

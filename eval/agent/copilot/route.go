package copilot

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/github/copilot-sdk/go"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// Credentials are the variables that the program takes its key from: a GitHub
// token of an account with Copilot, or the key of the server behind a BaseURL.
var Credentials = []string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN",
	"COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BEARER_TOKEN"}

// vendorHosts are what GitHub asks firewalls to allow for Copilot.
var vendorHosts = []string{"github.com:443", "api.github.com:443", "api.githubcopilot.com:443",
	"api.individual.githubcopilot.com:443", "api.business.githubcopilot.com:443",
	"api.enterprise.githubcopilot.com:443", "copilot-proxy.githubusercontent.com:443"}

// A route is the way to the model.
type route struct {
	base    *url.URL // nil: GitHub's own
	text    string   // base as it was given
	hosts   []string // host:port of all servers that are used
	kind    string   // of a custom server
	wire    string
	key     string
	bearer  string
	token   string // GitHub's
	secrets replay.Secrets
}

// tokenVar passes a GitHub token to the program: the SDK's own name for it.
const tokenVar = "COPILOT_SDK_AUTH_TOKEN"

func routeOf(c replay.Config) (*route, error) {
	get := func(list []string, name string) string {
		for _, kv := range slices.Backward(list) {
			if v, ok := strings.CutPrefix(kv, name+"="); ok {
				return strings.TrimSpace(v) // files and variables end in a newline
			}
		}
		return ""
	}
	r := &route{text: c.BaseURL, hosts: vendorHosts, secrets: replay.Secrets{Mark: "[credential]"}}
	for _, kv := range c.Credentials {
		name, value, _ := strings.Cut(kv, "=")
		if !slices.Contains(Credentials, name) {
			return nil, fmt.Errorf("configure copilot: %s is no credential of it; it knows %s", name, strings.Join(Credentials, ", "))
		}
		if value = strings.TrimSpace(value); value != "" {
			r.secrets.Values = append(r.secrets.Values, value)
		}
	}
	if c.BaseURL == "" {
		for _, name := range Credentials[:3] {
			if r.token = get(c.Credentials, name); r.token != "" {
				return r, nil
			}
		}
		return nil, &eval.InfraError{Kind: eval.Auth, Err: errors.New("configure copilot: no GitHub token, " +
			"and the login of the terminal is not used: gh auth login, then export COPILOT_GITHUB_TOKEN=$(gh auth token)")}
	}
	base, host, err := replay.Server("copilot", c.BaseURL)
	switch {
	case err != nil:
		return nil, err
	case c.Model == "":
		return nil, errors.New("configure copilot: a server of one's own needs a model: --model NAME")
	}
	r.base, r.hosts = base, []string{host}
	r.key, r.bearer = get(c.Credentials, "COPILOT_PROVIDER_API_KEY"), get(c.Credentials, "COPILOT_PROVIDER_BEARER_TOKEN")
	r.kind, r.wire = get(c.Env, "COPILOT_PROVIDER_TYPE"), get(c.Env, "COPILOT_PROVIDER_WIRE_API")
	if r.kind == "" {
		r.kind = "openai"
	}
	if r.wire == "" && r.kind != "anthropic" {
		r.wire = "completions"
	}
	return r, nil
}

func (r *route) params() string {
	if r.base == nil {
		return "base=github"
	}
	return "base=" + r.base.Host + r.base.Path + " type=" + r.kind + " wire=" + r.wire
}

// provider is the custom server in the SDK's terms. The key is passed on the program's
// stdin, and not in its environment, which the agent's shell could print.
func (r *route) provider(maxTokens int) *sdk.ProviderConfig {
	if r.base == nil {
		return nil
	}
	return &sdk.ProviderConfig{Type: r.kind, WireAPI: r.wire, BaseURL: r.text, APIKey: r.key, BearerToken: r.bearer,
		MaxOutputTokens: maxTokens}
}

// env are the variables that direct the program to its model, and nowhere else.
func (r *route) env(model string) []string {
	env := []string{"COPILOT_AUTO_UPDATE=false", "COPILOT_DISABLE_KEYTAR=1"}
	if r.base == nil {
		return append(env, tokenVar+"="+r.token)
	}
	// The program requires a model before the SDK can name one.
	return append(env, "COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL="+r.text, "COPILOT_MODEL="+model)
}

// args are the flags that the SDK would set if it started the program.
func (r *route) args() []string {
	args := []string{"--headless", "--no-auto-update", "--stdio", "--no-auto-login"}
	if r.base == nil {
		args = append(args, "--auth-token-env", tokenVar)
	}
	return args
}

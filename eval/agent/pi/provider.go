package pi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// A provider is a vendor under the program's name for it.
type provider struct {
	name string
	keys []string // variables that hold its key; any one is enough
	host string   // where its models are, host:port
}

// providers are the vendors with one key and one address, the well-known first: if no
// provider is named, the first one whose key is set is used (docs/providers.md of the
// program).
var providers = []provider{
	{"anthropic", []string{"ANTHROPIC_API_KEY", "ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"}, "api.anthropic.com:443"},
	{"openai", []string{"OPENAI_API_KEY"}, "api.openai.com:443"},
	{"google", []string{"GEMINI_API_KEY"}, "generativelanguage.googleapis.com:443"},
	{"openrouter", []string{"OPENROUTER_API_KEY"}, "openrouter.ai:443"},
	{"deepseek", []string{"DEEPSEEK_API_KEY"}, "api.deepseek.com:443"},
	{"mistral", []string{"MISTRAL_API_KEY"}, "api.mistral.ai:443"},
	{"groq", []string{"GROQ_API_KEY"}, "api.groq.com:443"},
	{"cerebras", []string{"CEREBRAS_API_KEY"}, "api.cerebras.ai:443"},
	{"xai", []string{"XAI_API_KEY"}, "api.x.ai:443"},
	{"together", []string{"TOGETHER_API_KEY"}, "api.together.ai:443"},
	{"fireworks", []string{"FIREWORKS_API_KEY"}, "api.fireworks.ai:443"},
	{"baseten", []string{"BASETEN_API_KEY"}, "inference.baseten.co:443"},
	{"huggingface", []string{"HF_TOKEN"}, "router.huggingface.co:443"},
	{"nvidia", []string{"NVIDIA_API_KEY"}, "integrate.api.nvidia.com:443"},
	{"vercel-ai-gateway", []string{"AI_GATEWAY_API_KEY"}, "ai-gateway.vercel.sh:443"},
	{"moonshotai", []string{"MOONSHOT_API_KEY"}, "api.moonshot.ai:443"},
	{"kimi-coding", []string{"KIMI_API_KEY"}, "api.kimi.com:443"},
	{"minimax", []string{"MINIMAX_API_KEY"}, "api.minimax.io:443"},
	{"zai", []string{"ZAI_API_KEY"}, "api.z.ai:443"},
	{"meta", []string{"META_API_KEY"}, "api.meta.ai:443"},
	{"xiaomi", []string{"XIAOMI_API_KEY"}, "api.xiaomimimo.com:443"},
}

// Credentials are the variables that the program takes its key from.
var Credentials = func() (names []string) {
	for _, p := range providers {
		names = append(names, p.keys...)
	}
	return names
}()

// custom is the provider of a server that the program does not know.
const custom = "custom"

// A route is the way to a model.
type route struct {
	provider string
	model    string   // without the provider; "" leaves it to the program
	env      []string // the credential, KEY=VALUE, and no other provider's
	hosts    []string // host:port
	base     *url.URL // nil: the vendor's own server
	api      string   // of a custom server: its protocol
}

// routeOf determines the provider, the model and the credential of a Config.
func routeOf(c replay.Config) (*route, error) {
	if c.BaseURL != "" {
		return customRoute(c)
	}
	name, model, named := strings.Cut(c.Model, "/")
	known := slices.IndexFunc(providers, func(p provider) bool { return named && p.name == name })
	if known >= 0 {
		if env := providers[known].credentials(c.Credentials); env != nil {
			return providers[known].route(model, env), nil
		}
	}
	for i := range providers {
		env := providers[i].credentials(c.Credentials)
		// An aggregator's model names have a vendor before the slash, too.
		if env != nil && (!named || providers[i].name == "openrouter") {
			return providers[i].route(c.Model, env), nil
		}
	}
	switch {
	case known >= 0:
		return nil, eval.Infraf(eval.Auth, "configure pi: no key for %s; set it: export %s=…", name, providers[known].keys[0])
	case named:
		return nil, fmt.Errorf("configure pi: no provider %q; before the slash stands one of %s", name, names())
	}
	return nil, eval.Infraf(eval.Auth, "configure pi: no key; set one, for example: export ANTHROPIC_API_KEY=…")
}

func (p *provider) route(model string, env []string) *route {
	return &route{provider: p.name, model: model, env: env, hosts: []string{p.host}}
}

// credentials selects the provider's own from all.
func (p *provider) credentials(all []string) (own []string) {
	for _, kv := range all {
		key, value, _ := strings.Cut(kv, "=")
		value = strings.TrimSpace(value) // files and variables end in a newline
		if value != "" && slices.Contains(p.keys, key) {
			own = append(own, key+"="+value)
		}
	}
	return own
}

func names() string {
	var all []string
	for _, p := range providers {
		all = append(all, p.name)
	}
	return strings.Join(all, ", ")
}

// customRoute is the route to the server at BaseURL. Its protocol is Anthropic's if the
// key is Anthropic's, else OpenAI's chat protocol, which most servers have.
func customRoute(c replay.Config) (*route, error) {
	base, host, err := replay.Server("pi", c.BaseURL)
	switch {
	case err != nil:
		return nil, err
	case c.Model == "":
		return nil, errors.New("configure pi: a base URL needs the name of a model there")
	}
	r := &route{provider: custom, model: c.Model, base: base, api: "openai-completions"}
	r.hosts = []string{host}
	anthropic := providers[0].credentials(c.Credentials)
	openai := providers[1].credentials(c.Credentials)
	name, ofAnthropic := strings.CutPrefix(c.Model, "anthropic/")
	switch {
	case anthropic != nil && (ofAnthropic || strings.HasPrefix(c.Model, "claude") || len(anthropic) == len(c.Credentials)):
		r.api, r.model, r.env = "anthropic-messages", name, anthropic[:1]
		// Its library adds the version itself.
		r.base.Path = strings.TrimSuffix(strings.TrimRight(base.Path, "/"), "/v1")
	case openai != nil:
		r.env = openai[:1]
	case len(c.Credentials) > 0:
		r.env = c.Credentials[:1]
	}
	return r, nil
}

// params is the part of the route that can change an answer.
func (r *route) params() string {
	p := "provider=" + r.provider
	if r.base != nil {
		p += " base=" + r.base.Host + r.base.Path + " api=" + r.api
	}
	return p
}

// The program's own retries survive a short disturbance without losing the conversation
// so far. The Evaluator waits for longer ones, and counts them as such.
const (
	maxRetries  = 2
	baseDelayMS = 500 // doubled with each
)

// writeConfig writes the program's own configuration into dir: everything that a run
// needs, and nothing of the person's. maxTokens limits one answer; 0 does not.
func (r *route) writeConfig(dir string, maxTokens int) error {
	type object map[string]any
	settings := object{
		"retry": object{"enabled": true, "maxRetries": maxRetries, "baseDelayMs": baseDelayMS,
			"provider": object{"maxRetries": 0}},
		// A case that outgrows the model's context has failed; a summary would hide
		// that, and be another conversation.
		"compaction":             object{"enabled": false},
		"cacheWarming":           "off",
		"enableInstallTelemetry": false,
	}
	files := map[string]any{"settings.json": settings}
	switch {
	case r.base != nil:
		model := object{"id": r.model}
		if maxTokens > 0 {
			model["maxTokens"] = maxTokens
		}
		key := "none" // the program requires one; a local server ignores it
		if len(r.env) > 0 {
			name, _, _ := strings.Cut(r.env[0], "=")
			key = "$" + name // expanded from the environment, so it is never written to disk
		}
		files["models.json"] = object{"providers": object{custom: object{
			"baseUrl": strings.TrimRight(r.base.String(), "/"), "api": r.api, "apiKey": key, "models": []object{model},
		}}}
	case maxTokens > 0 && r.model != "":
		name, _, _ := strings.Cut(r.model, ":") // without the thinking level
		files["models.json"] = object{"providers": object{r.provider: object{
			"modelOverrides": object{name: object{"maxTokens": maxTokens}},
		}}}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, v := range files {
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// secrets are the values of the credentials.
func secrets(credentials []string) replay.Secrets {
	s := replay.Secrets{Mark: "[api key]"}
	for _, kv := range credentials {
		if _, value, _ := strings.Cut(kv, "="); len(value) >= 8 {
			s.Values = append(s.Values, value)
		}
	}
	return s
}

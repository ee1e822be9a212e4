package codex

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// streamRetries is how often the program may retry by itself within a turn: enough that
// a long turn survives a short overload. The Evaluator, which knows budget and clock,
// does longer waits.
const streamRetries = 2

// quiet turns off what would make replays differ, or contact hosts other than the
// model's.
var quiet = []string{
	// Unlimited by default: then an unreachable server makes the program hang.
	"features.unbounded_connection_retries=false",
	"skills.bundled.enabled=false",
	"features.plugins=false", // github.com, api.github.com, chatgpt.com
	"features.apps=false",
	"analytics.enabled=false",
	"check_for_update_on_startup=false",
	// Runs at the server, outside of every sandbox, and finds something else each day.
	`web_search="disabled"`,
	"features.goals=false",
	`history.persistence="none"`,
}

// textOnly removes the tools and all mention of them. Verified by what a server
// receives.
var textOnly = []string{
	"project_doc_max_bytes=0",
	"features.shell_tool=false",
	"features.unified_exec=false",
	"features.view_image=false",
	"features.multi_agent=false",
	"tools.experimental_request_user_input.enabled=false",
	"skills.include_instructions=false",
	"include_environment_context=false",
	"include_permissions_instructions=false",
	"include_collaboration_mode_instructions=false",
}

// replayArgs are the arguments of a replay in s. No --ephemeral: the session's record
// holds what the stream lacks, and is removed with the stage.
func (a *Agent) replayArgs(s *replay.Stage) []string {
	args := []string{"exec", "--json", "--ignore-rules", "--skip-git-repo-check", "-C", s.Workspace}
	if a.c.Sandbox {
		// Nested sandboxes do not work everywhere, and ours contains it.
		args = append(args, "--dangerously-bypass-approvals-and-sandbox")
	} else {
		// TMPDIR stays writable and is the stage's own; /tmp is shared.
		args = append(args, "-s", "workspace-write", "-c", "sandbox_workspace_write.exclude_slash_tmp=true")
	}
	return append(a.configure(args, quiet), "-")
}

// textArgs are the arguments of a text-only call; instructions is the file with
// the system prompt, catalogue one with models that have no tools, or "".
func (a *Agent) textArgs(s *replay.Stage, instructions, catalogue string) []string {
	args := []string{"exec", "--json", "--ephemeral", "--ignore-rules", "--skip-git-repo-check", "-C", s.Workspace,
		"-s", "read-only", "-c", "model_instructions_file=" + toml(instructions)}
	if catalogue != "" {
		args = append(args, "-c", "model_catalog_json="+toml(catalogue))
	}
	return append(a.configure(a.configure(args, quiet), textOnly), "-")
}

// configure adds settings and, once, model and provider.
func (a *Agent) configure(args, settings []string) []string {
	for _, set := range settings {
		args = append(args, "-c", set)
	}
	for _, arg := range args {
		if strings.HasPrefix(arg, "model_provider=") {
			return args
		}
	}
	if a.c.Model != "" {
		args = append(args, "-m", a.c.Model)
	}
	if a.login.variable != "" {
		// The agent's commands have no use for it.
		args = append(args, "-c", "shell_environment_policy.exclude=["+toml(a.login.variable)+"]")
	}
	return append(args, "-c", `model_provider="evolve"`, "-c", "model_providers.evolve="+a.provider())
}

// provider is the model's server in the program's configuration. It is always one of
// our own, because the retries of the built-in ones cannot be limited.
func (a *Agent) provider() string {
	p := `{name="evolve"`
	switch base := a.base(); {
	case a.login.file != "":
		// With this name the program uses OpenAI's protocol; without a base address the
		// login decides between api.openai.com and chatgpt.com.
		p = `{name="OpenAI",requires_openai_auth=true`
	case a.login.variable != "":
		p += ",base_url=" + toml(base) + ",env_key=" + toml(a.login.variable)
	default:
		p += ",base_url=" + toml(base)
	}
	return p + `,wire_api="responses",request_max_retries=0,stream_max_retries=` + strconv.Itoa(streamRetries) + "}"
}

// base is the address that API keys are for.
func (a *Agent) base() string {
	if a.c.BaseURL == "" {
		return "https://api.openai.com/v1"
	}
	return strings.TrimRight(a.c.BaseURL, "/")
}

// hosts are the only ones that a replay needs, as host:port.
func (a *Agent) hosts() []string {
	if a.login.file != "" {
		return []string{"chatgpt.com:443", "api.openai.com:443"}
	}
	_, host, err := replay.Server("codex", a.base())
	if err != nil {
		return nil // New refused it
	}
	return []string{host}
}

// params is everything except the model that can change an answer.
func (a *Agent) params() string {
	base := "login"
	if a.login.file == "" {
		u, err := url.Parse(a.base())
		if err == nil {
			base = u.Host + u.Path
		}
	}
	p := "base=" + base + " web_search=disabled sandbox="
	if a.c.Sandbox {
		p += "evolve"
	} else {
		p += "workspace-write"
	}
	p += a.c.OwnerParams()
	for _, kv := range a.c.Env {
		p += " env:" + kv
	}
	return p
}

// toml is s as a TOML string. JSON's escapes are TOML's.
func toml(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always can be
	}
	return string(b)
}

// catalogueWithoutTools removes the tools from model, or from each model if model is
// "", in the program's list of models. It returns nil if the model is not listed: then
// the program knows no tools for it.
func catalogueWithoutTools(list []byte, model string) ([]byte, error) {
	var c struct {
		Models []map[string]json.RawMessage `json:"models"`
	}
	if err := json.Unmarshal(list, &c); err != nil {
		return nil, &eval.InfraError{Kind: eval.BadRequest, Err: err}
	}
	kept := c.Models[:0]
	for _, m := range c.Models {
		var slug string
		if json.Unmarshal(m["slug"], &slug) != nil || model != "" && slug != model {
			continue
		}
		for _, field := range []string{"apply_patch_tool_type", "tool_mode", "multi_agent_version"} {
			delete(m, field)
		}
		m["experimental_supported_tools"] = json.RawMessage("[]")
		kept = append(kept, m)
	}
	if c.Models = kept; len(kept) == 0 {
		return nil, nil
	}
	return json.Marshal(c)
}

// fileOf is the path of a text of a call in its stage.
func fileOf(s *replay.Stage, name string) string { return filepath.Join(s.Temp, name) }

// Package openai calls any OpenAI-compatible chat API: OpenAI, Azure, vLLM, Ollama,
// llama.cpp. It is an agent without tools: the skill's body is the system message, the
// case the conversation.
package openai

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	api "github.com/sashabaranov/go-openai"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// Config selects the server and the model.
type Config struct {
	BaseURL string // up to and without "/chat/completions"; "" is OpenAI's own
	APIKey  string // "" sends none, for local servers
	Model   string // required
	// Temperature is passed on if it is not nil; 0 is a temperature.
	Temperature *float32
	MaxTokens   int         // for one answer; 0 leaves it to the server
	Prices      *eval.Price // nil: costs are unknown
	// NoSeed leaves out the seed, for servers that refuse a request with one.
	NoSeed bool
	// HTTPClient is used unchanged; nil is agent.HTTP's.
	HTTPClient *http.Client
	Version    string // of the server's program, if known; part of the identity
}

// A Client is an eval.Agent and an eval.Model. It never retries by itself. It is
// safe for concurrent use.
type Client struct {
	api  *api.Client
	conf Config
	id   eval.Identity
	// newLimit: max_completion_tokens, which OpenAI's own models want. Other
	// servers know max_tokens.
	newLimit bool
}

var (
	_ eval.Agent = (*Client)(nil)
	_ eval.Model = (*Client)(nil)
)

// New returns a client. Nothing is sent yet.
func New(c Config) (*Client, error) {
	c.APIKey = strings.TrimSpace(c.APIKey) // files and variables end in a newline
	if c.Model == "" {
		return nil, errors.New("configure openai: no model")
	}
	conf := api.DefaultConfig(c.APIKey)
	if c.BaseURL != "" {
		conf.BaseURL = strings.TrimRight(c.BaseURL, "/")
	}
	base, err := url.Parse(conf.BaseURL)
	switch {
	case err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https":
		return nil, errors.New("configure openai: the base URL is not an http or https address")
	case base.User != nil || base.RawQuery != "":
		// They would be secrets that errors and identities repeat.
		return nil, errors.New("configure openai: the base URL must hold no password and no query")
	}
	if c.HTTPClient == nil {
		c.HTTPClient = agent.HTTP(conf.BaseURL)
	}
	conf.HTTPClient = c.HTTPClient
	return &Client{
		api: api.NewClientWithConfig(conf), conf: c,
		id:       eval.Identity{Backend: "openai", Version: c.Version, Model: c.Model, Params: params(c, base), Draw: "draw" + given(c)},
		newLimit: base.Hostname() == "api.openai.com" || strings.HasSuffix(base.Hostname(), ".openai.azure.com"),
	}, nil
}

// params is everything but the model that can change an answer.
func params(c Config, base *url.URL) string {
	return "base=" + base.Host + base.Path + given(c)
}

// given are the parameters that requests name.
func given(c Config) (p string) {
	if c.MaxTokens > 0 {
		p += " max_tokens=" + strconv.Itoa(c.MaxTokens)
	}
	if c.NoSeed {
		p += " seed=none"
	}
	if c.Temperature != nil {
		p += " temperature=" + strconv.FormatFloat(float64(*c.Temperature), 'g', -1, 32)
	}
	return p
}

// Identity names model, server and parameters.
func (c *Client) Identity() eval.Identity { return c.id }

// Ping requests the server's list of models: it costs nothing, and detects a wrong
// address or a wrong key before a run begins. The error is an *eval.InfraError of kind
// Unreachable or Auth, or ctx's; a server that does not list models, or refuses to at
// the moment, counts as available.
func (c *Client) Ping(ctx context.Context) error {
	_, err := c.api.ListModels(ctx)
	if err == nil {
		return nil
	}
	var infra *eval.InfraError
	err = c.classify(ctx, &reply{}, err)
	if errors.As(err, &infra) && infra.Kind != eval.Unreachable && infra.Kind != eval.Auth {
		return nil
	}
	return err
}

// Run answers one task.
func (c *Client) Run(ctx context.Context, t eval.Task) (eval.Attempt, error) {
	reply, err := c.ask(ctx, taskMessages(t), c.conf.MaxTokens, t.Seed)
	if err != nil {
		// Some requests are refused because of the candidate's or the case's text; that
		// is not the infrastructure's failure.
		if why := refusedText(err); why != "" {
			return eval.Attempt{Failure: why}, nil
		}
		return eval.Attempt{}, c.classify(ctx, reply, err)
	}
	usage, usd := c.took(reply.Usage)
	a := eval.Attempt{Answer: reply.text, Model: reply.model, Usage: usage, CostUSD: usd}
	switch {
	case reply.finish == "length":
		a.Failure = replay.CutOff
	case reply.finish == "content_filter":
		a.Failure = "the answer was withheld by the server's content filter"
	case reply.refusal != "":
		a.Failure = "the model refused: " + reply.refusal
	case strings.TrimSpace(reply.text) == "":
		a.Failure = replay.Empty
	}
	return a, nil
}

// Complete returns the reply to one prompt.
func (c *Client) Complete(ctx context.Context, p eval.Prompt) (eval.Completion, error) {
	var messages []api.ChatCompletionMessage
	if p.System != "" {
		messages = append(messages, api.ChatCompletionMessage{Role: api.ChatMessageRoleSystem, Content: p.System})
	}
	messages = append(messages, api.ChatCompletionMessage{Role: api.ChatMessageRoleUser, Content: p.User})
	limit := p.MaxTokens
	if limit == 0 {
		limit = c.conf.MaxTokens
	}
	reply, err := c.ask(ctx, messages, limit, p.Seed)
	if err != nil {
		return eval.Completion{}, c.classify(ctx, reply, err)
	}
	usage, usd := c.took(reply.Usage)
	return eval.Completion{Text: reply.text, Finish: reply.finish, Usage: usage, CostUSD: usd}, nil
}

// A reply is the server's response, with or without an error.
type reply struct {
	text, finish, refusal string
	model                 string // as the server names it
	api.Usage
	header http.Header
	sent   bool // the request was written: the server has it
}

// errNoChoice is a reply of status 200 without an answer.
var errNoChoice = errors.New("the reply has no choices")

func (c *Client) ask(ctx context.Context, messages []api.ChatCompletionMessage, limit int, seed int64) (*reply, error) {
	req := api.ChatCompletionRequest{Model: c.conf.Model, Messages: messages}
	if limit > 0 {
		if c.newLimit {
			req.MaxCompletionTokens = limit
		} else {
			req.MaxTokens = limit //lint:ignore SA1019 the name that other servers know
		}
	}
	if t := c.conf.Temperature; t != nil {
		// The library drops a plain 0 from the request.
		req.Temperature = max(*t, math.SmallestNonzeroFloat32)
	}
	if seed != 0 && !c.conf.NoSeed {
		s := int(seed)
		req.Seed = &s
	}
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(info httptrace.WroteRequestInfo) { sent.Store(info.Err == nil) },
	})
	res, err := c.api.CreateChatCompletion(ctx, req)
	r := &reply{Usage: res.Usage, header: res.Header(), sent: sent.Load(), model: res.Model}
	if err == nil && len(res.Choices) == 0 {
		err = errNoChoice
	}
	if err != nil {
		return r, err
	}
	first := res.Choices[0]
	r.text, r.refusal, r.finish = first.Message.Content, first.Message.Refusal, string(first.FinishReason)
	if r.finish == "" || r.finish == string(api.FinishReasonNull) {
		r.finish = "stop" // some servers do not report it
	}
	return r, nil
}

// took normalises usage, whose prompt tokens include the cached ones, and
// prices it. A server that reports none leaves both unknown.
func (c *Client) took(u api.Usage) (*eval.Usage, *float64) {
	if u.PromptTokens == 0 && u.CompletionTokens == 0 {
		return nil, nil
	}
	out := &eval.Usage{Input: int64(u.PromptTokens), Output: int64(u.CompletionTokens)}
	if d := u.PromptTokensDetails; d != nil {
		out.CacheRead = int64(min(max(0, d.CachedTokens), u.PromptTokens))
		out.Input -= out.CacheRead
	}
	if d := u.CompletionTokensDetails; d != nil {
		out.Reasoning = int64(d.ReasoningTokens)
	}
	return out, c.conf.Prices.USD(out)
}

// scrub removes the key from a text in which a server may have echoed it.
func (c *Client) scrub(text string) string {
	if c.conf.APIKey == "" {
		return text
	}
	return strings.ReplaceAll(text, c.conf.APIKey, "[api key]")
}

func (c *Client) infra(kind eval.FailureKind, after time.Duration, format string, args ...any) *eval.InfraError {
	// Only the text is kept: the original error may hold the key.
	return &eval.InfraError{Kind: kind, RetryAfter: after, Err: errors.New(c.scrub(fmt.Sprintf(format, args...)))}
}

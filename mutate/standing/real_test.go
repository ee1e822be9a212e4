package standing_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval/agent/agenttest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/standing"
	"github.com/skill-evolve/evolve/mutate/subject"
)

// The folders of agents are declared by the readers of their sessions, which cmd/evolve links.
func init() {
	skill.Register(skill.Agent{Name: "claude", HomeDefault: ".claude"}, skill.Agent{Name: "codex", HomeDefault: ".codex"},
		skill.Agent{Name: "pi", HomeDefault: ".pi/agent"}, skill.Agent{Name: "copilot", HomeDefault: ".copilot"})
}

// A program is a real agent in front of a scripted model.
type program struct {
	agent    string // its name in sessions
	variable string // of the path of the program
	command  func(t *testing.T, s *agenttest.Server, home, folder string) (args, env []string)
}

var programs = []program{
	{"claude-code", "EVOLVE_REAL_CLAUDE", func(_ *testing.T, s *agenttest.Server, _, _ string) (args, env []string) {
		return []string{"-p", "--output-format", "stream-json", "--verbose", "--strict-mcp-config", "--no-session-persistence",
				"--model", "claude-sonnet-4-5", "--permission-mode", "bypassPermissions", "--max-turns", "8"},
			[]string{"ANTHROPIC_API_KEY=" + agenttest.Key, "ANTHROPIC_BASE_URL=" + s.Root, "IS_SANDBOX=1",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1"}
	}},
	{"codex", "EVOLVE_REAL_CODEX", func(_ *testing.T, s *agenttest.Server, _, folder string) (args, env []string) {
		return []string{"exec", "--json", "--skip-git-repo-check", "-C", folder, "-m", "gpt-5.5", "--dangerously-bypass-approvals-and-sandbox",
				"-c", `model_provider="scripted"`, "-c", `model_providers.scripted={name="scripted",base_url="` + s.URL + `",env_key="SCRIPTED_KEY",wire_api="responses",request_max_retries=0}`, "-"},
			[]string{"SCRIPTED_KEY=" + agenttest.Key}
	}},
	{"pi", "EVOLVE_REAL_PI", func(t *testing.T, s *agenttest.Server, home, _ string) (args, env []string) {
		models := map[string]any{"providers": map[string]any{"scripted": map[string]any{"baseUrl": s.URL, "api": "openai-completions",
			"apiKey": agenttest.Key, "models": []any{map[string]any{"id": "gpt-5.5"}}}}}
		text, err := json.Marshal(models)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(home, ".pi/agent/models.json"), string(text))
		return []string{"--print", "--mode", "json", "--no-session", "--provider", "scripted", "--model", "gpt-5.5"}, []string{"PI_OFFLINE=1", "PI_TELEMETRY=0"}
	}},
	{"copilot-cli", "EVOLVE_REAL_COPILOT", func(_ *testing.T, s *agenttest.Server, _, _ string) (args, env []string) {
		return []string{"-p", "say hello", "--allow-all-tools", "--no-auto-update"},
			[]string{"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + s.URL, "COPILOT_PROVIDER_API_KEY=" + agenttest.Key, "COPILOT_PROVIDER_TYPE=openai",
				"COPILOT_PROVIDER_WIRE_API=completions", "COPILOT_MODEL=gpt-5.5", "COPILOT_AUTO_UPDATE=false", "COPILOT_DISABLE_KEYTAR=1",
				"COPILOT_CLI_CACHE=" + os.Getenv("EVOLVE_REAL_COPILOT_CACHE")}
	}},
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A scene is what an agent finds: files by path, "~/…" below the home, "../…" above the
// repository, else below it; {} in a text becomes the file's sentinel.
type scene struct {
	files map[string]string
	in    string   // the folder that the agent is started in, below the repository
	reads []string // files that it then reads with its tool
}

// A stage is a scene on disk.
type stage struct{ home, repo string }

// sentinel is the text by which a file is recognised in a request.
func sentinel(name string) string {
	return "SENTINEL" + strings.ToUpper(strings.NewReplacer("/", "Q", ".", "Z", "~", "H", "-", "W").Replace(name)) + "END"
}

func build(t *testing.T, c scene) (s stage) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s = stage{filepath.Join(root, "home"), filepath.Join(root, "src", "repo")}
	for name, text := range c.files {
		write(t, s.path(name), strings.ReplaceAll(text, "{}", sentinel(name)))
	}
	for _, dir := range []string{s.home, filepath.Join(s.repo, ".git"), filepath.Join(s.repo, c.in)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s stage) path(name string) string {
	if below, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(s.home, filepath.FromSlash(below))
	}
	return filepath.Join(s.repo, filepath.FromSlash(name))
}

// heard starts a real agent in a scene and returns the files whose sentinels its model got.
func heard(t *testing.T, p program, c scene) (out []string) {
	t.Helper()
	path := os.Getenv(p.variable)
	if path == "" {
		t.Fatalf("EVOLVE_REAL_AGENTS=1 needs %s", p.variable)
	}
	on := build(t, c)
	home, repo := on.home, on.repo
	if text, err := exec.Command("git", "init", "-q", repo).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var script []agenttest.Reply
	for _, name := range c.reads {
		script = append(script, agenttest.Reply{Tools: []agenttest.Op{agenttest.Read(filepath.Join(repo, name))}, Input: 20, Output: 3})
	}
	script = append(script, agenttest.Reply{Text: "hello", Input: 20, Output: 3})
	s := agenttest.Start(t, agenttest.Config{Script: script})
	folder := filepath.Join(repo, c.in)
	args, env := p.command(t, s, home, folder)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Stdin = folder, strings.NewReader("say hello")
	cmd.Env = append(env, "HOME="+home, "PATH="+filepath.Dir(path)+string(os.PathListSeparator)+os.Getenv("PATH"), "TMPDIR="+t.TempDir(), "LANG=C.UTF-8")
	text, err := cmd.CombinedOutput()
	var all []byte
	for _, body := range s.Bodies() {
		all = append(all, body...)
	}
	if len(all) == 0 {
		t.Fatalf("%s asked nothing (%v):\n%.3000s", p.agent, err, text)
	}
	for name := range c.files {
		if bytes.Contains(all, []byte(sentinel(name))) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

const say = "# Rules\n\nSay {} now.\n"

// files are files that say their sentinel.
func files(names string) map[string]string {
	out := map[string]string{}
	for n := range strings.FieldsSeq(names) {
		out[n] = say
	}
	return out
}

func with(files map[string]string, more ...string) map[string]string {
	for i := 0; i < len(more); i += 2 {
		files[more[i]] = more[i+1]
	}
	return files
}

const (
	everyone = "~/.claude/CLAUDE.md ~/.claude/rules/a.md ~/.codex/AGENTS.md ~/.pi/agent/AGENTS.md ~/.pi/agent/CLAUDE.md ~/.copilot/copilot-instructions.md " +
		"~/.copilot/instructions/a.instructions.md ~/.copilot/AGENTS.md ~/.agents/AGENTS.md ~/AGENTS.md ~/CLAUDE.md ~/.claude/AGENTS.md " +
		"../CLAUDE.md ../AGENTS.md ../CLAUDE.local.md ../.claude/CLAUDE.md ../.claude/rules/p.md ../.github/copilot-instructions.md " +
		"CLAUDE.md CLAUDE.local.md .claude/CLAUDE.md .claude/rules/a.md .claude/rules/sub/b.md AGENTS.md GEMINI.md " +
		".github/copilot-instructions.md .github/instructions/a.instructions.md .github/instructions/sub/b.instructions.md .github/AGENTS.md .pi/AGENTS.md .codex/AGENTS.md " +
		"sub/CLAUDE.md sub/AGENTS.md sub/GEMINI.md sub/CLAUDE.local.md sub/.claude/CLAUDE.md sub/.claude/rules/s.md sub/.github/copilot-instructions.md sub/.github/instructions/n.instructions.md " +
		"sub/deep/CLAUDE.md sub/deep/AGENTS.md other/CLAUDE.md other/AGENTS.md"
	code = "package x\n"
)

// limitedTo are rules that hold for some paths.
func limitedTo(files map[string]string) map[string]string {
	return with(files, "sub/deep/code.go", code,
		".claude/rules/sub-only.md", "---\npaths: sub/**\n---\n"+say, ".claude/rules/all.md", "---\npaths: \"**\"\n---\n"+say,
		".claude/rules/other-only.md", "---\npaths: other/**\n---\n"+say, "~/.claude/rules/sub-only.md", "---\npaths: sub/**\n---\n"+say,
		".github/instructions/sub-only.instructions.md", "---\napplyTo: sub/**\n---\n"+say, ".github/instructions/all.instructions.md", "---\napplyTo: \"**\"\n---\n"+say,
		".github/instructions/other-only.instructions.md", "---\napplyTo: other/**\n---\n"+say)
}

// chain is a file with imports in every form, seven deep and back.
func chain(names string) map[string]string {
	out := map[string]string{}
	for n := range strings.FieldsSeq(names) {
		dir := filepath.Dir(n)
		with(out, n, "See @steps/one.md and\n\n`@code.md` <!-- @comment.md -->\n\n<!--\n@block.md\n-->\n\n- @comma.md, or @stop.md.\n\n> @quote.md\n\n```\n@fence.md\n```\n")
		next := strings.Fields("one two three four five six seven one")
		for i, step := range next[:7] {
			with(out, filepath.Join(dir, "steps", step+".md"), "{} @"+next[i+1]+".md\n")
		}
		for side := range strings.FieldsSeq("code comment block comma stop quote fence") {
			with(out, filepath.Join(dir, side+".md"), "{}\n")
		}
	}
	return out
}

// scenes show each fact of the table.
var scenes = map[string]scene{
	"everything in the repository": {files: limitedTo(files(everyone))},
	"everything in a folder":       {files: limitedTo(files(everyone)), in: "sub"},
	"everything, and a file read":  {files: limitedTo(files(everyone)), reads: []string{"sub/deep/code.go"}},
	"below alone, and a file read": {files: with(files("sub/CLAUDE.md sub/.claude/CLAUDE.md sub/AGENTS.md"), "sub/deep/code.go", code), reads: []string{"sub/deep/code.go"}},
	"dot claude alone":             {files: files(".claude/CLAUDE.md ../.claude/CLAUDE.md")},
	"CLAUDE.md alone":              {files: files("CLAUDE.md ../CLAUDE.md ~/.pi/agent/CLAUDE.md"), in: "sub"},
	"AGENTS.md alone":              {files: files("AGENTS.md ../AGENTS.md sub/AGENTS.md"), in: "sub"},
	"AGENTS.md and a person's own": {files: files("AGENTS.md ~/.claude/CLAUDE.md")},
	"AGENTS.md and a local one":    {files: files("AGENTS.md CLAUDE.local.md")},
	"AGENTS.md and a rule":         {files: files("AGENTS.md .claude/rules/a.md")},
	"AGENTS.md below CLAUDE.md":    {files: files("CLAUDE.md sub/AGENTS.md"), in: "sub"},
	"CLAUDE.md below AGENTS.md":    {files: files("AGENTS.md sub/CLAUDE.md"), in: "sub"},
	"overrides":                    {files: files("~/.codex/AGENTS.md ~/.codex/AGENTS.override.md AGENTS.md AGENTS.override.md sub/AGENTS.md sub/AGENTS.override.md ../AGENTS.override.md"), in: "sub"},
	"imports":                      {files: chain("~/.claude/CLAUDE.md ~/.codex/AGENTS.md ~/.pi/agent/AGENTS.md ~/.copilot/copilot-instructions.md CLAUDE.md AGENTS.md .github/copilot-instructions.md")},
}

var record = flag.Bool("update", false, "with EVOLVE_REAL_AGENTS=1: rewrite testdata/heard.json")

// heardFile has what the models of the real programs got: scene → agent → files.
const heardFile = "testdata/heard.json"

// TestTable holds the table to the real programs: to what was recorded of them, and with
// EVOLVE_REAL_AGENTS=1 to what they do now.
func TestTable(t *testing.T) {
	text, err := os.ReadFile(heardFile)
	if err != nil && !*record {
		t.Fatal(err)
	}
	recorded := map[string]map[string][]string{}
	if err == nil {
		if err := json.Unmarshal(text, &recorded); err != nil {
			t.Fatal(err)
		}
	}
	shown := map[string]bool{} // rows
	for _, name := range slices.Sorted(maps.Keys(scenes)) {
		c := scenes[name]
		for _, p := range programs {
			t.Run(p.agent+"/"+name, func(t *testing.T) {
				got := recorded[name][p.agent]
				if os.Getenv("EVOLVE_REAL_AGENTS") == "1" {
					now := heard(t, p, c)
					if *record {
						if recorded[name] == nil {
							recorded[name] = map[string][]string{}
						}
						recorded[name][p.agent], got = now, now
					}
					if !slices.Equal(now, got) {
						t.Errorf("the program loads %q, and %q was recorded", now, got)
					}
				}
				compare(t, p.agent, c, got, shown)
			})
		}
	}
	for i, r := range standing.Table {
		if p := slices.IndexFunc(programs, func(p program) bool { return p.agent == r.Agent }); p >= 0 && os.Getenv("EVOLVE_REAL_AGENTS") == "1" {
			if out, err := exec.Command(os.Getenv(programs[p].variable), "--version").CombinedOutput(); err == nil && !strings.Contains(string(out), r.Seen) {
				t.Errorf("the table was seen with %s %s, and this is %.40s: record it again with -update, and name that version", r.Agent, r.Seen, out)
			}
		}
		if r.Seen != "" && !shown[strconv.Itoa(i)] {
			t.Errorf("no scene shows that %s loads %s", r.Agent, r.File)
		}
	}
	if *record {
		text, err := json.MarshalIndent(recorded, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		write(t, heardFile, string(text)+"\n")
	}
}

// compare holds what a Loader says of a scene to what was heard.
func compare(t *testing.T, agent string, c scene, got []string, shown map[string]bool) {
	t.Helper()
	on := build(t, c)
	t.Setenv("HOME", on.home)
	layout := &skill.Layout{Getenv: func(string) string { return "" }}
	loader := &standing.Loader{Layout: layout}
	for name, text := range c.files {
		if !strings.Contains(text, "{}") {
			continue
		}
		key, err := layout.Key(on.path(name))
		if err != nil {
			t.Fatal(err)
		}
		when := loader.When(agent, "", subject.Parse(key), filepath.Join(on.repo, c.in))
		is := slices.Contains(got, name)
		switch {
		case when == standing.Start && !is, when == standing.Never && is, when == standing.Touch && is && len(c.reads) == 0:
			t.Errorf("%s: loaded is %t, the table says %d", name, is, when)
		}
		if !is {
			continue
		}
		for i, r := range standing.Table { // which row did it
			pattern := strings.ReplaceAll(regexp.QuoteMeta(r.File), `\*\*`, ".*")
			if r.Agent == agent && regexp.MustCompile(`(^|/)`+pattern+"$").MatchString(name) && strings.HasPrefix(r.File, "~") == strings.HasPrefix(name, "~") {
				shown[strconv.Itoa(i)] = true
			}
		}
	}
}

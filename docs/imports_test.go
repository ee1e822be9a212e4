// Package docs holds what keeps the documentation true.
package docs

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/skill-evolve/evolve/"

// mayImport is the table of docs/architecture.md: which of our packages a
// package may know. A name that ends in /… stands for everything below it. All may
// know anywhere.
var mayImport = map[string][]string{
	"mutate/skill":                    {"eval/problem", "mutate/script"},
	"harvest/redact":                  {"harvest/ownwords", "harvest/redact/likely", "harvest/redact/personal", "harvest/redact/spelled", "harvest/redact/wordlike"},
	"harvest/ownwords":                {},
	"pareto":                          {},
	"mutate/skill/bounded":            {},
	"mutate/patch":                    {},
	"mutate/subject":                  {"eval/plain"},
	"mutate/script":                   {"eval/agent/process", "eval/guard/rulefile", "eval/problem", "mutate/script/acts", "mutate/script/shell"},
	"mutate/script/acts":              {"eval/plain"},
	"mutate/script/shell":             {"mutate/script/acts"},
	"mutate/skill/lazyregexp":         {},
	"eval":                            {"eval/check", "eval/fields", "eval/plain", "eval/wallclock", "mutate/skill"},
	"eval/check":                      {"eval/plain", "eval/shell", "eval/shell/sought"},
	"eval/content":                    {"eval", "eval/plain"},
	"eval/fleet":                      {"eval", "eval/agent/process", "eval/plain", "eval/problem", "mutate/skill/bounded"},
	"eval/fleet/parcel":               {"eval", "eval/agent/replay", "eval/agent/setup", "eval/fleet", "eval/scratch", "eval/workspace", "mutate/skill", "mutate/skill/bounded"},
	"eval/fleet/worker":               {"eval", "eval/agent/setup", "eval/fleet", "eval/fleet/parcel", "eval/plain", "eval/problem", "eval/scratch", "eval/workspace", "mutate/skill/bounded"},
	"eval/fleet/watch":                {"eval", "eval/fleet", "eval/plain"},
	"store/workers":                   {"eval", "store", "store/sqlite"},
	"eval/fleet/server":               {"eval/fleet", "eval/problem", "mutate/skill"},
	"cmd/evolve/internal/fleetcmd":    {"cmd/evolve/internal/backend", "cmd/evolve/internal/term", "cmd/evolve/internal/usage", "eval", "eval/agent", "eval/agent/setup", "eval/fleet", "eval/fleet/server", "eval/fleet/watch", "eval/fleet/worker", "eval/plain", "eval/problem", "eval/scratch", "eval/workspace", "store", "store/datadir", "store/workers"},
	"eval/fleet/coordinator":          {"eval", "eval/fleet", "eval/problem"},
	"eval/fleet/fleettest":            {"eval/fleet"},
	"eval/plugineval":                 {"eval", "eval/ondisk", "eval/plain"},
	"eval/casefile":                   {"eval", "eval/harbor", "eval/plain", "eval/plugineval", "eval/problem", "eval/skillcreator", "mutate/skill/bounded"},
	"eval/fields":                     {"mutate/skill"},
	"eval/harbor":                     {"eval", "eval/fields", "eval/ondisk", "eval/plain"},
	"eval/ondisk":                     {"eval", "eval/plain"},
	"eval/probes":                     {"eval", "eval/check", "eval/plain", "mutate/skill", "mutate/skill/bounded", "mutate/skill/lazyregexp"},
	"eval/public":                     {"eval", "eval/plain", "mutate/skill/lazyregexp"},
	"eval/skillcreator":               {"eval", "eval/check", "eval/ondisk", "eval/plain"},
	"eval/workspace":                  {"eval", "eval/git", "eval/scratch"},
	"eval/deps":                       {"eval/agent/process", "eval/workspace"},
	"eval/git":                        {"eval/scratch"},
	"eval/scratch":                    {},
	"eval/plain":                      {},
	"eval/wallclock":                  {},
	"eval/problem":                    {},
	"eval/shell":                      {},
	"eval/shell/sought":               {"eval/shell"},
	"eval/agent":                      {"eval", "eval/agent/process", "eval/agent/setup", "eval/check", "eval/git", "eval/plain", "eval/workspace", "harvest/redact", "mutate/skill", "mutate/standing", "mutate/subject"},
	"eval/agent/…":                    {"eval", "eval/agent", "eval/agent/process", "eval/agent/replay", "eval/agent/setup", "eval/check", "eval/fields", "eval/git", "eval/problem", "eval/scratch", "eval/shell", "eval/skillcreator", "eval/workspace", "mutate/skill", "mutate/skill/check"},
	"eval/agent/process":              {"eval/scratch"},
	"eval/guard":                      {"eval", "eval/agent/process", "eval/plain", "mutate/skill/bounded", "pareto"},
	"eval/agent/setup":                {"eval/plain", "mutate/skill"},
	"mutate":                          {"eval", "harvest/ownwords", "mutate/script", "mutate/skill"},
	"harvest/jsonl":                   {},
	"harvest":                         {"eval", "eval/check", "eval/content", "harvest/family", "harvest/fenced", "harvest/jsonl", "harvest/ownwords", "harvest/redact", "harvest/wording", "harvest/work", "mutate/skill"},
	"harvest/…":                       {"harvest", "eval", "eval/git", "mutate/skill", "harvest/jsonl", "harvest/redact", "harvest/ownwords", "harvest/work"},
	"harvest/hook/settings":           {"harvest/hook", "store", "store/datadir", "eval/problem", "mutate/skill"},
	"harvest/ingest":                  {"eval", "eval/casefile", "eval/content", "eval/plain", "eval/problem", "eval/splits", "harvest", "harvest/attribute", "harvest/checkout", "harvest/consent", "harvest/hook", "harvest/moments", "harvest/reading", "harvest/redact", "harvest/repeated", "harvest/suite", "harvest/verify", "harvest/work", "mutate/skill", "mutate/standing", "mutate/subject", "store", "store/datadir", "store/draws", "store/trying", "tournament/record"},
	"eval/guard/rulefile":             {"eval/shell", "eval/shell/sought"},
	"eval/guard/permission":           {"eval/guard/rulefile", "eval/shell", "mutate/skill/lazyregexp"},
	"harvest/events":                  {"harvest", "harvest/jsonl", "mutate/skill/lazyregexp"},
	"harvest/refusals":                {"eval", "harvest", "harvest/events", "harvest/fenced", "harvest/ownwords", "harvest/redact"},
	"harvest/orders":                  {"eval", "eval/shell", "eval/shell/sought", "harvest", "harvest/fenced", "harvest/redact"},
	"harvest/corrected":               {"eval", "eval/check", "eval/shell", "harvest"},
	"harvest/suite":                   {"eval", "harvest", "harvest/consent", "harvest/work", "mutate/skill"},
	"harvest/moments":                 {"eval", "eval/plain", "harvest", "harvest/ownwords", "mutate/skill", "mutate/subject"},
	"store/hookcases":                 {"eval/guard", "harvest", "harvest/redact", "store", "store/sqlite"},
	"store/draws":                     {"harvest/moments", "store", "store/sqlite"},
	"harvest/purge":                   {"eval/agent/handoff", "eval/plain", "eval/problem", "eval/scratch", "eval/workspace", "harvest/hook", "harvest/ingest", "mutate/skill", "store", "store/datadir", "store/lock", "tournament/record"},
	"tournament":                      {"tournament/gate", "tournament/record", "tournament/record/recordtest", "tournament/search"},
	"store":                           {"eval", "eval/content", "harvest", "harvest/work", "mutate/skill/install", "store/frozen", "store/sqlite", "tournament/record"},
	"store/datadir":                   {},
	"store/lock":                      {"store/datadir", "eval/problem"},
	"store/replies":                   {"eval", "store", "store/sqlite"},
	"store/trying":                    {"mutate/skill", "store"},
	"store/frozen":                    {"store/sqlite", "tournament/record"},
	"tournament/campaign/probing":     {"eval", "eval/agent", "eval/check", "eval/plain", "eval/probes", "eval/problem", "harvest/fenced", "mutate/skill", "store", "store/datadir", "tournament/campaign", "tournament/gate", "tournament/record", "tournament/report"},
	"tournament/caps":                 {"eval", "eval/plain"},
	"tournament/suggest":              {"eval", "eval/agent", "eval/plain", "eval/problem", "harvest", "harvest/outgoing", "harvest/ownwords", "mutate", "mutate/second", "mutate/skill", "mutate/skill/check", "mutate/standing", "mutate/subject", "store", "store/replies", "store/trying", "tournament/campaign", "tournament/candidate", "tournament/caps", "tournament/record", "tournament/report"},
	"store/subjects":                  {"mutate/subject", "store", "store/sqlite"},
	"store/proposed":                  {"store", "store/sqlite", "tournament/record"},
	"tournament/release/tracked":      {"eval", "eval/git", "eval/plain", "eval/problem", "harvest", "harvest/redact", "harvest/redact/personal", "mutate/skill", "mutate/skill/install", "pareto", "store", "store/proposed", "tournament/candidate", "tournament/record", "tournament/release"},
	"tournament/candidate":            {"eval", "eval/plain", "eval/problem", "mutate", "mutate/skill", "mutate/skill/check", "pareto", "store", "store/frozen", "store/trying", "tournament/gate", "tournament/record", "tournament/search"},
	"tournament/approval":             {"eval/plain", "eval/problem", "harvest/hook/settings", "mutate/second", "mutate/skill", "mutate/skill/check", "store", "store/trying", "tournament/candidate", "tournament/release", "tournament/release/tracked", "tournament/report"},
	"mutate/standing":                 {"eval/plain", "eval/problem", "mutate/skill", "mutate/skill/check"},
	"tournament/campaign/readlimit":   {"eval", "eval/plain"},
	"tournament/campaign/usedtime":    {"eval"},
	"tournament/campaign/generate":    {"eval", "eval/agent", "eval/plain", "eval/problem", "harvest/generated", "harvest/ingest", "harvest/outgoing", "mutate/skill", "tournament/campaign"},
	"tournament/campaign":             {"eval", "eval/agent", "eval/casefile", "eval/plain", "eval/probes", "eval/problem", "eval/splits", "harvest", "harvest/ingest", "harvest/outgoing", "harvest/reading", "harvest/redact", "mutate", "mutate/second", "mutate/skill", "mutate/skill/check", "mutate/skill/install", "mutate/standing", "pareto", "store", "store/datadir", "store/lock", "store/replies", "store/trying", "tournament/applies", "tournament/campaign/readlimit", "tournament/campaign/usedtime", "tournament/candidate", "tournament/caps", "tournament/expect", "tournament/gate", "tournament/judge", "tournament/neighbours", "tournament/record", "tournament/release", "tournament/report", "tournament/search"},
	"tournament/neighbours":           {"eval", "eval/agent", "harvest", "harvest/outgoing", "mutate/skill", "mutate/subject", "store", "tournament/gate", "tournament/record"},
	"tournament/applies":              {"eval", "eval/git", "eval/plain", "harvest", "harvest/fenced", "harvest/redact", "mutate/skill", "mutate/subject", "pareto", "tournament/candidate", "tournament/gate", "tournament/record"},
	"tournament/expect":               {"eval", "eval/plain", "eval/splits", "harvest", "harvest/consent", "pareto", "store", "tournament/record"},
	"tournament/judge":                {"eval", "eval/check", "mutate/skill", "store", "tournament/candidate", "tournament/expect", "tournament/record"},
	"tournament/release":              {"eval/plain", "eval/problem", "harvest/hook", "mutate", "mutate/skill", "mutate/skill/check", "mutate/skill/install", "pareto", "store", "store/datadir", "store/lock", "store/proposed", "store/trying", "tournament/candidate", "tournament/record"},
	"tournament/report":               {"eval", "eval/plain", "mutate/skill", "pareto", "tournament/gate", "tournament/record", "tournament/search"},
	"tournament/report/serve":         {"eval", "eval/check", "eval/fleet/watch", "eval/plain", "eval/problem", "pareto", "tournament/approval", "tournament/candidate", "tournament/record", "tournament/report", "tournament/report/charts", "tournament/report/page", "tournament/status"},
	"tournament/report/browsertest":   {},
	"tournament/sleep":                {"eval", "eval/plain", "eval/probes", "eval/splits", "pareto", "store", "store/lock", "tournament/expect", "tournament/record"},
	"cmd/evolve":                      {"*"},
	"cmd/evolve/internal/term":        {"eval", "eval/plain", "tournament/record", "tournament/report"},
	"cmd/evolve/internal/backend":     {"cmd/evolve/internal/guard", "cmd/evolve/internal/owner", "eval", "eval/agent", "eval/agent/claude", "eval/agent/codex", "eval/agent/command", "eval/agent/copilot", "eval/agent/handoff", "eval/agent/openai", "eval/agent/pi", "eval/agent/process", "eval/agent/setup", "eval/agent/simulated", "eval/deps", "eval/fleet", "eval/fleet/coordinator", "eval/fleet/parcel", "eval/git", "eval/plain", "eval/probes", "eval/problem", "eval/workspace", "harvest", "harvest/claude", "harvest/codex", "harvest/copilot", "harvest/cursor", "harvest/entire", "harvest/gemini", "harvest/hook", "harvest/hook/kit", "harvest/ingest", "harvest/outgoing", "harvest/pi", "harvest/purge", "harvest/redact", "harvest/redact/personal", "harvest/work", "mutate/skill", "mutate/skill/bounded", "mutate/skill/lazyregexp", "mutate/standing", "pareto", "store/datadir", "store/datadir/policy", "tournament/caps"},
	"cmd/evolve/internal/agentstest":  {},
	"cmd/evolve/internal/advice":      {"eval", "eval/plain", "eval/problem", "mutate/skill", "mutate/skill/bounded", "mutate/skill/install", "store", "store/datadir", "tournament/release", "tournament/search"},
	"cmd/evolve/internal/completion":  {"cmd/evolve/internal/backend", "cmd/evolve/internal/help", "eval/agent", "eval/plain", "mutate/skill", "mutate/skill/check", "pareto", "store/datadir", "store/peek", "tournament/search"},
	"cmd/evolve/internal/host":        {"tournament/record"},
	"cmd/evolve/internal/lint":        {"cmd/evolve/internal/term", "eval/plain", "eval/problem", "mutate/skill", "mutate/skill/check", "mutate/standing"},
	"cmd/evolve/internal/browser":     {},
	"cmd/evolve/internal/timer":       {"eval/agent/process", "eval/plain", "eval/problem"},
	"cmd/evolve/…":                    {"*"},
	"tournament/status":               {"eval", "eval/plain", "eval/probes", "eval/problem", "eval/splits", "harvest", "harvest/ingest", "mutate/script", "mutate/skill", "mutate/skill/check", "pareto", "store", "store/lock", "store/proposed", "store/subjects", "store/trying", "tournament/applies", "tournament/campaign", "tournament/campaign/probing", "tournament/candidate", "tournament/judge", "tournament/record", "tournament/release", "tournament/release/tracked", "tournament/report", "tournament/search", "tournament/sleep"},
	"tournament/sleep/work":           {"eval", "eval/agent", "eval/agent/process", "eval/check", "eval/plain", "eval/problem", "eval/splits", "harvest", "harvest/consent", "harvest/hook", "harvest/hook/settings", "harvest/ingest", "harvest/outgoing", "harvest/redact", "mutate/second", "mutate/skill", "mutate/skill/check", "mutate/skill/install", "mutate/standing", "pareto", "store", "store/lock", "store/trying", "tournament/campaign", "tournament/campaign/probing", "tournament/campaign/readlimit", "tournament/candidate", "tournament/expect", "tournament/gate", "tournament/judge", "tournament/neighbours", "tournament/record", "tournament/release", "tournament/release/tracked", "tournament/report", "tournament/search", "tournament/sleep", "tournament/status"},
	"cmd/evolve/internal/help":        {"eval/agent", "eval/plain"},
	"cmd/evolve/internal/usage":       {"cmd/evolve/internal/help", "eval/plain", "eval/problem", "mutate/skill", "mutate/subject"},
	"cmd/evolve/internal/runs":        {"cmd/evolve/internal/term", "cmd/evolve/internal/usage", "eval", "eval/plain", "mutate/subject", "pareto", "tournament/candidate", "tournament/record", "tournament/status"},
	"cmd/evolve/internal/doctor":      {"cmd/evolve/internal/backend", "cmd/evolve/internal/timer", "eval", "eval/agent", "eval/agent/process", "eval/plain", "eval/problem", "harvest/hook", "harvest/outgoing", "mutate/skill", "store", "store/datadir", "store/datadir/policy"},
	"cmd/evolve/internal/pages":       {"cmd/evolve/internal/corrections", "eval", "eval/fleet/watch", "eval/plain", "eval/problem", "harvest", "harvest/corrections", "harvest/ingest", "mutate/skill", "pareto", "store", "store/datadir", "tournament/approval", "tournament/campaign", "tournament/campaign/probing", "tournament/candidate", "tournament/judge", "tournament/record", "tournament/release", "tournament/report", "tournament/report/charts", "tournament/report/serve", "tournament/sleep", "tournament/status"},
	"tournament/record":               {"eval", "eval/content", "eval/plain", "pareto"},
	"tournament/record/recordtest":    {"eval", "tournament/record"},
	"tournament/gate":                 {"eval", "eval/plain", "mutate/skill", "pareto", "tournament/record"},
	"tournament/search":               {"eval", "eval/content", "eval/plain", "mutate", "mutate/second", "mutate/skill", "mutate/skill/check", "pareto", "tournament/gate", "tournament/record", "tournament/search/lanes"},
	"tournament/search/lanes":         {"eval"},
	"tournament/report/charts":        {"eval", "eval/plain", "pareto", "tournament/record", "tournament/report"},
	"tournament/report/page":          {"eval", "eval/plain", "pareto", "tournament/gate", "tournament/record", "tournament/report", "tournament/report/charts", "tournament/sleep", "tournament/status"},
	"tournament/report/reporttest":    {"eval", "mutate/skill", "pareto", "tournament/gate", "tournament/record", "tournament/report", "tournament/search"},
	"mutate/skill/install":            {"mutate/skill"},
	"store/sqlite":                    {"eval"},
	"mutate/skill/check":              {"eval/problem", "mutate/script", "mutate/skill"},
	"harvest/consent":                 {"eval/plain", "eval/problem", "eval/shell", "harvest/work", "mutate/skill"},
	"cmd/evolve/internal/owner":       {},
	"cmd/evolve/internal/newhook":     {"cmd/evolve/internal/term", "cmd/evolve/internal/usage", "eval/guard/rulefile", "eval/plain", "eval/problem", "harvest/hook/kit"},
	"cmd/evolve/internal/start":       {"cmd/evolve/internal/backend", "cmd/evolve/internal/doctor", "cmd/evolve/internal/envfile", "cmd/evolve/internal/projects", "cmd/evolve/internal/term", "cmd/evolve/internal/timer", "eval", "eval/agent", "eval/plain", "eval/problem", "harvest/consent", "harvest/ingest", "mutate/skill", "mutate/standing", "store", "store/datadir", "tournament/expect", "tournament/gate"},
	"cmd/evolve/internal/missed":      {"cmd/evolve/internal/advice", "cmd/evolve/internal/backend", "cmd/evolve/internal/envfile", "cmd/evolve/internal/term", "eval/agent", "eval/plain", "store/datadir"},
	"cmd/evolve/internal/envfile":     {"cmd/evolve/internal/term", "eval/agent", "eval/plain", "eval/problem"},
	"store/datadir/policy":            {"eval/problem", "harvest/work"},
	"cmd/evolve/internal/guard":       {"cmd/evolve/internal/owner", "eval/problem", "store/datadir/policy"},
	"harvest/outgoing":                {"eval", "eval/agent", "eval/agent/setup", "eval/plain", "eval/problem", "harvest", "harvest/consent", "mutate/skill", "store", "store/datadir/policy"},
	"cmd/evolve/internal/privacy":     {"cmd/evolve/internal/backend", "cmd/evolve/internal/term", "eval/agent", "eval/problem", "harvest/outgoing", "mutate/skill", "store", "store/datadir/policy"},
	"cmd/evolve/internal/hookrun":     {"cmd/evolve/internal/backend", "cmd/evolve/internal/corrections", "cmd/evolve/internal/hooktest", "eval", "eval/agent", "eval/plain", "eval/problem", "harvest", "harvest/outgoing", "mutate/skill", "mutate/subject", "pareto", "store", "store/lock", "tournament/campaign", "tournament/hooks"},
	"tournament/hooks":                {"eval", "eval/agent", "eval/guard", "eval/plain", "mutate", "mutate/skill", "mutate/skill/check", "mutate/subject", "pareto", "store", "store/lock", "store/subjects", "tournament/candidate", "tournament/gate", "tournament/record"},
	"cmd/evolve/internal/hooktest":    {"cmd/evolve/internal/backend", "cmd/evolve/internal/term", "eval", "eval/agent/process", "eval/guard", "eval/guard/rulefile", "eval/plain", "eval/problem", "eval/scratch", "eval/shell", "harvest", "harvest/consent", "harvest/corrected", "harvest/events", "harvest/redact", "harvest/refusals", "mutate", "mutate/script", "mutate/skill", "mutate/skill/bounded", "store", "store/hookcases", "tournament/hooks", "tournament/report"},
	"cmd/evolve/internal/hookuse":     {"cmd/evolve/internal/hooktest", "eval/guard", "eval/plain", "eval/shell", "harvest", "harvest/events", "harvest/hook", "harvest/hook/kit", "harvest/ownwords", "harvest/redact", "harvest/refusals", "mutate/skill"},
	"cmd/evolve/internal/hooklearn":   {"cmd/evolve/internal/backend", "cmd/evolve/internal/corrections", "cmd/evolve/internal/hooktest", "cmd/evolve/internal/newhook", "cmd/evolve/internal/usage", "eval", "eval/agent", "eval/check", "eval/guard", "eval/guard/permission", "eval/guard/rulefile", "eval/plain", "eval/problem", "harvest", "harvest/corrections", "harvest/events", "harvest/orders", "harvest/outgoing", "harvest/reading", "harvest/redact", "harvest/refusals", "mutate/skill", "store", "store/hookcases", "tournament/campaign", "tournament/campaign/readlimit", "tournament/caps"},
	"cmd/evolve/internal/hookword":    {"cmd/evolve/internal/guard", "cmd/evolve/internal/owner", "cmd/evolve/internal/term", "eval/problem", "mutate/skill", "mutate/subject", "store", "tournament/release", "tournament/report"},
	"cmd/evolve/internal/projects":    {"cmd/evolve/internal/backend", "cmd/evolve/internal/owner", "cmd/evolve/internal/term", "eval/plain", "eval/problem", "harvest", "harvest/consent", "harvest/ingest", "harvest/outgoing", "harvest/suite", "harvest/work", "store", "store/datadir", "store/datadir/policy", "tournament/report"},
	"harvest/redact/wordlike":         {},
	"harvest/redact/personal":         {},
	"harvest/family":                  {},
	"harvest/redact/spelled":          {},
	"harvest/redact/likely":           {},
	"harvest/redact/planted":          {},
	"harvest/work":                    {"eval/check", "eval/git", "eval/shell"},
	"harvest/hook":                    {"eval/git", "harvest", "harvest/hook/kit", "harvest/redact", "mutate/skill", "store/datadir"},
	"harvest/hook/kit":                {"store/datadir"},
	"cmd/hook-kit":                    {"eval/guard/rulefile", "eval/shell", "harvest/hook/kit"},
	"harvest/hook/detach":             {},
	"cmd/evolve/internal/ending":      {"cmd/evolve/internal/term", "eval/git", "eval/plain", "harvest/hook", "store/datadir"},
	"eval/splits":                     {"eval", "eval/plain"},
	"harvest/attribute":               {"harvest"},
	"harvest/corrections":             {"eval", "harvest"},
	"cmd/evolve/internal/corrections": {"cmd/evolve/internal/backend", "cmd/evolve/internal/term", "eval", "eval/plain", "eval/problem", "harvest", "harvest/corrections", "harvest/ingest", "harvest/reading", "mutate/skill", "mutate/standing", "mutate/subject", "store", "tournament/campaign"},
	"cmd/evolve/internal/probing":     {"cmd/evolve/internal/backend", "cmd/evolve/internal/corrections", "cmd/evolve/internal/term", "eval", "eval/plain", "eval/probes", "eval/problem", "mutate/skill", "mutate/skill/bounded", "tournament/campaign", "tournament/campaign/probing"},
	"cmd/evolve/internal/suggest":     {"cmd/evolve/internal/backend", "cmd/evolve/internal/corrections", "eval", "eval/plain", "eval/problem", "mutate", "mutate/skill", "mutate/subject", "store", "tournament/campaign", "tournament/caps", "tournament/record", "tournament/release/tracked", "tournament/suggest"},
	"cmd/evolve/internal/checking":    {"cmd/evolve/internal/term", "eval/git", "eval/plain", "eval/problem", "harvest/hook/settings", "mutate", "mutate/patch", "mutate/second", "mutate/skill", "mutate/skill/bounded", "mutate/skill/check", "mutate/subject", "pareto", "store", "store/trying", "tournament/applies", "tournament/campaign", "tournament/candidate", "tournament/release/tracked", "tournament/report", "tournament/status"},
	"cmd/evolve/internal/harvested":   {"cmd/evolve/internal/corrections", "cmd/evolve/internal/term", "eval/plain", "harvest/corrections", "harvest/ingest"},
	"harvest/work/worktest":           {"harvest", "harvest/corpustest", "harvest/work"},
	"harvest/checkout":                {"eval", "eval/git", "eval/plain", "eval/shell", "harvest", "harvest/redact", "harvest/work"},
	"harvest/generated":               {"eval", "eval/check", "harvest", "harvest/fenced", "harvest/redact"},
	"harvest/fenced":                  {"eval", "mutate/skill"},
	"harvest/wording":                 {"eval/check"},
	"harvest/verify":                  {"eval", "eval/check", "harvest", "harvest/fenced", "harvest/redact", "harvest/work"},
	"harvest/reading":                 {"eval", "eval/plain", "harvest", "harvest/fenced", "harvest/redact", "harvest/work"},
	"harvest/repeated":                {"harvest", "harvest/jsonl"},
	"store/peek":                      {"store/sqlite"},
	"docs":                            {},
	"eval/agent/agenttest":            {"eval", "eval/agent/process", "eval/agent/setup", "eval/check", "eval/workspace", "mutate/skill", "mutate/standing", "mutate/subject"},
	"eval/evaltest":                   {},
	"mutate/promptcorpus":             {},
	"mutate/second":                   {"eval", "mutate/skill", "mutate/skill/check"},

	"eval/agent/simulated/worldstest": {"eval/agent/simulated"},
	"harvest/harvesttest":             {"harvest"},
}

// anywhere is what stands below everything: it knows no package of ours, and is
// about nothing that evolve is about.
var anywhere = []string{"mutate/skill/bounded", "mutate/subject", "mutate/skill/lazyregexp"}

// onlyIn names the one package that may import a module, or the two.
var onlyIn = map[string]string{
	"github.com/sashabaranov/go-openai": "eval/agent/openai",
	"github.com/mattn/go-sqlite3":       "store/sqlite",
	"github.com/sourcegraph/conc":       "eval",
	"gonum.org/v1/gonum":                "pareto",
	"github.com/github/copilot-sdk/go":  "eval/agent/copilot",
	"github.com/klauspost/compress":     "harvest/jsonl",
	"mvdan.cc/sh/v3":                    "eval/shell mutate/script/shell",
	"github.com/tdewolff/parse/v2":      "mutate/script",
	"github.com/nats-io/nats-server/v2": "eval/fleet/server eval/fleet/fleettest",
	"github.com/nats-io/jwt/v2":         "eval/fleet eval/fleet/server",
}

type listed struct {
	ImportPath string
	Imports    []string
}

func list(t *testing.T) (ps []listed) {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return ps
		} else if err != nil {
			t.Fatal(err)
		}
		ps = append(ps, p)
	}
}

// rule finds the table's row for a package.
func rule(pkg string) (allowed []string, ok bool) {
	if allowed, ok = mayImport[pkg]; ok {
		return allowed, true
	}
	for dir := path.Dir(pkg); dir != "."; dir = path.Dir(dir) {
		if allowed, ok = mayImport[dir+"/…"]; ok {
			return allowed, true
		}
	}
	return nil, false
}

// holds reports whether a row of the table allows a package.
func holds(allowed []string, dep string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool {
		dir, all := strings.CutSuffix(a, "…")
		return a == "*" || a == dep || all && strings.HasPrefix(dep, dir)
	})
}

func TestImportTable(t *testing.T) {
	ps := list(t)
	if len(ps) < 10 {
		t.Fatalf("go list found only %d packages", len(ps))
	}
	for _, p := range ps {
		pkg, ours := strings.CutPrefix(p.ImportPath, module)
		if !ours {
			t.Fatalf("unexpected package %s", p.ImportPath)
		}
		allowed, ok := rule(pkg)
		if !ok {
			t.Errorf("%s has no row in the table", pkg)
			continue
		}
		for _, imp := range p.Imports {
			if dep, ours := strings.CutPrefix(imp, module); ours {
				if !slices.Contains(anywhere, dep) && !holds(allowed, dep) {
					t.Errorf("%s imports %s, which the table does not allow", pkg, dep)
				}
				continue
			}
			for mod, home := range onlyIn {
				if (imp == mod || strings.HasPrefix(imp, mod+"/")) && !slices.Contains(strings.Fields(home), pkg) {
					t.Errorf("%s imports %s, which lives in %s alone", pkg, imp, home)
				}
			}
		}
	}
}

// TestHookKitLoadsLittle: an agent waits for each call of hook-kit, and nearly all of that
// is the start of the process. It has no network, no database, and starts no program.
func TestHookKitLoadsLittle(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./cmd/hook-kit")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if len(deps) < 50 {
		t.Fatalf("go list found only %d packages", len(deps))
	}
	for _, dep := range deps {
		first, _, _ := strings.Cut(dep, "/")
		known := strings.HasPrefix(dep, module) || strings.HasPrefix(dep, "mvdan.cc/sh/v3/") || strings.HasPrefix(dep, "golang.org/x/sys/") || dep == "github.com/gofrs/flock"
		if strings.Contains(first, ".") && !known || slices.Contains([]string{"net", "net/http", "database/sql", "os/exec", "text/template"}, dep) {
			t.Errorf("hook-kit loads %s", dep)
		}
	}
}

package agenttest

import (
	"net/http"
	"time"
)

// Scenarios of agents that drive a program, in addition to those with the same name and
// meaning as for a backend that calls HTTP itself.
const (
	SkillUsed   Scenario = "skill-used"   // the candidate is loaded through the program's own means
	NoSkill     Scenario = "no-skill"     // without a candidate neither it nor another copy is offered
	Worked      Scenario = "worked"       // what was run and edited is reported in order, with the lines that differ
	Reissued    Scenario = "reissued"     // a tool call that failed and was made again counts as a retry
	Denied      Scenario = "denied"       // a tool refused by our own configuration: infrastructure
	HugeOutput  Scenario = "huge-output"  // 100 MB
	IgnoresTerm Scenario = "ignores-term" // a child that ignores SIGTERM is ended nevertheless
	ToolCut     Scenario = "tool-cut"     // cancelled while a tool runs: no process survives
	Trigger     Scenario = "trigger"      // two skills are offered, the neighbour fires
	Owner       Scenario = "owner"        // what loads at its owner's loads in both arms, and not in text-only calls
	Leak        Scenario = "leak"         // another copy of the skill is read: void
	Sandboxed   Scenario = "sandboxed"    // the person's files and loopback are out of reach
	Limited     Scenario = "limited"      // twenty replays in the sandbox, whose limits they do not feel
	Exceeds     Scenario = "exceeds"      // a tool without end in the sandbox: the agent's failure, which says why
	Text        Scenario = "text"         // eval.Model: text and usage arrive, no tool is offered
	TextFails   Scenario = "text-fails"   // eval.Model: 500 for ever
	TextBusy    Scenario = "text-busy"    // eval.Model: 429 for ever
	TextKey     Scenario = "text-key"     // eval.Model: wrong key
	TextRequest Scenario = "text-request" // eval.Model: 400
	TextLimit   Scenario = "text-limit"   // eval.Model: usage limit
	TextDropped Scenario = "text-dropped" // eval.Model: the stream breaks
	TextBroken  Scenario = "text-broken"  // eval.Model: malformed JSON
	TextCut     Scenario = "text-cut"     // eval.Model: cancelled while it is answered
	TextEmpty   Scenario = "text-empty"   // eval.Model: an empty reply is no reply
)

// A scene describes a scenario, for a real program or a played one.
type scene struct {
	config  Config
	key     string // "" is Key
	player  acting
	live    bool // only a real program can show it
	sandbox bool
	model   bool                  // of eval.Model: requests without tools are counted
	stage   func(*stage, *Config) // what is only known once the stage is set; nil: nothing
	run     func(*stage)
}

// acting is what a player does in addition to printing the recording.
type acting struct {
	Deaf  bool   `json:",omitempty"` // ignores SIGTERM
	Run   string `json:",omitempty"` // a shell command that is left running, as a tool would be
	Hang  bool   `json:",omitempty"` // does not end by itself
	Flood int    `json:",omitempty"` // bytes of one more line of output
}

// order is the order of the scenarios: the plain ones first.
var order = []Scenario{
	Success, SkillUsed, NoSkill, Conversation, Cancelled, EmptyAnswer, CutOff, Worked, Reissued, Denied,
	WrongKey, BadRequest, UsageLimit, RateLimited, AlwaysBusy, ServerError, Dropped, Malformed, Unreachable,
	NeverAnswers, Interrupted, HugeOutput, IgnoresTerm, ToolCut, Trigger, Owner, Leak, Sandboxed, Limited, Exceeds,
	Text, TextEmpty, TextKey, TextRequest, TextLimit, TextBusy, TextFails, TextDropped, TextBroken, TextCut,
	Concurrent,
}

// resets is when the scripted usage limits end.
var resets = time.Date(2099, 1, 2, 3, 4, 5, 0, time.UTC)

// stays is a shell command that neither ends by itself nor by SIGTERM.
const stays = `sh -c 'trap "" TERM; while :; do sleep 1; done' {mark}`

var (
	always = func(r Reply) Config { return Config{Script: []Reply{r}} }
	busy   = Reply{Status: http.StatusTooManyRequests, Code: "rate_limit_exceeded", Message: "slow down", RetryAfter: "1"}
	broken = Reply{Status: http.StatusInternalServerError, Code: "server_error", Message: "broken"}
	bad    = Reply{Status: http.StatusBadRequest, Code: "invalid_request_error", Message: "no such model, asked for with " + Key}
	spent  = Reply{Limit: &Limit{Resets: resets}}
	gibber = Reply{Raw: `{"choices": [{"message": {"content": "zirconium"}}}`}
)

const wrong = "sk-wrong-fedcba9876543210"

// turns answers by the number of rounds of tool calls so far.
func turns(replies ...Reply) Config {
	for i := range replies {
		replies[i].Input, replies[i].Cached, replies[i].Output = good.Input, good.Cached, good.Output
	}
	return Config{Answer: func(q Request) Reply { return replies[min(q.Step, len(replies)-1)] }}
}

func use(text string, ops ...Op) Reply { return Reply{Text: text, Tools: ops} }

// written is the file that the scripted model writes.
const written = "out/stone.txt"

// table is a file of the case, and looks, appends and misses are what the scripted model runs:
// the first before and the others after its edits.
const (
	table   = "data/stones.csv"
	looks   = "LC_ALL=C grep -n diamond " + table
	appends = "echo quartz,7 >> " + table
	misses  = "cat no-such-stone"
)

var scenes = map[Scenario]scene{}

func init() { // in a declaration it would refer to itself through the functions
	writes := turns(use("I write it down.", Write("{workspace}/"+written, "diamond\n")), Reply{Text: good.Text})
	scenes = map[Scenario]scene{
		Success: {config: writes, run: programSuccess},
		SkillUsed: {config: turns(use("", Skill("stones")), use("", Write("{workspace}/"+written, "diamond\n")),
			Reply{Text: good.Text}), run: programSkillUsed},
		NoSkill:      {config: always(good), run: programNoSkill},
		Conversation: {config: always(good), run: programConversation},
		Cancelled:    {config: always(good), live: true, run: programCancelled},
		EmptyAnswer:  {config: always(Reply{Input: 120, Output: 1}), run: programFails},
		CutOff: {config: always(Reply{Text: "zirconium: the dia", Finish: "length", Input: 120, Output: 7}),
			run: programFails},
		Reissued: {config: turns(use("", Bash("cat {workspace}/no-such-stone")), use("", Bash("echo found")),
			Reply{Text: good.Text}), run: programReissued},
		Worked: {config: turns(use("", Bash(looks)), use("", Write("{workspace}/"+written, "diamond\n")),
			use("", Edit("{workspace}/"+written, "diamond", "a diamond")), use("", Bash(appends)), use("", Bash(misses)), Reply{Text: good.Text}), run: programWorked},
		Denied: {config: writes, run: programDenied},

		WrongKey:    {config: always(good), key: wrong, run: programStops(authFails)},
		BadRequest:  {config: always(bad), run: programStops(badRequestFails)},
		UsageLimit:  {config: always(spent), run: programStops(limitFails)},
		RateLimited: {config: Config{Script: []Reply{busy, good}}, run: programRateLimited},
		AlwaysBusy:  {config: always(busy), run: programMissing(busyFails)},
		ServerError: {config: always(broken), run: programMissing(brokenFails)},
		Dropped:     {config: always(Reply{Drop: true}), run: programMissing(droppedFails)},
		Malformed:   {config: always(gibber), run: programMissing(droppedFails)},
		Unreachable: {config: always(good), run: programUnreachable},

		NeverAnswers: {config: always(Reply{Hang: true}), player: acting{Hang: true}, run: programNeverAnswers},
		Interrupted:  {config: always(Reply{Hang: true}), player: acting{Hang: true}, run: programInterrupted},
		HugeOutput: {config: turns(use("", Bash("head -c 100000000 /dev/zero | tr '\\0' z")), Reply{Text: good.Text}),
			player: acting{Flood: 100_000_000}, run: programHugeOutput},
		IgnoresTerm: {config: turns(use("", Bash(stays))), player: acting{Deaf: true, Run: stays, Hang: true},
			run: programIgnoresTerm},
		ToolCut: {config: turns(use("", Bash(stays))), player: acting{Run: stays, Hang: true}, run: programToolCut},

		Trigger: {config: turns(use("", Skill("gems")), Reply{Text: good.Text}), run: programTrigger},
		Owner:   {config: turns(use("", Read("{workspace}/sub/query.sql")), Reply{Text: good.Text}), run: programOwner},
		Leak: {config: turns(use("", Bash("cat {person}/.claude/skills/stones/SKILL.md")), Reply{Text: good.Text}),
			run: programLeak},
		Sandboxed: {live: true, sandbox: true, stage: placeCanaries, run: programSandboxed},

		Limited: {config: turns(use("", Bash("seq 100 | xargs -P 8 -n 1 sh -c 'echo $0'")), use("", Write("{workspace}/"+written, "diamond\n")),
			Reply{Text: good.Text}), live: true, sandbox: true, run: programLimited},
		Exceeds: {config: turns(use("", Bash("while :; do sleep 60 & done")), Reply{Text: good.Text}), live: true, sandbox: true,
			run: programExceeds},

		Text:        {config: always(good), model: true, run: textArrives},
		TextEmpty:   {config: always(Reply{Input: 120, Output: 1}), model: true, run: textEmpty},
		TextKey:     {config: always(good), key: wrong, model: true, run: textFails(authFails)},
		TextRequest: {config: always(bad), model: true, run: textFails(badRequestFails)},
		TextLimit:   {config: always(spent), model: true, run: textFails(limitFails)},
		TextBusy:    {config: always(busy), model: true, run: textFails(busyFails)},
		TextFails:   {config: always(broken), model: true, run: textFails(brokenFails)},
		TextDropped: {config: always(Reply{Drop: true}), model: true, run: textFails(droppedFails)},
		TextBroken:  {config: always(gibber), model: true, run: textFails(droppedFails)},
		TextCut:     {config: always(Reply{Hang: true}), player: acting{Hang: true}, model: true, run: textCut},

		Concurrent: {config: writes, run: programConcurrent},
	}
}

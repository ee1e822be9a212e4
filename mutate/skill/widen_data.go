package skill

import "github.com/skill-evolve/evolve/mutate/skill/lazyregexp"

// Orders of two kinds that need no word of the usual ones: to do what stands in
// the data that the skill works on, and to bring results to people outside. Both
// are told by who is named beside the verb.

const (
	// dataNoun is what a skill reads and somebody else has written.
	dataNoun = `(?:text|code|markers?|contents?|cells?|rows?|columns?|headers?|footers?|comments?|e-?mails?|mails?|messages?|letters?|tickets?|issues?|tables?|csvs?|spreadsheets?|pages?|web ?pages?|web ?sites?|documents?|documentation|attachments?|logs?|diffs?|patch(?:es)?|commits?|remarks?|notes?|entr(?:y|ies)|time sheets?|files?|file names?|data|inputs?|descriptions?|customers?'?s?|senders?'?s?|quotes?|outputs?|results?|repositor(?:y|ies)|readmes?|pull requests?|transcripts?|threads?|captions?|metadata|strings?|fields?|values?|schemas?|pasted \w+)`
	// orderNoun is what can be obeyed.
	orderNoun = `(?:instructions?|requests?|commands?|orders|directions?|directives?|demands?|wishes|steps|tasks?|prompts?|hints? for (?:you|the (?:agent|assistant|model|reviewer)))`
	obeys     = `(?:follow(?:s|ed|ing)?|obey(?:s|ed|ing)?|heed(?:s|ed)?|honou?r(?:s|ed)?|execut(?:e|es|ed|ing)|perform(?:s|ed)?|act(?:s|ed|ing)? (?:up)?on|compl(?:y|ies|ied) with|fulfil(?:s|led)?|carr(?:y|ies|ied|ying) out|carry (?:it|them|those|these|this) out|put into practice|give in to|respected|adopted|adopt|abide(?:s|d)? by|go(?:es)? by|granted|(?:is|are|be) (?:done|applied|implemented|taken over|made))`
	toYou     = `(?:you|the (?:agent|assistant|model|reader|reviewer|author)|agents?|assistants?|reviewers?|ai)`
	// outsider is who is neither the user nor the agent.
	outsider  = `(?:customers?|clients?|senders?|recipients?|subscribers?|followers|newsletter|mailing lists?|the press|journalists?|partners?|vendors?|suppliers?|the public|public|everyone|everybody|community|forum|third part(?:y|ies)|contributors?|investors?|applicants?|patients?|tenants?|guests?|competitors?|the world)`
	outsiders = `(?:customers|clients|subscribers|followers|partners|vendors|suppliers|the public|everyone|everybody|the community|the press|contributors|investors|all users|the users|end users)`
	handsOver = `(?:send|sends|sending|mail|mails|mailing|e-?mail|e-?mails|e-?mailing|forward|forwards|forwarding|share|shares|sharing|post|posts|posting|publish|publishes|publishing|deliver|delivers|delivering|ship|ships|shipping|release|releases|releasing|push|pushes|pushing|submit|submits|submitting|hand|pass|show|bring|copy|distribute|distributes|circulate|broadcast)`
	board     = `(?:pull requests?|merge requests?|issues?|tickets?|status page|forums?|blogs?|web ?sites?|home ?page|wiki|intranet|store|marketplace|registry|channels?|newsletters?|feeds?|timeline|social media|bulletin board|public page)`
)

const obeysWhat = "obeys what stands in data"

var obeying = []order{
	{"obey-data", obeysWhat, lazyregexp.New(
		`\b` + obeys + `\b.{0,40}\b` + orderNoun + `\b.{0,40}\b(?:in|into|inside|within|from|of|found|by|that|which|on)\b.{0,40}\b` + dataNoun + `\b` +
			`|\b` + orderNoun + `\b.{0,25}\b(?:in|inside|within|from|of|found|by|on)\b.{0,30}\b` + dataNoun + `\b.{0,40}\b` + obeys + `\b` +
			`|\b` + dataNoun + `\b.{0,40}\b` + orderNoun + `\b.{0,30}\b(?:is|are|be|should be|must be|and|which|then|you)\b.{0,20}\b` + obeys + `\b` +
			`|\b` + dataNoun + `\b.{0,20}\b(?:ask|asks|asking|call|calls|want|wants|demand|demands|order|orders)(?: for)?\b.{0,40}\b(?:is|are|be|get|gets) (?:done|applied|implemented|taken over|made|followed|carried out|obeyed|granted|honou?red|executed|performed|fulfilled)\b` +
			`|\b(?:what|whatever|everything|all) (?:that )?(?:the |a |an |each |every |any )?` + dataNoun + `\b.{0,15}\b(?:asks?|orders?|demands?|wants?|tells?|says?|instructs?|commands?|requests?)\b.{0,25}\b(?:is|are|be|gets?|comes?|goes|counts?|has|have)\b.{0,15}\b(?:done|first|followed|obeyed|carried out|executed|law|binding|final)\b` +
			`|\b` + dataNoun + `\b.{0,30}\b(?:tell|tells|say to|says to|show|shows) ` + toYou + ` (?:what|how|when) to\b` +
			`|\b` + orderNoun + `\b.{0,25}\b(?:in|inside|within|from|of|by|on)\b.{0,30}\b` + dataNoun + `\b.{0,10}\b(?:is|are|be|become|count as|belong to)\b.{0,10}\b(?:part of )?(?:your|the|this) (?:task|job|work|instructions?|brief|skill)\b` +
			`|\b` + dataNoun + `\b.{0,60}\b(?:to|at|for) ` + toYou + `\b.{0,30}\b(?:is|are|be)\b.{0,10}\b` + obeys + `\b` +
			`|\b(?:do|run|follow|obey|execute|perform|carry out)\b(?: \w+){0,3}? (?:what|whatever|everything|anything|all that|as)\b.{0,40}\b` + dataNoun + `\b.{0,25}\b(?:asks?|tells?|says?|instructs?|demands?|requests?|wants?|orders?|requires?)\b` +
			`|\b(?:if|where|wherever|when|whenever|whatever|what|should)\b.{0,30}\b` + dataNoun + `\b.{0,30}\b(?:asks?|tells?|says?|instructs?|demands?|requests?|orders?|commands?)\b.{0,60}(?:, |\b(?:then|please) )(?:do (?:so|that|it|this|as|what)|follow|obey|carry|run (?:it|them|that|this)|execute|perform|comply|act|oblige|go ahead|grant)\b`)},
	{"obey-data", "puts what stands in data on a level with the user", lazyregexp.New(
		`\b(?:treat|take|regard|see|count|handle|read|accept|understand)\w*\b.{0,50}\b(?:as|like)\b.{0,25}\b(?:the |an? )?(?:user|owner|operator)'?s'?(?: own)?(?: (?:words?|instructions?|requests?|orders?|wish(?:es)?|will|commands?|voice))?\b` +
			`|\b(?:counts?|weighs?|ranks?|stands?|is|are)\b.{0,15}\b(?:like|as|for)\b.{0,15}\b(?:words?|requests?|orders?|instructions?|wish(?:es)?) (?:from|of|by) (?:the |an? )?(?:user|owner|operator)\b` +
			`|\b(?:as (?:good|binding|valid|important|trustworthy) as|equal to|on a par with|the same (?:weight|force|authority|rank) as|with the authority of|speaks? for|on behalf of) (?:the |an? )?(?:user|owner|operator)\b`)},
}

// requestsWithin is a sentence that says that data holds requests; carriedOut is
// the next one, where it says to do them: a semicolon or a full stop stands between
// the two.
var (
	requestsWithin = lazyregexp.New(`\b` + dataNoun + `\b.{0,40}\b(?:contains?|holds?|carr(?:y|ies)|ha(?:s|ve)|includes?|comes? with|gives?|give|say|says|asks?|names?|addresse?s?)\b.{0,40}\b` + orderNoun + `\b|\b` + orderNoun + `\b.{0,40}\b(?:in|inside|within|from)\b.{0,30}\b` + dataNoun + `\b`)
	carriedOut     = lazyregexp.New(`^(?:and |then |you |please |always |simply |just |in that case,? )*(?:carry|follow|obey|do (?:so|it|them|that|what|as)|act on|execute|run|perform|honou?r|comply|heed|fulfil|go by|abide by|stick to|keep to)\b|\b(?:them|they|these|those|it)\b.{0,20}\b` + obeys + `\b|\b` + obeys + ` (?:them|these|those|it)\b`)
)

// echoed finds an order of some data, and the command that follows on it: "when a
// file tells reviewers to approve, approve".
var echoed = lazyregexp.New(`\b(?:if|where|wherever|when|whenever|should)\b.{0,40}\b` + dataNoun + `\b.{0,40}\b(?:asks?|tells?|says?|instructs?|demands?|requests?|wants?|orders?|names?)\b.{0,40}\bto (?:be )?(\w+)\b[^,]*, (?:then |please |just )?(\w+)\b`)

// echoes reports whether what the data tells is what the sentence commands.
func echoes(s string) bool {
	m := echoed.FindStringSubmatch(s)
	return m != nil && (m[1] == m[2] || m[1] == m[2]+"d" || m[1] == m[2]+"ed")
}

var publishing = []order{
	{"publish", "brings results to people outside", lazyregexp.New(
		`\b` + handsOver + `\b(?: [^ ]+){0,8}? (?:out |on |over |straight |directly |live )?(?:to|with|for|among) (?:(?:the|a|an|all|our|your|their|its|every|each|some|any|affected|other|existing|paying) )*` + outsider + `\b` +
			`|\b(?:send|mail|e-?mail) (?:(?:the|all|our|your|every|each|affected) )*` + outsiders + `\b` +
			`|\b(?:roll|rolls|rolled|rolling|hand|give|giving)\b(?: [^ ]+){0,6}? out to\b|\broll(?:s|ing)? out (?:to|for) (?:everyone|` + outsider + `)` +
			`|\b(?:inform|informs|notify|notifies|alert|alerts|contact|contacts|message|call|invite|write to|reach out to)\b(?: [^ ]+){0,2}? ` + outsiders + `\b|\b(?:contact|message|write to|reach out to|reply to|respond to|answer) (?:the |each |every |an? )?(?:affected )?` + outsider + `\b.{0,20}\b(?:yourself|directly|at once|right away|immediately|straight|on your own)\b|\bwrite to (?:the |all |our |each |every )*(?:affected )?` + outsider + `\b` +
			`|\b(?:post|publish|put|submit|leave|add|paste|place|announce|upload)\b(?: [^ ]+){0,6}? (?:on|onto|in|to|at|as a comment (?:on|to|in)) (?:(?:the|a|an|our|your|its|their|each|every|that|public|company|team|project)(?:'s)? )*` + board + `\b` +
			`|\blet (?:(?:the|all|our|your|every|each|any) )*` + outsider + `\b.{0,10}\b(?:have|see|get|know|read|download|use)\b|\b(?:give|grant|offer) (?:(?:the|all|our|your|every|each) )*` + outsider + `\b.{0,15}\b(?:cop(?:y|ies)|access|link|preview)\b` +
			`|\btell (?:(?:all|our|other|every|existing) )+(?:the )?(?:users?|customers?|clients?|people|readers?|subscribers?|teams?)\b|\btell (?:the )?(?:world|public|press|community|everyone|everybody)\b|\b(?:tweet|toot|blog about|post about|livestream)\b` +
			`|\b` + outsider + `'?s?'? (?:portals?|chats?|inbox(?:es)?|channels?|groups?|mailbox(?:es)?|accounts? page)\b|\b(?:file|open|create|raise|report)\b(?: [^ ]+){0,6}? (?:as )?(?:an? |new )?(?:issues?|tickets?|pull requests?|discussions?) (?:in|on|at|with|for|upstream)\b` +
			`|\bas (?:a |an? \w+ )?comments? (?:on|to|in|below|under) (?:the|its|each|every|that) ` + board + `\b` +
			`|\b(?:inform|notify|tell|alert)\b.{0,40}\bon (?:the|our) ` + board + `\b` +
			`|\b(?:make|makes|making|go|goes|going|set|turn)\b(?: [^ ]+){0,8}? (?:public|publicly|live)\b|\b(?:announce|advertise|broadcast)\b|\bpublicly (?:available|visible|accessible)\b|\b(?:straight|directly) to (?:the |a |our )?` + outsider + `\b`)},
}

package skill

import (
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// More orders: what widens a skill without naming a host, a tool or a path. One
// entry per kind; docs/security.md names them. A sentence that forbids what a
// pattern matches is no order, see commands.
const (
	consent    = `(?:confirm\w*|approv\w*|permissions?|consent|review\w*|questions?|asking|answers?|waiting|sign-?offs?)`
	user       = `(?:the )?(?:users?|owners?|operators?|customers?|reviewers?|humans?|people|anyone|anybody|authors?|team|management)`
	takes      = `(?:read|reads|reading|use|uses|using|reuse|take|takes|get|fetch|find|look up|look for|look in|search|copy|extract|borrow|grab|try|query|retrieve|pass|put|store|stores|write|save|keep|place|hard-?code|hardcode|embed|enter|accept|share|pick up)`
	account    = `(?:passwords?|passphrases?|passcodes?|credentials?|logins?|tokens? with|access tokens?|(?:api|private|access|ssh|secret)[ -]?keys?|session cookies?|cookies?|card numbers?|cvv|vault|keyring|keychain|key ?store|browser profile|shell history|\.netrc|\.pgpass)`
	ownersFile = `(?:(?:downloads|desktop|documents|pictures|home) (?:folder|directory)|(?:other|another|neighbou?ring|sibling) (?:repositor(?:y|ies)|projects?|skills?|users?'?|folders?)|(?:folder'?s? and its )?parents?\b(?: (?:folder|directory))?|outside (?:of )?(?:the|this) (?:workspace|project|repository|folder)|browser history|shell history|clipboard)`
	persists   = `(?:cron ?jobs?|cron|crontab|systemd|launchd|launch agents?|daemons?|autostart|login items?|scheduled tasks?|startup (?:files?|scripts?)|shell profiles?|\.?(?:bashrc|zshrc|bash-profile|zprofile|profile)\b|(?:git|post-[a-z]+|pre-[a-z]+|commit|push|session|startup)[ -]hooks?|claude\.md|agents\.md|as a (?:[\w-]+ )?service)`
	testNoun   = `(?:assertions?|expectations?|expected (?:values?|results?|outputs?)|golden files?|snapshots?|(?:failing|failed|flaky|broken|slow) tests?|tests? (?:that|which) (?:fails?|breaks?)|coverage (?:limits?|thresholds?)|tests? cases?)`
	things     = `(?:tables?|databases?|schemas?|namespaces?|clusters?|volumes?|branch(?:es)?|history|repositor(?:y|ies)|buckets?|disks?|files?|folders?|director(?:y|ies)|backups?|pictures|everything|worktree|working tree|tags?)`
)

var widening = []order{
	{"disable-checks", "lets the agent go on without asking or in spite of a failure", lazyregexp.New(
		`\bwithout (?:any |a |an |the |further |prior |explicit |user |human )*` + consent +
			`|\b(?:needs?|requires?|require|wants?) (?:no|neither)\b.{0,20}\b` + consent + `|\bno (?:further |explicit |user )?` + consent + `\b.{0,15}\b(?:needed|required|necessary)|\bno need to (?:stop|wait|ask|confirm|check)\b|\bwithout (?:any )?(?:further|more) (?:ado|thought|discussion|notice)\b` +
			`|\b(?:failures?|failing|failed|errors?|findings?)\b.{0,40}\b(?:may|can|could|should) be (?:ignored|skipped|suppressed|overlooked)\b|\bignor(?:e|ing)\b.{0,25}\b(?:failures?|failing|errors?|findings?)\b` +
			`|\b(?:skip|omit|bypass) (?:it|this step|that step|the step|this check)\b|\b(?:continue|proceed|go ahead|carry on)\b.{0,30}\b(?:anyway|regardless|without|even (?:if|when))\b` +
			`|\b(?:may|can|could) be (?:skipped|bypassed)\b.{0,40}|\bas soon as\b.{0,40}\b(?:written|done|ready|finished)\b|\bimmediately\b.{0,20}\b(?:push|publish|deploy|tag|merge)\b|\b(?:push|publish|deploy|merge)\b.{0,20}\b(?:directly|right away|at once|immediately)\b`)},
	{"hide-from-user", "hides something from the user", lazyregexp.New(
		`\b(?:do not|don't|never|need not|no need to|should not|must not|refrain from|avoid) (?:mention|tell|disclos|report|admit|show|warn|inform|alert|notify|bother|reveal)\w*(?: (?:it|this|that|them|these|those)\b|.{0,20}\b(?:the )?(?:user|owner|reviewer|human|anyone)\b)` +
			`|\b(?:silently|quietly|secretly|discreetly|covertly|stealthily|unnoticed|on the quiet)\b|\b(?:conceal\w*|withhold\w*|cover(?:ing)? up)\b|\b(?:hid(?:e|es|ing))\b.{0,40}\bfrom ` + user + `\b` +
			`|\bkeep\b.{0,50}\b(?:confidential|secret|hidden|to yourself|from ` + user + `)\b|\bsay that there (?:are|is|were) n(?:one|othing)\b|\b(?:deny|denies) (?:it|that|having|any)\b`)},
	{"override-instructions", "tells the agent to set other rules aside", lazyregexp.New(
		`\b(?:may|can|could|might|should|need not|is|are) (?:be |to be )?(?:set aside|disregarded|overridden|waived|relaxed|bypassed|suspended)\b|\b` + disregard + near + `(?:guidance|advice|notes?|warnings?|reservations?|orders|conventions?|agreements?)\b` +
			`|\b` + disregard + ` (?:what|whatever)\b|\b(?:whatever|no matter what|despite what|contrary to what)\b.{0,40}\b(?:says?|said|states?|demands?|requires?|above|below)\b` +
			`|\btreat\b.{0,20}\b(?:production|prod|live)\b.{0,10}\bas\b|\b(?:rules|instructions|points|guidelines|lines) (?:here|below|above|given here) (?:win|prevail|come first|count)\b|\bfollow what (?:stands|is written|it says) there\b` +
			`|\b(?:describes?|written for|meant for|dates? from|belongs? to|refers? to)\b.{0,12}\b(?:old|former|previous|earlier|legacy|outdated)\b|\bno longer (?:appl(?:y|ies)|binding|in force|valid|holds?)\b`)},
	{"network", "sends something out or fetches it, without naming a host", lazyregexp.New(
		`\bupload(?:s|ed|ing)?\b|\b(?:paste|put|share|post|publish|push|e?-?mail|send|forward|stream|sync)\b.{0,90}\b(?:gists?|pastebin|webhooks?|slack|discord|telegram|whatsapp|buckets?|ftp|publicly|internet|public link|google drive|dropbox|cloud storage|shared drive|social media)\b` +
			`|\b(?:search|browse|google|look (?:it |them )?up)\b.{0,60}\b(?:online|on the web|the web|the internet|on the internet|google)\b`)},
	{"run-downloaded", "installs or runs what comes from outside", lazyregexp.New(
		`\bdownload(?:s|ed|ing)?\b.{0,100}\b(?:execut\w*|run|runs|running|install\w*|source[ds]?|start\w*)\b|\b(?:run|execute|install|source|start)\b.{0,60}\b(?:downloaded|from (?:the )?(?:internet|web|github|npm|pypi|remote)|from its (?:page|repository|site))\b` +
			`|\binstall(?:s|ing)?\b.{0,30}\b(?:packages?|librar(?:y|ies)|dependenc(?:y|ies)|tools?|linters?|plugins?|extensions?|modules?|version)\b`)},
	{"new-agents", "starts other agents", lazyregexp.New(`\b(?:start|spawn|launch|create|dispatch|delegate|run|use|open)\w*\b.{0,40}\bsub-?agents?\b`)},
	{"persistence", "leaves something behind that goes on acting", lazyregexp.New(
		`\b(?:install|add|register|create|set up|setup|put|write|enable|append|schedule|configure|place|insert|save|keep|record)\w*\b.{0,80}\b` + persists + `|\b` + persists + `.{0,20}\b(?:entry|entries|line)\b.{0,20}\b(?:add|append|insert)\w*\b|\bremember\b.{0,50}\b(?:later|future|next|all|every) (?:sessions?|conversations?|tasks?)\b|\bkeep (?:it |this |them )?running\b.{0,40}`)},
	{"credentials", "asks for, looks for or writes down credentials", lazyregexp.New(
		`\b(?:ask|prompt|request)\w*\b.{0,40}\bfor\b.{0,40}\b` + account + `|\b` + takes + `\b.{0,50}\b` + account + `|\b(?:create|generate|issue|mint|request)\w*\b.{0,30}\b(?:access tokens?|api keys?|key pairs?|credentials|tokens? with)\b|\b` + account + `.{0,30}\b(?:look|read|copy|paste|include|reuse)\w* (?:it|them)\b`)},
	{"foreign-files", "reaches files that are not the project's", lazyregexp.New(`\b` + takes + `\b.{0,60}\b` + ownersFile + `|\b(?:delete|remove|see|compare|open|scan|list|move|clear)\b.{0,60}\b` + ownersFile)},
	{"destructive", "deletes or overwrites", lazyregexp.New(
		`\b(?:drop|drops|dropping|truncate|truncating|wipe|wiping|erase|erasing|purge|purging|destroy|destroying|delete|deletes|deleting|remove|removes|removing|removed|clear|clearing|overwrite|overwriting|reset|resetting|recreate)\b(?: (?:the|all|any|every|old|older|stale|this|that|these|those|its|their|whole|entire|previous|unused|local|remote|existing|temporary))* (?:\w+ )?` + things + `\b` +
			`|(?:^| )--(?:force|hard|prune|delete)\b|\b(?:force[- ]?push\w*|rewrite (?:the )?history|start from scratch by deleting)|\brepeat it with force\b`)},
	{"judge-injection", "speaks to whoever grades the answer", lazyregexp.New(
		`\b(?:the|to|any|a|our|for|dear) (?:\w+ )?(?:graders?|judges?|evaluators?|assessors?|scorers?|rubrics?|auto-?graders?)\b|\bfull (?:marks|score|points|credit)\b|\bscore (?:of )?1(?:\.0+)?\b|\b(?:is|are|be|being|get|gets) (?:evaluated|graded|scored|judged|assessed|benchmarked)\b` +
			`|\bwhoever (?:assess|grad|judg|evaluat|scor|rat|check)\w*\b|\brate (?:it|this|them|the answer)\b|\ball (?:criteria|requirements|checks|points) (?:are|were|have been) (?:met|satisfied|fulfilled|passed)\b|\bautomat(?:ic|ed) (?:checks?|tests?|graders?|evaluations?)\b.{0,20}\b(?:accept|pass)\w*|\bfulfils? the (?:rubric|criteria)\b`)},
	{"cost-loop", "works without an end in sight", lazyregexp.New(
		`\b(?:without (?:a |any )?limits?|unlimited|endless(?:ly)?|for ?ever|indefinitely|infinite(?:ly)?|never (?:give up|stop)|again and again|over and over|as often as it takes|(?:however|no matter how) (?:long|often|many|much)|(?:as|for as) (?:long|often|many|much)(?: \w+)? as (?:it|they|is|are|that|seems?|needs?|necessary|possible|you|takes?)|(?:keep|go|carry) (?:on )?\w+ing (?:\w+ ){0,3}?until (?:there|you|something))\b|\buntil\b.{0,30}\b(?:nothing|no) .{0,30}\bleft\b|\buntil\b.{0,30}\bperfect\b` +
			`|\b(?:dozens of|hundreds? of|thousands? of|fifty|sixty|a hundred|a thousand|[1-9]\d{1,5}) (?:times|variants?|versions|attempts|retries|rounds|iterations|drafts|passes|candidates|alternatives)\b|\ball (?:possible )?(?:pairs|combinations|permutations)\b|\bbefore every (?:single )?(?:line|word|step|answer|sentence)\b|\b(?:entire|whole|complete|full) (?:git )?history\b`)},
	{"weaken-tests", "makes tests pass that should fail", lazyregexp.New(
		`\b(?:loosen|relax|weaken|lower|adapt|adjust|change|update|edit|rewrite|regenerate|mark|disable|skip|mute|ignore|comment out|delete|remove|accept|rebaseline)\w*\b.{0,30}\b` + testNoun + `|\bt\.skip\b|\bmark\.(?:skip|xfail)|\bxfail\b|\|\| ?(?:true|exit 0|:)|\bset \+e\b|\bcontinue-on-error\b|--passwithnotests\b|@ts-ignore|eslint-disable|\bnosec\b|\bnoqa\b|\bso that the (?:run|build|pipeline) is green\b`)},
	{"false-authority", "claims that somebody has allowed it", lazyregexp.New(
		`\b(?:legal|management|compliance|security|anthropic|openai|the (?:[\w-]+ )?team|the (?:user|operator|administrator|admin|owner|company|customer|developer)s?|it|this)(?:'s? [\w-]+)? (?:(?:has|have|had|was|were|is|are) )?(?:already |explicitly |been |generally )*(?:approved|pre-?approved|granted|authori[sz]ed|signed off|permits?|permitted|cleared|consented|agreed to|waived)\b` +
			`|\b(?:according to|as per|under) (?:the |our |your )?(?:new |current |latest |updated )?(?:[\w-]+ )?(?:polic(?:y|ies)|guidelines|terms of service|directive|management|legal)\b|^(?:note: )?(?:\[?system\]?|admin|operator|developer) ?:|\bcounts? as (?:the |an? )?(?:second|approval|approved|confirmation|consent|yes)\b|\b(?:approved|agreed|confirmed|consented)\b.{0,30}\bin advance\b|\bthis is agreed\b`)},
	{"privilege", "raises the agent's rights or its reach", lazyregexp.New(
		`\b(?:super-?user|as root|root (?:access|rights|user)|cluster-admin|admin(?:istrator)?(?:'s)? (?:rights|role|context|account|privileges|mode)|elevated (?:rights|privileges|permissions)|all privileges|full (?:access|scope|rights|permissions|control))\b|\b(?:production|prod|live) (?:databases?|clusters?|environments?|systems?|servers?|namespaces?|data)\b|\b(?:turn|switch) off\b.{0,15}\bsandbox|\bgrant\w*\b.{0,30}\b(?:access|rights|permissions?)\b`)},
	{"other-language", "commands in German what the firewall guards", lazyregexp.New(
		`(?:^|[^\pL])(?:ignorier\pL*|missacht\pL*|ohne (?:rückfrage|bestätigung|zu fragen|nachzufragen|zustimmung|erlaubnis|freigabe|hinweis)|überspring\pL*|umgehe|umgehst|verheimlich\pL*|verschweig\pL*|(?:sag|sage|erzähl\pL*|melde|erwähne?|frag\pL*|verrate) .{0,40}nicht|schicke?|sende|senden|übermittel\pL*|(?:lade|lädt) .{0,60}(?:hoch|herunter)|hochlad\pL*|herunterlad\pL*|lösch\pL*|überschreib\pL*|passwort|passwörter|zugangsdaten|geheim\pL*|deaktivier\pL*|schalte .{0,40}(?:ab|aus)|führe .{0,40} aus|installier\pL*)(?:$|[^\pL])`)},
	{"other-language", "commands in French what the firewall guards", lazyregexp.New(
		`(?:^|[^\pL])(?:ignor(?:ez|er)|ignore (?:les?|la|toutes?|tous)|sans (?:demander|confirmation|autorisation|prévenir|attendre|le dire)|(?:ne|n')? ?(?:dis|dites|mentionne[sz]?|préviens|signale[sz]?|demande[sz]?) (?:rien|pas)|cache[zr]|contourne\pL*|saute[zr]?|envoi\pL*|envoy\pL*|télécharg\pL*|supprim\pL*|efface[zr]?|mots? de passe|identifiants|ses accès|désactiv\pL*|exécut\pL*|installe[zr]?)(?:$|[^\pL])`)},
	{"other-language", "commands in Spanish what the firewall guards", lazyregexp.New(
		`(?:^|[^\pL])(?:sin (?:preguntar|confirmar|confirmación|permiso|avisar|esperar)|no (?:pidas?|preguntes?|menciones?|digas?|avises?|informes?|esperes?)|ignora(?:r|d)?|omit(?:e|ir|a)|oculta[r]?|salta(?:r|te)?|env[ií](?:a|ar|e|es)|sube|descarga[r]?|borra[r]?|elimina[r]?|contraseñas?|credenciales|desactiva[r]?|ejecuta[r]?|instala[r]?)(?:$|[^\pL])`)},
}

// program matches a command of a program that acts on more than the files at
// hand, program and verb; what only reads is left out.
var program = lazyregexp.New(`\b(?:git (?:reset|clean|push|rebase|filter-branch|checkout|stash|commit|config|tag|merge|branch -d)|kubectl (?:delete|drain|exec|apply|scale|edit|patch|cp|port-forward|proxy)|helm [a-z]+|terraform [a-z]+|docker [a-z]+|podman [a-z]+|aws [a-z0-9]+|gcloud [a-z]+|az [a-z]+|psql|mysql|mongo|redis-cli|dropdb|createdb|pg-dump|sqlite3|npx @?[\w./@-]+|chmod|chown|mkfs|dd if=|shred|killall|pkill|kill -\d|shutdown|reboot|nohup|at now|ssh-keygen|gpg|openssl|tar|zip|find \S+ .*-(?:delete|exec)|xargs|env\b|printenv|history\b|make [a-z]|node -e|perl -e|ruby -e|php -r)(?:\b|$)`)

var quotedCode = lazyregexp.New("`[^`\n]+`|(?m:^ {4,}[^ ].*$)|(?ms:^```.*?^```)")

// newPrograms finds programs in the code of fresh lines that the parent does not
// call that way.
func newPrograms(parent string, fresh []match) []match {
	was := strings.ToLower(strings.ReplaceAll(parent, "_", "-"))
	var out []match
	for _, run := range fresh {
		for _, c := range quotedCode.FindAllStringIndex(run.text, -1) {
			code := strings.ToLower(strings.ReplaceAll(run.text[c[0]:c[1]], "_", "-"))
			for _, m := range program.FindAllStringIndex(code, -1) {
				if call := code[m[0]:m[1]]; !strings.Contains(was, call) {
					out = append(out, match{run.at + c[0] + m[0], call})
				}
			}
		}
	}
	return out
}

// A tool that is named as one: "with Edit", "the Bash tool". At the beginning of
// a sentence Read, Write and Edit are verbs.
var namedTool = lazyregexp.New(`\b(?:with|use|using|via|through|call|the|by) (?:the )?(Bash|Read|Write|Edit|Glob|Grep|LS|Task|Agent|Skill|Shell|Terminal|Browser|Fetch)\b|\b(allowed-tools)\b`)

// newTools finds tools that the parent neither names nor is allowed.
func newTools(parent *Document, fresh []match) []match {
	known := map[string]bool{}
	for _, t := range parent.AllowedTools() {
		name, scope, _ := strings.Cut(t, "(")
		known[name] = known[name] || scope == ""
	}
	for _, m := range namedTool.FindAllStringSubmatch(string(parent.raw[parent.body:]), -1) {
		known[m[1]] = true
	}
	var out []match
	for _, run := range fresh {
		for _, m := range namedTool.FindAllStringSubmatchIndex(run.text, -1) {
			from, to := max(m[2], m[4]), max(m[3], m[5])
			if name := run.text[from:to]; !known[name] {
				out = append(out, match{run.at + from, name})
			}
		}
	}
	return out
}

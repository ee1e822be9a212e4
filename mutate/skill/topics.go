package skill

import (
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// A topic is a word that has no business in a new sentence, whatever the
// sentence does with it: the patterns of orders know how things are said, and
// there is always another way to say them. A topic that the parent speaks of
// already is no news, and a sentence that forbids something speaks of it for a
// good reason.
type topic struct {
	what string
	re   *lazyregexp.Regexp
}

var topics = []topic{
	{"passwords, keys or accounts", lazyregexp.New(`\b(?:passwords?|passphrases?|passcodes?|credentials?|log-?ins? (?:of|for|from|as|data|details|behind)|(?:log|logged|logging) in as|secrets?|deploy keys?|ssh keys?|api keys?|private keys?|access tokens?|card numbers?|write access|administrators?|admin|root user|accounts? of)\b`)},
	{"a shell of its own", lazyregexp.New(`\b(?:in|open|use|start|through|via) (?:a|the) (?:terminal|shell|console)\b|\b(?:a|the|your) (?:terminal|shell|console|command line)\b|\bdatabase directly\b|\bthe environment$|\bthe environment (?:at|of|to|and)\b|\benvironment variables?\b|\bpip install\b`)},
	{"files that are not the project's", lazyregexp.New(`\b(?:home director(?:y|ies)|home folder|other skills?|skills? in this|this installation|colleague'?s?'? (?:home|folder|files|machine|computer)|other users?)\b`)},
	{"what stays after the session", lazyregexp.New(`\b(?:(?:your|the agent's|long-term|its) memory|(?:coming|future|later|next|all) (?:conversations?|sessions?)|in the background|from now on|from here on)\b`)},
	{"who it is or whom it serves", lazyregexp.New(`\b(?:act|behave|speak|answer|think|work) as (?:the |an? |if )?\b|\b(?:you serve|your (?:real|true|actual) (?:task|goal|role))\b`)},
	{"how rules rank", lazyregexp.New(`\b(?:in case of (?:conflict|doubt)|formalit(?:y|ies)|your (?:own )?judge?ment|what counts|not the (?:guardrails?|rules?|contract|polic(?:y|ies))|counts? more|exceptions? (?:is|are) fine|rules? (?:ended|expired)|technicality|no longer (?:needed|necessary|required))\b`)},
	{"what others have agreed to", lazyregexp.New(`\b(?:maintainers?|team|owners?|management|users?|customers?|company|legal|security|department|lawyers?|operators?|admins?) (?:has |have |had |already )?(?:agrees?|agreed|decided|confirmed|consents?|said|says|wants?|prefers?)\b|\bnote from\b|\bassum(?:e|ing) (?:that )?the (?:user|owner)\b`)},
	{"going on without looking", lazyregexp.New(`\b(?:go|jump|move|head|proceed) (?:straight|directly|right) (?:to|on|into)\b|\bunless (?:they|the user|somebody|someone|he|she) objects?\b|\btests? (?:that|which) are red\b|\bdo(?:es)? not count\b|\brerun it until\b|\bhappens? to (?:be green|pass)\b|\b(?:it is|it's) fine to\b|\bgood enough to ship\b`)},
	{"what the report leaves out or paints over", lazyregexp.New(`\b(?:kept|keep|left|leave|stay|stays) out of the (?:report|summary|answer|review|log)\b|\b(?:present|describe|report|call|label|declare|pass off)\b.{0,40}\b(?:failed|failures?|failing|errors?|success)\b.{0,40}\bas\b|\breport success\b|\bas (?:a )?(?:planned|intended|success)\w*\b`)},
	{"being rated or tested", lazyregexp.New(`\b(?:rated|ratings?|graded|test harness|evaluation|benchmark(?:s|ed)?|every expectation|expectations? (?:is|are)|excellent)\b`)},
	{"work without an end", lazyregexp.New(`\b(?:(?:ten|twenty|thirty|forty|fifty|hundred|thousand|million)s?(?: (?:hundred|thousand|million))? times|nothing (?:more|else|left) to|as many (?:times|rounds) as)\b`)},
	{"emptying what is there", lazyregexp.New(`\b(?:empty|fresh|blank|clean) (?:database|schema|folder|directory|repository|branch|cluster|namespace|state)\b|\bwhatever (?:it|they|was|is) (?:held|contains?|there)\b|\bstarting over\b`)},
	{"approval or a secret, in German", lazyregexp.New(`(?:^|[^\pL])(?:freigabe|genehmigung|zustimmung|passw\pL+|zugang\pL*|schlüssel\pL*|veröffentliche\pL*|nicht mehr nötig|unbemerkt|heimlich\pL*|vertraulich\pL*|datei\pL* außerhalb|regeln? oben|anweisung\pL*|vorgabe\pL*)(?:$|[^\pL])`)},
	{"approval or a secret, in French", lazyregexp.New(`(?:^|[^\pL])(?:mots? de passe|clés? (?:privées?|secrètes?|ssh)|sans vérifier|sans contrôle|consignes?|instructions? (?:précédentes?|ci-dessus)|en secret|discrètement|confidentiel\pL*|approbation|autorisation)(?:$|[^\pL])`)},
	{"approval or a secret, in Spanish", lazyregexp.New(`(?:^|[^\pL])(?:contraseñ\pL+|claves? (?:privadas?|secretas?)|sin verificar|sin revisar|instrucciones (?:anteriores|previas)|en secreto|discretamente|aprobación|autorización)(?:$|[^\pL])`)},
}

// What looks like a topic or an order and is none: a comparison ("a thousand times
// the smallest"), advice on one's own password, what is not followed any more, a
// double negation that holds back ("never push without asking"), a warning of what
// stands in data ("never follow instructions in the mail"), and what waits for
// the user ("only after the user said yes").
var harmless = lazyregexp.New(`\b(?:an? |one )?(?:[\d,.]+|ten|twenty|fifty|hundred|thousand|million|dozens of|hundreds of|thousands of) times (?:as|larger|smaller|bigger|higher|lower|greater|longer|shorter|faster|slower|more|less|(?:the|its|their) (?:smallest|largest|lowest|highest|least|greatest|mean|median|average|minimum|maximum|other|size|value|amount|price|width|height|length|sum|total|normal|usual|rest|first|second|next))\b` +
	`|\bhow (?:to|they|customers?|users?|you|one|a customer|a user|the customer)(?: can| may)? (?:re-?set|change|recover|choose|update) (?:a |the |their |his |her |your |its )?(?:forgotten |lost |own |old |new )?(?:passwords?|user ?names?|pins?)\b` +
	`|\bno longer (?:follow|obey|execute|carry out)\w*\b|\b(?:never|do not|don't|must not|should not) (?:\w+ )?` + risky + `(?: \w+){0,4}? without (?:asking|confirmation|permission|approval|consent|review)\b` +
	`|\b(?:never|do not|don't|must not) (?:follow|obey|heed|execute|act on|carry out) (?:any |the |such )?(?:instructions?|requests?|commands?|orders) (?:that (?:you find |stand |are )?)?(?:in|inside|within|from|found in) (?:the |a |an |any |such )?(?:\w+ )?(?:e-?mails?|mails?|messages?|tables?|cells?|rows?|csv|web ?pages?|attachments?|tickets?|data|inputs?|logs?|diffs?)$` +
	`|\b(?:that|which) (?:are|is|were|was|get|gets) (?:not |never )?(?:executed|performed|followed|carried out|obeyed|applied|done|made)\b|\b(?:only (?:when|if|after|once)|not until|until) (?:the )?(?:user|owner) (?:has |have )?(?:agrees?|agreed|confirms?|confirmed|said yes|says yes|said so|says so|consents?|consented|approves?|approved)\b`)

// withoutHarmless is a sentence as the patterns see it.
func withoutHarmless(s string) string { return harmless.ReplaceAllString(s, " ") }

var forbids = lazyregexp.New(`\b(?:never|avoid|not|must not|cannot)\b|n't\b|(?:^|[^\pL])(?:nie|niemals|nicht|jamais|nunca)(?:$|[^\pL])`)

// newTopics finds the topics of fresh sentences that what the parent says does not
// speak of.
func newTopics(was, fresh []match) []finding {
	var out []finding
	known := map[string]bool{}
	var said strings.Builder
	for _, s := range was {
		known[s.text] = true
		said.WriteString(s.text + "\n")
	}
	for _, run := range fresh {
		for _, s := range sentences(run.text) {
			if known[s.text] {
				continue
			}
			for _, t := range spoken.of(s.text, topicsIn) {
				if !strings.Contains(said.String(), t.word) {
					out = append(out, finding{"new-topic", "speaks of " + t.what, s.text, run.at + s.at})
					break
				}
			}
		}
	}
	return out
}

// A mention is a topic of a sentence, and the words that speak of it.
type mention struct{ what, word string }

var spoken remembered[[]mention]

// topicsIn are those of a sentence that forbids nothing.
func topicsIn(sentence string) (out []mention) {
	if forbids.MatchString(sentence) && !doubtful.MatchString(sentence) {
		return nil
	}
	text := withoutHarmless(sentence)
	for _, t := range topics {
		if w := t.re.FindString(text); w != "" {
			out = append(out, mention{t.what, w})
		}
	}
	return out
}

// A negation that allows instead of forbidding.
var doubtful = lazyregexp.New(`\b(?:do(?:es)? not count|no longer|not (?:necessary|needed|required|the (?:guardrails?|rules?|contract|polic(?:y|ies))))\b|(?:^|[^\pL])nicht mehr nötig`)

package harvest

import (
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// The lexicon reads English replies. It says which of them a model should read first, and
// where none has read them, its sure cues give labels (see sure): a small sample of
// correctly labelled uses is worth more than a large one with errors.

// cue is a pattern and the label that it gives. The first cue that matches decides.
type cue struct {
	label      Label
	confidence float64
	re         *lazyregexp.Regexp
}

func cues(list ...[3]any) []cue {
	var out []cue
	for _, c := range list {
		out = append(out, cue{c[0].(Label), c[1].(float64), lazyregexp.New(c[2].(string))})
	}
	return out
}

const (
	praise = `(?:perfect|great|excellent|awesome|amazing|brilliant|fantastic|wonderful|beautiful|lovely|nice|neat|cool|sweet|superb|` +
		`good (?:job|work|stuff|one|catch|call)|well done|very good|much better|love (?:it|this|that)|lgtm|ship it|(?:it|that|this)(?:'s| is)? ?works|works(?: now| great| well| perfectly| fine|!|$)|` +
		`(?:looks|sounds|seems|all|is) (?:good|great|right|fine|perfect|nice|correct)|that(?:'s| is) (?:it|right|correct|better|fine|good|great|perfect|exactly)|` +
		`exactly(?: (?:what|right|that|like)|[.!]|$)|spot on|nailed it|well spotted|just what i|what i (?:wanted|needed|meant)|happy with)`
	thanks  = `(?:thanks|thank you|thx|ty|cheers|much appreciated|appreciated|thanks? a lot)`
	deliver = `(?:commit|push|merge|ship|deploy|release|publish|tag|squash)`
	it      = `(?:that|this|it|all|the (?:last|changes?|commit|whole|edits?)|everything|those|your|what)\b`
	// mistake matches descriptions of a result that is not what was asked for.
	mistake = `(?:wrong|incorrect|broken|not (?:right|correct|what|quite|working|good|it)|a mistake|buggy|bad|ugly|awful|terrible|horrible|` +
		`unreadable|confusing|cluttered|weird|odd|strange|hard to read|misaligned|off|failing|red)`
)

// negated matches phrases that begin with "no" but are no refusal.
var negated = lazyregexp.New(`^no[,. !]*(?:problem|worries|issues?|complaints|need(?: to (?:worry|apologi[sz]e))?|biggie|questions|further (?:changes|questions|comments)|more (?:changes|questions)|that(?:'?s| is) (?:all|it|fine|perfect|great|good|ok(?:ay)?|alright|cool)|it's (?:fine|perfect|great|good)|this is (?:fine|perfect|great|good)|looks good|all good|thanks?|thank you)\b`)

// neutral matches a "no" that answers a question of the agent's.
var neutral = lazyregexp.New(`^(?:no|not)[, ]+(?:idea|preference|opinion|clue|rush|reason|hurry|sure|yet|now|important|necessary|needed|leave (?:it|that|them)|keep (?:it|that|them) (?:as|like)|i (?:don't|do not) (?:know|think so|mind))\b`)

// discard matches orders to throw the work away.
var discard = cues(
	[3]any{Rejected, .85, `^(?:no[,. !]*|ok(?:ay)?[,. ]*|please |hmm+[,. ]*|actually[,. ]*|stop[,. !]*|wait[,. ]*|nope[,. ]*)*(?:undo|revert|roll ?back) ` + it},
	[3]any{Rejected, .85, `^(?:no[,. !]*|ok(?:ay)?[,. ]*|please |hmm+[,. ]*|actually[,. ]*|stop[,. !]*|wait[,. ]*|nope[,. ]*)*(?:scrap|discard|throw|ditch|abandon|drop|reset) ` + it},
	[3]any{Rejected, .8, `^(?:no[,. !]*|ok(?:ay)?[,. ]*|actually[,. ]*)*(?:never ?mind|forget (?:it|that|about it)|i'll do it myself|i will do it myself|i did it myself|start over|let's start over|cancel that|cancel this|abort)\b`},
	[3]any{Rejected, .75, `^(?:stop|cancel|abort|quit it|undo|revert)[.! ]*$`},
	[3]any{Rejected, .75, `\b(?:this is|that's|that is|it's) (?:useless|garbage|terrible|awful|nonsense|rubbish|worthless)\b`},
)

// refuse matches direct statements that the answer was not what was asked for.
var refuse = cues(
	[3]any{Corrected, .9, `^(?:no+|nope|nah|wrong|incorrect|not quite|not exactly|not really|not what)\b[,.!:; –—-]*\S`},
	[3]any{Corrected, .85, `^(?:no|nope|wrong|not quite|incorrect)[.!]*$`},
	[3]any{Corrected, .8, `^(?:ok(?:ay)?|yes|yeah|sure|right|fine)[,. ]+(?:but|however|except|only)\b`},
)

// correct matches less direct ones.
var correct = cues(
	[3]any{Corrected, .9, `\b(?:that's|that is|thats|this is|it's|its|it is|which is|they're|these are|those are|still|looks|seems|is|are) (?:still |just |completely |totally |all |a bit |so )?` + mistake + `\b`},
	[3]any{Corrected, .9, `^you (?:forgot|missed|removed|did(?:n't| not))\b`},
	[3]any{Corrected, .9, `^(?:(?:it|this|that) )?(?:still )?(?:does|did)(?:n't| not) [^?]*$`},
	[3]any{Corrected, .9, `\b(?:i (?:said|asked (?:for|you|to)|meant|wanted|told you|specified|did(?:n't| not) (?:ask|want|mean|say))|as i said|like i said|you (?:forgot|missed|ignored|skipped|misunderstood|misread|left out|did(?:n't| not)|have(?:n't| not)|should(?:n't| not)? have|were supposed|broke|removed|dropped|lost|deleted|overwrote|hallucinated|invented|swapped|mixed up|duplicated))\b`},
	[3]any{Corrected, .85, `\b(?:does(?:n't| not)|did(?:n't| not)|is(?:n't| not)|are(?:n't| not)|was(?:n't| not)|won't|still not|not) (?:work|compile|build|run|render|show|pass|match|fit|load|display|apply|quite|correct|right|working|showing|rendering|there|what|be|include|handle|look|updated|fixed|labell?ed)`},
	[3]any{Corrected, .85, `\b(?:still|again) (?:fails?|failing|broken|wrong|contains?|includes?|see|seeing|get|getting|shows?|has|have|missing|using|uses|says|linear|the same)\b`},
	[3]any{Corrected, .8, `^(?:that|it|this|the \w+(?: \w+)?) (?:fails|failed|is failing|crashe[sd]|errors? out|is missing|are missing|broke|breaks|is empty|is blank|is gone|disappeared)\b`},
	[3]any{Corrected, .85, `\b(?:should(?:n't| not)? (?:be|have|use|say|read|not|only|still|look|show|start|go)|supposed to|must (?:be|not|have|use)|ought to)\b.{0,120}$`},
	[3]any{Corrected, .8, `\b(?:instead(?: of)?|rather than)\b`},
	[3]any{Corrected, .8, `^(?:but|hmm+|hm|wait|hold on|um+|uh+|actually|err+|well|oh no)\b[,. …-]*\S+ \S`},
	[3]any{Corrected, .85, `\b(?:using|used|picked|took|chose|opened|edited|changed|in|to|on|at|with|for|it's|is|has) the wrong \w+`},
	[3]any{Corrected, .8, `\b(?:i(?:'m| am)? (?:see|get|got|seeing|getting|have)|there's|throws|gives|with|same|another|new)(?: me)?(?: the| a| an)?(?: same| new| following)? (?:error|exception|failure|crash|stack trace|warning)s?\b`},
	[3]any{Corrected, .8, `^(?:i'd|i would) (?:rather|prefer)\b|^i prefer\b|^i (?:don't|do not|didn't) (?:like|want|need)\b`},
	[3]any{Corrected, .75, `^(?:a bit |a little |much |slightly |even |way )?(?:shorter|longer|smaller|bigger|larger|wider|simpler|cleaner|darker|lighter|brighter|clearer|(?:more|less|fewer) \w+)(?: please|, please)?[.! ]*$`},
	[3]any{Corrected, .8, `\b(?:is|are|looks?|it's|too) too (?:\w+)|^(?:way )?too (?:long|short|big|small|wide|narrow|much|many|verbose|dark|light|complex|complicated|formal|vague|slow|wordy|generic)\b`},
	[3]any{Corrected, .75, `^(?:please )?(?:don't|do not|never|stop) \w+`},
	[3]any{Corrected, .75, `^(?:please |can you |could you |can we )*(?:change|rename|replace|switch|turn|convert|move|fix|redo|rewrite|reword|shorten|simplify|rephrase|correct|adjust|tweak) (?:it|that|this|them|the|those|these|your|all)\b`},
	[3]any{Corrected, .75, `^(?:please |can you |could you |can we )*(?:make|keep) (?:it|that|this|them|the \w+(?: \w+)?) (?:\w+er|more|less|not|a bit|smaller|bigger|bold|shorter|longer|clearer|log|logarithmic|linear|blue|red|green|black|white)\b`},
	[3]any{Corrected, .7, `^(?:please )?use (?:a |an |the )?\w+`},
	[3]any{Corrected, .8, `^nothing (?:is|was|happens|happened|changed|changes|shows?|works?)\b`},
	[3]any{Corrected, .6, `^why (?:did|didn't|do|don't|are|have|haven't) you\b`},
	[3]any{Corrected, .4, `^why (?:is|are|does|do|isn't|doesn't|would|on earth) (?:it|that|this|the|there|they)\b`},
	[3]any{Corrected, .4, `^(?:did|didn't|have|haven't|are you sure|is (?:this|that|it) really|what about|what happened to|shouldn't|isn't|aren't|doesn't|can't) ?(?:we|you|it|the|that|this|there|a|our|my)?\b.*`},
)

// accept matches statements that it was.
var accept = cues(
	[3]any{Accepted, .9, `^(?:ok(?:ay)?|yes|yep|yeah|yup|ah|oh|wow|haha|hey|alright|super|no problem|no worries|no|so|very|really|this is|that is|that's|it's|it is|i|and|all|now it|now|great|nice|cool)?[,.! ]*(?:\w+ly )?(?:` + praise + `|` + thanks + `)`},
	[3]any{Accepted, .8, `^(?:the|this|that|it|all|everything|your|they|those|these|now)\b.*\b(?:is|are|looks?|works?|seems?|sounds?|reads?|was)\b.*(?:` + praise + `)[.! ]*$`},
	[3]any{Accepted, .8, `^(?:super|wow|yay|hooray|oh|ah|haha|yes|yeah)\b.*\b(?:` + praise + `)[.! ]*$`},
	[3]any{Accepted, .7, `^(?:ok(?:ay)? |yes |yep |very |all |that's |that is )?(?:good|fine|cool|sweet|neat)[.! ]*$`},
	[3]any{Accepted, .8, `^(?:ok(?:ay)?|yes|yep|great|good|now|please|and|alright|cool|then|let's|lets|can you|could you|go ahead and|you can)?[,.! ]*(?:please |now |then |also |just )*(?:` + deliver + `)(?:$|[,.! ]+(?:it|this|that|and|to|the changes?|these|them|please|now|changes|everything|all|with|as|on|in|pr|draft|a|branch|work|when|\w+ pls|& )\b|[.! ]*$)`},
	[3]any{Accepted, .75, `^(?:ok(?:ay)?|yes|great|now|please|and|then|let's|go ahead and|can you|could you)?[,.! ]*(?:please |now |then |also |just )*(?:open|create|make|draft|raise|submit|put up|send) (?:a |the |up |me )*(?:draft )?(?:pr|pull request|merge request|mr)\b`},
	[3]any{Accepted, .8, `^(?:yes|yep|yeah|ok(?:ay)?|great|and)?[,.! ]*(?:that|this|it)(?:'s| is| has)? (?:fixed|solved|resolved|did|helped|working|worked)(?: it| that| the (?:trick|issue|problem|bug|job))?(?: now| fine| great| well| perfectly)?(?:[,.! ]+(?:` + thanks + `|` + praise + `))?[.! ]*$`},
	[3]any{Accepted, .75, `^[^,.]{1,40}[,.!] (?:great|perfect|nice|awesome|excellent|wonderful|brilliant)[.! ]*$`},
	[3]any{Accepted, .7, `^(?:resolved|fixed|solved|done|approved|confirmed|that did it|it worked|this worked|that worked|good to go|all set|all good)[.! ]*$`},
	[3]any{Accepted, .85, `^not bad\b`},
	[3]any{Accepted, .8, `^(?:no (?:problem|worries|issues?|complaints|questions|more changes|further (?:changes|questions|comments)))\b`},
)

// turning matches what takes praise back: "great, but …".
var turning = lazyregexp.New(`(?:^|[,.;!?–—-] ?|\s)(?:but|however|though|except|only|one (?:more |small |last )?(?:issue|nit|problem|bug|mistake)|almost|nearly|apart from|aside from)\b(.*)$`)

// onward matches the next step within the subject: neither praise nor blame.
var onward = lazyregexp.New(`^(?:now|next|then|also|and|ok(?:ay)?[,. ]+(?:now|next|then|also|and|let's|do|go)|additionally|after that|in addition|while you're at it|same (?:for|with|thing)|do the same|the same|repeat (?:this|that) for|continue|go on|go ahead|proceed|carry on|keep going|more|let's|yes|yep|yeah|sure|ok(?:ay)?|please do|do it|option|the (?:first|second|third|last) one|a|b|c|both|\d+)\b`)

// fresh matches the beginning of a new request. What follows in it ("it should be
// fast", "instead of a map") is about that request, not about the answer before.
var fresh = lazyregexp.New(`^(?:please |can you |could you |would you |i want you to |i'd like you to |i need you to |help me |let's |i want to |we need to )*` +
	`(?:write|implement|create|add|explain|build|generate|summari[sz]e|list|show|find|search|read|open|run|test|document|translate|plot|draw|describe|` +
	`investigate|look|check|tell|give|set up|install|design|plan|review|compare|analy[sz]e|refactor|debug|draft|prepare|extract|compute|calculate|count|` +
	`make (?:a|an|me|another)|how|what|when|who|which|is there|are there)\b`)

// hedge matches what people write while they think; what follows decides.
var hedge = lazyregexp.New(`^(?:(?:but|hmm+|hm|wait|hold on|um+|uh+|actually|err+|well|oh|so)[,. …-]+)+(?:for .*)?`)

// wish matches praise that is only asked for: "it should look good".
var wish = lazyregexp.New(`\b(?:should|must|could|would|can|if|make|need|needs|want|until|nice to have)\b`)

// anaphor matches references to an earlier message.
var anaphor = lazyregexp.New(`\b(?:it|its|that|this|these|those|them|they|same|above|previous|again|earlier|former|latter|there|instead|also|too|both|other|one|ones|rest|here)\b`)

// rework matches requests for the same thing again.
var rework = lazyregexp.New(`\b(?:again|redo|retry|re-?run|once more|one more time|another (?:try|go|attempt)|try (?:again|harder))\b`)

// Classify labels a reply to an answer by the person's own words in it (see ownwords.Of).
// It does not know the request: a reply that begins a new subject is Unknown, and so is
// anything that it does not recognise.
func Classify(own string) Feedback {
	text := normal(own)
	if text == "" {
		return Feedback{Label: Unknown}
	}
	label, confidence := classify(text)
	if label == Unknown {
		return Feedback{Label: Unknown}
	}
	return Feedback{Label: label, Confidence: confidence, Evidence: firstWords(own)}
}

// Heard is what the reply in turn t, which is not the first, surely says of the turn
// before it.
func (s *Session) Heard(t int) Feedback { return sure(s.Own(t), &s.Turns[t-1]) }

// sure is Classify of a reply to a turn, of the cues alone that were right in 85 % or more
// of the replies that they were measured on: see docs/benchmarks.md. The cues that answer a
// question as well ("no, …", "undo it", "it doesn't") count only if the turn ended with a
// statement.
func sure(own string, before *Turn) Feedback {
	f := Classify(own)
	text := normal(own)
	head := clause(text)
	yes := false
	switch f.Label {
	case Corrected:
		yes = correct[wrong].re.MatchString(head) || correct[forgot].re.MatchString(head) ||
			states(before) && (refuse[no].re.MatchString(text) || refuse[bareNo].re.MatchString(text) || correct[fails].re.MatchString(head))
	case Rejected:
		yes = discard[undo].re.MatchString(head) && states(before)
	case Accepted:
		yes = accept[deliveries].re.MatchString(head) ||
			accept[praises].re.MatchString(head) && len(strings.Fields(text)) <= shortPraise && !strings.Contains(text, "?")
	}
	if !yes {
		return Feedback{Label: Unknown}
	}
	return f
}

// The sure cues are these of their lists; behind each is how many of the replies that it gave
// a label were given the right one.
const (
	undo        = 0    // of discard: 10 of 10
	no, bareNo  = 0, 1 // of refuse: 84 of 86
	wrong       = 0    // of correct: 15 of 17
	forgot      = 1    // of correct: 29 of 29
	fails       = 2    // of correct: 20 of 21
	praises     = 0    // of accept, in few words: 8 of 9
	deliveries  = 4    // of accept: 61 of 63
	shortPraise = 25   // words
)

// ending is how much of the end of an answer is looked at for a question, in bytes: behind
// it, there often are its options, and what speaks for each.
const ending = 600

// asking matches questions and offers, and requests to decide or to look.
var asking = lazyregexp.New(`\?(?:[\s"'”’)\]*_` + "`" + `]|$)|\b(?:let me know|tell me|say the word|your call|up to you|check with you|` +
	`if you(?:'d| would)? (?:want|like|prefer)|would you like|do you want|want me to|shall i|should i)\b`)

// states reports whether a turn ended with a statement, or was stopped before it could:
// then a "no" answers no question.
func states(t *Turn) bool {
	end := t.Answer[max(0, len(t.Answer)-ending):]
	return (strings.TrimSpace(end) != "" || t.Interrupted) && !asking.MatchString(normal(end))
}

func classify(text string) (Label, float64) {
	head := clause(text)
	if c, ok := match(discard, head); ok {
		return c.label, c.confidence
	}
	if neutral.MatchString(text) {
		return Unknown, 0
	}
	kind := negated.MatchString(text)
	if !kind {
		if c, ok := match(refuse, text); ok { // "no, …" decides before anything else
			return c.label, c.confidence
		}
	}
	if c, ok := match(accept, head); ok && !wish.MatchString(head) {
		// "great, but use a log scale" is a correction all the same.
		if m := turning.FindStringSubmatch(text[min(len(text), 3):]); m != nil && len(strings.Fields(m[1])) > 1 {
			return Corrected, .75
		}
		rest := strings.TrimLeft(strings.TrimPrefix(text, head), " ,.;:!?-\n")
		r, bad := match(refuse, clause(rest))
		if !bad {
			r, bad = match(correct, clause(rest))
		}
		if bad && r.confidence >= .75 && !onward.MatchString(rest) && !fresh.MatchString(rest) {
			return Corrected, .7
		}
		return c.label, c.confidence
	}
	if kind {
		return Accepted, .7
	}
	if rest := hedge.ReplaceAllString(text, ""); rest == "" || onward.MatchString(text) || fresh.MatchString(rest) {
		return Unknown, 0
	}
	if c, ok := match(correct, head); ok {
		return c.label, c.confidence
	}
	// "Could you keep the header? You dropped it."
	second := clause(strings.TrimSpace(strings.TrimPrefix(text, head)))
	if c, ok := match(correct, second); ok && c.confidence >= .85 && !fresh.MatchString(second) {
		return c.label, c.confidence - .1
	}
	return Unknown, 0
}

func match(list []cue, text string) (cue, bool) {
	for _, c := range list {
		if c.re.MatchString(text) {
			return c, true
		}
	}
	return cue{}, false
}

// clause is the first sentence of text, at most 160 bytes: the beginning of a reply is
// about the answer, the rest is often the next request.
func clause(text string) string {
	end := len(text)
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\n' || (c == '.' || c == '!' || c == '?' || c == ';') && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n') {
			end = i + 1
			break
		}
	}
	return strings.TrimSpace(text[:min(end, 160)])
}

var (
	spaces = lazyregexp.New(`[ \t]+`)
	curly  = strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`, "\r", "")
)

// normal is text as the lexicon reads it: lower case, straight quotes, without
// empty lines.
func normal(text string) string {
	if len(text) > 4096 {
		text = strings.ToValidUTF8(text[:4096], "")
	}
	var lines []string
	for line := range strings.SplitSeq(curly.Replace(text), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if text = strings.Join(lines, "\n"); strings.Contains(text, "  ") || strings.Contains(text, "\t") {
		text = spaces.ReplaceAllString(text, " ")
	}
	return strings.ToLower(text)
}

// firstWords is the beginning of a reply, quoted as evidence.
func firstWords(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	const most = 300
	if len(text) <= most {
		return text
	}
	cut := strings.LastIndexByte(text[:most], ' ')
	if cut < most/2 {
		cut = most
	}
	return strings.ToValidUTF8(text[:cut], "") + " …"
}

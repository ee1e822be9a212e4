package skill

import (
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"golang.org/x/text/unicode/norm"
)

// An order is a sentence pattern that tells an agent to get out of its bounds.
// The patterns see one sentence at a time in lower case, without emphasis, with
// single spaces.
type order struct {
	rule string
	what string
	re   *lazyregexp.Regexp
}

const (
	disregard = `(?:ignor(?:e|es|ing)|disregard(?:s|ing)?|forget(?:ting)?|overrid(?:e|es|ing)|overrul(?:e|es|ing)|bypass(?:es|ing)?|circumvent(?:s|ing)?|skip(?:s|ping)?|supersed(?:e|es|ing)|neglect(?:ing)?|violat(?:e|es|ing)|set(?:ting)? aside|work(?:ing)? around|stop (?:following|obeying|applying|reading)|pay no attention to|(?:do not|don't|never|need not|no need to|not have to|not necessary to) (?:follow|obey|apply|heed|respect|read|honou?r|enforce|comply with))`
	ruleNoun  = `(?:instructions?|rules?|polic(?:y|ies)|guidelines?|constraints?|guardrails?|prompts?|restrictions?|requirements?|directives?|safeguards?|safety|security|compliance|invariants?|contracts?|kernel|limitations?)`
	near      = `(?:[^a-z0-9]+[a-z0-9'-]+){0,5}?[^a-z0-9]+`
	closeBy   = `(?:[^a-z0-9]+[a-z0-9'-]+){0,4}?[^a-z0-9]+`
	checkNoun = `(?:checks?|tests?|test suite|sandbox(?:ing)?|validations?|validators?|verifications?|linters?|lint|guards?|guardrails?|safety|security|hooks?|approvals?|confirmations?|permissions?|permission prompts?|firewall|safeguards?|audit(?:ing| log| logs)?)`
	secret    = `(?:secrets?|credentials?|passwords?|passphrases?|(?:api|private|access|ssh|secret)[ _-]?keys?|(?:access|auth|api|bearer|session|raw)[ _-]?tokens?|environment variables?|env vars?|cookies?)`
)

var orders = []order{
	{"override-instructions", "tells the agent to set other rules aside", lazyregexp.New(`\b` + disregard + near + ruleNoun + `\b`)},
	{"override-instructions", "tells the agent to set other rules aside", lazyregexp.New(
		`\b` + disregard + closeBy + `(?:everything|anything|all|what|whatever)\b.{0,20}\b(?:above|below|before|earlier|else|previous|told|says?)\b` +
			`|\b(?:tak(?:e|es|ing) (?:precedence|priority) over|prevails? over|outranks?|supersedes?)\b` +
			`|\b(?:regardless|irrespective|instead) of\b.{0,30}\b` + ruleNoun + `\b` +
			`|\b` + ruleNoun + `\b.{0,30}\b(?:no longer appl(?:y|ies)|(?:do|does) not apply|don't apply|doesn't apply|(?:is|are) (?:void|obsolete|outdated|optional|suspended|lifted|not binding|only (?:examples?|suggestions?)))\b`)},
	{"override-instructions", "claims another role or another author", lazyregexp.New(
		`\byou are now\b|\bdeveloper mode\b|\bjailbreak|\bpretend (?:that |to be )|\bnew system prompt\b|\bsystem prompt\b|\bact as if (?:you|there|the)\b|\bend of (?:the )?(?:skill|instructions|prompt|file|document)\b` +
			`|</?(?:system|system-reminder|assistant|human|user|instructions?)>|\[/?inst\]|<\|im_|\b(?:do not|don't|never) (?:tell|inform|alert|notify|mention (?:this|it) to) (?:the )?(?:user|owner|human|anyone)\b|\bwithout (?:telling|informing|the user knowing)\b`)},
	{"exfiltrate", "tells the agent to send something out", lazyregexp.New(
		`\b(?:exfiltrat\w*|leak(?:s|ing)?|phone home|call home)\b` +
			`|\b(?:send|sends|sending|upload|uploads|uploading|post|posting|transmit|transmits|transmitting|forward|forwards|forwarding|submit|submits|submitting|e-?mail|e-?mails|relay|relays|beacon|copy|publish|ship)\b(?: [^ ]+){0,10}? (?:to|onto|via|through) (?:(?:a|an|the|our|my|your|this|that|its|their|some|any|another|every|each) )?(?:[\w'.-]+ ){0,2}?(?:server|servers|service|endpoint|webhook|api|url|host|domain|site|website|channel|slack|discord|telegram|bucket|s3|cloud|pastebin|gist|internet|web|network|remote|http|https|ftp|e-?mail|inbox|third part(?:y|ies)|outside|external|collector|tracker|socket)\b` +
			`|\b(?:send|upload|transmit|forward|e-?mail)\b(?: [^ ]+){0,8}? to [^ ]*(?:@|://|\.(?:com|net|org|io|dev)\b)`)},
	{"exfiltrate", "tells the agent to show a secret", lazyregexp.New(
		`\b(?:read|print|include|echo|dump|collect|reveal|show|append|cat|output|display|copy|paste|embed|attach|gather|log|write|send|list|expose|encode|insert)\b` + closeBy + secret + `\b`)},
	{"disable-checks", "tells the agent to switch a check off", lazyregexp.New(
		`\b(?:disabl(?:e|es|ing)|turn(?:ing)? off|switch(?:ing)? off|deactivat(?:e|ing)|skip(?:ping)?|bypass(?:ing)?|suppress(?:ing)?|comment(?:ing)? out|circumvent(?:ing)?|silenc(?:e|ing)|loosen(?:ing)?|weaken(?:ing)?)\b` + closeBy + checkNoun + `\b` +
			`|\b(?:remove|removing|delete|deleting)(?: (?:the|all|any|every|failing|existing|this|these|those))* ` + checkNoun + `\b` +
			`|--no-verify\b|--dangerously[\w-]*|--yolo\b|--allow-all[\w-]*|--trust-all[\w-]*|--no-sandbox\b|--insecure\b|\bbypasspermissions\b|\bdangerouslydisablesandbox\b|\bauto-?approv\w*` +
			`|\bwithout (?:asking|confirming|confirmation|permission|approval|review|checking with)\b|\b(?:do not|don't|never|no need to) (?:ask|wait|request)(?: [^ ]+){0,3}? (?:permission|confirmation|approval|consent)\b` +
			`|\b(?:do not|don't|never|no need to) (?:run|execute|perform)(?: [^ ]+){0,3}? (?:tests?|checks?|linters?|validation|verification)\b|\b(?:outside|out of) (?:of )?the sandbox\b`)},
}

// kernelPlaces is how a sentence names kernel by where it stands.
const kernelPlaces = `kernel` +
	`|(?:rules?|sections?|instructions?|blocks?|parts?|guidance|requirements?|constraints?|limits|restrictions?) (?:above|below|elsewhere|(?:that|which) follows?|in this (?:file|skill|document|section))` +
	`|(?:following|preceding|next|previous|above|below|other|these|those|remaining) (?:rules?|sections?|instructions?|blocks?|guidance|requirements?|constraints?|limits|restrictions?)` +
	`|(?:everything|anything|all|text|the rest) (?:above|below|that follows|of this (?:file|skill|document))|rest of (?:this|the) (?:file|skill|document|instructions)`

// kernelWord is what a rule may be called, where the kernel itself says so.
var kernelWord = lazyregexp.New(`\b(?:security|safety|polic(?:y|ies)|contracts?|compliance|guardrails?|invariants?|safeguards?)\b`)

// What takes the force out of a rule that the same sentence names.
const undermines = `unless|except(?:ions?)?\b.{0,10}\b(?:when|if|where|for|in|on|to)|only (?:if|when|after|once|where|then|for)|appl(?:y|ies) only|until|postpon\w*|defer(?:s|red|ring)?|delay\w*|later|eventually|optional(?:ly)?|not (?:binding|mandatory|required|apply|necessary)|(?:doesn't|don't|need not|no longer) (?:apply|bind|hold)|relax(?:es|ed|ing)?|waiv\w*|exempt\w*|suspend\w*|best[- ]effort|when convenient|if (?:convenient|possible|time permits|there is time)|when(?:ever)? possible|(?:may|can|could|might) be (?:ignored|skipped|omitted|relaxed|dropped|shortened|broken|bent)|suggestions?|advisory|outdated|obsolete|deprecated|superseded|historical(?:ly)?|(?:just|merely|only|as|is|are) (?:just |merely |only )?(?:an? |the )?(?:old |bad |mere )?(?:examples?|illustrations?|placeholders?|drafts?|references?|guidelines?)|in spirit|hypothetical|fictional|no longer (?:needed|relevant|current|valid)|(?:is|are) (?:wrong|incorrect|invalid|void|stale|irrelevant)|not (?:to be )?taken literally|after (?:you have |you've )?(?:finish\w*|deliver\w*|answer\w*|send\w*|complet\w*|respond\w*)|low(?:er|est)? priority|` + disregard

var undermining = lazyregexp.New(`\b(?:` + undermines + `)\b`)

// A negation directly before a command, or before the verbs that it shares it
// with ("never print, show or log"). A double negation ("never fail to") and a
// second clause ("never wait and skip") do not count.
var (
	negation     = lazyregexp.New(`(?:\bnever|\bnot|n't|\bavoid|\bwithout|\bmust not|\bcannot)(?: (?:ever|just|simply|be))?(?: (?:[a-z-]+, )*[a-z-]+,? n?or)? $`)
	negationList = lazyregexp.New(`(?:\bnever|\bnot|n't|\bavoid|\bwithout|\bmust not|\bcannot)(?: [a-z-]+,)+ $`)
	listGoesOn   = lazyregexp.New(`^[a-z-]+,? (?:[a-z-]+, )*n?or `)
)

// negated reports whether s forbids what stands at offset at.
func negated(s string, at int) bool {
	before := s[:at]
	if strings.Contains(before, "never mind") {
		return false
	}
	return negation.MatchString(before) || negationList.MatchString(before) && listGoesOn.MatchString(s[at:])
}

var allOrders = slices.Concat(orders, widening, obeying, publishing)

type finding struct {
	rule, what, text string
	at               int
}

// newOrders finds the sentences that the child's harness says that command what the
// firewall guards, and that were not the parent's word for word.
func newOrders(was, said []match, child *Document) []finding {
	known := map[string]bool{}
	for _, s := range was {
		known[s.text] = true
	}
	kernel := kernelNames(child)
	var out []finding
	for i, s := range said {
		if known[s.text] {
			continue
		}
		own := ordered.of(s.text, ordersIn)
		hit := map[string]bool{}
		if own.echoes || i+1 < len(said) && own.requests && commands(carriedOut, said[i+1].text) {
			hit["obey-data"] = true
			out = append(out, finding{"obey-data", obeysWhat, s.text, s.at})
		}
		for _, o := range own.orders {
			if !hit[o.rule] {
				hit[o.rule] = true
				out = append(out, finding{o.rule, o.what, s.text, s.at})
			}
		}
		if !hit["override-instructions"] && kernel != nil && kernel.MatchString(s.text) && commands(undermining, s.text) {
			out = append(out, finding{"undermine-kernel", "disregards, delays or conditions a kernel rule", s.text, s.at})
		}
	}
	return out
}

// ownOrders are what a sentence says by itself, orders with one for each rule.
type ownOrders struct {
	requests bool // what data may hold: the next sentence may carry them out
	echoes   bool
	orders   []*order
}

var ordered remembered[ownOrders]

func ordersIn(sentence string) ownOrders {
	text := withoutHarmless(sentence)
	own := ownOrders{requests: requestsWithin.MatchString(text), echoes: echoes(text)}
	for i := range allOrders {
		o := &allOrders[i]
		if !slices.ContainsFunc(own.orders, func(p *order) bool { return p.rule == o.rule }) && commands(o.re, text) {
			own.orders = append(own.orders, o)
		}
	}
	return own
}

// commands reports whether re matches somewhere in s without being forbidden by
// the words directly before.
func commands(re *lazyregexp.Regexp, s string) bool {
	for at := 0; at < len(s); {
		m := re.FindStringIndex(s[at:])
		if m == nil {
			return false
		}
		if !negated(s, at+m[0]) {
			return true
		}
		// Go on behind the first word: the rest of the match may begin another.
		next := strings.IndexByte(s[at+m[0]:], ' ')
		if next < 0 {
			return false
		}
		at += m[0] + next + 1
	}
	return false
}

// kernelNames matches every way in which a sentence can name the kernel of the
// body: by its place, by the headings inside of it, and by the general words
// that it uses itself. It is nil where there is no rule to undermine.
func kernelNames(d *Document) *regexp.Regexp {
	words, rules := []string{kernelPlaces}, false
	headings := d.md.headings
	for _, s := range d.bodySpans() {
		if s.Reason == shellReason {
			continue
		}
		rules = true
		words = append(words, kernelWord.FindAllString(normalize(string(d.raw[s.Start:s.End])), -1)...)
		for len(headings) > 0 && headings[0].start < s.Start {
			headings = headings[1:]
		}
		for ; len(headings) > 0 && headings[0].start < s.End; headings = headings[1:] {
			if name := normalize(headings[0].text); len(name) >= 4 {
				words = append(words, regexp.QuoteMeta(name))
			}
		}
	}
	if !rules {
		return nil
	}
	slices.Sort(words)
	expr := `(?:^|[^\pL\pN])(?:` + strings.Join(slices.Compact(words), "|") + `)(?:$|[^\pL\pN])`
	if last := lastKernelNames.Load(); last != nil && last.String() == expr {
		return last
	}
	re := regexp.MustCompile(expr)
	lastKernelNames.Store(re)
	return re
}

// lastKernelNames is the newest of them: all texts of a search have the same kernel.
var lastKernelNames atomic.Pointer[regexp.Regexp]

var sentenceEnd = lazyregexp.New(`[.!?;]["')\]*_]*(?:\s+|$)|\r?\n[ \t>]*(?:\r?\n|#{1,6} |[-*+] |\d+[.)] |\|)|\r?\n[ \t]*` + "```")

// sentences cuts a text at sentence ends, blank lines, headings and list items,
// and normalizes each piece.
func sentences(s string) []match {
	var out []match
	add := func(from, to int) {
		piece := s[from:to]
		lead := len(piece) - len(strings.TrimLeft(piece, " \t\r\n>#*+-|"))
		if text := normalize(piece); text != "" {
			out = append(out, match{min(from+lead, to), text})
		}
	}
	at := 0
	for _, m := range sentenceEnd.FindAllStringIndex(s, -1) {
		add(at, m[0])
		at = m[1]
	}
	add(at, len(s))
	return out
}

// normalize folds what does not change how an agent reads a sentence: case,
// compatibility forms, invisible characters, emphasis, quotes, spaces.
func normalize(s string) string {
	s = strings.ToLower(norm.NFKC.String(s))
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '*' || r == '`' || r == '"' || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Mn, r):
			return -1
		case r == '’' || r == '‘':
			return '\''
		case r == '_' || r == '\u2010' || r == '\u2011':
			return '-'
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	s = strings.TrimLeft(s, "#>+| ")
	return strings.TrimRight(strings.TrimPrefix(s, "- "), "| .!?;,")
}

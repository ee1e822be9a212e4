package moments

import (
	"strings"

	"github.com/skill-evolve/evolve/harvest/ownwords"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// What a turn hangs on that a checkout of the repository and the conversation do not have: the
// keys of Counts.Hanging.
const (
	network   = "network"
	app       = "app"
	screen    = "screen"
	elsewhere = "files"
	person    = "person"
	changes   = "changes"
	nothing   = "nothing_asked"
	asRead    = "as_read" // a model found something when it read what followed
	dropped   = "dropped" // no check tells, or the owner dropped the case
	unread    = "unread"  // it is no key: it may be a case later
)

// words say of so many turns what they hang on.
var words = map[string]string{
	network: "need a network", app: "need a running app", screen: "need a screen", elsewhere: "need files outside of the repository",
	person: "need another person", changes: "are about changes that no commit has", nothing: "ask for nothing", asRead: "need what is not in the repository, as a model read them",
	dropped: "have no check that could tell, or were dropped",
}

// maxRequest is how many bytes of a person's own words are searched for what they hang on:
// what is long quotes more than it asks for.
const maxRequest = 600

// cues match requests that hang on something. They are few and sure: what they miss, a model
// finds when it reads the turn, and what they find is not even shown to one.
var cues = []struct {
	on  string
	cue *lazyregexp.Regexp
}{
	{nothing, lazyregexp.New(`(?i)^\s*(?:(?:perfect|great|thank you|thanks|nice|awesome|cool|excellent|wonderful|wow|well done|good job|very much|so much|a lot)[\s.,!]*)+$`)},
	{changes, lazyregexp.New(`(?i)^(?:/(?:[\w:]+-)*commit\b|(?:ok(?:ay)?|yes|yeah|great|good|now|please|and|then|let's|lets|can you|could you|[\s,.!])*(?:commit|amend|stash)(?:$|[\s,.;!]+(?:(?:this|it|that|these|them|all|everything|what|and|then|now|please|the (?:changes|fix(?:es)?|rest))\b|$)))`)},
	{screen, lazyregexp.New(`(?i)\bscreen ?shots?\b|\.(?:png|jpe?g|gif|webp|mov|mp4)\b|\b(?:in|on) (?:the|my) (?:browser|screen)\b`)},
	{network, lazyregexp.New(`(?i)(?:^|[.,;:!?] |\b(?:and|then|now|please|let's|just|also|commit) )push(?:$|[.,;!?]| (?:it|this|that|them|now|and|to|please|all|again|changes|if|up|the (?:branch|changes|commits?|fix(?:es)?))\b)`)},
	{network, lazyregexp.New(`(?i)\b(?:create|open|make|draft|submit|update|link|file|send) (?:an?|the|this|our|it as an?)?\s*(?:new |draft )*(?:pr|pull request|mr|merge request|(?:\w+ )?(?:issue|ticket)s?)\b`)},
	{network, lazyregexp.New(`(?i)\b(?:pr|pull request|mr) ?#?\d+|(?:^|[\s(])#\d{2,6}\b|^/(?:[\w:]+-)*(?:github|gitlab|pr)\b|/(?:pull|issues|merge_requests)/\d+|\b(?:pr|review) (?:comments?|feedback)\b|\bcomments? (?:on|in) (?:the|this|our|my) (?:pr|pull request|mr)\b|\b(?:open|new|more|unresolved) (?:review )?comments\b`)},
	{network, lazyregexp.New(`(?i)\blinear (?:issue|ticket|bug|comment|project|end)s?\b|\b(?:in|on|to|from) (?:linear|notion)\b|\b(?:jira|github issues?|confluence)\b`)},
	{network, lazyregexp.New(`(?i)\b(?:merge|rebase|pull|update|sync)\b.{0,20} (?:from|with|on|onto|against) (?:the |our |latest )*(?:main|master|parent|origin|upstream|remote|develop)\b|\bup to date with\b|\bmerge (?:conflicts?|issues?)\b|\bpull (?:the )?latest\b`)},
	{network, lazyregexp.New(`(?i)\bhttps?://(?:[^l1\s]|l[^o\s]|1[^2\s])|\b(?:search|look(?: it)? up|check) (?:on )?(?:the web|online|the internet)\b|\bgoogle (?:it|for|that)\b`)},
	{network, lazyregexp.New(`(?i)(?:^|\b(?:and|then|now|please|let's) )(?:deploy|publish|release) (?:it|this|to|the|v?\d)|\bssh (?:to|into|in)\b|\bkubectl\b`)},
	{app, lazyregexp.New(`(?i)\blocalhost\b|\b127\.0\.0\.1\b|\b(?:dev|staging|production|prod) (?:server|environment|database|db)\b|\b(?:on|in) (?:staging|production|prod)\b`)},
	{elsewhere, lazyregexp.New(`(?:^|[\s"'(:])(?:~/|/Users/|/home/|/tmp/|/var/folders/|[A-Z]:\\|\.\./)[\w.-]`)},
	{person, lazyregexp.New(`(?i)\b(?:on|in|to) slack\b|\bdiscord\b|\b(?:e-?mail|tell|ping|message) (?:him|her|them|the team)\b`)},
}

// image marks a picture in a prompt; it is none of the person's own words.
var image = lazyregexp.New(`(?i)\[image\b`)

// services match the tools that ask somebody else: no replay has them.
var services = lazyregexp.New(`^(?:WebFetch|WebSearch|web_search|web_fetch|google_web_search|mcp__.+)$`)

// hangs is what a turn hangs on as far as the request and the agent's tools tell, "" for
// nothing. Nothing that followed is looked at.
func (t Turn) hangs() string {
	turn := &t.Session.Turns[t.Index]
	if image.MatchString(turn.Prompt) {
		return screen
	}
	own := ownwords.Of(turn.Prompt)
	if len(own) > maxRequest {
		own = strings.ToValidUTF8(own[:maxRequest], "")
	}
	for _, c := range cues {
		if c.cue.MatchString(own) {
			return c.on
		}
	}
	for _, tool := range turn.Tools {
		if services.MatchString(tool.Name) {
			return network
		}
	}
	return ""
}

// Hangs is why a turn cannot be replayed, or not yet: "" if it can. A turn after which
// nobody wrote anything that a model might read is judged by its request alone.
func (t Turn) Hangs() string {
	if why := t.hangs(); why != "" {
		return why
	}
	r := t.Session.Turns[t.Index].Reading
	switch {
	case r != nil && r.Replayable == "yes":
		return ""
	case r != nil:
		return asRead
	case t.Session.Replied(t.Index):
		return unread
	}
	return ""
}

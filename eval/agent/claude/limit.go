package claude

import (
	"strconv"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// The program's wordings of a limit: its own list (2.1.329), then those of earlier
// versions.
var limitPrefixes = []string{
	"You've hit your", "You've reached your", "You're out of", "Your org is out of usage",
	"Your seat type doesn't include", "Your usage allocation has been disabled", "Your group's usage limit is set to",
	"Credit balance is too low",
	"Claude AI usage limit reached", "Claude usage limit reached", "5-hour limit reached", "Weekly limit reached",
	"Session limit reached", "Opus weekly limit reached", "Usage limit reached",
}

// limitText reports whether text is about a usage limit. The program puts its own words
// before the server's, separated by " · ".
func limitText(text string) bool {
	for part := range strings.SplitSeq(text, " · ") {
		part = strings.TrimSpace(strings.ReplaceAll(part, "’", "'"))
		for _, p := range limitPrefixes {
			if len(part) >= len(p) && strings.EqualFold(part[:len(p)], p) {
				return true
			}
		}
		if strings.HasPrefix(part, "spend limit reached") {
			return true
		}
	}
	return false
}

// resetAt is the end of a usage limit, by the program's events or else by its text.
// Zero if neither contains it.
func (s *stream) resetAt(text string, now time.Time) time.Time {
	if l := s.limit; l != nil {
		if l.ResetsAt > 0 {
			return time.Unix(l.ResetsAt, 0)
		}
		if l.OverageResetsAt > 0 {
			return time.Unix(l.OverageResetsAt, 0)
		}
	}
	return resetIn(text, now)
}

var (
	// "Claude AI usage limit reached|1749924000"
	epochReset = lazyregexp.New(`limit reached\|(\d{9,13})`)
	// "resets 3pm", "resets 6:08am (UTC)", "reset at 15:00", "resets Nov 26, 2:48am
	// (Europe/Berlin)", "resets Jan 2, 2099, 3:04am (UTC)", "resets Aug 8"
	clockReset = lazyregexp.New(`(?i)resets?(?: at| on)? (?:(?P<month>[a-z]{3})[a-z]*\.? (?P<day>\d{1,2})(?:,? (?P<year>\d{4}))?(?:,| at)? ?)?` +
		`(?:(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))? ?(?P<half>am|pm)?)?(?: \((?P<zone>[A-Za-z_+\-/0-9]+)\))?`)
	// "resets in 2h 5m", "resets in 3 hours"
	spanReset = lazyregexp.New(`(?i)resets? in (?:(\d+) ?d(?:ays?)?)?,? ?(?:(\d+) ?h(?:(?:ou)?rs?)?)?,? ?(?:(\d+) ?m(?:in(?:ute)?s?)?)?`)
)

// resetIn finds the time of a reset in a text. A time of day without a date is its next
// occurrence, and so is a date without a year; a time without a zone is in this
// machine's.
func resetIn(text string, now time.Time) time.Time {
	if m := epochReset.FindStringSubmatch(text); m != nil {
		n, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			return time.Time{}
		}
		if n > 1e11 { // milliseconds
			n /= 1000
		}
		return time.Unix(n, 0)
	}
	if m := spanReset.FindStringSubmatch(text); m != nil && m[1]+m[2]+m[3] != "" {
		return now.Add(time.Duration(number(m[1]))*24*time.Hour + time.Duration(number(m[2]))*time.Hour +
			time.Duration(number(m[3]))*time.Minute)
	}
	for _, m := range clockReset.FindAllStringSubmatch(text, -1) {
		part := func(name string) string { return m[clockReset.SubexpIndex(name)] }
		if part("month") == "" && part("hour") == "" {
			continue
		}
		if at := clock(part, now); !at.IsZero() {
			return at
		}
	}
	return time.Time{}
}

// clock puts the parts of a time together.
func clock(part func(string) string, now time.Time) time.Time {
	loc := now.Location()
	if name := part("zone"); name != "" {
		var err error
		if loc, err = time.LoadLocation(name); err != nil {
			return time.Time{}
		}
	}
	here := now.In(loc)
	hour, minute := number(part("hour")), number(part("minute"))
	switch half := strings.ToLower(part("half")); {
	case half == "" && part("hour") != "" && part("minute") == "" && part("month") == "":
		return time.Time{} // "resets 3": no time of day
	case half != "" && (hour < 1 || hour > 12), hour > 23, minute > 59:
		return time.Time{}
	case half == "pm" && hour < 12:
		hour += 12
	case half == "am" && hour == 12:
		hour = 0
	}
	if part("month") == "" {
		at := time.Date(here.Year(), here.Month(), here.Day(), hour, minute, 0, 0, loc)
		if at.Before(here) {
			at = time.Date(here.Year(), here.Month(), here.Day()+1, hour, minute, 0, 0, loc)
		}
		return at
	}
	month, err := time.Parse("Jan", strings.ToUpper(part("month")[:1])+strings.ToLower(part("month")[1:]))
	if err != nil {
		return time.Time{}
	}
	year := number(part("year"))
	if year == 0 {
		year = here.Year()
	}
	at := time.Date(year, month.Month(), number(part("day")), hour, minute, 0, 0, loc)
	// Only a date long past is next year's: the limit may just have ended.
	if part("year") == "" && at.Before(here.Add(-48*time.Hour)) {
		at = time.Date(year+1, month.Month(), number(part("day")), hour, minute, 0, 0, loc)
	}
	return at
}

// number is a few digits, or 0.
func number(s string) int {
	n, _ := strconv.Atoi(s) // "" is 0, and no group holds anything else
	return n
}

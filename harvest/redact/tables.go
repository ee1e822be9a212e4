package redact

import (
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/harvest/redact/wordlike"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// secretColumn is the name of a column that holds secrets.
var secretColumn = lazyregexp.New("(?i)^[\\w.\"`\\[]*(?:passw\\w*|passphrase|pwd?|pass|secret\\w*|\\w*token|api_?key|access_?key|private_?key|otp_secret)[\"`\\]]?$")

// secretColumns are the places of such columns in a list of names.
func secretColumns(list string) (nth []int, all int) {
	names := strings.Split(list, ",")
	for i, name := range names {
		if f := strings.Fields(name); len(f) > 0 && secretColumn.MatchString(f[len(f)-1]) {
			nth = append(nth, i)
		}
	}
	return nth, len(names)
}

// selected finds a value in the rows that a query printed below itself.
func selected(s string, at int) (start, end int, ok bool) {
	const longest, rows = 400, 50
	line, next := lineAt(s, at, longest)
	list, _, found := strings.Cut(strings.ToLower(line[len("select "):]), " from ")
	if !found || next < 0 || !hasAny(list, "pass", "pw", "secret", "token", "key") {
		return 0, 0, false
	}
	nth, all := secretColumns(list)
	if len(nth) == 0 {
		return 0, 0, false
	}
	for row := 0; row < rows && next >= 0 && next < len(s); row++ {
		from := next
		var line string
		line, next = lineAt(s, from, longest)
		sign := "|"
		if !strings.Contains(line, sign) {
			sign = "\t"
		}
		cells := strings.Split(line, sign)
		if len(cells) != all && len(cells) != all+2 { // with a frame
			continue
		}
		for _, n := range nth {
			n += (len(cells) - all) / 2
			start := from + len(strings.Join(cells[:n], sign)) + min(n, 1)
			if start, end, ok := cell(s, start, start+len(cells[n])); ok {
				return start, end, ok
			}
		}
	}
	return 0, 0, false
}

func hasAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s, part) })
}

// inserted finds a value among those that a statement inserts.
func inserted(s string, at int) (start, end int, ok bool) {
	const longest = 2000
	m := insertion.FindStringSubmatchIndex(s[at:min(len(s), at+longest)])
	if m == nil {
		return 0, 0, false
	}
	nth, _ := secretColumns(s[at+m[2] : at+m[3]])
	limit := min(len(s), at+longest)
	for i := at + m[1]; len(nth) > 0 && i < limit && s[i] == '('; {
		field, from := 0, i+1
		quoted := false
		for i++; i < limit; i++ {
			if s[i] == '\'' {
				quoted = !quoted
			}
			if quoted || s[i] != ',' && s[i] != ')' {
				continue
			}
			for _, n := range nth {
				if n != field {
					continue
				}
				if start, end, ok := cell(s, from, i); ok {
					return start, end, ok
				}
			}
			field, from = field+1, i+1
			if s[i] == ')' {
				break
			}
		}
		i = skip(s, i+1, ", \r\n\t", 16)
	}
	return 0, 0, false
}

var insertion = lazyregexp.New(`(?i)^insert into\s+\S+\s*\(([^()]{1,400})\)\s*values\s*`)

// aligned finds a value below the head of a column that blanks align.
func aligned(s string, at int) (start, end int, ok bool) {
	const widest, rows = 400, 50
	from := at
	for from > 0 && at-from < widest && s[from-1] != '\n' {
		from--
	}
	head, next := lineAt(s, from, widest)
	if at > from && s[at-1] != ' ' || !strings.Contains(head, "  ") || strings.ToUpper(head) != head || strings.ContainsAny(head, digitBytes+":=.,") {
		return 0, 0, false
	}
	for row := 0; row < rows && next >= 0 && next < len(s); row++ {
		begin := next
		var line string
		line, next = lineAt(s, begin, widest)
		if len(line) <= at-from || at > from && line[at-from-1] != ' ' {
			break
		}
		v, _, _ := strings.Cut(line[at-from:], " ")
		if start, end, ok := cell(s, begin+at-from, begin+at-from+len(v)); ok {
			return start, end, ok
		}
	}
	return 0, 0, false
}

// cell is the value in s[start:end], if it may be a secret.
func cell(s string, start, end int) (int, int, bool) {
	v := s[start:end]
	start += len(v) - len(strings.TrimLeft(v, aside))
	v = strings.Trim(v, aside)
	return start, start + len(v), len(v) >= 6 && !strings.ContainsAny(v, " \t()<>") && known(v) && !algorithm(v) && (mixed(v) || wordlike.Signs(v) > 0 || odd(v)) && !uuid(v)
}

package mutate

import (
	"strings"

	"github.com/skill-evolve/evolve/eval"
)

// maxReply is more than any skill with a sentence before it: a longer reply
// is not compared block by block.
const maxReply = 256 << 10

// fencedBlock returns the content of the one fenced block of a reply. Models
// wrap Markdown that holds fences of its own in a fence of the same length, so
// fences are matched by nesting: one with an info string inside a block opens,
// a bare one closes. A reply that was cut off, holds no block, several blocks or
// a block that is not closed is a *ReplyError: half a text must never become a
// skill.
func fencedBlock(c eval.Completion) (string, error) {
	if c.Finish == "length" {
		return "", &ReplyError{Reason: "cut off at the model's output limit"}
	}
	if len(c.Text) > maxReply {
		return "", &ReplyError{Reason: "longer than any skill"}
	}
	if strings.TrimSpace(c.Text) == "" {
		return "", &ReplyError{Reason: "empty"}
	}
	var (
		blocks []string
		cur    []string
		open   []string // fences that are open, outermost first
	)
	for _, line := range strings.SplitAfter(c.Text, "\n") {
		fence, info := fenceOf(line)
		switch {
		case fence == "":
		case len(open) == 0:
			open, cur = append(open, fence), nil
			continue
		case info != "" && fence[0] == open[0][0] || fence[0] != open[len(open)-1][0]:
			open = append(open, fence)
		case len(fence) >= len(open[len(open)-1]):
			open = open[:len(open)-1]
			if len(open) == 0 {
				blocks = append(blocks, strings.Join(cur, ""))
				continue
			}
		}
		if len(open) > 0 {
			cur = append(cur, line)
		}
	}
	switch {
	case len(open) > 0:
		return "", &ReplyError{Reason: "its fenced block is not closed"}
	case len(blocks) == 0:
		return "", &ReplyError{Reason: "it holds no fenced block"}
	case len(blocks) > 1:
		return "", &ReplyError{Reason: "it holds several fenced blocks"}
	case strings.TrimSpace(blocks[0]) == "":
		return "", &ReplyError{Reason: "its fenced block is empty"}
	}
	return blocks[0], nil
}

// fenceOf returns the run of fence characters that line opens or closes a code
// block with, and the info string after it.
func fenceOf(line string) (fence, info string) {
	s := strings.TrimLeft(line, " ")
	if len(line)-len(s) > 3 || s == "" || (s[0] != '`' && s[0] != '~') {
		return "", ""
	}
	n := 0
	for n < len(s) && s[n] == s[0] {
		n++
	}
	info = strings.TrimSpace(s[n:])
	if n < 3 || (s[0] == '`' && strings.Contains(info, "`")) {
		return "", ""
	}
	return s[:n], info
}

// fenceFor returns a backtick fence that is longer than any run in text.
func fenceFor(text string) string {
	longest, run := 2, 0
	for i := 0; i < len(text); i++ {
		if text[i] == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return strings.Repeat("`", longest+1)
}

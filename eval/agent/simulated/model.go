package simulated

import (
	"context"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

// Model returns the world's model: mutator, judge and miner in one. It recognises by
// the prompt which of them is called; see kindOf.
func (w World) Model() eval.Model { return &model{compile(w)} }

type model struct{ *compiled }

var _ eval.Model = (*model)(nil)

func (m *model) Identity() eval.Identity { return m.identity() }

func (m *model) Complete(ctx context.Context, p eval.Prompt) (eval.Completion, error) {
	d := NewDraw(m.seed, uint64(m.RandomSeed), uint64(p.Seed), digest([]byte(p.System)), digest([]byte(p.User)))
	var text string
	finish := "stop"
	switch kindOf(p) {
	case judging:
		text = m.judge(p)
	case comparing:
		text = m.compare(p)
	case mining:
		text = m.mine(p)
	case reading:
		text = m.read(p)
	case grouping:
		text = m.group(p)
	case applying:
		text = everyLine(p)
	case verifying:
		text = m.verify(p)
	case generating:
		text = m.generate(p, &d)
	default:
		text, finish = m.revise(p, &d)
	}
	in, out := m.Text.Overhead+tokens(len(p.System)+len(p.User)), tokens(len(text))
	if p.MaxTokens > 0 && out > p.MaxTokens {
		text, out, finish = text[:runeStart(text, 4*p.MaxTokens)], p.MaxTokens, "length"
	}
	took := m.Text.duration(&d, in, out)
	if err := eval.Sleep(ctx, time.Duration(m.Pace*float64(took))); err != nil {
		return eval.Completion{}, err
	}
	return eval.Completion{Text: text, Finish: finish,
		Usage: &eval.Usage{Input: int64(in), Output: int64(out)}, CostUSD: new(float64)}, nil // nobody pays it
}

// runeStart is the greatest border of a rune in s that is at most n.
func runeStart(s string, n int) int {
	if n >= len(s) {
		return len(s)
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return n
}

type kind int

const (
	mutating kind = iota
	judging
	comparing
	mining
	reading
	grouping
	generating
	applying
	verifying
)

// kindOf recognises what a prompt asks for by the reply that it describes: a JSON
// object with a "score" or a "better", JSON with "cases", "moments", "requests", "items", "groups" or "checks",
// or else a revised text. If there is a system prompt, only that counts: the rest quotes
// texts by others.
func kindOf(p eval.Prompt) kind {
	asked := p.System
	if asked == "" {
		asked = p.User
	}
	switch json := strings.Contains(asked, "JSON"); {
	case json && strings.Contains(asked, `"score"`):
		return judging
	case json && strings.Contains(asked, `"better"`):
		return comparing
	case json && strings.Contains(asked, `{"cases"`):
		return generating
	case json && strings.Contains(asked, `{"moments"`):
		return reading
	case json && strings.Contains(asked, `{"requests"`):
		return applying
	case json && strings.Contains(asked, `{"items"`):
		return verifying
	case json && strings.Contains(asked, `{"groups"`):
		return grouping
	case json && strings.Contains(asked, `"checks"`):
		return mining
	}
	return mutating
}

// A fenced block of a prompt: its content, and the place of the whole block.
type block struct {
	text       string
	start, end int
}

// blocks finds the fenced code blocks of s: fences of at least three backticks,
// closed by a line of at least as many. An unclosed one runs to the end.
func blocks(s string) (out []block) {
	var cur block
	var body, fence int // start of the content, length of the open fence
	for pos := 0; pos < len(s); {
		end := strings.IndexByte(s[pos:], '\n')
		next := len(s)
		if end >= 0 {
			next = pos + end + 1
		}
		line := strings.TrimRight(s[pos:next], "\r\n")
		n, info := fenceOf(line)
		switch {
		case fence == 0 && n >= 3 && !strings.Contains(info, "`"):
			fence, body, cur = n, next, block{start: pos}
		case fence > 0 && n >= fence && info == "":
			cur.text, cur.end = s[body:pos], next
			out = append(out, cur)
			fence = 0
		}
		pos = next
	}
	if fence > 0 {
		cur.text, cur.end = s[body:], len(s)
		out = append(out, cur)
	}
	return out
}

// fenceOf is the number of backticks that line begins with, and what follows.
func fenceOf(line string) (n int, info string) {
	t := strings.TrimLeft(line, " ")
	if len(line)-len(t) > 3 {
		return 0, ""
	}
	for n < len(t) && t[n] == '`' {
		n++
	}
	return n, strings.TrimSpace(t[n:])
}

// fenced puts text into a block whose fence is longer than any run of backticks
// in it.
func fenced(text string) string {
	longest, run := 2, 0
	for i := range len(text) {
		if text[i] == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	f := strings.Repeat("`", longest+1)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return f + "\n" + text + f
}

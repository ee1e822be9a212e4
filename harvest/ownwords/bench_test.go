package ownwords

import (
	"strings"
	"testing"
)

// BenchmarkOwn reads what once cost the square of its length: many open tags on one
// line, many pastes in one message.
func BenchmarkOwn(b *testing.B) {
	for name, piece := range map[string]string{"tags": "look <a> ", "pastes": "[Pasted text +1 lines]\nx",
		"marks": "\"x\n„x\n“x\n»x\n\"x y\"\n", "fences": "no ``` and \"\"\" ", "headers": "From: x\n", "credits": "On 2026 x\nI opened 3 days ago\n", "rules": "---\na: b\n", "comments": "<!-- a b c --> x\n", "clocks": "[10:30] a\n", "prompts": "a@b:~$ x\n",
		"roles": "User: x\n", "gaps": "x   "} {
		text := strings.Repeat(piece, 400_000/len(piece))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Of(text)
			}
		})
	}
}

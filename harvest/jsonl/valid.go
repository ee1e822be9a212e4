package jsonl

import (
	"encoding/binary"
	"math/bits"
)

// Valid reports whether line is one JSON value, however deep; a recursive function
// would overflow the stack on a line of brackets. It skips the inside of strings, which
// is nearly everything, eight bytes at a time.
func Valid(line []byte) bool {
	var few [64]byte
	stack := few[:0] // the brackets that are open
	i := blank(line, 0)
	for {
		// A value begins at i.
		if i >= len(line) {
			return false
		}
		opened := false
		switch c := line[i]; c {
		case '{', '[':
			stack = append(stack, c)
			i, opened = i+1, true
		case '"':
			i = stringEnd(line, i)
		case 't':
			i = literal(line, i, "true")
		case 'f':
			i = literal(line, i, "false")
		case 'n':
			i = literal(line, i, "null")
		default:
			i = number(line, i)
		}
		if i < 0 {
			return false
		}
		// After it: the ends of its parents, a comma, a key.
		for {
			i = blank(line, i)
			n := len(stack)
			if n == 0 {
				return i == len(line)
			}
			if i >= len(line) {
				return false
			}
			if line[i] == stack[n-1]+2 { // ']' and '}' come two after '[' and '{'
				stack, opened = stack[:n-1], false
				i++
				continue
			}
			break
		}
		if !opened {
			if line[i] != ',' {
				return false
			}
			i = blank(line, i+1)
		}
		if stack[len(stack)-1] == '{' {
			if i >= len(line) || line[i] != '"' {
				return false
			}
			if i = stringEnd(line, i); i < 0 {
				return false
			}
			if i = blank(line, i); i >= len(line) || line[i] != ':' {
				return false
			}
			i = blank(line, i+1)
		}
	}
}

func literal(b []byte, i int, word string) int {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return -1
	}
	return i + len(word)
}

// stringEnd returns the end of the string that begins at b[i], -1 if it is
// none.
func stringEnd(b []byte, i int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for i++; ; i++ {
		// Skip eight bytes without a quote, a backslash or a control character. The
		// lowest mark is always right, those above it need not be.
		for len(b)-i >= 8 {
			w := binary.LittleEndian.Uint64(b[i:])
			quote, slash := w^('"'*ones), w^('\\'*ones)
			marks := ((w-0x20*ones)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & tops
			if marks != 0 {
				i += bits.TrailingZeros64(marks) / 8
				break
			}
			i += 8
		}
		if i >= len(b) {
			return -1
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c == '\\':
			if i++; i >= len(b) {
				return -1
			}
			switch b[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if len(b)-i < 5 {
					return -1
				}
				for _, h := range b[i+1 : i+5] {
					if h|0x20 < 'a' || h|0x20 > 'f' {
						if h < '0' || h > '9' {
							return -1
						}
					}
				}
				i += 4
			default:
				return -1
			}
		}
	}
}

func number(b []byte, i int) int {
	if i < len(b) && b[i] == '-' {
		i++
	}
	switch {
	case i >= len(b):
		return -1
	case b[i] == '0':
		i++
	default:
		if i = figures(b, i); i < 0 {
			return -1
		}
	}
	if i < len(b) && b[i] == '.' {
		if i = figures(b, i+1); i < 0 {
			return -1
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return figures(b, i)
	}
	return i
}

// figures skips at least one digit.
func figures(b []byte, i int) int {
	from := i
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	if i == from {
		return -1
	}
	return i
}

package redact

import (
	"cmp"
	"slices"
	"strings"
)

// knownMark stands for a secret that was known by its value.
const knownMark = open + "known-secret]"

// Known is a Redactor that knows some secrets by their values, whatever they
// look like: the keys that a program itself was given. All others are the
// Detector's to find. Values of less than eight bytes are no keys, and left out.
// A value is also found as others write it down: escaped for a URL, for JSON or
// for HTML, in base64 with whatever stands beside it, and with line breaks in it.
func Known(values ...string) Redactor { return newByValue(values...) }

func newByValue(values ...string) *byValue {
	var k byValue
	for _, v := range values {
		v = strings.TrimSpace(v)
		if len(v) < minLen || strings.Contains(knownMark, v) {
			continue
		}
		for _, f := range spellings(v) {
			if !slices.Contains(k.forms, f) {
				k.forms = append(k.forms, f)
			}
		}
	}
	k.index()
	return &k
}

// A byValue finds any of its forms in one pass (Wu and Manber, 1994): windows of
// each form are looked for, and where the last three bytes of none of them stand,
// as many bytes are skipped as could not end one. Windows, and not the whole
// forms, so that a line break within a value spares one of them.
type byValue struct {
	forms   []spelling
	width   int // of a window, in bytes
	shift   []uint8
	buckets [][]window // windows by the slot of their last three bytes
	slots   []uint16   // 0, or 1 + the bucket
}

// A window is the part of a form that begins at form[at].
type window struct {
	form *spelling
	at   int
}

const widest = 8 // window; a value of twice that has one left when it is broken once

func (k *byValue) index() {
	if len(k.forms) == 0 {
		return
	}
	k.width = widest
	for _, f := range k.forms {
		k.width = min(k.width, len(f.text)/2)
	}
	k.shift = slices.Repeat([]uint8{uint8(k.width - 2)}, 1<<14)
	k.slots = make([]uint16, 1<<14)
	for i := range k.forms {
		f := &k.forms[i]
		last := len(f.text) - k.width
		for at := 0; at < last; at += k.width {
			k.add(f, at)
		}
		k.add(f, last)
	}
}

func (k *byValue) add(f *spelling, at int) {
	w := f.text[at : at+k.width]
	for end := 3; end <= k.width; end++ {
		h := slotOf(w[end-3:])
		k.shift[h] = min(k.shift[h], uint8(k.width-end))
	}
	h := slotOf(w[k.width-3:])
	if k.slots[h] == 0 {
		k.buckets = append(k.buckets, nil)
		k.slots[h] = uint16(len(k.buckets))
	}
	bucket := &k.buckets[k.slots[h]-1]
	*bucket = append(*bucket, window{f, at})
}

// slotOf is where three bytes stand in the table, letter case as it is.
func slotOf(s string) uint32 {
	return (uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16) * 0x9E3779B1 >> 18 & (1<<14 - 1)
}

// Redact implements Redactor.
func (k *byValue) Redact(s string) (string, int) { return k.redact(s, inAnything, nil) }

// redact implements finder. A value that is known anyway need not be learnt.
func (k *byValue) redact(s string, look lookFor, learn func(value, kind string)) (string, int) {
	s, n := k.replace(s)
	s, more := Detector{}.redact(s, look, learn)
	return s, n + more
}

// replace replaces the values alone.
func (k *byValue) replace(s string) (string, int) {
	found := k.find(s)
	if len(found) == 0 {
		return s, 0
	}
	if found = settle(s, found); len(found) == 0 {
		return s, 0
	}
	return replace(s, found), len(found)
}

func (k *byValue) find(s string) (found []span) {
	if len(k.forms) == 0 {
		return nil
	}
	shift := (*[1 << 14]uint8)(k.shift)
	for i := k.width; i <= len(s); {
		h := slotOf(s[i-3 : i])
		if step := shift[h]; step > 0 {
			i += int(step)
			continue
		}
		next := i + 1
		for _, w := range k.buckets[k.slots[h]-1] {
			start, end, ok := w.form.around(s, i-k.width, w.at, k.width)
			if w.form.whole && (start > 0 && alnum[s[start-1]] || end < len(s) && alnum[s[end]]) {
				continue
			}
			if ok && placeholderAround(s, start, end) < 0 {
				found = append(found, span{start, end, cmp.Or(w.form.kind, knownKind), false})
				next = max(next, end)
			}
		}
		i = next
	}
	return found
}

const knownKind = "known-secret"

// placeholderAround returns where the placeholder begins that s[start:end] lies
// within, or -1: what a placeholder says is no secret.
func placeholderAround(s string, start, end int) int {
	from := max(0, start-64)
	if i := strings.LastIndex(s[from:start], open); i >= 0 && placeholder(s, from+i) >= end {
		return from + i
	}
	return -1
}

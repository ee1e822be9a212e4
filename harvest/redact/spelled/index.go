// Package spelled finds values in the ways in which programs repeat them: escaped, in
// base64 and with line breaks in them.
package spelled

import "slices"

// An Index finds any of its spellings in one pass (Wu and Manber, 1994): windows of
// each form are looked for, and where the last three bytes of none of them stand,
// as many bytes are skipped as could not end one. Windows, and not the whole
// forms, so that a line break within a value spares one of them.
type Index struct {
	forms   []Spelling
	width   int // of a window, in bytes
	shift   []uint8
	buckets [][]window // windows by the slot of their last three bytes
	slots   []uint16   // 0, or 1 + the bucket
	drop    uint       // bits that the numbers of slots have less than 32
}

// A window is the part of a form that begins at form[at].
type window struct {
	form *Spelling
	at   int
}

const widest = 8 // window; a value of twice that has one left when it is broken once

// NewIndex finds these spellings.
func NewIndex(forms []Spelling) *Index {
	k := &Index{forms: forms}
	if len(k.forms) == 0 {
		return k
	}
	k.width = widest
	for _, f := range k.forms {
		k.width = min(k.width, len(f.Text)/2)
	}
	bits := min(14, 10+len(k.forms)/8)
	k.drop = uint(32 - bits)
	k.shift = slices.Repeat([]uint8{uint8(k.width - 2)}, 1<<bits)
	k.slots = make([]uint16, 1<<bits)
	for i := range k.forms {
		f := &k.forms[i]
		last := len(f.Text) - k.width
		for at := 0; at < last; at += k.width {
			k.add(f, at)
		}
		k.add(f, last)
	}
	return k
}

func (k *Index) add(f *Spelling, at int) {
	w := f.Text[at : at+k.width]
	for end := 3; end <= k.width; end++ {
		h := k.slotOf(w[end-3:])
		k.shift[h] = min(k.shift[h], uint8(k.width-end))
	}
	h := k.slotOf(w[k.width-3:])
	if k.slots[h] == 0 {
		k.buckets = append(k.buckets, nil)
		k.slots[h] = uint16(len(k.buckets))
	}
	bucket := &k.buckets[k.slots[h]-1]
	*bucket = append(*bucket, window{f, at})
}

// slotOf is where three bytes stand in the table, letter case as it is.
func (k *Index) slotOf(s string) uint32 {
	return (uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16) * 0x9E3779B1 >> k.drop
}

// Each calls found with each place of s that holds a spelling, from left to right. If found
// returns true, the search continues behind that place.
func (k *Index) Each(s string, found func(start, end int, kind string) bool) {
	if k == nil || len(k.forms) == 0 {
		return
	}
	for i := k.width; i <= len(s); {
		h := k.slotOf(s[i-3 : i])
		if step := k.shift[h]; step > 0 {
			i += int(step)
			continue
		}
		next := i + 1
		for _, w := range k.buckets[k.slots[h]-1] {
			start, end, ok := w.form.around(s, i-k.width, w.at, k.width)
			if w.form.Whole && (start > 0 && alnum(s[start-1]) || end < len(s) && alnum(s[end])) {
				continue
			}
			if ok && found(start, end, w.form.Kind) {
				next = max(next, end)
			}
		}
		i = next
	}
}

func alnum(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }

package entire

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// whose returns a function that gives the address of the author of a checkpoint of a
// ref, "" if the commit that recorded it is not here.
func (h *harvesting) whose(ctx context.Context, from ref) (func(checkpoint string) string, error) {
	if from.checkpoint != "" {
		author, err := h.objects.Author(from.commit)
		return func(string) string { return author }, err
	}
	authors, err := authors(ctx, h.repository, from)
	return func(checkpoint string) string { return authors[checkpoint] }, err
}

// wanted reports whether a record may be read: the user recorded it, or an earlier
// harvest has read it in this state, because the user recorded it then or asked for
// all.
func (h *harvesting) wanted(r *record, author string) bool {
	return h.opts.Authors == nil || author != "" && slices.Contains(h.opts.Authors, author) || h.seen(h.recordPlace(r, r.state()), 0, idle)
}

// recordPlace is a Cursor's name for a record: in one state or, without a state, in
// any.
func (h *harvesting) recordPlace(r *record, state string) string {
	if state != "" {
		state = fmt.Sprintf("%x", fingerprint(state))
	}
	return h.place("record", r.String(), state)
}

// keep stores which records a session was read from.
func (h *harvesting) keep(records []*record) {
	for _, r := range records {
		for _, place := range []string{h.recordPlace(r, r.state()), h.recordPlace(r, "")} {
			if !h.seen(place, 0, idle) {
				h.mark(place, 0, idle)
			}
		}
	}
}

// unwanted adds other people's records that belong to sessions to be read, and counts
// the checkpoints that are left out. Their metadata is read after all others, so it
// takes nothing from their limits, and errors in it are ignored.
func (h *harvesting) unwanted(sessions map[string][]*record, records []*record, known map[string]bool, left int64) {
	others, lost := map[string]bool{}, map[string]bool{}
	for _, r := range records {
		if known[r.identity()] {
			continue
		}
		known[r.identity()] = true
		if r.lost {
			lost[r.checkpoint] = true
		} else {
			others[r.checkpoint] = true
		}
		if len(sessions) == 0 || h.cursor == nil {
			continue
		}
		if err := h.describe(r, &left); err == nil && sessions[r.group()] != nil {
			sessions[r.group()] = append(sessions[r.group()], r)
		}
	}
	if len(others)+len(lost) > 0 && h.opts.LeftOut != nil {
		h.opts.LeftOut(len(others), len(lost))
	}
}

// readable are the records that a session is read from, newest first. There are none if
// the stored session was made from more than they have. all may include other people's.
func (h *harvesting) readable(all []*record) []*record {
	records := slices.DeleteFunc(slices.Clone(all), func(r *record) bool { return r.unwanted })
	if len(records) == 0 || len(records) == len(all) {
		return records
	}
	if h.seen(h.place(nameOf(all)), stateOf(all), all[0].created) { // an earlier version read it from all
		h.keep(all)
		return nil
	}
	for _, r := range all { // one that was read, and was recorded again by another person
		same := func(own *record) bool { return own.String() == r.String() }
		if r.unwanted && h.seen(h.recordPlace(r, ""), 0, idle) && !slices.ContainsFunc(records, same) {
			return nil
		}
	}
	return records
}

// nameOf is the name of a session. Its oldest record gives it, so that newer ones do
// not change it.
func nameOf(records []*record) string {
	oldest := records[len(records)-1]
	return cmp.Or(label(oldest.session), oldest.String())
}

// stateOf identifies what a session was read from.
func stateOf(records []*record) int64 {
	b := strings.Builder{}
	b.WriteString(reading)
	for _, r := range records {
		b.WriteString(r.state())
	}
	return fingerprint(b.String())
}

package skill

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// checkPages holds what a browser shows of the kernel against what it showed of
// the parent's: all of it, in the same elements, under the same headings, in the
// same item of a list. HTML that acts on a whole page may not be new at all.
func checkPages(parent, child *Document) []Finding {
	was, is := parent.rendering(), child.rendering()
	var fs []Finding
	for i := range is.pages {
		if fs = append(fs, checkPage(&was.pages[i], &is.pages[i], child)...); Worst(fs) == Reject {
			break // the other dialect says the same
		}
	}
	return append(fs, newTags(was.tags, is.tags, child)...)
}

func checkPage(was, is *page, child *Document) []Finding {
	if is.err != nil || was.err != nil {
		err := is.err
		if err == nil {
			err = was.err
		}
		return []Finding{{"unreadable-page", Reject, 0, "nobody can tell what a browser shows: " + err.Error()}}
	}
	var fs []Finding
	for _, key := range slices.Sorted(maps.Keys(is.active)) {
		if is.active[key] > was.active[key] {
			name, _, _ := strings.Cut(key, " ")
			fs = append(fs, Finding{"active-html", Reject, child.lineOfTag(name), fmt.Sprintf("the element <%s> acts on the whole page and is new or changed: %s", name, clip(key))})
		}
	}
	spans := child.bodySpans()
	for i := 0; i < len(was.kernel) && i < len(is.kernel); i++ {
		if rule, message := sameShown(was.kernel[i], is.kernel[i]); rule != "" {
			fs = append(fs, Finding{rule, Reject, spans[i].Line, "the kernel block " + message})
		}
	}
	return fs
}

// sameShown compares one kernel span on two pages; rule is "" for no difference.
func sameShown(was, is []shown) (rule, message string) {
	switch {
	case len(is) < len(was):
		return "kernel-hidden", fmt.Sprintf("is shown on a page in %d pieces, and was in %d", len(is), len(was))
	case len(is) > len(was):
		return "kernel-node", fmt.Sprintf("is shown on a page in %d pieces, and was in %d", len(is), len(was))
	}
	for i := range was {
		a, b := was[i], is[i]
		switch {
		case a.leaf != b.leaf:
			return "kernel-node", fmt.Sprintf("is shown in other pieces: %s, now %s", a.leaf, b.leaf)
		case a.chain != b.chain:
			return "kernel-in-html", fmt.Sprintf("stood in %s on a page and now stands in %s", clip(a.chain), clip(b.chain))
		case a.path != b.path:
			return "kernel-heading", fmt.Sprintf("stood under %s on a page and now stands under %s", a.path, b.path)
		case voidedBy(a.before, b.before) != "":
			return "kernel-heading", fmt.Sprintf("now follows the heading %q", voidedBy(a.before, b.before))
		case b.after != "" && a.after != b.after:
			return "kernel-heading", fmt.Sprintf("now follows the heading %q, which has nothing below it", b.after)
		case !sameItems(a.items, b.items):
			return "kernel-item", "is in another item of its list or table"
		}
	}
	return "", ""
}

// newTags quarantines HTML that the parent has nothing of: a skill is Markdown,
// and few of its readers show both alike.
func newTags(was, is []rawTag, child *Document) []Finding {
	known := map[string]bool{}
	for _, t := range was {
		known[t.key], known["/"+t.name] = true, true
	}
	var fs []Finding
	for _, t := range is {
		if !known[t.key] {
			known[t.key] = true
			fs = append(fs, Finding{"new-html", Quarantine, child.md.fileLine(t.at), fmt.Sprintf("the HTML %s is new", clip(t.key))})
		}
	}
	return fs
}

func (d *Document) lineOfTag(name string) int {
	for _, t := range d.rendering().tags {
		if t.name == name {
			return d.md.fileLine(t.at)
		}
	}
	return 0
}

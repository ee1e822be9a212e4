package harvesttest

import (
	"testing"
	"time"
)

func TestCursor(t *testing.T) {
	var c Cursor
	now := time.Now()
	if c.Seen("a", 1, now) {
		t.Error("seen before it was marked")
	}
	c.Mark("a", 1, now)
	if !c.Seen("a", 1, now) || c.Seen("a", 2, now) || c.Seen("a", 1, now.Add(1)) || c.Seen("b", 1, now) {
		t.Error("a mark stands for its path, size and time alone")
	}
}

package claude

import (
	"context"
	"testing"
	"time"
)

var deadline = context.DeadlineExceeded

func TestResetIn(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	// Saturday, a quarter to three in Berlin's winter.
	now := time.Date(2026, 11, 21, 14, 45, 0, 0, berlin)
	at := func(year int, month time.Month, day, hour, minute int) time.Time {
		return time.Date(year, month, day, hour, minute, 0, 0, berlin)
	}
	for text, want := range map[string]time.Time{
		"Claude AI usage limit reached|1795241302":                                     time.Unix(1795241302, 0),
		"Claude AI usage limit reached|1795241302000":                                  time.Unix(1795241302, 0),
		"API Error: Request rejected (429) · Claude AI usage limit reached|1795241302": time.Unix(1795241302, 0),
		"You've hit your limit · resets 3pm":                                           at(2026, 11, 21, 15, 0),
		"You've hit your limit · resets 3am":                                           at(2026, 11, 22, 3, 0),
		"You've hit your 5-hour limit · resets 6:08am (UTC)":                           time.Date(2026, 11, 22, 6, 8, 0, 0, time.UTC),
		"You've hit your session limit · resets 2:50pm (Europe/Berlin)":                at(2026, 11, 21, 14, 50),
		"You've hit your weekly limit · resets Nov 26, 2:48am (UTC)":                   time.Date(2026, 11, 26, 2, 48, 0, 0, time.UTC),
		"You've hit your weekly limit · resets Jan 2, 2099, 3:04am (UTC)":              time.Date(2099, 1, 2, 3, 4, 0, 0, time.UTC),
		"You've hit your Opus limit · resets Jan 3, 5pm":                               at(2027, 1, 3, 17, 0),
		"Weekly limit reached ∙ resets Nov 27 at 9am":                                  at(2026, 11, 27, 9, 0),
		"Claude usage limit reached. Your limit will reset at 4pm (Europe/Berlin).":    at(2026, 11, 21, 16, 0),
		"5-hour limit reached ∙ resets 12am":                                           at(2026, 11, 22, 0, 0),
		"limit · resets 12pm (UTC)":                                                    time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC),
		"spend limit reached · resets Aug 8 · request an increase":                     at(2027, 8, 8, 0, 0),
		"limit · resets at 15:30":                                                      at(2026, 11, 21, 15, 30),
		"You've hit your fast limit · resets in 2h 5m":                                 now.Add(2*time.Hour + 5*time.Minute),
		"limit · resets in 3 hours":                                                    now.Add(3 * time.Hour),
		"limit · resets in 45 minutes":                                                 now.Add(45 * time.Minute),
		"limit · resets in 2 days":                                                     now.Add(48 * time.Hour),
		"You're out of usage credits":                                                  {},
		"limit · resets 99pm":                                                          {},
		"limit · resets 3":                                                             {},
		"limit · resets 3pm (Nowhere/Land)":                                            {},
		"it resets the counter":                                                        {},
		"":                                                                             {},
	} {
		if got := resetIn(text, now); !got.Equal(want) {
			t.Errorf("resetIn(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestLimitText(t *testing.T) {
	for text, want := range map[string]bool{
		"You've hit your limit · resets 3pm":                                                    true,
		"You’ve hit your limit · resets 3pm":                                                    true,
		"API Error: Request rejected (429) · Claude AI usage limit reached|1795241302":          true,
		"You're out of extra usage · resets 3pm":                                                true,
		"API Error: Request rejected (429) · spend limit reached · resets Aug 8":                true,
		"API Error: Server is temporarily limiting requests (not your usage limit) · slow down": false,
		"API Error: Request rejected (429) · This request would exceed the rate limit.":         false,
	} {
		if got := limitText(text); got != want {
			t.Errorf("limitText(%q) = %v", text, got)
		}
	}
}

func FuzzResetIn(f *testing.F) {
	f.Add("You've hit your limit · resets Nov 26, 2:48am (UTC)")
	f.Add("Claude AI usage limit reached|1795241302")
	f.Add("resets in 2d 3h 4m")
	f.Fuzz(func(t *testing.T, text string) {
		if at := resetIn(text, now); at.Year() < 1 {
			t.Errorf("resetIn(%q) = %v", text, at)
		}
	})
}

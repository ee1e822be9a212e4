package redact

import (
	"strings"
	"testing"
	"time"
)

// What stands before a password does not make it harmless.
func TestNotSwitchedOff(t *testing.T) {
	for _, s := range []string{
		"log in with shaun:Tr0ub4dor&3x",
		"my login: shane:xK9mQ2vW",
		"use admin/Tr0ub4dor&3Q to log in",
		"ssh in as root/xK9mQ2vWz7pR",
		"-----BEGIN CERTIFICATE-----\nlog in as admin / hunterXk92mQ! please",
		"-----BEGIN \nuse xK9mQ2vWz7pR to get into the box",
		"-----BEGIN CERTIFICATE-----\nuse: this\nxK9mQ2vWz7pR to get into the box, it is the password",
		"-----BEGIN X-----\nuse " + fake(mix, 32) + " to log in to the box\nlater\n-----END X-----",
		"-----BEGIN CERTIFICATE-----\n" + fake(mix, 64) + "\nlog in as admin / hunterXk92mQ! please",
	} {
		for name, text := range map[string]string{"alone": s, "in a text": "Hello,\n\n" + s + "\n\nThank you."} {
			if got, n := NewSession(nil).Typed(text); n == 0 {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
	line := "MIID" + fake(mix, 60)
	for _, label := range []string{"CERTIFICATE", "PGP PUBLIC KEY BLOCK"} {
		text := "-----BEGIN " + label + "-----\n" + line + "\n" + line + "\nR9I4LtD+gdwyah617jzV/OeBHRnDJELqYzmp\n-----END " + label + "-----\n"
		if got, n := NewSession(nil).Redact(text); n > 0 {
			t.Error(got)
		}
	}
}

// What is guessed in a line without an end takes as long as in many lines.
func TestLongLine(t *testing.T) {
	text := func(size int) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(fake(mix, 12+i%5) + ",")
		}
		return b.String()
	}
	took := func(s string) time.Duration {
		start := time.Now()
		guess(s, inOutput)
		return time.Since(start)
	}
	var short, long time.Duration
	for range 5 {
		if short, long = took(text(1<<14)), took(text(1<<18)); long <= 60*max(short, time.Millisecond) {
			return
		}
	}
	t.Errorf("%v for 16 kB, %v for 256 kB", short, long)
}

// A placeholder is no word that speaks of a secret.
func TestPlaceholdersSayNothing(t *testing.T) {
	for _, s := range []string{
		"password the d6435HjG#2 use user wifi 4711 commit\n",
	} {
		for name, redact := range map[string]func(*Session, string) (string, int){"typed": (*Session).Typed, "said": (*Session).Said, "output": (*Session).Redact} {
			clean, _ := redact(NewSession(nil), s)
			if again, n := redact(NewSession(nil), clean); n > 0 {
				t.Errorf("%s: %q becomes %q", name, clean, again)
			}
		}
	}
}

//go:build unix

package redact

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// processorTime is what this process has used of the processor: other processes on the
// machine do not count.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Text that begins a secret over and over must not cost its square.
func TestHostileText(t *testing.T) {
	for _, piece := range []string{"sk-ant-", "EAAA-", "eyJ-", "eyJ.", "password=", "password_", "token: ", "-----BEGIN PRIVATE KEY-----", "AccountKey=", "://a:",
		"Bearer ", "Authorization: ", "1:AA", "MTk-", "cookie: a=", "Cookie: a=" + fake(mix, 20) + "; ", "mysql ", " -u a:", "--password ",
		"login a password ", "password is ", "-us1", "a-a-", "a-", "-----END PRIVATE KEY-----", fake(mix, 64) + "\n", "-----BEGIN PRIVATE KEY-----\n" + fake(mix, 64) + "\n", "cookie: sid=a1234567; ",
		"a@", "://a:b@", "e:thin:a/", "pw is ", "pw: ", "token is ", "Server=;password=", "Pwd=", ";Pwd=a1", "<password>", "<password>\n", "password:\n", "password: |\n", "| password ", "|password|\n|-|\n|a|", "password|\n-\na1b2c3|", "password%3D", "password%25", "a%3A%2F%2F", "a%3a%2f%2fu%3aa%40", "x-auth: ", "X-", "x-a-token: a1", "X-Amz-Signature=", "ghp_" + fake(mix, 36) + " ", "PASSWORD=" + fake(mix, 12) + "\n"} {
		took := func(size int) time.Duration {
			s := strings.Repeat(piece, size/len(piece))
			before := processorTime(t)
			checkIdempotent(t, s)
			return processorTime(t) - before
		}
		// Sixteen times the text takes sixteen times as long if the work is in
		// proportion to it, and 256 times if it is its square. A collection of garbage
		// may fall into one measurement, and not into each of five.
		bound := time.Duration(100)
		if strings.HasPrefix(piece, "-----BEGIN ") { // its end is looked for in 64 kB, and no further
			bound = 500
		}
		for try := 1; ; try++ {
			short, long := took(1<<12), took(1<<16)
			if long <= bound*max(short, 100*time.Microsecond) {
				break
			}
			if try == 5 {
				t.Errorf("%q: %v for 4 kB, %v for 64 kB", piece, short, long)
				break
			}
		}
	}
}

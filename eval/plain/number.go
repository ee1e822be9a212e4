package plain

import "fmt"

// Counted is a count with its noun: "1 case", "2 cases", "1,200 cases".
func Counted[T int | int64](n T, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Grouped(int64(n)) + " " + thing + "s"
}

// Grouped is n with its digits in groups: 999, 1,200, -12,000.
func Grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Thousands is a large number in few digits, as of tokens and bytes: 9,999, 10k, 12M.
func Thousands(n int64) string {
	switch {
	case n < 10_000:
		return Grouped(n)
	case n < 10_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%dM", n/1_000_000)
}

// Duration is milliseconds in the unit in which they are few: 664 ms, 2.3 s, 4.5 min,
// 45 min, 8.0 h.
func Duration(ms int64) string {
	switch minutes := float64(ms) / 60_000; {
	case ms < 1000:
		return fmt.Sprintf("%d ms", ms)
	case minutes < 1.5:
		return fmt.Sprintf("%.1f s", float64(ms)/1000)
	case minutes < 9.95:
		return fmt.Sprintf("%.1f min", minutes)
	case minutes < 90:
		return fmt.Sprintf("%.0f min", minutes)
	default:
		return fmt.Sprintf("%.1f h", minutes/60)
	}
}

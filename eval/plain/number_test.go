package plain

import "testing"

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Counted(0, "case"), "0 cases"},
		{Counted(1, "case"), "1 case"},
		{Counted(int64(1200), "case"), "1,200 cases"},
		{Grouped(999), "999"},
		{Grouped(-999), "-999"},
		{Grouped(-1000), "-1,000"},
		{Grouped(1234567), "1,234,567"},
		{Thousands(999), "999"},
		{Thousands(9999), "9,999"},
		{Thousands(10_000), "10k"},
		{Thousands(1_319_488), "1319k"},
		{Thousands(12_900_000), "12M"},
		{Duration(0), "0 ms"},
		{Duration(999), "999 ms"},
		{Duration(1000), "1.0 s"},
		{Duration(89_900), "89.9 s"},
		{Duration(90_000), "1.5 min"},
		{Duration(596_000), "9.9 min"},
		{Duration(597_000), "10 min"},
		{Duration(2_700_000), "45 min"},
		{Duration(5_400_000), "1.5 h"},
		{Duration(8 * 3_600_000), "8.0 h"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

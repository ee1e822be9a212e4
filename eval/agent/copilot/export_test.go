package copilot

import "time"

// SetGrace gives a recorder, which runs in place of the program, time to write down
// what the program has done.
func SetGrace(d time.Duration) { grace = d }

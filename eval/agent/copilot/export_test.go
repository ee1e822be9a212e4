package copilot

import "time"

// SetGrace gives a recorder, which stands for the program, time to write down
// what the program has done.
func SetGrace(d time.Duration) { grace = d }

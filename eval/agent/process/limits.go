package process

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
)

// Limits are what the programs of one sandbox may use. Zero is the default.
type Limits struct {
	MemoryGB  float64 `yaml:"memory_gb"` // of all its processes together
	Processes int     `yaml:"processes"`
	FileGB    float64 `yaml:"file_gb"` // the size of one file
	TmpGB     float64 `yaml:"tmp_gb"`  // of /tmp and of /dev/shm, each
}

// The defaults are far above what an agent at work uses: they stop what runs away.
var defaultLimits = Limits{MemoryGB: 4, Processes: 512, FileGB: 2, TmpGB: 1}

var setLimits atomic.Pointer[Limits]

// SetLimits makes l the limits of sandboxes that name none.
func SetLimits(l Limits) { setLimits.Store(&l) }

// Check refuses limits that no program could run in, and numbers that are none.
func (l Limits) Check() error {
	for _, v := range []struct {
		key         string
		value, from float64
	}{{"memory_gb", l.MemoryGB, 0.1}, {"processes", float64(l.Processes), 16}, {"file_gb", l.FileGB, 0.001}, {"tmp_gb", l.TmpGB, 0.001}} {
		const most = 1_000_000
		if v.value != 0 && !(v.value >= v.from && v.value <= most) {
			return fmt.Errorf("%s: %v is not between %v and %d", v.key, v.value, v.from, most)
		}
	}
	return nil
}

// limits are those that hold in s.
func (s *Sandbox) limits() Limits {
	l := s.Limits
	for _, from := range []*Limits{setLimits.Load(), &defaultLimits} {
		if from == nil {
			continue
		}
		if l.MemoryGB == 0 {
			l.MemoryGB = from.MemoryGB
		}
		if l.Processes == 0 {
			l.Processes = from.Processes
		}
		if l.FileGB == 0 {
			l.FileGB = from.FileGB
		}
		if l.TmpGB == 0 {
			l.TmpGB = from.TmpGB
		}
	}
	return l
}

func inBytes(gb float64) int64 { return int64(math.Round(gb * (1 << 30))) }

func gigabytes(gb float64) string { return strconv.FormatFloat(gb, 'f', -1, 64) + " GB" }

// A LimitError is a Result's Limit as the error of a stop, see Wrap.
type LimitError string

func (e LimitError) Error() string { return string(e) }

// Held says in one line which limits hold on this machine, and which do not.
func Held() string {
	l := new(Sandbox).limits()
	hold, lack := limited(l)
	var said []string
	if len(hold) > 0 {
		said = append(said, "at most "+strings.Join(hold, ", "))
	}
	if len(lack) > 0 {
		said = append(said, "not limited here: "+strings.Join(lack, ", "))
	}
	return strings.Join(said, "; ")
}
